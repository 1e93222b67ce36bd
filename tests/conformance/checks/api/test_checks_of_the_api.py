"""Each check of the API passes evidence of a conforming target, and fails that of others."""

import importlib
from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.checks import all_checks
from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.observations.round_trip import EndpointRoundTrip
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.run.intake import Intake
from hookproof.conformance.subjects.keys.evidence import CallWithKey, KeyKind
from hookproof.conformance.subjects.questions.evidence import SecretOfAnotherForm
from hookproof.conformance.subjects.secrets.evidence import RollAnswer
from tests.conformance.canned_evidence import (
    all_verdicts,
    context,
    exchange,
    judgements,
    observation,
    verdict,
    verdicts,
)
from tests.conformance.checks.api.example import (
    Example,
    created,
    endpoint,
    event,
    link,
    page,
    refusal,
    request_tried,
)
from tests.conformance.subjects.lists.examples import walk
from tests.source_tree import ROOT

# Of all subjects, each in a module of its own.
EXAMPLES = tuple(
    example
    for path in sorted((ROOT / "tests/conformance/subjects").glob("*/examples*.py"))
    for example in importlib.import_module(
        f"tests.conformance.subjects.{path.parent.name}.{path.stem}"
    ).EXAMPLES
)

# The others judge what was delivered, and have tests of their own beside these.
CHECKS_OF_THE_API = [
    check for check in all_checks() if not issubclass(check.evidence[0], DeliveryObservation)
]


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_a_target_that_keeps_its_word_passes(example: Example) -> None:
    assert verdict(example.requirement, example.kept, example.dialect) is Verdict.PASS


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_a_target_that_breaks_its_word_fails(example: Example) -> None:
    assert verdict(example.requirement, example.broken, example.dialect) is Verdict.FAIL


@pytest.mark.parametrize("check", CHECKS_OF_THE_API, ids=lambda check: check.name)
@pytest.mark.parametrize("expected", [Verdict.PASS, Verdict.FAIL])
def test_every_check_of_the_api_has_an_example_of_each_of_its_requirements(
    check: Check, expected: Verdict
) -> None:
    shown = set()
    for example in EXAMPLES:
        evidence = example.kept if expected is Verdict.PASS else example.broken
        if example.requirement in check.requirements and isinstance(evidence, check.evidence):
            judged = check.judge(evidence, context(example.dialect))
            shown |= {said.requirement for said in judged if said.verdict is expected}
    assert set(check.requirements) <= shown


NO_ROLLS = observation(RollAnswer, given=())


@pytest.mark.parametrize(
    ("requirements", "evidence"),
    [
        ("2.8-8", event({"idempotency_key": "k"})),
        ("4.3-18", NO_ROLLS),
        ("4.3-19", NO_ROLLS),
        ("2.5-13", observation(EndpointRoundTrip)),
    ],
)
def test_a_requirement_that_the_dialect_rules_out_does_not_apply(
    requirements: str, evidence: Observation | Exchange
) -> None:
    assert set(verdicts(requirements, evidence, "contrary").values()) == {Verdict.NOT_APPLICABLE}


def test_in_a_dialect_where_any_text_is_a_secret_none_has_another_form() -> None:
    evidence = request_tried(SecretOfAnotherForm, created(role="tried"))
    assert verdict("2.3-15", evidence) is Verdict.NOT_APPLICABLE


def test_a_word_that_a_client_may_have_given_is_not_a_failure() -> None:
    listed = page("listPortalLinks", [link(auth_type="what a client gave")])
    assert verdict("2.9-4", listed, "contrary") is None


def test_resources_that_the_sort_key_does_not_tell_apart_may_change_places() -> None:
    kept = walk("abc", sort="ASC")
    same_time = [{**item, "created_at": "2024-01-01T00:00:00.000001Z"} for item in kept.listed]
    page_of_same_time = page("listPortalLinks", same_time)
    evidence = replace(kept, exchanges=(page_of_same_time,), listed=tuple(same_time))
    assert verdicts("4.4-7 4.4-8", evidence) == {"4.4-8": Verdict.PASS}


@pytest.mark.parametrize(
    ("sort_key", "expected"),
    [("created_at", {"4.4-8": Verdict.FAIL}), ({"undecided": "nobody asked"}, {})],
)
def test_what_a_filter_leaves_is_in_no_known_order_without_a_sort_key(
    sort_key: Any, expected: dict[str, Verdict]
) -> None:
    evidence = walk("ca", sort="ASC", filtered={"ownerId": "o1"})

    assert verdicts("4.4-7 4.4-8", evidence, {"paging.sort_key": sort_key}) == expected


def test_numbers_are_equal_whatever_their_spelling() -> None:
    evidence = observation(EndpointRoundTrip, created({"http_timeout": 30}, {"http_timeout": 30.0}))
    assert verdict("4.1-10", evidence) is Verdict.PASS


def test_a_proxy_may_refuse_odd_requests_with_a_body_of_its_own() -> None:
    refused_by_proxy = refusal(400, role="odd", body=b"Bad Request")
    assert verdict("7-1", refused_by_proxy) is None


def test_a_request_without_a_key_that_got_no_answer_is_not_judged() -> None:
    unanswered = exchange("refused", problem="TimeoutError")
    evidence = observation(
        CallWithKey, unanswered, kind=KeyKind.NONE, operation_id="createEndpoint"
    )
    assert all_verdicts(evidence) == {}


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_masked_credentials_do_not_change_a_verdict(example: Example) -> None:
    for evidence in (example.kept, example.broken):
        as_stored = masked(evidence, example.dialect)
        assert verdict(example.requirement, as_stored, example.dialect) is (
            verdict(example.requirement, evidence, example.dialect)
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
    said = judgements(
        "4.1-3 4.2-3 4.3-9 4.4-3 4.5-3 4.6-3 4.7-3 4.8-3 2.4-1 2.9-1 2.9-2 2.8-18", answered
    )
    return {judgement.message for judgement in said if judgement.verdict is Verdict.FAIL}


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
    assert verdict("2.9-1", evidence) is Verdict.PASS


def test_an_identifier_of_another_form_that_equals_a_credential_is_judged_by_the_run_alone() -> (
    None
):
    """When a run is judged again, its form is not known any more: nothing is said of it."""
    uid = "no-identifier-5f1c9e0b2a7d"
    answered = page("listPortalLinks", [link(uid=uid, auth_type="refresh_token", token=uid)])
    stored = Mask((), context().dialect).exchange(answered)

    assert verdict("2.9-1", answered) is Verdict.FAIL
    assert verdict("2.9-1", stored) is not Verdict.FAIL
