"""Each check of the API passes evidence of a conforming target, and fails that of others."""

from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.checks import all_checks
from hookproof.conformance.checks.api.access.api_keys import nothing_works_without_a_key
from hookproof.conformance.checks.api.lists.order import (
    sort_is_descending_by_default_and_ascending_is_its_reverse,
)
from hookproof.conformance.checks.api.resources.credentials import (
    masked_credentials_are_not_shown_in_clear,
)
from hookproof.conformance.checks.api.resources.duplicates import (
    an_event_without_a_key_is_no_duplicate,
)
from hookproof.conformance.checks.api.resources.endpoint import (
    a_created_endpoint_shows_what_was_sent,
)
from hookproof.conformance.checks.api.resources.secret import (
    a_secret_of_another_form_is_taken_or_refused,
)
from hookproof.conformance.checks.api.resources.secret_roll import (
    a_roll_without_a_secret_brings_in_one,
    the_old_secret_expires_when_the_roll_says,
)
from hookproof.conformance.checks.api.responses.documented_types import (
    documented_fields_have_their_documented_types,
)
from hookproof.conformance.checks.api.responses.enumerated_words import (
    an_enumerated_field_shows_a_word_of_the_dialect,
)
from hookproof.conformance.checks.api.responses.errors import (
    a_refusal_has_the_dialects_error_body,
)
from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.requests.keys import CallWithKey, KeyKind
from hookproof.conformance.observations.resources.round_trip import (
    EndpointRoundTrip,
    SecretOfAnotherForm,
)
from hookproof.conformance.observations.resources.secret_roll import RollAnswer
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.run.intake import Intake
from tests.conformance.canned_evidence import context, exchange, observation, verdicts
from tests.conformance.checks.api import (
    examples_access,
    examples_answers,
    examples_endpoints,
    examples_events,
    examples_extremes,
    examples_lists,
    examples_pages,
    examples_portal_links,
    examples_records,
    examples_requests,
    examples_secrets,
    examples_sequences,
)
from tests.conformance.checks.api.example import (
    Example,
    Judge,
    created,
    endpoint,
    event,
    link,
    page,
    refusal,
)
from tests.conformance.checks.api.examples_lists import walk

EXAMPLES = (
    *examples_pages.EXAMPLES,
    *examples_lists.EXAMPLES,
    *examples_endpoints.EXAMPLES,
    *examples_secrets.EXAMPLES,
    *examples_answers.EXAMPLES,
    *examples_portal_links.EXAMPLES,
    *examples_records.EXAMPLES,
    *examples_sequences.EXAMPLES,
    *examples_events.EXAMPLES,
    *examples_access.EXAMPLES,
    *examples_requests.EXAMPLES,
    *examples_extremes.EXAMPLES,
)

CHECKS_OF_THE_API = "hookproof.conformance.checks.api."


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_a_target_that_keeps_its_word_passes(example: Example) -> None:
    assert (
        verdicts(example.check, example.kept, example.dialect)[example.requirement] is Verdict.PASS
    )


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_a_target_that_breaks_its_word_fails(example: Example) -> None:
    assert (
        verdicts(example.check, example.broken, example.dialect)[example.requirement]
        is Verdict.FAIL
    )


def test_every_check_of_the_api_has_an_example_of_each_of_its_requirements() -> None:
    wanted = {
        (check.name, requirement)
        for check in all_checks()
        if check.judge.__module__.startswith(CHECKS_OF_THE_API)
        for requirement in check.requirements
    }
    assert wanted
    assert wanted - {(example.check.__name__, example.requirement) for example in EXAMPLES} == set()


NO_ROLLS = observation(RollAnswer, given=())


@pytest.mark.parametrize(
    ("check", "evidence"),
    [
        (an_event_without_a_key_is_no_duplicate, event({"idempotency_key": "k"})),
        (the_old_secret_expires_when_the_roll_says, NO_ROLLS),
        (a_roll_without_a_secret_brings_in_one, NO_ROLLS),
        (masked_credentials_are_not_shown_in_clear, observation(EndpointRoundTrip)),
    ],
)
def test_a_requirement_that_the_dialect_rules_out_does_not_apply(
    check: Judge, evidence: Observation | Exchange
) -> None:
    assert set(verdicts(check, evidence, "contrary").values()) == {Verdict.NOT_APPLICABLE}


def test_in_a_dialect_where_any_text_is_a_secret_none_has_another_form() -> None:
    evidence = observation(SecretOfAnotherForm, created())
    assert verdicts(a_secret_of_another_form_is_taken_or_refused, evidence) == {
        "2.3-15": Verdict.NOT_APPLICABLE
    }


def test_a_word_that_a_client_may_have_given_is_not_a_failure() -> None:
    listed = page("listPortalLinks", [link(auth_type="what a client gave")])
    assert verdicts(an_enumerated_field_shows_a_word_of_the_dialect, listed, "contrary") == {}


