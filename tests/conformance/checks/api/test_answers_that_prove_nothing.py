"""What is neither a success nor a refusal passes nothing, and who is not there fails nothing."""

from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.checks.api.access.api_keys import (
    REFUSED_KEYS,
    WITHOUT_KEY,
    a_key_that_is_none_is_refused,
    a_refused_key_has_the_dialects_status,
    nothing_works_without_a_key,
    the_key_of_another_project_opens_what_the_dialect_says,
)
from hookproof.conformance.checks.api.access.project_isolation import (
    an_unknown_project_is_refused,
    nothing_is_reached_through_another_project,
)
from hookproof.conformance.checks.api.lists.parameters import (
    an_unreadable_parameter_is_refused_or_taken_as_absent,
    per_page_above_the_maximum_is_cut_or_refused,
)
from hookproof.conformance.checks.api.requests.deprecated_fields import (
    app_id_is_taken_and_means_what_the_dialect_says,
    portal_endpoints_are_taken_and_mean_what_the_dialect_says,
)
from hookproof.conformance.checks.api.requests.questions import (
    a_mistake_is_refused_with_the_dialects_status,
    a_rate_limit_of_zero_is_taken_or_refused,
    an_http_timeout_of_zero_is_taken_or_refused,
    input_that_is_not_listed_is_ignored_or_refused,
    only_https_urls_are_taken,
    required_fields_are_enough_and_none_may_be_left_out,
    what_does_not_exist_is_refused,
    what_lies_within_the_bounds_is_taken,
)
from hookproof.conformance.checks.api.resources.credentials import (
    masked_credentials_are_not_shown_in_clear,
    the_members_of_a_mechanism_are_shown_as_given,
    the_user_name_is_shown_as_given,
)
from hookproof.conformance.checks.api.resources.duplicates import (
    a_duplicate_is_answered_as_the_dialect_says,
)
from hookproof.conformance.checks.api.resources.endpoint import status_follows_is_disabled
from hookproof.conformance.checks.api.resources.event import a_broadcast_is_taken_with_every_field
from hookproof.conformance.checks.api.resources.secret import (
    a_secret_is_made_when_none_is_given,
    a_secret_of_another_form_is_taken_or_refused,
    an_endpoint_is_fetched_with_its_secrets,
)
from hookproof.conformance.checks.api.resources.secret_roll import (
    the_old_secret_expires_when_the_roll_says,
)
from hookproof.conformance.checks.api.responses.errors import (
    an_unfinished_request_is_ended,
    no_request_is_answered_with_a_server_error,
)
from hookproof.conformance.checks.api.responses.success import a_valid_request_succeeds
from hookproof.conformance.model.evidence import Exchange, NotExaminedError, Observation
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.lists.parameters import (
    PageSizeAboveMaximum,
    UnreadableParameter,
)
from hookproof.conformance.observations.requests.keys import CallWithKey, KeyKind
from hookproof.conformance.observations.requests.mistakes import (
    ORDINARY,
    Bound,
    Mistake,
    RateLimitOfZero,
    RequiredFieldLeftOut,
    RequiredFieldsAlone,
    Scheme,
    TimeoutOfZero,
    UnknownIdentifier,
    Unlisted,
)
from hookproof.conformance.observations.resources.broadcast_answer import (
    BroadcastWithField,
    BroadcastWithPayload,
    RepeatedKey,
)
from hookproof.conformance.observations.resources.round_trip import (
    AuthenticationRoundTrip,
    SecretOfAnotherForm,
)
from hookproof.conformance.observations.succeeding_requests import SucceedingRequests
from tests.conformance.canned_evidence import exchange, observation, verdicts
from tests.conformance.checks.api.example import (
    UID,
    Judge,
    accepted,
    created,
    event,
    fetched,
    refusal,
    request_tried,
    secret,
)
from tests.conformance.checks.api.examples_access import across_projects, around, call_with
from tests.conformance.checks.api.examples_endpoints import (
    API_KEY,
    BASIC,
    OAUTH2,
    minimal,
    shown_with,
)
from tests.conformance.checks.api.examples_lists import LINKS, list_request
from tests.conformance.checks.api.examples_portal_links import endpoints_updated
from tests.conformance.checks.api.examples_requests import half, overlong
from tests.conformance.checks.api.examples_secrets import NEW, roll

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


