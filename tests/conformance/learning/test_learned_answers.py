"""What was learned becomes a dialect, and a file that says why."""

from pathlib import Path

import pytest
import yaml

from hookproof.conformance.learning.learned_answers import Certainty, LearnedAnswers
from hookproof.conformance.learning.written_files import dialect_text
from hookproof.spec.dialect.reader import load_dialect, load_dialect_mapping


def over(name: str = "undecided") -> LearnedAnswers:
    return LearnedAnswers(name, load_dialect(name))


def test_what_is_seen_answers_the_question() -> None:
    answers = over()
    answers.see("success.created", 202, shown_by="POST createEndpoint: 202", count=3)
    assert answers.dialect.success.created.allowed == (202,)
    assert answers.answer("success.created").certainty is Certainty.SEEN


def test_several_answers_that_fit_are_kept() -> None:
    answers = over()
    answers.see("delivery.zero_http_timeout", "default", "unlimited", shown_by="delivery 1 at t")
    assert len(answers.dialect.delivery.zero_http_timeout.allowed) == 2
    assert answers.answer("delivery.zero_http_timeout").certainty is Certainty.SEVERAL


def test_a_field_that_must_have_one_value_is_not_learned_from_several() -> None:
    answers = over()
    answers.see("rolling.expiration_unit", "minutes", "hours", shown_by="a roll")
    learned = answers.answer("rolling.expiration_unit")
    assert (learned.values, learned.certainty) == (("seconds",), Certainty.ASSUMED)
    assert "minutes or hours" in learned.reason


@pytest.mark.parametrize("number", [10**4000, -(10**41), float("inf"), 1e300])
def test_a_number_that_no_dialect_can_hold_is_not_learned(number: float) -> None:
    answers = over()
    answers.see("paging.default_per_page", number, shown_by="a list")
    assert answers.dialect.paging.default_per_page.allowed == ()
    assert "more digits than any has" in answers.answer("paging.default_per_page").reason


def test_an_answer_that_is_tried_may_be_any_number() -> None:
    assert over("reference").with_answer("paging.default_per_page", 10**4000) is None


def test_what_is_not_seen_stays_undecided_with_its_reason() -> None:
    answers = over()
    answers.miss("paging.sort_key", "the list is empty")
    learned = answers.answer("paging.sort_key")
    assert (learned.values, learned.certainty) == ((), Certainty.UNSEEN)
    assert learned.reason == "the list is empty"


def test_an_answer_of_the_extended_dialect_is_assumed() -> None:
    learned = over("contrary").answer("paging.sort_key")
    assert (learned.values, learned.certainty) == (("name",), Certainty.ASSUMED)


def test_an_answer_that_contradicts_another_is_forgotten() -> None:
    answers = over()
    answers.see("paging.owner_filter", "sort", shown_by="GET listPortalLinks")
    assert answers.dialect.paging.owner_filter == "ownerId"
    assert "contradicts" in answers.answer("paging.owner_filter").reason


def test_the_file_has_what_differs_and_where_it_was_seen() -> None:
    answers = over("reference")
    answers.see("success.created", 202, shown_by="POST createEndpoint: 202", count=3)
    answers.see("success.ok", 200, shown_by="GET listSources: 200")
    answers.see("signatures.simple.separator", " ", shown_by="delivery 1 at t")
    text = dialect_text(answers, Path())
    assert "  created: 202  # seen 3 times: POST createEndpoint: 202\n" in text
    assert yaml.safe_load(text)["success"] == {"created": 202}
    assert load_dialect_mapping(yaml.safe_load(text), "learned") == answers.dialect


def test_a_proof_from_a_hostile_target_stays_within_its_comment() -> None:
    answers = over()
    answers.see("success.created", 202, shown_by="a\nname: stolen")
    assert yaml.safe_load(dialect_text(answers, Path()))["name"] == "learned"


def test_a_file_that_is_extended_is_found_from_the_folder(tmp_path: Path) -> None:
    ours = tmp_path / "ours.yaml"
    ours.write_text("extends: undecided\nname: ours\nsummary: Ours.\n")
    answers = LearnedAnswers(str(ours), load_dialect(str(ours)))
    answers.see("success.created", 202, shown_by="POST createEndpoint: 202")
    (tmp_path / "out").mkdir()
    path = tmp_path / "out" / "dialect.yaml"
    path.write_text(dialect_text(answers, path.parent))
    assert load_dialect(str(path)) == answers.dialect
