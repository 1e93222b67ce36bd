"""Requests that no broadcast asks for: visits of new URLs, and webhooks of the service itself."""

from dataclasses import replace

import pytest

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.reach.evidence import OneProjectFanOut, ResourceChanges
from hookproof.spec.dialect.answer import Answer
from tests.conformance.canned_deliveries import destination, event, observed, sent
from tests.conformance.canned_evidence import context, delivery, judgements, verdict, verdicts

PASS, FAIL = Verdict.PASS, Verdict.FAIL
EVENT, SENTINEL = event(), event("sentinel")
HEALTHY = destination("healthy")


def test_a_visit_to_a_new_url_is_judged_by_the_dialect() -> None:
    quiet = observed(OneProjectFanOut, HEALTHY, sent(EVENT, HEALTHY))
    visited = observed(
        OneProjectFanOut,
        HEALTHY,
        delivery(HEALTHY.token, method="HEAD", body=b""),
        sent(EVENT, HEALTHY),
    )
    fetched = observed(
        OneProjectFanOut,
        HEALTHY,
        delivery(HEALTHY.token, method="GET", body=b""),
        sent(EVENT, HEALTHY),
    )

    for evidence, under_reference, under_contrary in (
        (quiet, PASS, PASS),
        (visited, FAIL, PASS),
        (fetched, FAIL, FAIL),
    ):
        assert verdict("4.1-16", evidence) is under_reference
        assert verdict("4.1-16", evidence, "contrary") is under_contrary


@pytest.mark.parametrize(
    ("visit", "of_head", "of_get", "of_options"),
    [("head_get_post", PASS, PASS, FAIL), ("post", FAIL, FAIL, FAIL), ("any", PASS, PASS, PASS)],
)
def test_a_dialect_may_name_several_methods(
    visit: str, of_head: Verdict, of_get: Verdict, of_options: Verdict
) -> None:
    answers = {"delivery.creation_visit": visit}
    verdict_of = {"HEAD": of_head, "GET": of_get, "OPTIONS": of_options}
    for method, expected in verdict_of.items():
        visited = observed(
            OneProjectFanOut, HEALTHY, delivery(HEALTHY.token, method=method, body=b"")
        )
        assert verdicts("4.1-16", visited, answers) == {"4.1-16": expected}, method


def test_a_visit_with_the_method_of_deliveries_is_no_webhook_of_the_service() -> None:
    visit = delivery(HEALTHY.token, body=b"")
    arrived = [visit, sent(SENTINEL, HEALTHY)]
    visited = observed(ResourceChanges, HEALTHY, *arrived, events=[SENTINEL])
    twice = observed(ResourceChanges, HEALTHY, visit, *arrived, events=[SENTINEL])
    for answer in ("head_get_post", "any"):
        answers = {"delivery.creation_visit": answer}
        assert verdict("6-16", visited, answers) is PASS
        assert verdict("6-16", twice, answers) is FAIL
    assert verdict("6-16", visited) is FAIL


def test_webhooks_about_the_services_own_resources_are_judged_by_the_dialect() -> None:
    quiet = observed(ResourceChanges, HEALTHY, sent(SENTINEL, HEALTHY), events=[SENTINEL])
    unasked = observed(
        ResourceChanges,
        HEALTHY,
        delivery(HEALTHY.token, body=b'{"created":"x"}'),
        sent(SENTINEL, HEALTHY),
        events=[SENTINEL],
    )
    assert verdict("6-16", quiet) is PASS
    assert verdict("6-16", unasked) is FAIL
    marked = delivery(HEALTHY.token, body=b'{"marker":"marker-another-"}')
    beside_others = observed(
        ResourceChanges, HEALTHY, marked, sent(SENTINEL, HEALTHY), events=[SENTINEL]
    )
    assert verdict("6-16", beside_others) is PASS


def test_under_an_undecided_dialect_no_visit_is_judged() -> None:
    fetched = observed(OneProjectFanOut, HEALTHY, delivery(HEALTHY.token, method="GET", body=b""))
    dialect = context().dialect
    undecided = replace(
        dialect, delivery=replace(dialect.delivery, creation_visit=Answer((), reason="undecided"))
    )

    assert list(judgements("4.1-16", fetched, replace(context(), dialect=undecided))) == []