@pytest.mark.parametrize("operation_id", WITHOUT_KEY)
def test_an_answer_that_is_no_refusal_does_not_show_that_a_key_is_required(
    operation_id: str,
) -> None:
    for answer in answers("refused", operation_id):
        evidence = call_with(
            KeyKind.NONE, answer, accepted(operation_id, "authorized"), operation_id=operation_id
        )
        assert verdicts(nothing_works_without_a_key, evidence) == {}, answer.status


@pytest.mark.parametrize("kind", REFUSED_KEYS)
def test_who_refuses_the_right_key_too_does_not_show_that_a_wrong_one_is_refused(
    kind: KeyKind,
) -> None:
    denied = refusal(401, role="refused")
    for right_key in (refusal(401, role="authorized"), *answers("authorized")):
        evidence = call_with(kind, denied, right_key)
        assert verdicts(a_key_that_is_none_is_refused, evidence) == {}, right_key.status
    assert verdicts(a_key_that_is_none_is_refused, call_with(kind, denied)) == {}


@pytest.mark.parametrize(
    ("check", "kind"),
    [
        (a_refused_key_has_the_dialects_status, KeyKind.NONE),
        (a_refused_key_has_the_dialects_status, KeyKind.WRONG),
        (the_key_of_another_project_opens_what_the_dialect_says, KeyKind.FOREIGN),
        (an_unknown_project_is_refused, KeyKind.UNKNOWN_PROJECT),
    ],
)
def test_who_refuses_everything_shows_no_status_of_a_key_or_a_project(
    check: Judge, kind: KeyKind
) -> None:
    for status in (401, 403):
        denied = [refusal(status, role=role) for role in ("refused", "authorized")]
        assert verdicts(check, call_with(kind, *denied)) == {}


def test_a_request_without_a_key_that_is_done_under_another_status_is_a_violation() -> None:
    evidence = around(
        CallWithKey,
        fetched(),
        exchange("refused", ROLL, status=500, body=b"oops", request={"secret": "new"}),
        fetched({"secrets": [secret(value="new")]}),
        kind=KeyKind.NONE,
        operation_id=ROLL,
    )
    assert verdicts(nothing_works_without_a_key, evidence) == {"5-3": Verdict.FAIL}


def test_a_success_without_data_is_one_to_whoever_has_no_key() -> None:
    taken = exchange("refused", BROADCAST, data=None)
    evidence = call_with(KeyKind.NONE, taken, operation_id=BROADCAST)
    assert verdicts(nothing_works_without_a_key, evidence) == {"5-8": Verdict.FAIL}


@pytest.mark.parametrize(
    "across", answers("across", "getEndpoint"), ids=lambda answer: str(answer.status)
)
def test_an_answer_that_is_no_refusal_does_not_keep_projects_apart(across: Exchange) -> None:
    evidence = across_projects(across, fetched(), fetched())
    assert verdicts(nothing_is_reached_through_another_project, evidence) == {}


def test_what_its_own_project_cannot_fetch_is_not_kept_apart() -> None:
    nowhere = refusal(404, "getEndpoint")
    evidence = across_projects(refusal(404, "getEndpoint", role="across"), nowhere, nowhere)
    assert verdicts(nothing_is_reached_through_another_project, evidence) == {}


@pytest.mark.parametrize("scheme", Scheme)
def test_a_url_is_refused_for_its_scheme_where_https_is_accepted(scheme: Scheme) -> None:
    right = accepted(role="with https")
    for answer in answers("tried"):
        assert verdicts(only_https_urls_are_taken, request_tried(scheme, answer, right)) == {}
    refused_both = request_tried(scheme, refusal(400), refusal(400, role="with https"))
    assert verdicts(only_https_urls_are_taken, refused_both) == {}


