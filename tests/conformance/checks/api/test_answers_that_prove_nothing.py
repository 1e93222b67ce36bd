"""What is neither a success nor a refusal passes nothing, and who is not there fails nothing."""

from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.model.evidence import Exchange, NotExaminedError, Observation
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.mistakes import ORDINARY
from hookproof.conformance.observations.round_trip import AuthenticationRoundTrip
from hookproof.conformance.observations.succeeding_requests import SucceedingRequests
from hookproof.conformance.subjects.events.evidence import (
    BroadcastWithField,
    BroadcastWithPayload,
    RepeatedKey,
)
from hookproof.conformance.subjects.keys.evidence import CallWithKey, KeyKind
from hookproof.conformance.subjects.lists.evidence import PageSizeAboveMaximum, UnreadableParameter
from hookproof.conformance.subjects.questions.evidence import (
    Bound,
    Mistake,
    RateLimitOfZero,
    RequiredFieldLeftOut,
    RequiredFieldsAlone,
    Scheme,
    SecretOfAnotherForm,
    TimeoutOfZero,
    UnknownIdentifier,
    Unlisted,
)
from hookproof.spec.dialect.vocabulary import HeaderText
from tests.conformance.canned_evidence import all_verdicts, exchange, observation, verdict, verdicts
from tests.conformance.checks.api.example import (
    OPERATIONS,
    UID,
    accepted,
    created,
    event,
    fetched,
    refusal,
    request_tried,
    secret,
)
from tests.conformance.subjects.endpoints.examples import (
    API_KEY,
    BASIC,
    OAUTH2,
    minimal,
    shown_with,
)
from tests.conformance.subjects.keys.examples import across_projects, around, call_with
from tests.conformance.subjects.lists.examples import ITEMS, LINKS, list_request, walk
from tests.conformance.subjects.portal_links.examples import endpoints_updated
from tests.conformance.subjects.questions.examples import half, overlong
from tests.conformance.subjects.secrets.examples import NEW, roll

BROADCAST, ROLL, UPDATE = "createBroadcastEvent", "expireEndpointSecret", "updatePortalLink"
PAGE_FOR_PEOPLE = b"<html>Welcome</html>"
KEYED = {"event_type": "order.paid", "data": {}, "idempotency_key": "k"}


def answers(role: str, operation_id: str = "createEndpoint", **more: Any) -> list[Exchange]:
    """Answers to one request that are neither a success nor a refusal."""
    return [
        exchange(role, operation_id, status=500, body=b"oops", **more),
        exchange(role, operation_id, status=302, body=b"", **more),
        exchange(role, operation_id, status=200, body=PAGE_FOR_PEOPLE, **more),
        *absences(role, operation_id, **more),
    ]


def absences(role: str, operation_id: str = "createEndpoint", **more: Any) -> list[Exchange]:
    """What comes of a request while the target is away, or asks to be asked less often."""
    return [
        exchange(role, operation_id, problem="ConnectionResetError", **more),
        *(
            exchange(role, operation_id, status=status, body=b"<html>later</html>", **more)
            for status in (429, 502, 503, 504)
        ),
    ]


@pytest.mark.parametrize(
    ("requirement", "filtered", "pages", "listed"),
    [
        ("4.4-9", {"ownerId": "o1"}, ("ca",), "ca"),
        ("4.4-10", {"ownerId": "o4"}, ("",), "cba"),
        ("4.4-13", {"ownerId": "o1"}, ("c", "a"), "bca"),
    ],
    ids=["others are not there", "no match is there", "others do not follow"],
)
def test_a_walk_that_a_list_without_the_filter_passes_does_not_show_that_it_filters(
    requirement: str, filtered: dict[str, str], pages: tuple[str, ...], listed: str
) -> None:
    walked = walk(*pages, filtered=filtered)
    evidence = replace(walked, listed=tuple(ITEMS[letter] for letter in listed))
    assert verdict(requirement, evidence) is None


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_an_answer_that_is_no_refusal_does_not_show_that_a_key_is_required(
    operation_id: str,
) -> None:
    for answer in answers("refused", operation_id):
        evidence = call_with(
            KeyKind.NONE, answer, accepted(operation_id, "authorized"), operation_id=operation_id
        )
        assert all_verdicts(evidence) == {}, answer.status


@pytest.mark.parametrize(
    "kind",
    [
        *(KeyKind.WRONG, KeyKind.TRUNCATED, KeyKind.ALTERED),
        *(KeyKind.FORMAT, KeyKind.EMPTY, KeyKind.CREDENTIAL),
    ],
)
def test_who_refuses_the_right_key_too_does_not_show_that_a_wrong_one_is_refused(
    kind: KeyKind,
) -> None:
    denied = refusal(401, role="refused")
    for right_key in (refusal(401, role="authorized"), *answers("authorized")):
        evidence = call_with(kind, denied, right_key)
        assert verdicts("5-9 5-13 5-14", evidence) == {}, right_key.status
    assert verdicts("5-9 5-13 5-14", call_with(kind, denied)) == {}


