"""What checks of extreme values and refused content leave to others, and tolerate."""

from dataclasses import replace

import pytest

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.extremes import LongTextTried
from hookproof.spec.dialect.answer import NOT_ASKED
from tests.conformance.canned_evidence import (
    all_verdicts,
    context,
    exchange,
    judgements,
    observation,
    verdict,
    verdicts,
)
from tests.conformance.checks.api.example import ECHOED, refusal
from tests.conformance.subjects.events.examples_records import acknowledged, in_portal_link
from tests.conformance.subjects.numbers.examples import (
    CUT,
    LONG,
    REFUSED_ARRIVED,
    broadcast_refused,
    change_refused,
    endpoints_refused,
    long_text,
    near,
    near_source,
    number_tried,
    page_sized,
    updated,
)

RULES = context().dialect.requests


@pytest.mark.parametrize("status", [400, 413, 422, 500])
def test_a_long_text_that_is_not_accepted_is_not_judged(status: int) -> None:
    refused = long_text("createEndpoint", "name", None, status=status)
    assert all_verdicts(refused) == {}


def test_an_answer_without_a_resource_cuts_no_text() -> None:
    empty = exchange("tried", "createEndpoint", data=None, request={"name": LONG})
    evidence = observation(
        LongTextTried, empty, operation_id="createEndpoint", field="name", length=len(LONG)
    )
    assert all_verdicts(evidence) == {}


def test_a_text_that_is_cut_everywhere_is_fetched_as_it_was_shown() -> None:
    evidence = long_text("createEndpoint", "name", CUT, CUT)
    assert all_verdicts(evidence) == {
        "4.1-4": Verdict.FAIL,
        "4.2-5": Verdict.PASS,
    }


@pytest.mark.parametrize("number", ["0", "-0"])
def test_a_zero_may_stand_for_the_default(number: str) -> None:
    evidence = number_tried("http_timeout", number, 30)
    assert verdict("4.1-10", evidence) is Verdict.PASS


def test_the_default_does_not_stand_for_a_negative_number() -> None:
    evidence = number_tried("http_timeout", "-1", 30)
    assert verdict("4.1-10", evidence) is Verdict.FAIL


@pytest.mark.parametrize(
    ("field", "number", "bound"),
    [
        ("rate_limit", "2147483648", RULES.rate_limit_maximum),
        ("rate_limit_duration", "1e400", RULES.rate_limit_duration_maximum),
        ("http_timeout", "9223372036854775808", RULES.http_timeout_maximum),
        ("http_timeout", "-1", RULES.http_timeout_minimum),
        ("rate_limit", "-1", 0),
    ],
)
def test_a_number_beyond_a_bound_may_be_shown_as_that_bound(
    field: str, number: str, bound: int
) -> None:
    assert verdict(ECHOED[field], number_tried(field, number, bound)) is Verdict.PASS
    assert verdict(ECHOED[field], number_tried(field, number, bound + 3)) is Verdict.FAIL


def test_a_negative_number_is_not_beyond_the_upper_bounds() -> None:
    evidence = number_tried("rate_limit", "-1", -1)
    assert verdict("8-17", evidence) is None


def test_a_server_that_refuses_ordinary_numbers_too_keeps_none_out() -> None:
    number = number_tried("rate_limit", "2147483648", status=400, ordinary=400)
    assert verdict("8-17", number) is None
    size = page_sized(refusal(400, "listPortalLinks"), ordinary=400)
    assert verdict("8-20", size) is None


def test_a_list_that_broke_has_no_page_size() -> None:
    broken = page_sized(refusal(500, "listPortalLinks"))
    assert verdict("8-20", broken) is None


@pytest.mark.parametrize("field", ["provider", "type"])
def test_a_filter_that_ignores_words_it_does_not_know_finds_no_near_ones(field: str) -> None:
    assert verdicts("4.7-9 4.7-11", near_source(field, {}, ignored=True)) == {}


def test_a_filter_that_does_not_find_the_value_itself_is_not_judged_by_near_ones() -> None:
    assert verdicts("4.4-9 4.4-11", near(found=False)) == {}


@pytest.mark.parametrize("status", [201, 500])
def test_what_was_not_refused_may_have_effects(status: int) -> None:
    broadcast = broadcast_refused(REFUSED_ARRIVED, duplicate=True, status=status)
    assert verdict("7-10", broadcast) is None
    creation = endpoints_refused(1, 2, status)
    assert verdict("7-10", creation) is None
    assert verdict("7-10", change_refused("renamed", status=status)) is None


def test_a_secret_more_is_an_effect_and_another_time_of_one_is_none() -> None:
    secret = {"uid": "s1", "value": "x", "updated_at": "2024-01-01T00:00:00Z"}
    touched = {**secret, "updated_at": "2024-01-01T00:00:09Z"}
    for after, expected in (([touched], Verdict.PASS), ([secret, {"uid": "s2"}], Verdict.FAIL)):
        evidence = change_refused(after, before=[secret], changed="secrets")
        assert verdict("7-10", evidence) is expected


def test_a_field_that_is_not_shown_proves_nothing() -> None:
    assert verdict("7-10", change_refused(None)) is None


def test_silence_without_a_sentinel_and_without_a_flag_proves_nothing() -> None:
    silent = broadcast_refused(duplicate=None)
    assert verdict("7-10", silent) is None


def test_a_portal_link_that_shows_no_endpoints_proves_nothing() -> None:
    assert verdict("7-10", endpoints_refused(0, 0)) is None


def test_a_portal_link_without_the_endpoint_shows_no_record_of_it() -> None:
    evidence = in_portal_link(uid="another", url="https://another.invalid")
    assert verdicts("2.6-6 2.6-10", evidence) == {}


def test_an_event_may_show_no_acknowledged_at() -> None:
    assert verdict("4.8-18", acknowledged(None)) is None


def test_what_an_update_names_is_not_left_out() -> None:
    evidence = updated({"name": "New"}, name="Newer")
    assert verdict("4.6-15", evidence) is Verdict.PASS


def test_a_dialect_that_does_not_say_what_is_left_out_allows_both() -> None:
    rules = context().dialect
    silent = replace(rules, requests=replace(rules.requests, update_left_out=NOT_ASKED))
    rules_of_check = replace(context(), dialect=silent)
    evidence = updated({"endpoints": []}, name="another")
    assert list(judgements("4.6-15", evidence, rules_of_check)) == []


@pytest.mark.parametrize("field", ["type", "provider"])
def test_a_source_filter_that_refuses_an_unlisted_word_is_not_judged(field: str) -> None:
    observed = near_source(field, {})
    refused = refusal(400, "listSources", role="tried")
    evidence = replace(observed, exchanges=(*observed.exchanges[:-1], refused))
    assert verdicts("4.7-9 4.7-11", evidence) == {}
