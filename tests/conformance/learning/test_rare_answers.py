"""Answers that few services have are learned as what they are, not as the usual ones."""

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookproof.conformance.learning.learned_answers import Certainty
from hookproof.conformance.learning.probes.authentication import is_mask_of
from hookproof.conformance.model.profile import Profile
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.writer import written_dialect
from tests.conformance.command import run_command
from tests.conformance.learn_all import PROJECTS, SOURCES, described, learn, learned_scores
from tests.conformance.learning_score import Outcome
from tests.conformance.reference_server import reference_server
from tests.conformance.spoiling_proxy import ProxyAnswer, spoiling_proxy

INVALID = 400
BROKEN = ProxyAnswer(status=500, headers=(("Content-Type", "application/json"),), body=b"{}")
# The share of answers, and of the values in them, that is spoilt.
SPOILT = 0.2
ODD: list[Any] = [None, "", "\u00b2", "9" * 5000, 10**400, -1, 1.5, True, [], {}, [None], {"": 0}]


def scored(folder: Path, profile: Profile, **answers: Any) -> dict[str, tuple[Outcome, Any]]:
    """How each of these fields is learned from a server that answers so, by the field's name."""
    mapping = written_dialect(load_dialect("reference"))
    fields = {name.replace("__", "."): value for name, value in answers.items()}
    for field, value in fields.items():
        group, name = field.split(".")
        mapping[group][name] = value
    found, _ = learned_scores(folder, mapping, profile, judge=False)
    assert [described(score) for score in found if score.outcome is Outcome.WRONG] == []
    return {
        score.field: (score.outcome, score.learned.values)
        for score in found
        if score.field in fields
    }


def right(**answers: Any) -> dict[str, tuple[Outcome, Any]]:
    return {name.replace("__", "."): (Outcome.RIGHT, (value,)) for name, value in answers.items()}


def test_answers_that_differ_by_operation_or_look_like_others(tmp_path: Path) -> None:
    answers: dict[str, Any] = {
        "delivery__creation_visit": "post",
        "errors__unknown_resource": 410,
        "errors__by_operation": {"getEndpoint": {"unknown_resource": 406}},
        "rolling__default_expiration": 0,
        "representation__expired_secrets": "left_out",
        "representation__timestamp": "unix_microseconds",
        "representation__masked": ["authentication.basic_auth.password"],
        "representation__mask": "(hidden)",
        "requests__text_maximum_of": {"name": 255, "event_type": 77},
        "requests__nesting_maximum": 33,
    }
    assert scored(tmp_path, Profile.QUICK, **answers) == right(**answers)


def test_bounds_that_no_request_meets_are_none_up_to_what_was_tried(tmp_path: Path) -> None:
    assumed = {"requests__size_limit": None, "requests__expiration_minimum": None}
    open_ones = {"paging__maximum_per_page": None, "requests__nesting_maximum": None}
    assert scored(tmp_path, Profile.QUICK, **assumed, **open_ones) == {
        **{name.replace("__", "."): (Outcome.OPEN, (None,)) for name in assumed},
        **{name.replace("__", "."): (Outcome.OPEN, ()) for name in open_ones},
    }


def test_a_url_that_has_to_answer_before_an_endpoint_is_created(tmp_path: Path) -> None:
    answers = {
        "delivery__creation_visit": "head_get_post",
        "delivery__failed_visit": "refused",
        "requests__create_endpoint_requires": ["url"],
    }
    assert scored(tmp_path, Profile.QUICK, **answers) == right(**answers)


def test_an_endpoint_that_is_late_to_receive_is_waited_for(tmp_path: Path) -> None:
    found = scored(tmp_path, Profile.QUICK, delivery__visible_within_s=3.4)
    assert found["delivery.visible_within_s"][0] is Outcome.RIGHT


def test_refusals_with_bodies_of_their_own_and_what_the_api_and_headers_show(
    tmp_path: Path,
) -> None:
    answers: dict[str, Any] = {
        "authentication__key_scope": "key_decides",
        "idempotency__duplicate": "flagged_first_event",
        "delivery__event_id_header": None,
        "delivery__creation_visit": "get",
        "errors__bodies": {
            "missing_key": {"denied": "{message}", "help": "{any}"},
            "method_not_allowed": None,
        },
        "requests__create_broadcast_event_requires": [],
        "requests__create_broadcast_event_requires_one_of": ["data", "event_type"],
        "requests__update_portal_link_requires_one_of": [],
    }
    assert scored(tmp_path, Profile.QUICK, **answers) == right(**answers)


