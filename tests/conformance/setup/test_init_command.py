"""`hookproof init`: what it asks, what it writes, and what it leaves alone."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from hookproof.conformance.setup.command import init
from hookproof.spec.strict_yaml.editor_schema import naming_comment
from tests.conformance.command import check, run_command
from tests.conformance.reference_server import reference_server
from tests.conformance.scripted_target import closed_port
from tests.source_tree import ROOT

NAMED = ("--project", "p1", "--api-key", "key-p1", "--ca-dir", "ca")


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ((), "URL is missing"),
        (("http://127.0.0.1:1",), "--project is missing"),
        (("http://127.0.0.1:1", "--project", "p1"), "--api-key is missing"),
    ],
)
def test_without_a_terminal_what_is_missing_is_one_line(
    tmp_path: Path, words: tuple[str, ...], missing: str
) -> None:
    done = run_command(tmp_path, "init", *words)
    assert (done.code, done.out) == (64, "")
    (line,) = done.err.splitlines()
    assert missing in line
    assert list(tmp_path.iterdir()) == []


def test_all_that_is_asked_for_is_written_without_the_key_and_serves_check(tmp_path: Path) -> None:
    with reference_server(tmp_path, ROOT, "p1", options=("--dialect", "contrary")) as ready:
        answers = f"{ready['api']}\np1\nkey-p1\n\n\ny\n"
        out = tmp_path / "ours"
        words = ["--ask", "--ca-dir", str(tmp_path / "ca"), "--profile", "quick", "--out", str(out)]
        done = CliRunner().invoke(init, words, input=answers)
        assert done.exit_code == 0, done.output
        assert "key-p1" not in done.output
        texts = {path.name: path.read_text() for path in out.iterdir() if path.is_file()}
        only = ("--only", "4.9-2", "--profile", "quick")
        judged = check(tmp_path, "--target", "ours/target.yaml", *only, HOOKPROOF_API_KEY="key-p1")
    assert sorted(texts) == ["dialect.yaml", "learned.html", "schemathesis.toml", "target.yaml"]
    assert "HookKey key=${HOOKPROOF_API_KEY}" in texts["schemathesis.toml"]
    assert not any("key-p1" in text for text in texts.values())
    assert texts["target.yaml"].startswith(naming_comment("target"))
    assert (out / ".hookproof" / "target.schema.json").is_file()
    assert f"hookproof check --target {out / 'target.yaml'}" in done.output
    assert "${{ secrets.HOOKPROOF_API_KEY }}" in done.output
    assert judged.code == 0, judged.out + judged.err


def test_a_file_that_exists_is_overwritten_only_if_that_is_asked_for(tmp_path: Path) -> None:
    folder = tmp_path / "hookproof"
    folder.mkdir()
    (folder / "target.yaml").write_text("mine")
    form: dict[str, Any] = {"extends": "reference", "name": "ours", "summary": "Ours."}
    form["authentication"] = {"key_format": "Token {key}"}
    (tmp_path / "ours.yaml").write_text(yaml.safe_dump(form))
    options = ("--dialect", str(tmp_path / "ours.yaml"))
    with reference_server(tmp_path, ROOT, "p1", options=options) as ready:
        refused = run_command(tmp_path, "init", ready["api"], *NAMED)
        kept = (folder / "target.yaml").read_text()
        forced = run_command(tmp_path, "init", ready["api"], *NAMED, "--force")
    assert (refused.code, kept) == (64, "mine")
    assert "give --force" in refused.err
    assert forced.code == 0, forced.err
    written = yaml.safe_load((folder / "target.yaml").read_text())
    assert written["dialect"]["extends"] == "undecided"
    assert written["dialect"]["authentication"] == {"key_format": "Token {key}"}
    assert written["receiver"] == {"ca": "../ca/ca.pem", "ca_key": "../ca/ca.key"}
    assert written["projects"] == [{"id": "p1", "api_key": "${HOOKPROOF_API_KEY}"}]


def test_nothing_is_written_of_a_server_that_cannot_be_reached(tmp_path: Path) -> None:
    with closed_port() as url:
        done = run_command(tmp_path, "init", url, "--project", "p1", "--api-key", "key")
    assert done.code == 4
    assert "target.yaml was not written" in done.err
    assert (tmp_path / "hookproof" / "ca" / "ca.pem").is_file()
    assert not (tmp_path / "hookproof" / "target.yaml").exists()


def test_a_second_project_is_asked_for_and_written_with_a_variable_of_its_own(
    tmp_path: Path,
) -> None:
    with reference_server(tmp_path, ROOT, "p1", "p2") as ready:
        answers = f"{ready['api']}\np1\nkey-p1\np2\nkey-p2\n\n"
        out = tmp_path / "ours"
        words = ["--ask", "--no-learn", "--ca-dir", str(tmp_path / "ca"), "--out", str(out)]
        done = CliRunner().invoke(init, words, input=answers)
    assert done.exit_code == 0, done.output
    assert "to judge that projects are isolated" in done.output
    assert "key-p" not in done.output
    assert yaml.safe_load((out / "target.yaml").read_text())["projects"] == [
        {"id": "p1", "api_key": "${HOOKPROOF_API_KEY}"},
        {"id": "p2", "api_key": "${HOOKPROOF_API_KEY_2}"},
    ]
    assert "  export HOOKPROOF_API_KEY_2=...\n" in done.output
    assert "      HOOKPROOF_API_KEY_2: ${{ secrets.HOOKPROOF_API_KEY_2 }}" in done.output


@pytest.mark.parametrize("command", ["init", "learn"])
def test_a_target_that_does_not_trust_the_ca_ends_it_with_the_one_thing_to_do(
    tmp_path: Path, command: str
) -> None:
    with reference_server(tmp_path, ROOT, "p1", trusts_ca=False) as ready:
        options = ("--learn",) if command == "init" else ()
        done = run_command(tmp_path, command, ready["api"], *NAMED, *options)
    assert done.code == 64
    line = done.err.splitlines()[-1]
    assert f"let it trust {Path('ca', 'ca.pem')} as an authority" in line
    assert "Next:" not in done.out
    assert not (tmp_path / "hookproof" / "dialect.yaml").exists()
    assert not (tmp_path / "hookproof" / "target.yaml").exists()


def test_in_a_terminal_a_refused_overwriting_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "target.yaml").write_text("mine")
    words = ["--ask", "--out", str(tmp_path), "--no-learn", "--receiver-bind", "127.0.0.1:0"]
    answers = "http://127.0.0.1:1\np1\nkey\n\n\nn\n"
    done = CliRunner().invoke(init, words, input=answers)
    assert done.exit_code == 64
    assert "is kept, and no other file was written" in done.output
    assert (tmp_path / "target.yaml").read_text() == "mine"
