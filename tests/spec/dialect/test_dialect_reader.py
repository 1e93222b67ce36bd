"""Files of dialects: how those that answer badly are refused."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from hookproof.spec.dialect.answer import Undecided
from hookproof.spec.dialect.answers import MAY_STAY_UNDECIDED, require_decided, undecided_fields
from hookproof.spec.dialect.file_schema import dialect_writing
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect, load_dialect_mapping
from hookproof.spec.dialect.vocabulary import OnInput
from hookproof.spec.strict_yaml.file_problem import FileProblems, Location
from tests.spec.dialect.dialect_files import (
    DIALECTS,
    answers,
    line_of,
    reference_text,
    refusal,
    written,
)
from tests.spec.dialect_variants import variant, variant_mapping


@pytest.mark.parametrize(
    ("field", "line", "problem"),
    [
        (
            "key_format",
            "  key_format: Bearer",
            'key_format: expected a text with {key} in it; found "Bearer"',
        ),
        (
            "key_format",
            '  key_format: "{key}\\r\\nX: y"',
            "key_format: expected printable ASCII text without blanks",
        ),
        (
            "key_scope",
            "  key_scope: projct",
            (
                "one of: project, account, key_decides (what one key has access to);"
                ' found "projct"; did you mean project?'
            ),
        ),
        (
            "wrong_key_status",
            "  wrong_key_status: 200",
            "expected a whole number from 400 to 499 (status for a key that",
        ),
        ("wrong_key_status", "  wrong_key_status: '401'", 'found "401"'),
        ("wrong_key_status", "  wrong_key_status: yes", 'found "yes"'),
        ("wrong_key_status", "  wrong_key_status: true", "found true"),
        ("wrong_key_status", "  wrong_key_status: 401.5", "found 401.5"),
        ("wrong_key_status", "  wrong_key_status:", "found null"),
        (
            "wrong_key_status",
            "  wrong_key_status: {one_of: []}",
            "one_of: expected a list that is not empty; found an empty",
        ),
        (
            "wrong_key_status",
            "  wrong_key_status: {one_of: [401, 7]}",
            "one_of[1]: expected a whole number from 400",
        ),
        (
            "wrong_key_status",
            "  wrong_key_status: {one_of: [401, 401]}",
            "one_of: expected each item once",
        ),
        (
            "wrong_key_status",
            "  wrong_key_status: {}",
            "expected a value, {one_of: [...]} or {undecided: why}; found an",
        ),
        (
            "wrong_key_status",
            "  wrong_key_status: {undecided: ''}",
            "undecided: expected the reason, in words; found",
        ),
        (
            "wrong_key_status",
            "  wrong_key_status: {undecided: x, one_of: [401]}",
            "expected a value, {one_of: [...]} or",
        ),
        (
            "wrong_key_status",
            "  wrong_key_status: {oneof: [401]}",
            "oneof: unknown key; did you mean one_of?",
        ),
        ("wrong_key_status", "  wrong_key_status: [401]", "found a list"),
        (
            "created",
            "  created: 404",
            "expected a whole number from 200 to 299 (status behind the label Created); found 404",
        ),
        ("body", "  body: refused", "errors.body: expected a mapping (error body;"),
        (
            "content_type",
            "  content_type: application/json; charset=utf-8",
            "a media type without parameters",
        ),
        (
            "no_value",
            "  no_value: null",
            "null, absent, empty (how a field without value is shown); found null; as a text",
        ),
        ("mask", "  mask: 12", 'found 12; as a text it is written "12"'),
        (
            "endpoint_active",
            "  endpoint_active: 1",
            "words.endpoint_active: expected a text (status of an endpoint that",
        ),
        (
            "oauth2_expiry_units",
            "  oauth2_expiry_units: {s: second}",
            "oauth2_expiry_units.s: expected one of: millisec",
        ),
        (
            "oauth2_expiry_units",
            "  oauth2_expiry_units: [seconds]",
            "expected a mapping (values of expiry_time_unit",
        ),
        (
            "source_types",
            "  source_types: http",
            'expected a list (values of a source\'s type); found "http"',
        ),
        (
            "source_types",
            "  source_types: [http, 7]",
            "words.source_types[1]: expected a text; found 7",
        ),
        (
            "size_limit",
            "  size_limit: 0",
            "expected a whole number or null of at least 1 (largest request body, in bytes;",
        ),
        (
            "owner_filter",
            '  owner_filter: "owner id"',
            "expected the name of a query parameter or null (name of the query",
        ),
        ("jitter", "  jitter: 1.5", "expected a number from 0 to 1"),
        (
            "disabled_receives",
            "  disabled_receives: no",
            "expected true or false (whether an endpoint created",
        ),
        (
            "event_id_header",
            '  event_id_header: "Event Id"',
            "expected the name of a header or null (delivery header with the",
        ),
        (
            "attempt_header",
            "  attempt_header: ''",
            "expected the name of a header or null (delivery header with the att",
        ),
        (
            "generated_bytes",
            "    generated_bytes: 8",
            "signatures.secret.generated_bytes: expected a whole number of at",
        ),
        ("policy", "polcy: none", "polcy: unknown key; did you mean policy?"),
        (
            "name",
            "name: My Service",
            "name: expected a word of small letters, digits and hyphens (name of the dialect)",
        ),
        (
            "summary",
            "summary: [a]",
            "summary: expected a text (what kind of service it describes); found a list",
        ),
        ("created", "  created: &x 201", "success.created: the anchor &x is not accepted"),
        ("accepted", "  created: 202", "success.created: is given twice, first on line"),
    ],
)
def test_a_wrong_answer_is_refused_with_its_line_and_what_was_expected(
    tmp_path: Path, field: str, line: str, problem: str
) -> None:
    text = reference_text(**{field: line})
    problems = refusal(written(tmp_path, text))
    (reported,) = (shown for shown in problems if "is missing" not in shown)
    assert reported.startswith(f"own.yaml:{text.splitlines().index(line) + 1}: ")
    assert problem in reported


def test_a_missing_answer_is_reported_at_the_line_of_its_group(tmp_path: Path) -> None:
    text = reference_text(attempts="", created="")
    assert refusal(written(tmp_path, text)) == [
        (
            f"own.yaml:{line_of(text, 'success:')}: success.created: is missing;"
            " expected a whole number from 200 to 299 (status behind the label Created)"
        ),
        (
            f"own.yaml:{line_of(text, 'retry:')}: retry.attempts: is missing;"
            " expected a whole number of at least 1 (attempts for one delivery, the first one"
            " included)"
        ),
    ]


def test_a_file_in_which_everything_is_wrong_is_refused_with_everything(tmp_path: Path) -> None:
    def spoilt(value: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        groups = {
            name: field for name, field in schema["properties"].items() if "required" in field
        }
        return {
            name: spoilt(value[name], groups[name]) if name in groups else [{}] for name in value
        }

    reference = yaml.safe_load((DIALECTS / "reference.yaml").read_text())
    text = yaml.safe_dump(spoilt(reference, dialect_writing().schema), sort_keys=False)
    with pytest.raises(FileProblems) as caught:
        load_dialect(written(tmp_path, text))
    places = {problem.where.removesuffix("[0]") for problem in caught.value.problems}
    assert places == answers("reference").keys()
    lines = text.splitlines()
    for problem in caught.value.problems:
        assert problem.line is not None
        field = problem.where.removesuffix("[0]").split(".")[-1]
        assert lines[problem.line - 1].strip() in (f"{field}:", "- {}")


@pytest.mark.parametrize(
    "junk",
    [None, True, -1, 7, 1.5, 1e300, "", "x", "{", [], [None], {}, {"one_of": [{}]}, {"a": 1}],
)
def test_any_value_of_any_answer_is_accepted_or_refused_without_another_error(junk: object) -> None:
    for path in answers("reference"):
        with suppress(FileProblems):
            load_dialect_mapping(variant_mapping({path: junk}), "junk")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "own.yaml:1: expected a mapping; found null"),
        ("- reference", "own.yaml:1: expected a mapping; found a list"),
        ("reference", 'own.yaml:1: expected a mapping; found "reference"'),
        ("name: [", "own.yaml:2: this is not YAML: did not find expected node content"),
    ],
)
def test_a_file_without_answers_is_refused_in_one_line(
    tmp_path: Path, text: str, problem: str
) -> None:
    assert refusal(written(tmp_path, text + "\n")) == [problem]


def test_a_missing_file_is_refused_in_one_line(tmp_path: Path) -> None:
    assert refusal(f"{tmp_path}/none.yaml") == [
        "none.yaml: cannot be read: No such file or directory"
    ]


def test_a_folder_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    assert refusal(f"{tmp_path}/folder.yaml") == ["folder.yaml: cannot be read: it is a directory"]


@pytest.mark.parametrize("name", ["refrence", "Reference", "", "nul\0"])
def test_an_unknown_name_is_refused_with_the_names_that_there_are(name: str) -> None:
    with pytest.raises(FileProblems) as caught:
        load_dialect(name)
    assert (
        "no such dialect; expected one of: contrary, convoy, reference, standard-webhooks,"
        " undecided, or the path" in str(caught.value)
    )
    assert ("did you mean reference?" in str(caught.value)) == (name in {"refrence", "Reference"})


def test_all_contradictions_come_at_once_each_with_its_line(tmp_path: Path) -> None:
    text = reference_text(owner_filter="  owner_filter: sort", initial_s="  initial_s: 100")
    assert [line.split(": ")[:2] for line in refusal(written(tmp_path, text))] == [
        [f"own.yaml:{line_of(text, 'owner_filter')}", "paging.owner_filter"],
        [f"own.yaml:{line_of(text, 'initial_s')}", "retry.initial_s"],
    ]


def test_a_dialect_within_another_file_is_reported_with_its_origin() -> None:
    with pytest.raises(FileProblems) as caught:
        load_dialect_mapping(variant_mapping({"retry.attempts": 0}), "target.yaml: dialect")
    assert str(caught.value).startswith(
        "target.yaml: dialect: retry.attempts: expected a whole number of at least 1 ("
    )


def test_a_dialect_within_another_file_is_reported_with_the_lines_of_that_file_where_known() -> (
    None
):
    lines: Mapping[Location, int] = {(): 4, ("retry",): 8, ("retry", "attempts"): 9}
    with pytest.raises(FileProblems) as caught:
        load_dialect_mapping(
            variant_mapping({"retry.attempts": 0, "paging.name_filter": 1}), "t.yaml", lines=lines
        )
    assert [problem.line for problem in caught.value.problems] == [4, 9]


def test_a_dialect_within_another_file_extends_files_beside_it(tmp_path: Path) -> None:
    written(tmp_path, reference_text(policy="policy: Beside."), "beside.yaml")
    dialect: Dialect = load_dialect_mapping(
        variant_mapping({}, extends="beside.yaml"), "t", folder=tmp_path
    )
    assert dialect.policy == "Beside."


def test_words_are_accepted_or_refused_alike_within_answers_of_several_values() -> None:
    answer = variant(
        {"requests.unknown_fields": {"one_of": ["refused", "ignored"]}}
    ).requests.unknown_fields
    assert answer.allowed == (OnInput.REFUSED, OnInput.IGNORED)
    with pytest.raises(
        FileProblems,
        match=r"requests\.unknown_fields\.one_of\[0\]: expected one of: ignored, refused",
    ):
        variant({"requests.unknown_fields": {"one_of": ["refuse"]}})


# The answers that came after the format of the files (dialect/model.py): a promise to users.
YOUNGER = sorted(set(MAY_STAY_UNDECIDED) - {"delivery.notify_on", "delivery.own_events"})


def older_mapping() -> dict[str, Any]:
    """The reference dialect without the answers that a file need not have."""
    mapping: dict[str, Any] = yaml.safe_load(reference_text())
    for path in YOUNGER:
        group, name = path.split(".")
        del mapping[group][name]
    return mapping


def test_a_file_need_not_answer_a_gap_that_is_younger_than_its_format() -> None:
    older = load_dialect_mapping(older_mapping(), "older.yaml")
    assert set(undecided_fields(older)) == set(YOUNGER)
    assert older.requests.update_left_out.reason
    require_decided(older)


def test_a_server_can_act_by_a_dialect_that_leaves_open_what_it_sends_besides_deliveries() -> None:
    undecided = {"undecided": "nobody asked"}
    require_decided(variant({"delivery.own_events": undecided, "delivery.notify_on": undecided}))
    with pytest.raises(Undecided, match=r"retry\.attempts"):
        require_decided(variant({"retry.attempts": undecided}))


def test_a_dialect_can_extend_one_that_is_older_than_a_gap(tmp_path: Path) -> None:
    (tmp_path / "older.yaml").write_text(yaml.safe_dump(older_mapping()))
    younger: Dialect = load_dialect_mapping(
        variant_mapping({"representation.event_raw": "none"}, extends="older.yaml"),
        "t",
        folder=tmp_path,
    )
    assert younger.representation.event_raw.decided
    assert set(undecided_fields(younger)) == set(YOUNGER) - {"representation.event_raw"}
