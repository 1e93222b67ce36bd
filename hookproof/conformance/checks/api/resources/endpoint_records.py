"""Sections 2.6, 2.8 and 4.8: records of endpoints in other resources, and acknowledged_at."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hookproof.conformance.checks.support.agreement import IDENTIFYING, differences
from hookproof.conformance.checks.support.json_objects import objects_in
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged, not_applicable
from hookproof.conformance.observations.answer import has_value, sent, shown, shown_uid
from hookproof.conformance.observations.delivery.security.credentials import AuthorizedDeliveries
from hookproof.conformance.observations.endpoint_records import (
    FetchedAndShown,
    ManyInPortalLink,
    RecordsInEvent,
    RecordsInPortalLink,
    fetched_and_shown,
)
from hookproof.conformance.observations.resources.broadcast_answer import BroadcastWithField
from hookproof.conformance.observations.resources.shown_owner import with_owners_as_sent
from hookproof.conformance.observations.timestamp import unix_seconds
from hookproof.spec.dialect.model import Dialect, Representation
from hookproof.spec.dialect.vocabulary import EventEcho, TimestampForm
from hookproof.spec.field_roles import Role, fields_with

# What neither deliveries nor time change, but for what identifies the endpoint.
RECORDED: Final = tuple(
    name
    for name in fields_with("Endpoint", Role.GIVEN, Role.ASSIGNED)
    if name not in ("uid", *IDENTIFYING)
)
# What has a value, but may have another one later; secrets are compared one by one.
COUNTED: Final = tuple(name for name in fields_with("Endpoint", Role.CHANGING) if name != "secrets")
# In seconds: the forms of timestamps have different precision.
PRECISION_S: Final = 1.0


@check("2.6-6", "2.6-10")
def a_portal_link_holds_full_records_of_its_endpoints(
    records: RecordsInPortalLink, context: CheckContext
) -> Iterator[Judgement]:
    """Field by field: what fetching the endpoint shows with a value, its record shows alike.

    In every answer that shows the portal link. What is masked is not compared, nor are secrets that
    a record does not show; what deliveries and time change, if it was fetched alike before and
    after.
    """
    forms = context.dialect.representation
    for pair in records.fetched_and_shown():
        yield from _same_secrets(pair, "2.6-10", "a portal link", forms)
        for field in ("uid", *IDENTIFYING, *RECORDED, *COUNTED):
            wanted = shown(pair.fetched).get(field)
            if has_value(wanted):
                yield judged(
                    _is_recorded(pair, field, forms),
                    "2.6-6" if field in IDENTIFYING else "2.6-10",
                    f"The record of an endpoint in a portal link lacks its {field} or shows"
                    " another",
                    expected=wanted,
                    actual=pair.record.get(field, "absent"),
                    exchanges=[pair.fetched, pair.answer],
                )


@check("2.6-2")
def a_portal_link_has_all_the_many_endpoints_of_its_owner(
    links: ManyInPortalLink, _context: CheckContext
) -> Iterator[Judgement]:
    """In each answer that shows it with this owner and with the uid of any endpoint."""
    wanted = {str(shown_uid(created)) for created in with_owners_as_sent(links.created)}
    owners = [sent(created).get("owner_id") for created in links.created]
    for answer, link in links.links():
        found = {str(record.get("uid")) for record in objects_in(link.get("endpoints_metadata"))}
        if not found & wanted or link.get("owner_id") not in owners:
            continue
        lacking = sorted(wanted - found)
        yield judged(
            not lacking,
            "2.6-2",
            "A portal link lacks some of the many endpoints of its owner",
            expected=f"all {len(wanted)}",
            actual=f"{len(lacking)} lacking, as {', '.join(lacking[:3])}" if lacking else "",
            exchanges=[answer],
        )


@check("2.8-10")
def an_event_shows_its_endpoints_as_they_are_fetched(
    records: RecordsInEvent | AuthorizedDeliveries, context: CheckContext
) -> Iterator[Judgement]:
    """As far as both show a value: the document does not call these records full."""
    forms = context.dialect.representation
    for pair in fetched_and_shown(records, "endpoint_metadata"):
        yield from _same_secrets(pair, "2.8-10", "an event", forms)
        for field in (*IDENTIFYING, *RECORDED):
            wanted, actual = shown(pair.fetched).get(field), pair.record.get(field)
            if has_value(wanted) and has_value(actual):
                yield judged(
                    not differences([field], shown(pair.fetched), pair.record, forms),
                    "2.8-10",
                    f"An event shows another {field} of an endpoint than fetching it",
                    expected=wanted,
                    actual=actual,
                    exchanges=[pair.fetched, pair.answer],
                )


@check("4.8-18")
def a_shown_acknowledged_at_is_the_one_sent(
    broadcast: BroadcastWithField, context: CheckContext
) -> Iterator[Judgement]:
    """The same time in whatever spelling; a dialect may say that the service sets it."""
    created = broadcast.created
    assigned = context.dialect.requests.service_assigned
    if created is None or broadcast.field != "acknowledged_at" or "acknowledged_at" in assigned:
        return
    wanted, actual = (part.get("acknowledged_at") for part in (sent(created), shown(created)))
    if context.dialect.representation.event_acknowledged_at.allowed == (EventEcho.NONE,):
        yield not_applicable("4.8-18", "the dialect says that an event shows no acknowledged_at")
    elif has_value(wanted) and has_value(actual):
        yield judged(
            _same_time(wanted, actual, context.dialect),
            "4.8-18",
            "The acknowledged_at of a created event is another time than the one sent",
            expected=wanted,
            actual=actual,
            exchanges=[created],
        )


def _is_recorded(pair: FetchedAndShown, field: str, forms: Representation) -> bool:
    fetched, again = shown(pair.fetched), {} if pair.again is None else shown(pair.again)
    if field in COUNTED and (not again or differences([field], fetched, again, forms)):
        return has_value(pair.record.get(field))
    return not differences([field], fetched, pair.record, forms)


def _same_secrets(
    pair: FetchedAndShown, requirement: str, holder: str, forms: Representation
) -> Iterator[Judgement]:
    wanted, actual = (_secrets(part, forms.mask) for part in (shown(pair.fetched), pair.record))
    if wanted and actual:
        yield judged(
            _alike(wanted, actual),
            requirement,
            f"The record of an endpoint in {holder} shows other secrets",
            expected=wanted,
            actual=actual,
            exchanges=[pair.fetched, pair.answer],
        )


def _secrets(endpoint: Mapping[str, Any], mask: str) -> list[dict[str, Any]]:
    """What the secrets of an endpoint show, but for masks, in the order of their identifiers."""
    return [
        {name: value for name, value in secret.items() if has_value(value) and value != mask}
        for secret in sorted(
            objects_in(endpoint.get("secrets")), key=lambda secret: str(secret.get("uid"))
        )
    ]


def _alike(first: Sequence[Mapping[str, Any]], second: Sequence[Mapping[str, Any]]) -> bool:
    """Whether there are as many secrets, alike in all but values that one of them hides."""
    return len(first) == len(second) and all(
        not differences([name], one, other)
        for one, other in zip(first, second, strict=True)
        for name in one.keys() | other.keys()
        if name != "value" or name in one.keys() & other.keys()
    )


def _same_time(wanted: Any, actual: Any, dialect: Dialect) -> bool:
    forms = dialect.representation.timestamp.allowed or tuple(TimestampForm)
    times = [
        [time for form in forms if (time := unix_seconds(text, form)) is not None]
        for text in (wanted, actual)
    ]
    return wanted == actual or any(
        abs(one - other) < PRECISION_S for one in times[0] for other in times[1]
    )
