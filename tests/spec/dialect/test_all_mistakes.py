"""All mistakes of a dialect file are reported at once, and none that is not there."""

import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from hookproof.spec.dialect import reader
from hookproof.spec.dialect.answers import answers_of
from hookproof.spec.dialect.reader import load_dialect, load_dialect_mapping
from hookproof.spec.dialect.writer import written_dialect
from hookproof.spec.strict_yaml.file_problem import LONGEST_TEXT, FileProblems
from tests.spec.dialect.dialect_files import reference_text, refusal, written
from tests.spec.random_dialects import known_of, random_dialect

HEAD = "extends: reference\nname: own\nsummary: Own.\n"
FIELDS = [name for name, _ in answers_of(load_dialect("reference"))]

# Values of which each is wrong in most fields, and one of them in any.
WRONG: list[Any] = [{"nonesuch": 1}, ["nonesuch", 1], 7.5, "none such\x07"]


def mistakes(folder: Path, text: str) -> list[str]:
    """The lines with which a file is refused that extends the reference dialect."""
    return [line.removeprefix("own.yaml:") for line in refusal(written(folder, HEAD + text))]


def problem_places(mapping: dict[str, Any]) -> set[str]:
    """The fields that are reported, empty if the dialect is accepted."""
    try:
        load_dialect_mapping(mapping, "own.yaml")
    except FileProblems as caught:
        return {field_at(problem.where) for problem in caught.problems}
    return set()


def field_at(where: str) -> str:
    """The field to which a place belongs; the place itself if it is in none."""
    around = (
        name for name in FIELDS if where == name or where.startswith((f"{name}.", f"{name}["))
    )
    return next(around, where)


def spoil(mapping: dict[str, Any], name: str, value: Any) -> None:
    *groups, last = name.split(".")
    for group in groups:
        mapping = mapping[group]
    mapping[last] = value


def test_mistakes_of_every_kind_come_at_once_each_with_its_line(tmp_path: Path) -> None:
    text = """\
authentication:
  key_format: "Bearer {key} {kye}"
  wrong_key_status: "401"
  missing_key_status: [401, 403]
representation: {timestamp: rfc3399}
requests: {create_endpoint_requires: [urll], unknown_field: refused}
errors: {body: {reason: "{mesage}"}}
signatures:
  simple:
    signed: "{timestmp}.{body}"
    item: 7
  advanced:
    secrets: newest
"""
    expected = [
        ("5: authentication.key_format: unknown placeholder {kye};", "did you mean key?"),
        ("6: authentication.wrong_key_status: ", 'found "401"; without quotes it is a number'),
        ("7: authentication.missing_key_status: ", "are written {one_of: [401, 403]}"),
        ("8: representation.timestamp: ", 'found "rfc3399"; did you mean rfc3339?'),
        ("9: requests.unknown_field: unknown key;", "did you mean unknown_fields?"),
        ("9: requests.create_endpoint_requires[0]: ", "urll; did you mean url?"),
        ("10: errors.body.reason: unknown placeholder {mesage};", "did you mean message?"),
        ("13: signatures.simple.signed: unknown placeholder {timestmp};", "mean timestamp?"),
        ("14: signatures.simple.item: ", 'found 7; as a text it is written "7"'),
        ("16: signatures.advanced.secrets: ", "all living secrets sign (section 4.3)"),
    ]
    for line, (start, end) in zip(mistakes(tmp_path, text), expected, strict=True):
        assert line.startswith(start)
        assert line.endswith(end)


@pytest.mark.parametrize(
    ("written_answer", "suggested"),
    [
        ("[null, absent]", '{one_of: ["null", absent]}'),
        ("[absent, empty]", "{one_of: [absent, empty]}"),
        ("['null', empty]", '{one_of: ["null", empty]}'),
    ],
)
def test_a_list_of_answers_is_answered_with_how_several_are_written(
    tmp_path: Path, written_answer: str, suggested: str
) -> None:
    (line,) = mistakes(tmp_path, f"representation: {{no_value: {written_answer}}}\n")
    assert line.endswith(f"found a list; several values are written {suggested}")
    answer = yaml.safe_load(suggested)
    accepted = {"extends": "reference", "name": "own", "summary": "Own."}
    load_dialect_mapping({**accepted, "representation": {"no_value": answer}}, "own.yaml")


