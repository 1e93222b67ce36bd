"""Operators on writes: what is stored, where, and what else is changed with it."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import msgspec

from hookproof.mockserver.faults.operators.altered_fields import ABSENT, alter_place, blank_for
from hookproof.mockserver.faults.operators.laws import requirements_of, violated_by_field
from hookproof.mockserver.faults.operators.operator import (
    Alteration,
    FindDefect,
    Parameters,
    operators_of,
)
from hookproof.mockserver.faults.operators.place import Place, PlaceKind
from hookproof.mockserver.faults.operators.places import STORED_FIELDS
from hookproof.mockserver.faults.support.altered_responses import (
    BROADCAST,
    CREATE_ENDPOINT,
    ROLL,
    UPDATE_PORTAL_LINK,
    Object,
)
from hookproof.mockserver.store.endpoints import EndpointTable, NewEndpoint
from hookproof.mockserver.store.events import EventTable, NewEvent
from hookproof.mockserver.store.portal_links import PortalLinkRow, PortalLinkTable
from hookproof.spec.dialect.model import Dialect

GROUP: Final = "state"
# Fields without which the reference server could not work with what it has stored.
_WHOLE: Final = frozenset({"url", "name", "content_type", "advanced_signatures", "http_timeout"})
_WHOLE_TOO: Final = frozenset({"rate_limit_duration", "uid", "project_id", "created_at"})
_SIBLING: Final = """SELECT {columns} FROM {table}
    WHERE project = (SELECT project FROM {table} WHERE seq = ?1) AND seq != ?1 {same}
    ORDER BY seq DESC LIMIT 1"""
_SAME_OWNER: Final = "AND owner_id IS (SELECT owner_id FROM {table} WHERE seq = ?1)"
# What is violated when nothing of a write is found again.
_NOTHING_STORED: Final = {
    CREATE_ENDPOINT: (
        "succeeds@getEndpoint delivered reached members_complete later_members new_owners_members"
        " deprecated_meaning@updatePortalLink"
        # A roll finds nothing, whatever it holds.
        " succeeds@expireEndpointSecret empty_roll required_is_enough@expireEndpointSecret"
        " unknown_field"
    ),
    ROLL: (
        "roll_fetched new_secret_signs expired_secret_unused new_secret_signs_alone"
        " each_old_secret_signs simple_signer expiry_meant advanced_layout"
    ),
    UPDATE_PORTAL_LINK: (
        "echoed@updatePortalLink update_retrieved new_owners_members no_old_owners_members"
        " updated_at_forward deprecated_meaning@updatePortalLink"
    ),
    BROADCAST: "delivered reached duplicate_answered targets_reached keyless_delivered",
}


def _at_writes(classes: dict[str, Callable[[], type]], laws: dict[str, str]) -> FindDefect:
    """One class for each operation that writes, and the laws that it breaks."""

    def defect(place: Place, _parameters: Parameters, _dialect: Dialect) -> Alteration | None:
        if place.kind is not PlaceKind.WRITTEN or place.operation not in classes:
            return None
        violates = requirements_of(laws[place.operation])
        return Alteration(part=classes[place.operation], violates=violates)

    return defect


def _forgets_endpoints() -> type:
    class ForgottenEndpoints(EndpointTable):
        def add(self, endpoint: NewEndpoint) -> int:
            seq = super().add(endpoint)
            self._database.write("DELETE FROM tallies WHERE endpoint = ?", (seq,))
            self._database.write("DELETE FROM endpoints WHERE seq = ?", (seq,))
            return seq

    return ForgottenEndpoints


def _forgets_rolls() -> type:
    class ForgottenRolls(EndpointTable):
        def roll(self, seq: int, secrets: Any, *, updated_at: str) -> None:
            """Nothing is stored."""

    return ForgottenRolls


def _forgets_updates() -> type:
    class ForgottenUpdates(PortalLinkTable):
        def replace(self, row: PortalLinkRow, *, name: str) -> None:
            """Nothing is stored."""

    return ForgottenUpdates


def _forgets_events() -> type:
    class ForgottenEvents(EventTable):
        def add(self, event: NewEvent, *, reached: Any, now: float) -> None:
            """Nothing is stored."""

    return ForgottenEvents


def _half_stored(place: Place, given: Parameters, dialect: Dialect) -> Alteration | None:
    """Of the fields of a request, in the order of their names, one half is stored."""
    if place.kind is not PlaceKind.WRITTEN or place.operation not in (
        CREATE_ENDPOINT,
        UPDATE_PORTAL_LINK,
    ):
        return None
    names = [
        name
        for name in STORED_FIELDS[place.operation]
        if name not in _WHOLE
        and name not in ("secret", "is_disabled", "endpoints")
        and name not in _WHOLE_TOO
    ]
    middle = len(names) // 2
    lost = names[middle:] if given["half"] == "first" else names[:middle]

    none = blank_for(dialect, "")

    def lose(holder: Object) -> None:
        for name in lost:
            if none is not ABSENT and name in holder:
                holder[name] = none
            else:
                holder.pop(name, None)

    stored = [
        Place(operation=place.operation, kind=PlaceKind.STORED, path=(name,)) for name in lost
    ]
    violates = {name for at in stored for name in violated_by_field(at, lambda _: ABSENT, dialect)}
    part = partial(alter_place, stored[0], lose)
    return Alteration(part=part, violates=requirements_of(*violates))


def _rolls_sibling() -> type:
    class SiblingRolled(EndpointTable):
        def roll(self, seq: int, secrets: Any, *, updated_at: str) -> None:
            row = self._database.read(_sibling("endpoints", "seq", same_owner=True), (seq,))
            found = row.fetchone()
            super().roll(found[0] if found else seq, secrets, updated_at=updated_at)

    return SiblingRolled


def _updates_sibling() -> type:
    class SiblingUpdated(PortalLinkTable):
        def replace(self, row: PortalLinkRow, *, name: str) -> None:
            found = self._database.read(
                _sibling("portal_links", "seq, document"), (row.seq,)
            ).fetchone()
            if found:
                own = msgspec.json.decode(found[1])
                document = {**msgspec.json.decode(row.document), **_identity(own)}
                row = row._replace(seq=found[0], document=msgspec.json.encode(document))
            super().replace(row, name=name)

    return SiblingUpdated


def _identity(document: Object) -> Object:
    names = ("uid", "project_id", "token", "auth_key", "url", "created_at")
    return {name: document[name] for name in names if name in document}


def _sibling(table: str, columns: str, *, same_owner: bool = False) -> str:
    same = _SAME_OWNER.format(table=table) if same_owner else ""
    return _SIBLING.format(table=table, columns=columns, same=same)


def _creates_elsewhere() -> type:
    class CreatedElsewhere(EndpointTable):
        def add(self, endpoint: NewEndpoint) -> int:
            statement = "SELECT project FROM endpoints WHERE project != ? LIMIT 1"
            other = self._database.read(statement, (endpoint.project,)).fetchone()
            return super().add(endpoint._replace(project=other[0] if other else endpoint.project))

    return CreatedElsewhere


def _broadcasts_elsewhere() -> type:
    class BroadcastElsewhere(EventTable):
        def add(self, event: NewEvent, *, reached: Any, now: float) -> None:
            # No project can have two events with one key.
            statement = """SELECT project FROM endpoints WHERE project != ?1 AND NOT EXISTS
                (SELECT 1 FROM events WHERE project = endpoints.project AND original_key = ?2)"""
            key = (event.project, event.original_key)
            other = self._database.read(f"{statement} LIMIT 1", key).fetchone()
            project = other[0] if other else event.project
            super().add(event._replace(project=project), reached=reached, now=now)

    return BroadcastElsewhere


_NEIGHBOUR_FIELDS: Final = ("name", "owner_id", "auth_type", "can_manage_endpoint", "updated_at")


def _neighbour_changed(place: Place, given: Parameters, _dialect: Dialect) -> Alteration | None:
    if place.kind is not PlaceKind.WRITTEN or place.operation != UPDATE_PORTAL_LINK:
        return None
    return Alteration(
        part=partial(_changes_neighbour, given["member"]), violates=requirements_of("others_kept")
    )


def _changes_neighbour(member: str) -> type:
    class NeighbourChanged(PortalLinkTable):
        def replace(self, row: PortalLinkRow, *, name: str) -> None:
            super().replace(row, name=name)
            columns = "seq, owner_id, listed, document"
            found = self._database.read(_sibling("portal_links", columns), (row.seq,)).fetchone()
            if found is None:
                return
            own = msgspec.json.decode(row.document)
            document = {**msgspec.json.decode(found[3]), member: own.get(member)}
            changed = PortalLinkRow._make(found)._replace(
                owner_id=document.get("owner_id"), document=msgspec.json.encode(document)
            )
            super().replace(changed, name=document["name"])

    return NeighbourChanged


_DISABLES: Final = "UPDATE endpoints SET active = 0, receives = 0 WHERE seq = ?"


def _disables_after_creation() -> type:
    class DisabledByCreation(EndpointTable):
        def add(self, endpoint: NewEndpoint) -> int:
            seq = super().add(endpoint)
            _disable_sibling(self, seq)
            return seq

    return DisabledByCreation


def _disables_after_roll() -> type:
    class DisabledByRoll(EndpointTable):
        def roll(self, seq: int, secrets: Any, *, updated_at: str) -> None:
            super().roll(seq, secrets, updated_at=updated_at)
            _disable_sibling(self, seq)

    return DisabledByRoll


def _disable_sibling(table: EndpointTable, seq: int) -> None:
    """Disable the endpoint of the same owner that was created last before."""
    database = table._database  # noqa: SLF001  a fault reaches where the server does
    found = database.read(_sibling("endpoints", "seq", same_owner=True), (seq,)).fetchone()
    if found:
        database.write(_DISABLES, found)


_DISABLED: Final = "delivered active_shown enabled_receives configuration_fetched reached"
_operator: Final = operators_of(GROUP)
OPERATORS: Final = (
    _operator(
        "not_stored",
        "A request is answered as if it were carried out, and nothing is stored",
        "operations that store something",
        _at_writes(
            {
                CREATE_ENDPOINT: _forgets_endpoints,
                ROLL: _forgets_rolls,
                UPDATE_PORTAL_LINK: _forgets_updates,
                BROADCAST: _forgets_events,
            },
            _NOTHING_STORED,
        ),
    ),
    _operator(
        "half_stored",
        "Of the fields of a request one half is stored",
        "operations that store several fields",
        _half_stored,
        *({"half": "first"}, {"half": "second"}),
    ),
    _operator(
        "stored_in_neighbour",
        "A change is stored in another resource of the same owner or project",
        "operations that change something",
        _at_writes(
            {ROLL: _rolls_sibling, UPDATE_PORTAL_LINK: _updates_sibling},
            {
                ROLL: f"other_secrets_kept own_secret_signs {_NOTHING_STORED[ROLL]}",
                UPDATE_PORTAL_LINK: f"others_kept {_NOTHING_STORED[UPDATE_PORTAL_LINK]}",
            },
        ),
    ),
    _operator(
        "stored_in_another_project",
        "What is created is stored in another project",
        "operations that create something",
        _at_writes(
            {CREATE_ENDPOINT: _creates_elsewhere, BROADCAST: _broadcasts_elsewhere},
            {
                CREATE_ENDPOINT: (
                    "members_by_project reached_by_project own_project"
                    f" {_NOTHING_STORED[CREATE_ENDPOINT]}"
                ),
                BROADCAST: "duplicate_answered duplicate_undelivered keys_by_project",
            },
        ),
    ),
    _operator(
        "neighbour_changed",
        "An update changes a field of another resource as well",
        "operations that update something",
        _neighbour_changed,
        *({"member": member} for member in _NEIGHBOUR_FIELDS),
    ),
    _operator(
        "neighbour_disabled",
        "Another endpoint of the owner is disabled as well",
        "operations that store an endpoint",
        _at_writes(
            {CREATE_ENDPOINT: _disables_after_creation, ROLL: _disables_after_roll},
            {CREATE_ENDPOINT: _DISABLED, ROLL: _DISABLED},
        ),
    ),
)