@pytest.mark.parametrize(
    ("requirement", "kind"),
    [
        ("5-10", KeyKind.NONE),
        ("5-11", KeyKind.WRONG),
        ("5-12", KeyKind.FOREIGN),
        ("4-1", KeyKind.UNKNOWN_PROJECT),
    ],
)
def test_who_refuses_everything_shows_no_status_of_a_key_or_a_project(
    requirement: str, kind: KeyKind
) -> None:
    for status in (401, 403):
        denied = [refusal(status, role=role) for role in ("refused", "authorized")]
        assert verdict(requirement, call_with(kind, *denied)) is None


def test_a_request_without_a_key_that_is_done_under_another_status_is_a_violation() -> None:
    evidence = around(
        CallWithKey,
        fetched(),
        exchange("refused", ROLL, status=500, body=b"oops", request={"secret": "new"}),
        fetched({"secrets": [secret(value="new")]}),
        kind=KeyKind.NONE,
        operation_id=ROLL,
    )
    assert all_verdicts(evidence) == {"5-3": Verdict.FAIL}


def test_a_success_without_data_is_one_to_whoever_has_no_key() -> None:
    taken = exchange("refused", BROADCAST, data=None)
    evidence = call_with(KeyKind.NONE, taken, operation_id=BROADCAST)
    assert all_verdicts(evidence) == {"5-8": Verdict.FAIL}


@pytest.mark.parametrize(
    "across", answers("across", "getEndpoint"), ids=lambda answer: str(answer.status)
)
def test_an_answer_that_is_no_refusal_does_not_keep_projects_apart(across: Exchange) -> None:
    evidence = across_projects(across, fetched(), fetched())
    assert verdict("1-4", evidence) is None


def test_what_its_own_project_cannot_fetch_is_not_kept_apart() -> None:
    nowhere = refusal(404, "getEndpoint")
    evidence = across_projects(refusal(404, "getEndpoint", role="across"), nowhere, nowhere)
    assert verdict("1-4", evidence) is None


@pytest.mark.parametrize(("scheme", "requirement"), [(Scheme.HTTP, "8-10"), (Scheme.OTHER, "8-11")])
def test_a_url_is_refused_for_its_scheme_where_https_is_accepted(
    scheme: Scheme, requirement: str
) -> None:
    right = accepted(role="with https")
    for answer in answers("tried"):
        assert verdict(requirement, request_tried(scheme, answer, right)) is None
    refused_both = request_tried(scheme, refusal(400), refusal(400, role="with https"))
    assert verdict(requirement, refused_both) is None


def test_a_mask_is_shown_by_an_endpoint_that_was_created() -> None:
    body = {"authentication": OAUTH2}
    for answer in (refusal(400, role="create", request=body), *answers("create", request=body)):
        assert verdict("2.5-13", shown_with(answer)) is None


@pytest.mark.parametrize(
    ("given", "requirement"),
    [(API_KEY, "2.5-11"), (BASIC, "2.5-12")],
    ids=["api_key", "basic_auth"],
)
def test_an_answer_that_shows_no_endpoint_does_not_show_that_a_mechanism_is_lacking(
    given: dict[str, Any], requirement: str
) -> None:
    body = {"authentication": given}
    silent = (*answers("create", request=body), exchange("create", "createEndpoint", request=body))
    for answer in silent:
        unsupported = observation(AuthenticationRoundTrip, answer, promised=False)
        assert verdict(requirement, unsupported) is None
    for answer in (refusal(400, role="create", request=body), created({"url": "u"}, body)):
        unsupported = observation(AuthenticationRoundTrip, answer, promised=False)
        assert verdict(requirement, unsupported) is Verdict.NOT_APPLICABLE


def test_secrets_that_are_not_shown_are_neither_kept_nor_different_nor_expired() -> None:
    hidden = created({"secrets": None})
    assert verdict("4.2-6", shown_with(hidden, fetched({"secrets": None}))) is None
    assert verdicts("2.3-12 2.3-13 2.3-14", minimal(hidden, hidden)) == {"2.3-12": Verdict.FAIL}
    body = {"secret": "new-secret"}
    assert verdicts("4.3-15 4.3-18", roll(body=body)) == {}
    kept = roll(secret(NEW, "new-secret"), body=body)
    assert verdicts("4.3-15 4.3-18", kept) == {"4.3-18": Verdict.PASS}


def succeeding(answer: Exchange) -> list[tuple[str, Observation]]:
    """What is required of a creation that must succeed, with this answer to it."""
    return [
        ("4.1-1", observation(SucceedingRequests, answer)),
        ("3-1 3-2 3-4", shown_with(answer, fields=("is_disabled",))),
        ("9-1 9-3", shown_with(answer)),
    ]


BODY = {"appID": "app", "is_disabled": True}
BROADCAST_PAGE = exchange("create", BROADCAST, status=200, body=PAGE_FOR_PEOPLE)


