"""Portal links: list, retrieve, update (sections 4.4 to 4.6)."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.serialization.response_serializer import encode
from hookproof.mockserver.api.service import ApiService, OperationCall, OperationResult
from hookproof.mockserver.store.endpoints import EndpointRow
from hookproof.mockserver.store.portal_links import LISTED_COLUMNS, NewPortalLink, PortalLinkRow
from hookproof.spec.dialect.vocabulary import LeftOut, OnInput, PortalEndpointsMeaning

_decode: Final = msgspec.json.decode


class PortalLinkHandlers:
    """Lists, shows and updates portal links; their endpoints are looked up each time."""

    def __init__(self, service: ApiService) -> None:
        rules = service.dialect.paging
        self._service = service
        meaning = service.dialect.requests.portal_endpoints.value
        self._keeps_list = meaning is not PortalEndpointsMeaning.IGNORED
        self._shows_list = meaning is PortalEndpointsMeaning.SHOWN
        self._refuses_unknown = service.dialect.requests.unknown_listed_endpoints.prefers(
            OnInput.REFUSED
        )
        left_out = service.dialect.requests.update_left_out
        self._clears_left_out = left_out.decided and left_out.value is LeftOut.CLEARED
        self._cleared: Mapping[str, Any] = {
            "owner_id": None,
            "auth_type": service.dialect.words.portal_auth_types[0],
            "can_manage_endpoint": False,
        }
        listing = service.listing(
            service.database,
            "portal_links",
            LISTED_COLUMNS,
            sort=rules.sort_key.value,
            matches={"owner_id": rules.owner_match.value, "name": rules.name_match.value},
        )
        filters = {name: field for name, (field, _) in rules.portal_link_filters.items()}
        self._none_exposed = service.serializer.exposed_endpoints([])
        self._pager = service.pager(
            listing, rules, service.errors, filters=filters, seal_key=service.cursor_seal
        )

    def list(self, call: OperationCall) -> OperationResult:
        """Section 4.4."""
        page = self._pager.page(call.project, self._pager.query(call.project, call.query))
        shown = self.render(call.project, page.rows)
        serializer = self._service.serializer
        return OperationResult(
            status=call.operation.success.value,
            body=serializer.envelope(
                "Portal links are listed", serializer.page(shown, page.pagination)
            ),
        )

    def get(self, call: OperationCall) -> OperationResult:
        """Section 4.5."""
        return self._reply(call, "Portal link is fetched", self._find(call))

    def update(self, call: OperationCall) -> OperationResult:
        """Section 4.6: what the body does not name stays as it is, or is cleared."""
        row = self._find(call)
        record = self._apply_update(row, call.body)
        listed = None if self._clears_left_out else row.listed
        if "endpoints" in call.body:
            self._check_listed(call.project, call.body["endpoints"])
            listed = self._encode_listed(call.body["endpoints"])
        row = row._replace(
            owner_id=record["owner_id"],
            listed=listed,
            document=encode(self._service.serializer.portal_links.select(record)),
        )
        self._service.portal_links.replace(row, name=record["name"])
        return self._reply(call, "Portal link is updated", row)

    def create(self, project: str, record: Mapping[str, Any]) -> bytes:
        """Create a portal link and return its JSON.

        The API has no operation for this; the control listener and fixtures use it.
        """
        service = self._service
        created_at = service.timestamp(service.now())
        uid = service.identifier("PortalLink")
        token = service.identifier()
        record = {
            "can_manage_endpoint": False,
            "auth_type": service.dialect.words.portal_auth_types[0],
            "auth_key": service.identifier(),
            "token": token,
            "url": f"https://portal.invalid/{token}",
            **record,
            "uid": uid,
            "project_id": project,
            "owner_id": record.get("owner_id") or None,
            "created_at": created_at,
            "updated_at": created_at,
        }
        portal_link = NewPortalLink(
            uid=uid,
            project=project,
            name=record["name"],
            owner_id=record["owner_id"],
            listed=self._encode_listed(record.get("endpoints", ())),
            document=encode(service.serializer.portal_links.select(record)),
        )
        row = service.portal_links.add(portal_link)
        return self.render(project, [row])[0]

    def render(self, project: str, rows: Sequence[tuple[Any, ...]]) -> Sequence[bytes]:
        """Return the JSON of portal links, with the endpoints they expose now (section 2.6)."""
        owners = {row[1] for row in rows}
        owners.discard(None)
        inherited = self._find_inherited(project, owners) if owners else {}
        if self._shows_list:
            return [
                document[:-1]
                + self._service.serializer.exposed_endpoints(
                    inherited.get(owner, ()), _decode(listed or b"[]", type=list[str])
                )
                for _, owner, listed, document in rows
            ]
        rows_with_list = [row for row in rows if row[2]]
        added = self._find_added(project, rows_with_list) if rows_with_list else {}
        exposed, none_exposed = self._service.serializer.exposed_endpoints, self._none_exposed
        of_owner = {owner: exposed(endpoints) for owner, endpoints in inherited.items()}
        of_link = {
            seq: exposed(_union(inherited.get(owner, ()), added[seq]))
            for seq, owner, _, _ in rows_with_list
        }
        return [
            document[:-1] + (of_link[seq] if listed else of_owner.get(owner, none_exposed))
            for seq, owner, listed, document in rows
        ]

    def _find_inherited(
        self, project: str, owners: Collection[str]
    ) -> Mapping[str, Sequence[EndpointRow]]:
        """Return the endpoints of each owner."""
        owned = defaultdict(list)
        for endpoint in self._service.endpoints.find_owned(project, owners):
            owned[endpoint.owner_id or ""].append(endpoint)
        return owned

    def _find_added(
        self, project: str, rows: Sequence[tuple[Any, ...]]
    ) -> Mapping[int, Sequence[EndpointRow]]:
        """Return the endpoints in the deprecated lists (section 9) by the portal link's seq."""
        uids_by_seq = {seq: _decode(listed, type=list[str]) for seq, _, listed, _ in rows}
        uids = {uid for listed in uids_by_seq.values() for uid in listed}
        endpoints = {
            endpoint.uid: endpoint
            for endpoint in self._service.endpoints.find_listed(project, uids)
        }
        return {
            seq: [endpoints[uid] for uid in listed if uid in endpoints]
            for seq, listed in uids_by_seq.items()
        }

    def _apply_update(self, row: PortalLinkRow, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the record of a portal link as it is after an update."""
        service = self._service
        record = _decode(row.document, type=dict[str, Any])
        record["owner_id"] = row.owner_id
        if self._clears_left_out:
            record |= self._cleared
        record |= {
            name: body[name]
            for name in ("name", "owner_id", "auth_type", "can_manage_endpoint")
            if name in body
        }
        record["owner_id"] = record["owner_id"] or None
        record["updated_at"] = service.timestamp(service.now())
        return record

    def _check_listed(self, project: str, uids: Collection[str]) -> None:
        """Refuse identifiers that name no endpoint, where the dialect does (section 4.6)."""
        if not self._refuses_unknown:
            return
        known = {one.uid for one in self._service.endpoints.find_listed(project, set(uids))}
        if not known.issuperset(uids):
            raise self._service.errors.invalid("/endpoints: names an endpoint that does not exist")

    def _encode_listed(self, uids: Iterable[str]) -> bytes | None:
        listed = list(uids if self._shows_list else dict.fromkeys(uids))
        return encode(listed) if listed and self._keeps_list else None

    def _find(self, call: OperationCall) -> PortalLinkRow:
        row = self._service.portal_links.find(call.project, call.target)
        if row is None:
            raise self._service.errors.unknown_resource("portal link")
        return row

    def _reply(self, call: OperationCall, message: str, row: PortalLinkRow) -> OperationResult:
        (shown,) = self.render(call.project, [row])
        return OperationResult(
            status=call.operation.success.value,
            body=self._service.serializer.envelope(message, shown),
        )


def _union(inherited: Iterable[EndpointRow], added: Iterable[EndpointRow]) -> Sequence[EndpointRow]:
    """Return each endpoint once, the inherited ones first."""
    return list({endpoint.seq: endpoint for endpoint in (*inherited, *added)}.values())
