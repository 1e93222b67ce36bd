"""A whole run for a service that answers nothing but what must be known: nothing accuses it."""

from pathlib import Path
from typing import Any, Final

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.answers import answers_of
from hookproof.spec.dialect.reader import load_dialect, shipped_dialects
from hookproof.spec.dialect.writer import written_dialect
from tests.conformance.command import check, reported_requirements
from tests.conformance.reference_server import reference_server, write_target_file
from tests.source_tree import ROOT
from tests.spec.dialect_variants import ANSWERED, variant_mapping

QUESTION: Final = (
    "The dialect does not decide: Which responses show secret values in clear?"
    " (representation.secrets_shown)"
)


def what_must_be_known(name: str) -> dict[str, Any]:
    """A dialect that extends `undecided` and has this one's answers where they cannot stay open."""
    written = written_dialect(load_dialect(name))
    return {
        path: value_at(written, path)
        for path, answer in answers_of(load_dialect(name))
        if not isinstance(answer, Answer) and path not in {"name", "summary"}
    }


def value_at(written: Any, path: str) -> Any:
    for name in path.split("."):
        written = written[name]
    return written


def test_the_dialects_of_this_test_are_the_shipped_ones() -> None:
    assert set(shipped_dialects()) == {*ANSWERED, "undecided"}


def test_a_service_is_not_accused_by_answers_that_it_never_gave(tmp_path: Path) -> None:
    stranger = variant_mapping(what_must_be_known("contrary"), extends="undecided")
    with reference_server(tmp_path, ROOT, "p1", "p2", options=("--dialect", "contrary")) as ready:
        write_target_file(tmp_path, ready["api"], "p1", "p2", dialect=stranger)
        done = check(tmp_path, "--target", "target.yaml", "--profile", "quick", "--budget", "600")
    judged = reported_requirements(tmp_path)
    accused = {name: each for name, each in judged.items() if each["verdict"] in {"fail", "error"}}
    assert accused == {}
    assert done.code == 3, done.out
    assert QUESTION in done.out
    assert "requirements depend on; the reports name the questions" in done.out
    assert judged["2.3-11"]["reasons"] == [QUESTION, *judged["2.3-11"]["reasons"][1:]]