def test_a_redirect_that_is_followed(tmp_path: Path) -> None:
    answers = {"retry__redirect": "followed", "delivery__creation_visit": "any"}
    found = scored(tmp_path, Profile.STANDARD, **answers)
    assert found["retry.redirect"] == (Outcome.RIGHT, ("followed",))
    assert found["delivery.creation_visit"] == (Outcome.RIGHT, ("head",))


def test_what_is_neither_a_success_nor_a_refusal_teaches_nothing(tmp_path: Path) -> None:
    def broken_instead_of_refused(_number: int, fetch: Callable[[], ProxyAnswer]) -> ProxyAnswer:
        answer = fetch()
        return BROKEN if answer.status == INVALID else answer

    with (
        reference_server(tmp_path, SOURCES, *PROJECTS) as addresses,
        spoiling_proxy(addresses["api"], broken_instead_of_refused) as url,
    ):
        answers = learn(tmp_path, url, Profile.QUICK).answers
    for field in (
        "paging.bad_parameter",
        "paging.bad_cursor",
        "paging.maximum_per_page",
        "paging.above_maximum",
    ):
        assert not answers.is_seen(field), field
        assert "neither a success nor a refusal" in answers.answer(field).reason
    needed = answers.answer("requests.create_endpoint_requires")
    assert (needed.certainty, needed.values) == (Certainty.ASSUMED, (["name", "url"],))
    assert answers.answer("success.created").values == (201,)


@pytest.mark.parametrize("seed", range(2))
def test_answers_that_are_spoilt_at_random_never_end_a_run(tmp_path: Path, seed: int) -> None:
    choice = random.Random(seed)

    def spoil(_number: int, fetch: Callable[[], ProxyAnswer]) -> ProxyAnswer:
        answer = fetch()
        if choice.random() > SPOILT:
            return answer
        if choice.random() < SPOILT:
            return BROKEN
        body = json.dumps(spoilt(json.loads(answer.body), choice)).encode()
        return replace(answer, body=body)

    with (
        reference_server(tmp_path, SOURCES, *PROJECTS) as addresses,
        spoiling_proxy(addresses["api"], spoil) as url,
    ):
        words = (url, "--project", "p1", "--api-key", "key-p1", "--ca-dir", "ca")
        done = run_command(tmp_path, "learn", *words, "--profile", "quick")
    assert done.code == 0, done.err


def spoilt(value: Any, choice: random.Random) -> Any:
    """The same JSON with odd values in some places."""
    if choice.random() < SPOILT:
        return choice.choice(ODD)
    if isinstance(value, dict):
        return {name: spoilt(item, choice) for name, item in value.items()}
    if isinstance(value, list):
        return [spoilt(item, choice) for item in value]
    return value


def test_a_broadcast_that_takes_times_in_another_form_than_it_shows(tmp_path: Path) -> None:
    options = ("--variant", "acknowledged_at_in_seconds")
    with reference_server(tmp_path, SOURCES, *PROJECTS, options=options) as addresses:
        answers = learn(tmp_path, addresses["api"], Profile.QUICK).answers
    assert answers.is_seen("requests.create_broadcast_event_requires")
    assert set(answers.value("requests.create_broadcast_event_requires")) == {"event_type", "data"}


def test_credentials_whose_ends_are_shown_behind_their_masks(tmp_path: Path) -> None:
    options = ("--variant", "ends_of_credentials")
    with reference_server(tmp_path, SOURCES, "p1", options=options) as addresses:
        answers = learn(tmp_path, addresses["api"], Profile.QUICK).answers
    masked = load_dialect("reference").representation.masked
    assert set(answers.value("representation.masked")) == set(masked)


@pytest.mark.parametrize(
    ("text", "is_mask"),
    [
        ("********", True),
        ("", True),
        ("(hidden)", True),
        ("********-one", True),
        ("a-sec****", True),
        ("a-s...one", True),
        ("a-secret-***one", False),
        ("********-two", False),
        ("a-secret-of-some-one", False),
        ("a-secret", False),
        ("a-sone", False),
    ],
)
def test_what_is_a_mask_of_a_credential(text: str, *, is_mask: bool) -> None:
    assert is_mask_of(text, "a-secret-of-some-one") is is_mask
