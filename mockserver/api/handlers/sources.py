"""Sources: list (section 4.7)."""

from collections.abc import Mapping
from typing import Any

from hookproof.mockserver.api.serialization.envelope import encode
from hookproof.mockserver.api.service import Call, Reply, Service
from hookproof.mockserver.store.sources import COLUMNS
from hookproof.spec.dialect.vocabulary import Match


class SourceHandlers:
    """Lists sources."""

    def __init__(self, service: Service) -> None:
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
            listing, rules, service.refusals, filters=filters, seal_key=service.cursor_seal
        )

    def list(self, call: Call) -> Reply:
        """Section 4.7."""
        page = self._pager.page(call.project, self._pager.query(call.project, call.query))
        wire = self._service.wire
        shown = [document for _, document in page.rows]
        return Reply(
            status=call.operation.success.value,
            body=wire.envelope("Sources are listed", wire.page(shown, page.pagination)),
        )

    def create(self, project: str, record: Mapping[str, Any]) -> bytes:
        """A new source; there is no operation for it, so only the control listener and fixtures
        ask.
        """
        service = self._service
        created_at = service.timestamp(service.now())
        uid = service.identifier()
        mask_id = service.identifier()
        base = {
            "mask_id": mask_id,
            "url": f"https://sources.invalid/{mask_id}",
            "is_disabled": False,
            **record,
            "uid": uid,
            "project_id": project,
            "created_at": created_at,
            "updated_at": created_at,
        }
        document = encode(service.wire.sources.shown(base))
        service.sources.add(
            project,
            uid,
            name=record["name"],
            type_=record["type"],
            provider=record.get("provider"),
            document=document,
        )
        return document
