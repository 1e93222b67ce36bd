"""What an endpoint shows: what it was created with, its outgoing authentication, its failures
(sections 2.3, 2.5, 3, 4.1 and 4.2).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from hookproof.conformance.checks.configuration import ECHOED, fetched_as_created
from hookproof.conformance.checks.given_settings import is_shown_as_dropped
from hookproof.conformance.checks.success import success_of
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import (
    Judgement,
    judged,
    not_applicable,
    not_applicable_here,
)
from hookproof.conformance.observations.answer import (
    endpoints_in,
    has_value,
    refused,
    resources,
    sent,
    shown,
    was_successful,
)
from hookproof.conformance.observations.portal_link import PortalLinkObservation
from hookproof.conformance.observations.round_trip import (
    EndpointCreation,
    EndpointsOfOneOwner,
    RoundTrip,
)
from hookproof.conformance.observations.shown_secret import shows_credential
from hookproof.conformance.observations.timestamp import moment, name_one_moment
from hookproof.conformance.subjects.secrets.evidence import RollAnswer
from hookproof.conformance.subjects.sequences.evidence import (
    EndpointFieldCombination,
    ModeledOperations,
)
from hookproof.spec.dialect.given_settings import what_becomes_of
from hookproof.spec.dialect.vocabulary import GivenSetting, TimestampForm

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


MECHANISMS: Final = {"oauth2": "2.5-2", "api_key": "2.5-11"}

# Either path masks the private key.
CLIENT_KEY: Final = frozenset({"mtls_client_cert", "mtls_client_cert.client_key"})

# The document shows neither api_key nor basic_auth in the body of a creation (section 2.5).
NONE_SHOWN: Final = (
    "The target shows no {} of an endpoint that was created with it, and need not accept any."
)


def at(value: Any, path: str) -> Any:
    """The member at a dotted path, None if any step is missing."""
    for step in path.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every value within nested objects, with its dotted path."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from leaves(member, f"{path}.{name}")
    else:
        yield path, value


@check("2.5-1")
def the_authentication_type_is_the_one_given(
    creation: RoundTrip | EndpointFieldCombination, _context: CheckContext
) -> Iterator[Judgement]:
    """For every mechanism that the dialect has a word for."""
    message = "The authentication type of an endpoint is not the one given"
    for created in creation.created:
        yield from _shown_as_given("2.5-1", message, creation, created, "authentication.type")


@check(*MECHANISMS.values())
def the_members_of_a_mechanism_are_shown_as_given(
    creation: RoundTrip | EndpointFieldCombination, context: CheckContext
) -> Iterator[Judgement]:
    """All but the masked ones."""
    masked = context.dialect.representation.masked
    for created in creation.created:
        answer = creation.first_shown(created)
        for mechanism, requirement in MECHANISMS.items():
            root = f"authentication.{mechanism}"
            given = dict(leaves(at(sent(created), root), root)) if at(sent(created), root) else {}
            if given and _lacks_optional(creation, answer, mechanism):
                yield not_applicable_here(requirement, NONE_SHOWN.format(mechanism))
                continue
            different = {
                path: value
                for path, value in given.items()
                if path not in masked and at(shown(answer), path) != value
            }
            if given and shown(answer):
                yield judged(
                    not different,
                    requirement,
                    f"A member of {mechanism} is not shown as it was given",
                    expected=different,
                    actual={path: at(shown(answer), path) for path in different},
                    exchanges=dict.fromkeys([created, answer]),
                )


@check("2.5-12")
def the_user_name_is_shown_as_given(
    creation: RoundTrip | EndpointFieldCombination, _context: CheckContext
) -> Iterator[Judgement]:
    """The password may be masked."""
    path = "authentication.basic_auth.username"
    message = "The user name of basic_auth is not shown as it was given"
    for created in creation.created:
        if at(sent(created), path) is None:
            continue
        if _lacks_optional(creation, creation.first_shown(created), "basic_auth"):
            yield not_applicable_here("2.5-12", NONE_SHOWN.format("basic_auth"))
        else:
            yield from _shown_as_given("2.5-12", message, creation, created, path)


@check("4.1-15")
def the_client_certificate_is_the_one_sent(
    creation: RoundTrip | EndpointFieldCombination, context: CheckContext
) -> Iterator[Judgement]:
    """Line breaks at its ends aside, which PEM does not count."""
    path = "mtls_client_cert.client_cert"
    if path in context.dialect.representation.masked:
        return
    for created in creation.created:
        answer = creation.first_shown(created)
        given, actual = at(sent(created), path), at(shown(answer), path)
        if isinstance(given, str) and shown(answer):
            yield judged(
                isinstance(actual, str) and actual.strip() == given.strip(),
                "4.1-15",
                "The client certificate of an endpoint is not the one sent",
                expected=given,
                actual=actual,
                exchanges=dict.fromkeys([created, answer]),
            )


@check("2.5-24")
def the_client_key_is_the_one_sent(
    creation: RoundTrip | EndpointFieldCombination, context: CheckContext
) -> Iterator[Judgement]:
    """Wherever it is shown, in any form of PEM."""
    if not CLIENT_KEY.isdisjoint(context.dialect.representation.masked):
        yield not_applicable("2.5-24", "the dialect masks the client_key")
        return
    for key in creation.shown_client_keys:
        yield judged(
            key.is_the_one_sent,
            "2.5-24",
            "The client_key of an endpoint is not the one sent",
            expected="the same private key",
            actual="another text",
            exchanges=[creation.exchanges[key.creation], creation.exchanges[key.answer]],
        )


@check("2.5-13")
def masked_credentials_are_not_shown_in_clear(
    creation: RoundTrip | EndpointFieldCombination, context: CheckContext
) -> Iterator[Judgement]:
    """Nowhere in an answer."""
    if not context.dialect.representation.masked:
        yield not_applicable("2.5-13", "the dialect masks nothing")
    for created in creation.created:
        for path in context.dialect.representation.masked:
            given = at(sent(created), path)
            if isinstance(given, str) and given:
                leaking = [
                    exchange
                    for exchange in creation.exchanges
                    if exchange.succeeded and shows_credential(exchange, given)
                ]
                if not leaking and not was_successful(creation.first_shown(created)):
                    continue  # nothing was shown, in clear or otherwise
                yield judged(
                    not leaking,
                    "2.5-13",
                    f"A credential that the dialect masks is shown in clear: {path}",
                    expected=context.dialect.representation.mask,
                    actual="the credential",
                    exchanges=leaking or [created],
                )


def _shown_as_given(
    requirement: str, message: str, creation: EndpointCreation, created: Exchange, path: str
) -> Iterator[Judgement]:
    """Whether the first answer with the endpoint shows the value that was sent at this path, if any
    was.
    """
    answer = creation.first_shown(created)
    given, actual = at(sent(created), path), at(shown(answer), path)
    if given is not None and shown(answer):
        yield judged(
            actual == given,
            requirement,
            message,
            expected=given,
            actual=actual,
            exchanges=dict.fromkeys([created, answer]),
        )


def _lacks_optional(creation: EndpointCreation, answer: Exchange, mechanism: str) -> bool:
    """Whether the target shows nothing of a mechanism that it did not promise; an answer that shows
    nothing of the endpoint either tells nothing.
    """
    return (
        creation.may_lack_mechanism
        and (refused(answer) or bool(shown(answer)))
        and not at(shown(answer), f"authentication.{mechanism}")
    )


@check("2.3-19")
def a_failure_rate_is_within_its_unit(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """What the rate is measured over is left open: over all deliveries, or over the latest.

    An answer is judged once, however many endpoints it shows.
    """
    unit = context.dialect.representation.failure_rate
    if not unit.decided:
        return
    wholes = [allowed.whole for allowed in unit.allowed]
    limit = None if None in wholes else max(whole for whole in wholes if whole is not None)
    shown = (part.fields.get("failure_rate") for part in endpoints_in(exchange))
    rates = [rate for rate in shown if isinstance(rate, int | float) and not isinstance(rate, bool)]
    wrong = [rate for rate in rates if rate < 0 or (limit is not None and rate > limit)]
    if rates:
        yield judged(
            not wrong,
            "2.3-19",
            "The failure_rate of an endpoint is outside of what its unit allows",
            expected="0 or more" if limit is None else f"0 to {limit}",
            actual=wrong[0] if wrong else rates[0],
            exchanges=[exchange],
        )