def test_a_mask_is_shown_by_an_endpoint_that_was_created() -> None:
    body = {"authentication": OAUTH2}
    for answer in (refusal(400, role="create", request=body), *answers("create", request=body)):
        assert verdicts(masked_credentials_are_not_shown_in_clear, shown_with(answer)) == {}


@pytest.mark.parametrize("given", [API_KEY, BASIC], ids=["api_key", "basic_auth"])
def test_an_answer_that_shows_no_endpoint_does_not_show_that_a_mechanism_is_lacking(
    given: dict[str, Any],
) -> None:
    check, requirement = {
        "api_key": (the_members_of_a_mechanism_are_shown_as_given, "2.5-11"),
        "basic_auth": (the_user_name_is_shown_as_given, "2.5-12"),
    }[given["type"]]
    body = {"authentication": given}
    silent = (*answers("create", request=body), exchange("create", "createEndpoint", request=body))
    for answer in silent:
        unsupported = observation(AuthenticationRoundTrip, answer, promised=False)
        assert verdicts(check, unsupported) == {}
    for answer in (refusal(400, role="create", request=body), created({"url": "u"}, body)):
        unsupported = observation(AuthenticationRoundTrip, answer, promised=False)
        assert verdicts(check, unsupported) == {requirement: Verdict.NOT_APPLICABLE}


def test_secrets_that_are_not_shown_are_neither_kept_nor_different_nor_expired() -> None:
    hidden = created({"secrets": None})
    assert (
        verdicts(
            an_endpoint_is_fetched_with_its_secrets, shown_with(hidden, fetched({"secrets": None}))
        )
        == {}
    )
    differing = verdicts(a_secret_is_made_when_none_is_given, minimal(hidden, hidden))
    assert differing == {"2.3-12": Verdict.FAIL}
    body = {"secret": "new-secret"}
    assert verdicts(the_old_secret_expires_when_the_roll_says, roll(body=body)) == {}
    kept = roll(secret(NEW, "new-secret"), body=body)
    assert verdicts(the_old_secret_expires_when_the_roll_says, kept) == {"4.3-18": Verdict.PASS}


def succeeding(answer: Exchange) -> list[tuple[Judge, Observation]]:
    """Each check of a creation that must succeed, with this answer to it."""
    return [
        (a_valid_request_succeeds, observation(SucceedingRequests, answer)),
        (status_follows_is_disabled, shown_with(answer, fields=("is_disabled",))),
        (app_id_is_taken_and_means_what_the_dialect_says, shown_with(answer)),
    ]


BODY = {"appID": "app", "is_disabled": True}
BROADCAST_PAGE = exchange("create", BROADCAST, status=200, body=PAGE_FOR_PEOPLE)


@pytest.mark.parametrize(
    ("check", "evidence"),
    [
        *succeeding(exchange(status=200, body=PAGE_FOR_PEOPLE, request=BODY)),
        *succeeding(exchange(data=None, request=BODY)),
        (
            a_broadcast_is_taken_with_every_field,
            observation(BroadcastWithPayload, BROADCAST_PAGE),
        ),
        (
            a_broadcast_is_taken_with_every_field,
            observation(BroadcastWithField, BROADCAST_PAGE, field="acknowledged_at"),
        ),
        *(
            (
                required_fields_are_enough_and_none_may_be_left_out,
                request_tried(RequiredFieldsAlone, exchange("tried", status=200, body=body)),
            )
            for body in (PAGE_FOR_PEOPLE, b"[]", b'"done"')
        ),
    ],
)
def test_a_2xx_without_an_object_as_data_is_no_success(check: Judge, evidence: Observation) -> None:
    assert verdicts(check, evidence) == {}


