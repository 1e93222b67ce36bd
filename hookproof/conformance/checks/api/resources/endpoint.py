"""Sections 2.3, 3, 4.1 and 4.2: an endpoint shows what it was created with."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from hookproof.conformance.checks.support.agreement import agreement
from hookproof.conformance.checks.support.given_settings import is_shown_as_dropped
from hookproof.conformance.checks.support.success import success_of
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import (
    endpoints_in,
    has_value,
    refused,
    resources,
    sent,
    shown,
    shown_uid,
    was_successful,
)
from hookproof.conformance.observations.resources.portal_link import PortalLinkObservation
from hookproof.conformance.observations.resources.round_trip import EndpointsOfOneOwner, RoundTrip
from hookproof.conformance.observations.resources.secret_roll import RollAnswer
from hookproof.conformance.observations.resources.sequence import ModeledOperations
from hookproof.conformance.observations.timestamp import moment, name_one_moment
from hookproof.spec.dialect.given_settings import what_becomes_of
from hookproof.spec.dialect.model import Representation
from hookproof.spec.dialect.vocabulary import GivenSetting, TimestampForm
from hookproof.spec.field_roles import Role, fields_with, shown_as_sent

ECHOED: Final = shown_as_sent("createEndpoint")

# What nothing but its owner changes, plain settings first; 2.9-13 judges created_at.
_LASTING: Final = fields_with("Endpoint", Role.GIVEN, Role.ASSIGNED)
CONFIGURATION: Final = (
    *ECHOED,
    *(name for name in _LASTING if name not in ECHOED and name != "created_at"),
)

# The same without the uid, which other requirements judge: what a roll leaves as it was.
LEFT_BY_ROLL: Final = tuple(name for name in CONFIGURATION if name != "uid")

HTTPS = "https://"


@check("2.3-1", "2.3-10")
def a_created_endpoint_has_a_uid_and_a_secret(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    if exchange.operation_id == "createEndpoint" and was_successful(exchange):
        for requirement, member in (("2.3-1", "uid"), ("2.3-10", "secrets")):
            value = shown(exchange).get(member)
            yield judged(
                has_value(value),
                requirement,
                f"A created endpoint has no {member}",
                expected=member,
                actual=value,
                exchanges=[exchange],
            )


@check("2.3-2")
def no_two_endpoints_have_the_same_uid(
    trip: RoundTrip, _context: CheckContext
) -> Iterator[Judgement]:
    created = [exchange for exchange in trip.created if trip.known_uid(exchange) is not None]
    uids = [trip.known_uid(exchange) for exchange in created]
    if len(uids) > 1:
        yield judged(
            len(set(uids)) == len(uids),
            "2.3-2",
            "Two endpoints have the same uid",
            expected="different",
            actual=uids,
            exchanges=created,
        )


@check("2.3-3", "2.3-16")
def an_endpoint_shows_an_https_url_and_no_negative_count(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """A scheme may be in capitals (RFC 3986). An answer is judged once, however many it shows."""
    shown_ones = endpoints_in(exchange)
    urls = [url for endpoint in shown_ones if (url := endpoint.text("url")) is not None]
    if urls:
        others = [url for url in urls if not url.lower().startswith(HTTPS)]
        yield judged(
            not others,
            "2.3-3",
            "An endpoint shows a URL that is not https",
            expected="https://...",
            actual=(others or urls)[0],
            exchanges=[exchange],
        )
    counts = [endpoint.fields.get("events") for endpoint in shown_ones]
    numbers = [count for count in counts if isinstance(count, int)]
    if numbers:
        yield judged(
            min(numbers) >= 0,
            "2.3-16",
            "An endpoint shows a negative count of events",
            expected="0 or more",
            actual=min(numbers),
            exchanges=[exchange],
        )


@check("2.3-4")
def several_endpoints_share_one_owner(
    endpoints: EndpointsOfOneOwner, _context: CheckContext
) -> Iterator[Judgement]:
    """Each of them is created and shows the owner_id, in whatever way.

    A refusal tells only where one was created; that an owner_id is not shown at all is 4.1-7.
    """
    answers = [endpoints.first_shown(created) for created in endpoints.created]
    if not any(map(was_successful, answers)) or not all(
        was_successful(answer) or refused(answer) for answer in answers
    ):
        return
    wanted = [sent(created).get("owner_id") for created in endpoints.created]
    actual = [shown(answer).get("owner_id") for answer in answers]
    if all(map(was_successful, answers)) and not any(map(has_value, actual)):
        return
    is_shared = has_value(actual[0]) and all(owner == actual[0] for owner in actual)
    yield judged(
        is_shared,
        "2.3-4",
        "Endpoints cannot share one owner_id",
        expected=wanted,
        actual=actual,
        exchanges=dict.fromkeys([*endpoints.created, *answers]),
    )


@check("2.3-5", "2.3-8")
def what_is_not_given_has_the_documented_default(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """content_type and advanced_signatures; a content type may carry parameters."""
    if exchange.operation_id != "createEndpoint" or not shown(exchange):
        return
    if "content_type" not in sent(exchange):
        actual = shown(exchange).get("content_type")
        media_type = actual.partition(";")[0].strip().lower() if isinstance(actual, str) else None
        yield judged(
            media_type == "application/json",
            "2.3-5",
            "An endpoint created without content_type shows another one than application/json",
            expected="application/json",
            actual=actual,
            exchanges=[exchange],
        )
    if "advanced_signatures" not in sent(exchange):
        actual = shown(exchange).get("advanced_signatures")
        yield judged(
            actual is False,
            "2.3-8",
            "An endpoint created without advanced_signatures does not show it as false",
            expected=False,
            actual=actual,
            exchanges=[exchange],
        )


@check(*ECHOED.values())
def a_created_endpoint_shows_what_was_sent(
    creation: RoundTrip | ModeledOperations, context: CheckContext
) -> Iterator[Judgement]:
    """Every plain field of every accepted request; numbers are equal whatever their spelling.

    In the answer to the creation, or when it is fetched if that answer shows no endpoint. What the
    dialect says is dropped is shown as if it had not been given; what it leaves open may be.
    """
    dialect = context.dialect
    for created in creation.created:
        answer = creation.first_shown(created)
        for field, requirement in ECHOED.items():
            if field in sent(created) and shown(answer):
                actual = shown(answer).get(field)
                shows = {
                    GivenSetting.KEPT: _equal(sent(created)[field], actual),
                    GivenSetting.DROPPED: is_shown_as_dropped(field, actual, dialect),
                }
                allowed = what_becomes_of(field, dialect).allowed
                if not allowed and shows[GivenSetting.DROPPED] and not shows[GivenSetting.KEPT]:
                    continue
                dropped = allowed == (GivenSetting.DROPPED,)
                yield judged(
                    any(shows[each] for each in allowed or (GivenSetting.KEPT,)),
                    requirement,
                    f"The {field} of a created endpoint is not"
                    f" {'dropped as the dialect says' if dropped else 'the one sent'}",
                    expected="as if it were not given" if dropped else sent(created)[field],
                    actual=shown(answer).get(field, "absent"),
                    exchanges=dict.fromkeys([created, answer]),
                )


@check("4.2-5")
def an_endpoint_is_fetched_as_it_was_created(
    trip: RoundTrip, context: CheckContext
) -> Iterator[Judgement]:
    for created, fetched in trip.created_and_fetched():
        if shown(created):
            yield fetched_as_created(created, fetched, context.dialect.representation)


def fetched_as_created(created: Exchange, fetched: Exchange, forms: Representation) -> Judgement:
    """Field by field, masked credentials aside; 2.3-1 and 2.1 judge what a creation hides."""
    return agreement(
        "4.2-5",
        "An endpoint is fetched with another configuration than its creation showed",
        CONFIGURATION if shown_uid(created) is not None else LEFT_BY_ROLL,
        shown(created),
        shown(fetched),
        [created, fetched],
        forms,
    )


@check("2.9-13")
def created_at_never_changes(
    observation: RoundTrip | RollAnswer | PortalLinkObservation | ModeledOperations,
    context: CheckContext,
) -> Iterator[Judgement]:
    """Of every resource that is shown more than once; it may be cut to fewer digits. What is not of
    the dialect's form is judged by 2.9-2.
    """
    forms = context.dialect.representation.timestamp.allowed
    first: dict[str, tuple[str, Exchange]] = {}
    for exchange in observation.exchanges:
        for resource in resources(exchange):
            uid, created_at = resource.text("uid"), resource.text("created_at")
            if uid is None or created_at is None:
                continue
            if forms and moment(created_at, forms) is None:
                continue
            known_created_at, earlier = first.setdefault(uid, (created_at, exchange))
            if exchange is not earlier:
                yield judged(
                    name_one_moment(created_at, known_created_at, forms),
                    "2.9-13",
                    "created_at of a resource changes",
                    expected=known_created_at,
                    actual=f"{created_at}{apart(created_at, known_created_at, forms)}",
                    exchanges=[earlier, exchange],
                )


def apart(later: str, earlier: str, forms: Iterable[TimestampForm]) -> str:
    """By how much two timestamps differ, in words; empty where they are none of these forms."""
    times = [moment(text, forms or TimestampForm) for text in (later, earlier)]
    if None in times:
        return ""
    difference_s = (times[0] or 0.0) - (times[1] or 0.0)
    direction = "later" if difference_s > 0 else "earlier"
    seconds = abs(difference_s)
    amount = f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:g} s"
    return f", {amount} {direction}"


@check("3-1", "3-2", "3-4")
def status_follows_is_disabled(trip: RoundTrip, context: CheckContext) -> Iterator[Judgement]:
    """Both values of is_disabled are accepted, given alone; the words are the dialect's.

    A service may have disabled an endpoint by the time it is fetched again, but not enabled one.
    """
    for created in trip.created:
        if trip.fields == ("is_disabled",):
            message = "An endpoint cannot be created with one of the values of is_disabled"
            yield from success_of(created, "3-4", message)
        yield from _status(created, trip.first_shown(created), context)
    for created, fetched in trip.created_and_fetched():
        may_be_disabled = not sent(created).get("is_disabled") and has_value(_word_in(fetched))
        if fetched is not trip.first_shown(created) and not may_be_disabled:
            yield from _status(created, fetched, context)


def _status(created: Exchange, answer: Exchange, context: CheckContext) -> Iterator[Judgement]:
    words, disabled = context.dialect.words, sent(created).get("is_disabled", False)
    word = words.endpoint_disabled if disabled else words.endpoint_active
    if word.decided and shown(answer):
        yield judged(
            word.allows(_word_in(answer)),
            "3-2" if disabled else "3-1",
            f"The status of {'a disabled' if disabled else 'an active'} endpoint is another word"
            " than the dialect's",
            expected=" or ".join(word.allowed),
            actual=shown(answer).get("status", "absent"),
            exchanges=dict.fromkeys([created, answer]),
        )


def _word_in(answer: Exchange) -> object:
    return shown(answer).get("status")


def _equal(left: Any, right: Any) -> bool:
    """Whether two values are one; a service may take an empty text for none (section 2.9)."""
    if not has_value(left) and not has_value(right):
        return True
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)