def test_an_empty_list_suggests_nothing(tmp_path: Path) -> None:
    (line,) = mistakes(tmp_path, "representation: {no_value: []}\n")
    assert line.endswith("found an empty list")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("attempts: 3\n", "4: attempts: unknown key here; did you mean retry.attempts?"),
        ("retry: {jiter: 0}\n", "4: retry.jiter: unknown key; did you mean jitter?"),
        ("retry: {key_scop: project}\n", "did you mean authentication.key_scope?"),
        (
            "signatures: {header: X-S}\n",
            "did you mean signatures.simple.header or signatures.advanced.header?",
        ),
        ("qqqq: 1\n", "4: qqqq: unknown key; expected one of: extends, name, summary, assumed,"),
    ],
)
def test_a_key_that_belongs_elsewhere_is_sent_there(
    tmp_path: Path, text: str, problem: str
) -> None:
    (line,) = mistakes(tmp_path, text)
    assert problem in line


def test_a_dialect_that_is_extended_but_missing_is_reported_with_the_other_mistakes(
    tmp_path: Path,
) -> None:
    text = "extends: gone.yaml\nname: own\nsummary: Own.\nretry: {attempts: 0}\n"
    text += 'authentication: {key_format: "{key} {kye}"}\n'
    lines = refusal(written(tmp_path, text))
    assert [line.split(": ")[:2] for line in lines] == [
        ["own.yaml:1", "extends"],
        ["own.yaml:4", "retry.attempts"],
        ["own.yaml:5", "authentication.key_format"],
    ]


def test_contradictions_are_reported_beside_a_missing_answer(tmp_path: Path) -> None:
    mapping = written_dialect(load_dialect("reference"))
    del mapping["retry"]["attempts"]
    mapping["retry"]["initial_s"] = 1000
    assert problem_places(mapping) == {"retry.attempts", "retry.initial_s"}


def test_an_answer_that_cannot_be_read_contradicts_nothing() -> None:
    mapping = written_dialect(load_dialect("reference"))
    mapping["retry"].update(initial_s=1000, maximum_s="long")
    assert problem_places(mapping) == {"retry.maximum_s"}


@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_reported_but_what_is_wrong(seed: int) -> None:
    draw = random.Random(seed)
    mapping = known_of(random_dialect(seed), seed)
    wrong = set(draw.sample(FIELDS, draw.randint(1, 12)))
    for name in wrong:
        spoil(mapping, name, draw.choice(WRONG))
    assert problem_places(mapping) <= wrong


@pytest.mark.parametrize("field", FIELDS)
def test_one_answer_that_cannot_be_read_is_the_only_one_reported(field: str) -> None:
    mapping = written_dialect(load_dialect("contrary"))
    spoil(mapping, field, WRONG[0])
    assert problem_places(mapping) <= {field}


def test_a_mistake_in_the_dialect_that_completes_others_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_FOLDER", tmp_path)
    written(tmp_path, f"nonesuch: 1\n{reference_text()}", "reference.yaml")
    with pytest.raises(FileProblems, match=r"reference\.yaml:1: nonesuch: unknown key"):
        load_dialect("reference")


def test_a_file_with_very_many_mistakes_is_refused_in_twenty_lines(tmp_path: Path) -> None:
    text = "".join(f"nonesuch_{number}: 1\n" for number in range(40))
    lines = mistakes(tmp_path, text)
    assert len(lines) == LONGEST_TEXT == 20
    assert lines[18].startswith("22: nonesuch_18: unknown key")
    assert lines[19] == " and 21 more problems"


def test_twenty_mistakes_are_all_shown(tmp_path: Path) -> None:
    lines = mistakes(tmp_path, "".join(f"nonesuch_{number}: 1\n" for number in range(20)))
    assert [line.split(": ")[1] for line in lines] == [f"nonesuch_{number}" for number in range(20)]
