"""`hookproof dialect`: shows, lists, compares and checks."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from hookproof.cli import cli
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.spec.catalogue import dialect_fields, load_catalogue
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect, load_dialect_mapping, shipped_dialects
from hookproof.spec.dialect.vocabulary import TimestampForm
from hookproof.spec.dialect.writer import answer_text
from hookproof.spec.strict_yaml.parser import parse_yaml
from tests.spec.random_dialects import known_of, random_dialect

OURS = "extends: undecided\nname: ours\nsummary: Ours.\nretry: {attempts: 3}\n"


def dialect(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["dialect", *arguments], standalone_mode=False)


def listed(*selectors: str) -> dict[str, dict[str, Any]]:
    """The fields that selectors choose, by their names."""
    return {
        field["name"]: field for field in json.loads(dialect("fields", "--json", *selectors).output)
    }


@pytest.mark.parametrize("name", shipped_dialects())
def test_what_show_writes_is_a_file_of_the_same_dialect(name: str, tmp_path: Path) -> None:
    (tmp_path / "shown.yaml").write_text(dialect("show", name).output)
    assert load_dialect(str(tmp_path / "shown.yaml")) == load_dialect(name)


@pytest.mark.parametrize("seed", range(10))
def test_what_show_writes_of_any_dialect_is_a_file_of_it(seed: int, tmp_path: Path) -> None:
    drawn = known_of(random_dialect(seed), seed) | {"policy": "Two lines:\n- 'a' # \"b\" \u00e9"}
    (tmp_path / "drawn.yaml").write_text(yaml.safe_dump(drawn))
    (tmp_path / "shown.yaml").write_text(dialect("show", str(tmp_path / "drawn.yaml")).output)
    expected: Dialect = load_dialect_mapping(drawn, "drawn")
    assert load_dialect(str(tmp_path / "shown.yaml")) == expected


@pytest.mark.parametrize("answer", ["a\n\n b", {"a": ["b\nc", 1, None]}, "no", "1", "", 1e300])
def test_an_answer_is_written_in_one_line(answer: object) -> None:
    text = answer_text(answer)
    assert "\n" not in text
    assert parse_yaml(f"a: {text}", "f").value == {"a": answer}


def test_show_explains_each_field_in_a_comment() -> None:
    lines = dialect("show", "reference").output.splitlines()
    place = lines.index("  attempts: 5")
    assert lines[place - 1] == "  # attempts for one delivery, the first one included"
    assert lines[place - 2] == "retry:"


def test_show_writes_json() -> None:
    shown = json.loads(dialect("show", "standard-webhooks", "--json").output)
    assert shown["signatures"]["secret"]["prefix"] == "whsec_"
    assert shown["retry"]["attempts"] == 5


def test_every_field_is_listed_with_its_question_words_and_default() -> None:
    fields = listed()
    assert {name for name, field in fields.items() if "question" in field} == dialect_fields()
    timestamp = fields["representation.timestamp"]
    assert timestamp["question"] == load_catalogue().gaps["timestamp-form"].question
    assert timestamp["section"] == "2.9"
    assert timestamp["words"] == [form.value for form in TimestampForm]
    assert timestamp["default"] == {"undecided": "not answered"}
    assert timestamp["reference"] == "rfc3339_microseconds"
    assert fields["signatures.simple.signed"]["expected"] == "a text; a text with {body} in it"


def test_fields_are_grouped_and_each_has_its_default() -> None:
    text = dialect("fields", "rolling").output
    assert text.startswith("rolling: secret rolling\n\n  rolling.expiration_unit\n")
    assert "answer      one of: milliseconds, seconds, minutes, hours\n" in text
    assert "default     undecided; the reference dialect says 0\n" in text
    assert text.endswith("\n2 fields\n")


def test_a_list_of_fields_fits_into_80_columns() -> None:
    assert max(map(len, dialect("fields").output.splitlines())) <= 80


@pytest.mark.parametrize(
    ("selector", "chosen"),
    [
        ("retry.attempts", {"retry.attempts"}),
        ("attempts", {"retry.attempts"}),
        ("rolling", {"rolling.expiration_unit", "rolling.default_expiration"}),
        (
            "authentication.*_key_s*",
            {f"authentication.{which}_key_status" for which in ("missing", "wrong", "foreign")},
        ),
        ("name", {"name"}),
        (
            "2.4",
            {
                "representation.expired_secrets",
                "representation.secrets_shown",
                "signatures.secret.prefix",
                "signatures.secret.prefix_in_key",
                "signatures.secret.form",
                "signatures.secret.generated_bytes",
            },
        ),
    ],
)
def test_a_selector_chooses_fields(selector: str, chosen: set[str]) -> None:
    assert listed(selector).keys() == chosen


def test_several_selectors_choose_what_any_of_them_does() -> None:
    assert listed("jitter", "rolling").keys() == {"retry.jitter", *listed("rolling")}


def test_a_selector_of_nothing_is_refused_with_the_nearest_name() -> None:
    outcome = dialect("fields", "retry.atempts")
    assert isinstance(outcome.exception, CommandError)
    assert outcome.exception.exit_code == ExitCode.USAGE
    assert "'retry.atempts' is no field, group or section; did you mean retry.attempts?" in str(
        outcome.exception.message
    )


def test_equal_dialects_do_not_differ(tmp_path: Path) -> None:
    (tmp_path / "same.yaml").write_text("extends: reference\nname: same\nsummary: Same.\n")
    outcome = dialect("diff", "reference", str(tmp_path / "same.yaml"))
    assert outcome.return_value == ExitCode.OK
    assert outcome.output == "Both give the same answers.\n"


def test_differing_answers_are_shown_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text(
        OURS.replace("{attempts: 3}", "{attempts: {one_of: [3, 4]}}")
    )
    ours = str(tmp_path / "ours.yaml")
    outcome = dialect("diff", "undecided", ours)
    width = len(ours)
    assert outcome.return_value == ExitCode.FAILED
    assert outcome.output.splitlines() == [
        "retry.attempts",
        f"  {'undecided':<{width}}  {{undecided: not answered}}",
        f"  {ours}  {{one_of: [3, 4]}}",
        "1 answer differs.",
    ]


def test_the_reason_of_an_undecided_answer_makes_no_difference(tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text(OURS.replace("3", "{undecided: nobody knows}"))
    assert (
        json.loads(dialect("diff", "undecided", str(tmp_path / "ours.yaml"), "--json").output) == []
    )


def test_differences_are_written_as_json() -> None:
    differences = json.loads(dialect("diff", "reference", "standard-webhooks", "--json").output)
    by_name = {each["name"]: each for each in differences}
    assert by_name["delivery.event_id_header"]["first"] == "X-Webhook-Event-Id"
    assert by_name["delivery.event_id_header"]["second"] == "webhook-id"
    assert by_name["delivery.event_id_header"]["section"]


@pytest.mark.parametrize("arguments", [("show", "nope"), ("diff", "nope", "reference")])
def test_a_dialect_that_does_not_exist_is_refused(arguments: tuple[str, ...]) -> None:
    outcome = dialect(*arguments)
    assert isinstance(outcome.exception, CommandError)
    assert outcome.exception.exit_code == ExitCode.USAGE