def test_resources_that_the_sort_key_does_not_tell_apart_may_change_places() -> None:
    kept = walk("abc", sort="ASC")
    same_time = [{**item, "created_at": "2024-01-01T00:00:00.000001Z"} for item in kept.listed]
    page_of_same_time = page("listPortalLinks", same_time)
    evidence = replace(kept, exchanges=(page_of_same_time,), listed=tuple(same_time))
    assert verdicts(sort_is_descending_by_default_and_ascending_is_its_reverse, evidence) == {
        "4.4-8": Verdict.PASS
    }


@pytest.mark.parametrize(
    ("sort_key", "expected"),
    [("created_at", {"4.4-8": Verdict.FAIL}), ({"undecided": "nobody asked"}, {})],
)
def test_what_a_filter_leaves_is_in_no_known_order_without_a_sort_key(
    sort_key: Any, expected: dict[str, Verdict]
) -> None:
    evidence = walk("ca", sort="ASC", filtered={"ownerId": "o1"})
    check = sort_is_descending_by_default_and_ascending_is_its_reverse
    assert verdicts(check, evidence, {"paging.sort_key": sort_key}) == expected


def test_numbers_are_equal_whatever_their_spelling() -> None:
    evidence = observation(EndpointRoundTrip, created({"http_timeout": 30}, {"http_timeout": 30.0}))
    assert verdicts(a_created_endpoint_shows_what_was_sent, evidence) == {"4.1-10": Verdict.PASS}


def test_a_proxy_may_refuse_odd_requests_with_a_body_of_its_own() -> None:
    refused_by_proxy = refusal(400, role="odd", body=b"Bad Request")
    assert verdicts(a_refusal_has_the_dialects_error_body, refused_by_proxy) == {}


def test_a_request_without_a_key_that_got_no_answer_is_not_judged() -> None:
    unanswered = exchange("refused", problem="TimeoutError")
    evidence = observation(
        CallWithKey, unanswered, kind=KeyKind.NONE, operation_id="createEndpoint"
    )
    assert verdicts(nothing_works_without_a_key, evidence) == {}


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_masked_credentials_do_not_change_a_verdict(example: Example) -> None:
    for evidence in (example.kept, example.broken):
        assert verdicts(example.check, masked(evidence, example.dialect), example.dialect) == (
            verdicts(example.check, evidence, example.dialect)
        )


def masked(evidence: Observation | Exchange, dialect_name: str) -> Observation | Exchange:
    """The evidence as it is stored, and judged when a run is judged again."""
    dialect = context(dialect_name).dialect
    mask = Mask((), dialect)
    if isinstance(evidence, Exchange):
        return mask.exchange(evidence)
    masked_observation = mask.evidence(Intake(mask, dialect).take(evidence))
    assert isinstance(masked_observation, Observation)
    return masked_observation


def wrong_fields(answered: Exchange) -> set[str]:
    """What the findings about documented types say of an exchange."""
    judgements = documented_fields_have_their_documented_types(answered, context())
    return {judgement.message for judgement in judgements if judgement.verdict is Verdict.FAIL}


def test_wrong_types_that_a_request_brought_are_one_finding() -> None:
    sent = {"authentication": {"api_key": 5, "basic_auth": {"username": []}}, "http_timeout": "1"}
    message = "createEndpoint accepts a value of the wrong type and shows it"
    assert wrong_fields(exchange(data=endpoint(**sent), request=sent)) == {message}
    assert wrong_fields(exchange(data=endpoint(http_timeout="2"), request=sent)) == {
        "A field of createEndpoint is not as documented: /data/http_timeout"
    }


def test_the_members_of_a_field_that_is_read_wrongly_are_one_finding() -> None:
    wrong = {"authentication": {"api_key": 5, "basic_auth": {"username": []}}}
    record = "A field of listPortalLinks is not as documented: /data/content/*/endpoints_metadata/*"
    shown = link(endpoints_metadata=[endpoint(), endpoint(**wrong)])
    assert wrong_fields(page("listPortalLinks", [shown])) == {f"{record}/authentication"}


def test_an_identifier_that_equals_a_credential_is_not_judged_by_its_form() -> None:
    uid = "01ARZ3NDEKTSV4RRFFQ69G5FAX"
    answered = page("listPortalLinks", [link(uid=uid, auth_type="refresh_token", token=uid)])
    evidence = Mask((), context().dialect).exchange(answered)
    assert uid.encode() not in evidence.response_body
    actual = verdicts(documented_fields_have_their_documented_types, evidence)
    assert actual
    assert Verdict.FAIL not in actual.values()


def test_an_identifier_of_another_form_that_equals_a_credential_is_judged_by_the_run_alone() -> (
    None
):
    """When a run is judged again, its form is not known any more: nothing is said of it."""
    uid = "no-identifier-5f1c9e0b2a7d"
    answered = page("listPortalLinks", [link(uid=uid, auth_type="refresh_token", token=uid)])
    stored = Mask((), context().dialect).exchange(answered)
    check = documented_fields_have_their_documented_types
    live, again = (verdicts(check, each) for each in (answered, stored))
    assert Verdict.FAIL in live.values()
    assert Verdict.FAIL not in again.values()