def judged_with(absence: Exchange) -> list[tuple[Judge, Observation]]:
    """Each check that takes an answer for a success or a refusal, where this came instead."""

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
    other_form = observation(SecretOfAnotherForm, instead("create", request={"secret": "*"}))
    return [
        (per_page_above_the_maximum_is_cut_or_refused, list_request(PageSizeAboveMaximum, page)),
        (
            an_unreadable_parameter_is_refused_or_taken_as_absent,
            list_request(UnreadableParameter, page),
        ),
        (a_rate_limit_of_zero_is_taken_or_refused, request_tried(RateLimitOfZero, tried)),
        (an_http_timeout_of_zero_is_taken_or_refused, request_tried(TimeoutOfZero, tried)),
        (
            what_lies_within_the_bounds_is_taken,
            request_tried(Bound.SIZE, tried, accepted(role=ORDINARY)),
        ),
        (input_that_is_not_listed_is_ignored_or_refused, request_tried(Unlisted.FIELD, tried)),
        (a_mistake_is_refused_with_the_dialects_status, request_tried(Mistake.NOT_JSON, tried)),
        (
            required_fields_are_enough_and_none_may_be_left_out,
            request_tried(RequiredFieldLeftOut, tried),
        ),
        (what_does_not_exist_is_refused, unknown),
        (an_unfinished_request_is_ended, half(instead("unfinished"))),
        (an_unfinished_request_is_ended, overlong(instead("unfinished"), 40)),
        (
            portal_endpoints_are_taken_and_mean_what_the_dialect_says,
            endpoints_updated(update, instead("after", "getPortalLink")),
        ),
        (a_duplicate_is_answered_as_the_dialect_says, observation(RepeatedKey, first, again)),
        (a_secret_of_another_form_is_taken_or_refused, other_form),
        *succeeding(instead("create", request=BODY)),
    ]


@pytest.mark.parametrize("dialect", ["reference", "contrary"])
@pytest.mark.parametrize("absence", absences("tried"), ids=lambda absence: str(absence.status))
def test_a_target_that_is_away_fails_nothing(absence: Exchange, dialect: str) -> None:
    for check, evidence in judged_with(absence):
        assert Verdict.FAIL not in verdicts(check, evidence, dialect).values(), check.__name__


def test_nobody_who_was_there_to_read_an_overlong_body_ends_it() -> None:
    unread = overlong(exchange("unfinished", problem="ConnectionRefusedError"), 0)
    assert verdicts(an_unfinished_request_is_ended, unread) == {}


def test_a_server_error_of_the_service_itself_is_judged() -> None:
    check = no_request_is_answered_with_a_server_error
    of_gateway = refusal(503, body=b"<html>Service Unavailable</html>")
    assert verdicts(check, of_gateway) == {}
    assert verdicts(check, refusal(503)) == {"7-8": Verdict.FAIL}
    assert verdicts(check, refusal(500, body=b"oops")) == {"7-8": Verdict.FAIL}


@pytest.mark.parametrize("status", [400, 500, 302])
def test_a_valid_request_that_is_refused_or_broken_fails(status: int) -> None:
    evidence = observation(SucceedingRequests, exchange(status=status, body=b""))
    assert verdicts(a_valid_request_succeeds, evidence) == {"4.1-1": Verdict.FAIL}


def test_a_request_that_may_have_been_sent_too_slowly_is_no_refusal() -> None:
    at_once = observation(SucceedingRequests, exchange(status=408, body=b""))
    slowly = tuple(replace(sent, duration_s=5.0) for sent in at_once.exchanges)
    assert verdicts(a_valid_request_succeeds, replace(at_once, exchanges=slowly)) == {}
    assert verdicts(a_valid_request_succeeds, at_once) == {"4.1-1": Verdict.FAIL}


def test_a_large_body_that_took_long_to_arrive_proves_nothing() -> None:
    timed_out = replace(exchange("tried", status=408), duration_s=8.9)
    ordinary = accepted(role=ORDINARY)
    with pytest.raises(NotExaminedError, match=r"was answered 408 after 8\.9 s"):
        verdicts(
            what_lies_within_the_bounds_is_taken, request_tried(Bound.SIZE, timed_out, ordinary)
        )
    for refused in (replace(timed_out, duration_s=0.1), replace(timed_out, status=413)):
        actual = verdicts(
            what_lies_within_the_bounds_is_taken, request_tried(Bound.SIZE, refused, ordinary)
        )
        assert actual == {"8-15": Verdict.FAIL, "8-27": Verdict.NOT_APPLICABLE}
