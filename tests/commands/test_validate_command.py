"""`hookproof validate`: every kind of file is told by its content, and checked as what it is."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner, Result

from hookproof.cli import cli
from hookproof.commands.validate import KINDS
from hookproof.conformance.results.packed.writing import packed_run
from hookproof.conformance.results.run_file import NAME
from hookproof.load.profile.load_profile import shipped_profiles
from hookproof.process.exit_codes import ExitCode
from hookproof.receiver.signatures.schemes.catalogue import shipped_schemes, shown
from hookproof.spec.dialect.reader import shipped_dialects
from tests.conformance.canned_run import failed, finished_run, passed
from tests.source_tree import ROOT

OURS = "extends: undecided\nname: ours\nsummary: Ours.\nretry: {attempts: 3}\n"
# A small file of each kind that people write, with a mistake that its checker knows, and what the
# checker says of it.
WRITTEN: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "dialect": (OURS, "attempts: 3", "attempts: 0", ":4: retry.attempts: "),
    "target": ("base_url: http://127.0.0.1:5005\n", "http:", "ftp:", "base URL: "),
    "profile": (
        "name: p\nsummary: P.\nrate: 1\nduration_s: 1\nusers: 1\ndrain_s: 1\nfail_if: []\n",
        "users: 1",
        "users: 0",
        ":5: users: ",
    ),
    "baseline": (
        '- {id: "4.1-1", expected: fail, reason: known}\n',
        "expected: fail",
        "expected: pass",
        ":1: [0].expected: ",
    ),
    "script": (
        "tokens: {orders: {replies: [{status: 500}]}}\n",
        "status: 500",
        "status: 9",
        ":1: tokens.orders",
    ),
    "scheme": ("header: X-Signature\nsigned: '{body}'\n", "'{body}'", "body", "no placeholder"),
}


def validate(*words: Path | str) -> Result:
    arguments = ["validate", *map(str, words)]
    return CliRunner().invoke(cli, arguments, standalone_mode=False)


def kind_told(*words: Path | str) -> str | None:
    """The kind of the one file, which can be used."""
    outcome = validate("--json", *words)
    assert (outcome.return_value, outcome.stderr) == (ExitCode.OK, "")
    (found,) = json.loads(outcome.stdout)
    assert (found["usable"], found["problems"]) == (True, [])
    kind: str | None = found["kind"]
    return kind


def test_a_file_of_every_kind_is_tried() -> None:
    assert {*WRITTEN, "run"} == KINDS.keys()


@pytest.mark.parametrize("kind", WRITTEN)
def test_the_kind_is_told_by_the_content_whatever_the_name(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(WRITTEN[kind][0])
    assert kind_told(path) == kind
    assert kind_told("--as", kind, path.rename(tmp_path / "file.yaml")) == kind


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_mistake_is_reported_in_one_line_and_as_json(kind: str, tmp_path: Path) -> None:
    text, right, wrong, words = WRITTEN[kind]
    path = tmp_path / "file.yaml"
    path.write_text(text.replace(right, wrong))
    outcome = validate(path)
    assert (outcome.return_value, outcome.stdout) == (ExitCode.USAGE, "")
    assert outcome.stderr.startswith(str(path))
    assert words in outcome.stderr
    assert outcome.stderr.count("\n") == 1
    (found,) = json.loads(validate(path, "--json").stdout)
    assert (found["kind"], found["usable"], len(found["problems"])) == (kind, False, 1)


@pytest.mark.parametrize(
    ("folder", "kind"),
    [("spec/dialects", "dialect"), ("load/profiles", "profile")],
)
def test_shipped_files_are_told_apart(folder: str, kind: str) -> None:
    files = sorted((ROOT / "hookproof" / folder).glob("*.yaml"))
    assert files
    for path in files:
        assert kind_told(path) == kind


def test_each_scheme_of_the_catalogue_is_told_as_one(tmp_path: Path) -> None:
    for name, scheme in shipped_schemes().items():
        (tmp_path / f"{name}.yaml").write_text(shown(scheme))
    outcome = validate("--json", *sorted(tmp_path.iterdir()))
    assert {each["kind"] for each in json.loads(outcome.stdout)} == {"scheme"}
    assert outcome.return_value == ExitCode.OK


def test_with_its_kind_a_shipped_one_is_named() -> None:
    assert kind_told("--as", "dialect", shipped_dialects()[0]) == "dialect"
    assert kind_told("--as", "profile", shipped_profiles()[0]) == "profile"
    assert kind_told("--as", "scheme", "stripe") == "scheme"


@pytest.mark.parametrize("text", ["", "name: a\nsummary: b\n", "other: 1\n", "just a text\n"])
def test_what_could_be_several_kinds_needs_the_option(text: str, tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(text)
    outcome = validate(path)
    assert outcome.return_value == ExitCode.USAGE
    assert outcome.stderr.startswith(f"{path}: its content does not tell what it is: add --as ")


def test_a_run_is_checked_as_folder_as_file_and_packed(tmp_path: Path) -> None:
    finished_run(tmp_path, passed("4.1-1"), failed("4.1-2"))
    pack = tmp_path / "packed"
    pack.write_bytes(packed_run(tmp_path, [NAME], "0.1.0"))
    for path in (tmp_path, tmp_path / NAME, pack):
        assert kind_told(path) == "run"
        assert "the run can be read: DOES NOT CONFORM" in validate(path).stdout
    assert validate(pack).stdout.endswith("; 1 file as packed\n")
    lines = (tmp_path / NAME).read_text().splitlines(keepends=True)
    (tmp_path / NAME).write_text("".join(lines[:-1]))
    assert "is cut off" in validate(tmp_path).stderr


def test_a_pack_of_which_any_file_was_changed_is_refused(tmp_path: Path) -> None:
    finished_run(tmp_path, passed("4.1-1"))
    (tmp_path / "report.json").write_text("{}")
    pack = tmp_path / "run.zip"
    pack.write_bytes(packed_run(tmp_path, [NAME, "report.json"], "0.1.0"))
    assert kind_told(pack) == "run"
    (tmp_path / "report.json").write_text("[]")
    other = packed_run(tmp_path, [NAME, "report.json"], "0.1.0")
    manifest = pack.read_bytes()
    assert len(other) == len(manifest)
    at = next(i for i, (a, b) in enumerate(zip(manifest, other, strict=True)) if a != b)
    pack.write_bytes(manifest[:at] + other[at : at + 64] + manifest[at + 64 :])
    outcome = validate(pack)
    assert outcome.return_value == ExitCode.USAGE
    assert outcome.stderr.startswith(f"{pack}: ")


def test_a_dialect_that_can_be_used_is_described(tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text(OURS)
    outcome = validate("--as", "dialect", tmp_path / "ours.yaml", "reference")
    first, second = outcome.output.splitlines()
    assert outcome.return_value == ExitCode.OK
    assert first.startswith(f"{tmp_path}/ours.yaml: the dialect ours can be used; of ")
    assert second.startswith("reference: the dialect reference can be used; of ")


def test_each_file_that_cannot_be_used_is_reported_beside_the_others(tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text(OURS)
    (tmp_path / "bad.yaml").write_text(OURS.replace("attempts: 3", "attempts: 0, factr: 1"))
    outcome = validate("--as", "dialect", tmp_path / "bad.yaml", "refrence", tmp_path / "ours.yaml")
    assert outcome.return_value == ExitCode.USAGE
    assert "the dialect ours can be used" in outcome.stdout
    mistakes = outcome.stderr.splitlines()
    assert mistakes[0].startswith(f"{tmp_path}/bad.yaml:4: retry.attempts: expected a whole number")
    assert mistakes[1] == f"{tmp_path}/bad.yaml:4: retry.factr: unknown key; did you mean factor?"
    assert mistakes[2].startswith("refrence: no such dialect;")
