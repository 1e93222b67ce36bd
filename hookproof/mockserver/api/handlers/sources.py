"""Sources: list (section 4.7)."""

from collections.abc import Mapping
from typing import Any

from hookproof.mockserver.api.serialization.response_serializer import encode
from hookproof.mockserver.api.service import ApiService, OperationCall, OperationResult
from hookproof.mockserver.store.sources import COLUMNS, NewSource
from hookproof.spec.dialect.vocabulary import Match


class SourceHandlers:
    def __init__(self, service: ApiService) -> None:
        rules = service.dialect.paging
        self._service = service
        listing = service.listing(
            service.database,
            "sources",
            COLUMNS,
            sort=rules.sort_key.value,
            matches={"type": Match.EXACT, "provider": Match.EXACT},
        )
        filters = {"type": "type", "provider": "provider"}
        self._pager = service.pager(
            listing, rules, service.errors, filters=filters, seal_key=service.cursor_seal
        )

    def list(self, call: OperationCall) -> OperationResult:
        """Section 4.7."""
        page = self._pager.page(call.project, self._pager.query(call.project, call.query))
        serializer = self._service.serializer
        shown = [document for _, document in page.rows]
        return OperationResult(
            status=call.operation.success.value,
            body=serializer.envelope("Sources are listed", serializer.page(shown, page.pagination)),
        )

    def create(self, project: str, record: Mapping[str, Any]) -> bytes:
        """Create a source and return its JSON.

        The API has no operation for this; the control listener and fixtures use it.
        """
        service = self._service
        created_at = service.timestamp(service.now())
        uid = service.identifier("Source")
        mask_id = service.identifier()
        record = {
            "mask_id": mask_id,
            "url": f"https://sources.invalid/{mask_id}",
            "is_disabled": False,
            **record,
            "uid": uid,
            "project_id": project,
            "created_at": created_at,
            "updated_at": created_at,
        }
        document = encode(service.serializer.sources.select(record))
        source = NewSource(
            uid=uid,
            project=project,
            name=record["name"],
            type=record["type"],
            provider=record.get("provider"),
            document=document,
        )
        service.sources.add(source)
        return document