@pytest.mark.parametrize(
    ("requirements", "evidence"),
    [
        *succeeding(exchange(status=200, body=PAGE_FOR_PEOPLE, request=BODY)),
        *succeeding(exchange(data=None, request=BODY)),
        ("4.8-4 4.8-7", observation(BroadcastWithPayload, BROADCAST_PAGE)),
        ("4.8-6", observation(BroadcastWithField, BROADCAST_PAGE, field="acknowledged_at")),
        *(
            ("4.9-2", request_tried(RequiredFieldsAlone, exchange("tried", status=200, body=body)))
            for body in (PAGE_FOR_PEOPLE, b"[]", b'"done"')
        ),
    ],
)
def test_a_2xx_without_an_object_as_data_is_no_success(
    requirements: str, evidence: Observation
) -> None:
    assert verdicts(requirements, evidence) == {}


def judged_with(absence: Exchange) -> list[tuple[str, Observation]]:
    """What is required of a success or a refusal, where this came instead."""

    def instead(role: str, operation_id: str = "createEndpoint", request: Any = None) -> Exchange:
        return exchange(
            role,
            operation_id,
            status=absence.status,
            body=absence.response_body,
            problem=absence.problem,
            request=request,
        )

    tried, page = instead("tried"), instead("tried", LINKS)
    update = instead("update", UPDATE, {"endpoints": [UID]})
    first, again = event(KEYED, role="first"), instead("again", BROADCAST, KEYED)
    unknown = request_tried(UnknownIdentifier, instead("tried", "getEndpoint"))
    return [
        ("8-13", list_request(PageSizeAboveMaximum, page)),
        ("4.4-16", list_request(UnreadableParameter, page)),
        ("8-5", request_tried(RateLimitOfZero, tried)),
        ("8-21", request_tried(TimeoutOfZero, tried)),
        ("8-15", request_tried(Bound.SIZE, tried, accepted(role=ORDINARY))),
        ("2.9-11", request_tried(Unlisted.FIELD, tried)),
        ("7-2", request_tried(Mistake.NOT_JSON, tried)),
        ("4.9-1", request_tried(RequiredFieldLeftOut, tried)),
        ("4.2-7", unknown),
        ("7-7", half(instead("unfinished"))),
        ("8-18", overlong(instead("unfinished"), 40)),
        ("9-2 9-4", endpoints_updated(update, instead("after", "getPortalLink"))),
        ("4.8-8", observation(RepeatedKey, first, again)),
        ("2.3-15", request_tried(SecretOfAnotherForm, tried)),
        ("2.8-17", request_tried(HeaderText.LATIN_1, instead("tried", BROADCAST))),
        *succeeding(instead("create", request=BODY)),
    ]


@pytest.mark.parametrize("dialect", ["reference", "contrary"])
@pytest.mark.parametrize("absence", absences("tried"), ids=lambda absence: str(absence.status))
def test_a_target_that_is_away_fails_nothing(absence: Exchange, dialect: str) -> None:
    for requirements, evidence in judged_with(absence):
        assert Verdict.FAIL not in verdicts(requirements, evidence, dialect).values(), requirements


def test_nobody_who_was_there_to_read_an_overlong_body_ends_it() -> None:
    unread = overlong(exchange("unfinished", problem="ConnectionRefusedError"), 0)
    assert verdict("8-18", unread) is None


def test_a_server_error_of_the_service_itself_is_judged() -> None:
    of_gateway = refusal(503, body=b"<html>Service Unavailable</html>")
    assert verdict("7-8", of_gateway) is None
    assert verdict("7-8", refusal(503)) is Verdict.FAIL
    assert verdict("7-8", refusal(500, body=b"oops")) is Verdict.FAIL


@pytest.mark.parametrize("status", [400, 500, 302])
def test_a_valid_request_that_is_refused_or_broken_fails(status: int) -> None:
    evidence = observation(SucceedingRequests, exchange(status=status, body=b""))
    assert all_verdicts(evidence) == {"4.1-1": Verdict.FAIL}


def test_a_request_that_may_have_been_sent_too_slowly_is_no_refusal() -> None:
    at_once = observation(SucceedingRequests, exchange(status=408, body=b""))
    slowly = tuple(replace(sent, duration_s=5.0) for sent in at_once.exchanges)
    assert all_verdicts(replace(at_once, exchanges=slowly)) == {}
    assert all_verdicts(at_once) == {"4.1-1": Verdict.FAIL}


def test_a_large_body_that_took_long_to_arrive_proves_nothing() -> None:
    timed_out = replace(exchange("tried", status=408), duration_s=8.9)
    ordinary = accepted(role=ORDINARY)
    with pytest.raises(NotExaminedError, match=r"was answered 408 after 8\.9 s"):
        verdict("8-15", request_tried(Bound.SIZE, timed_out, ordinary))
    for refused in (replace(timed_out, duration_s=0.1), replace(timed_out, status=413)):
        assert verdict("8-15", request_tried(Bound.SIZE, refused, ordinary)) is Verdict.FAIL
