"""`hookproof validate` of target files: what is wrong in a target file wherever it is used."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hookproof.cli import cli
from hookproof.process.exit_codes import ExitCode

# As one is kept in a repository: keys, certificates and what differs between places are elsewhere.
PORTABLE = """\
base_url: ${URL}
projects:
  - {id: p1, api_key: "${KEY_1}"}
  - {id: "${SECOND}", api_key: "${KEY_2}"}
dialect: {extends: undecided, name: ours, summary: Ours.}
headers: {X-Token: "${TOKEN}"}
connection: {ca: api-ca.pem, proxy: "${PROXY}"}
receiver: {bind: "${BIND}", public_url: "${PUBLIC}", ca: ca/ca.pem, ca_key: ca/ca.key, http: false}
capabilities: {mtls: "${MTLS}"}
fixtures: {p2: {sources: [s1]}}
egress_canaries: ["${CANARY}"]
provision:
  create_source: [{url: "${CONTROL}/sources", body: "{source}"}]
"""


def target_check(*paths: Path | str, environment: dict[str, str] | None = None) -> Result:
    arguments = ["validate", "--as", "target", *map(str, paths)]
    return CliRunner().invoke(cli, arguments, env=environment, standalone_mode=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "target.yaml"


def test_a_file_can_be_used_whose_variables_and_certificates_are_elsewhere(path: Path) -> None:
    path.write_text(PORTABLE)
    outcome = target_check(path)
    assert (outcome.return_value, outcome.stderr) == (ExitCode.OK, "")
    assert outcome.stdout == f"{path}: the target file can be used\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("base_url: ftp://x\n", "base URL: "),
        ("bse_url: http://x\n", ":1: "),
        ("projects: [{id: p1}]\n", ":1: "),
        ("projects: [{id: p1, api_key: \u00e4}]\n", "cannot stand in a header"),
        ("base_url: http://x\ndialect: gone.yaml\n", "gone.yaml: cannot be read"),
        ("dialect: {extends: undecided, name: n, summary: s, retry: {attempts: x}}\n", ":1: "),
        ("headers: {Host: x}\n", ":1: headers.Host: "),
        ("connection: {proxy: 'socks://x'}\n", ":1: connection.proxy: "),
        ("receiver: {bind: nowhere}\n", "receiver: "),
        ("receiver: {http: true}\n", "receiver: "),
        ("receiver: {mail: nowhere}\n", "receiver.mail: "),
        ("fixtures: {p2: {sources: [s1]}}\n", "there is no project 'p2'"),
        ("egress_canaries: [here]\n", "'here' is not an IP address"),
        ("provision: ./hooks.py:Provisioner\n", "hooks.py is not a file"),
        ("provision: {after_run: [{url: 'http://x/{gone}'}]}\n", "nothing gives {gone} a value"),
        ("a: [\n", ":"),
        ("", ""),
    ],
)
def test_a_mistake_is_reported_in_a_line(text: str, words: str, path: Path) -> None:
    path.write_text(text, "utf-8")
    outcome = target_check(path)
    assert outcome.stdout == ""
    assert outcome.stderr.startswith(str(path.parent))
    assert outcome.stderr.count("\n") == 1
    assert words in outcome.stderr
    assert outcome.return_value == ExitCode.USAGE


def test_a_variable_that_has_a_value_is_checked_as_that(path: Path) -> None:
    path.write_text(PORTABLE)
    outcome = target_check(path, environment={"CANARY": "here"})
    assert "'here' is not an IP address" in outcome.stderr


def test_a_hook_is_not_imported(path: Path) -> None:
    path.write_text("provision: ./hooks.py:Provisioner\n")
    (path.parent / "hooks.py").write_text("raise SystemExit(9)\n")
    assert target_check(path).stderr == ""


def test_every_file_is_checked_and_one_that_is_wrong_decides(path: Path) -> None:
    path.write_text("base_url: http://127.0.0.1:5005\n")
    outcome = target_check(path.with_name("gone.yaml"), path)
    assert "gone.yaml: cannot be read" in outcome.stderr
    assert "can be used" in outcome.stdout
    assert outcome.return_value == ExitCode.USAGE
