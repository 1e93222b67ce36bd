"""A service in Go, written from the document alone as a stranger would: it is learned, then tested.
Nothing is held against it but what it is told to break.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from hookproof.receiver.http.authority import Authority
from tests.conformance.command import CommandResult, check, reported_requirements, run_command
from tests.strangers.services import go_program, has_go, started

PROJECT, KEY = "main", "key-of-a-stranger"
# A limit that is counted in fixed windows lets through more across the edge of two of them; that is
# hygiene, and the document does not forbid it.
OF_FIXED_WINDOWS = {"8-2"}

pytestmark = pytest.mark.skipif(not has_go(), reason="go builds the service, and is not installed")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return go_program("parcel", tmp_path_factory.mktemp("parcel"))


@contextmanager
def running(program: Path, folder: Path, *bugs: str) -> Iterator[str]:
    """The URL of the service, which trusts the CA in the folder."""
    certificate = Authority(folder / "ca").certificate_path
    words = ["-project", PROJECT, "-key", KEY, "-ca", str(certificate)]
    with started([str(program), *words], folder / "service.txt", *bugs) as url:
        yield url


def learn(folder: Path, url: str, profile: str) -> CommandResult:
    named = ("--project", PROJECT, "--api-key", KEY, "--ca-dir", "ca", "--out", "ours")
    return run_command(folder, "learn", url, *named, "--profile", profile)


def judge(folder: Path, *only: str, url: str = "") -> CommandResult:
    """Judge the service at the URL of the learned target, or at another one."""
    selected = [word for selector in only for word in ("--only", selector)]
    options = ("--profile", "quick", "--budget", "600", "--out", "report")
    target = ("--target", "ours/target.yaml", *([url] if url else []))
    return check(folder, *target, *options, *selected, HOOKPROOF_API_KEY=KEY)


def test_a_strangers_service_is_learned_and_nothing_is_held_against_it(
    program: Path, tmp_path: Path
) -> None:
    with running(program, tmp_path) as url:
        learned = learn(tmp_path, url, "standard")
        assert learned.code == 0, learned.err
        done = judge(tmp_path)
    violated = {
        name: [finding["message"] for finding in entry["findings"]]
        for name, entry in reported_requirements(tmp_path, "report").items()
        if entry["findings"] and name not in OF_FIXED_WINDOWS
    }
    assert violated == {}, done.out
    assert done.code in (0, 3), done.out + done.err
    dialect = yaml.safe_load((tmp_path / "ours" / "dialect.yaml").read_text())
    assert dialect["authentication"]["key_format"] == "Token {key}"
    assert dialect["errors"]["body"] == {"error": {"text": "{message}"}}
    assert dialect["signatures"]["advanced"]["signed"] == "{timestamp}.{body}"
    assert dialect["delivery"]["event_id_header"] == "Parcel-Event"
    assert dialect["representation"]["masked"] == ["mtls_client_cert.client_key"]
    assert dialect["representation"]["mask"] == "#####"
    assert dialect["delivery"]["first_attempt"] == 0
    assert dialect["retry"]["attempts"] == 3
    assert dialect["paging"]["maximum_per_page"] == 40
    assert sorted(dialect["representation"]["no_value"]["one_of"]) == ["empty", "null"]


def test_bugs_of_a_stranger_are_found(program: Path, tmp_path: Path) -> None:
    with running(program, tmp_path) as url:
        learned = learn(tmp_path, url, "quick")
        assert learned.code == 0, learned.err
    for bug, section in (("last_item_lost", "4.7-*"), ("roll_forgets", "4.3-*")):
        with running(program, tmp_path, bug) as url:
            done = judge(tmp_path, section, url=url)
        assert done.code == 1, done.out + done.err
