"""`hookproof serve` as a process: start, output, end, and what a seed repeats."""

import json
import os
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.full_disk import with_files_of
from tests.mockserver.server_process import SERVE

TIMEOUT_S = 60
USAGE = 64


@contextmanager
def serving(
    *options: str, before: Sequence[str] = ()
) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, Any]]]:
    process = subprocess.Popen(
        [*before, *SERVE, "--port", "0", "--json", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def run_serve(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SERVE, *options], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )


def ask(base: str, method: str, path: str, body: Any = None, key: str = "demo-key") -> Any:
    request = urllib.request.Request(
        f"{base}/api/v1/projects/demo/{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
            return json.load(response)
    except urllib.error.HTTPError as refused:
        with refused:
            return json.load(refused)


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, "stdin closes"])
def test_it_ends_cleanly_when_asked_to(stop: signal.Signals | str) -> None:
    with serving("--until-stdin-closes") as (process, ready):
        assert ready["projects"] == ["demo"]
        assert ask(ready["api"], "GET", "sources")["status"] is True
        if isinstance(stop, str):
            assert process.stdin is not None
            process.stdin.close()
            process.stdin = None
        else:
            process.send_signal(stop)
        assert process.wait(TIMEOUT_S) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_a_seed_repeats_identifiers_and_secrets() -> None:
    def run(seed: str) -> list[str]:
        with serving("--seed", seed) as (_, ready):
            body = {"name": "n", "url": "https://a.invalid/"}
            endpoints = [ask(ready["api"], "POST", "endpoints", body)["data"] for _ in range(3)]
            links = ask(ready["api"], "GET", "portal-links")["data"]["content"]
            secrets = [
                (endpoint["uid"], endpoint["secrets"][0]["uid"], endpoint["secrets"][0]["value"])
                for endpoint in endpoints
            ]
            return [*map(str, secrets), *(link["uid"] for link in links)]

    assert run("7") == run("7")
    assert set(run("7")).isdisjoint(run("8"))


def test_projects_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOKPROOF_PROJECTS", "demo=from-there demo=a=b")
    with serving() as (_, ready):
        assert ready["projects"] == ["demo"]
        for key in ("from-there", "a=b"):
            assert ask(ready["api"], "GET", "sources", key=key)["status"] is True
        assert ask(ready["api"], "GET", "sources", key="demo-key")["status"] is False


def test_projects_come_from_the_command_line_and_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "projects.yaml"
    path.write_text("projects:\n  - {id: demo, api_key: from-file}\n")
    options = ("--projects", str(path), "--project", "demo=from-line", "--project", "b=c")
    expected = {"from-file": True, "from-line": True, "c": False, "demo-key": False}
    with serving(*options) as (_, ready):
        assert ready["projects"] == ["demo", "b"]
        for key, accepted in expected.items():
            assert ask(ready["api"], "GET", "sources", key=key)["status"] is accepted


def test_what_a_dialect_leaves_undecided_is_that_of_the_dialect_it_extends(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(
        "extends: undecided\nname: ours\nsummary: s\nsuccess: {created: 202}\n"
    )
    with serving("--dialect", str(tmp_path / "own.yaml")) as (process, ready):
        refused = ask(ready["api"], "POST", "endpoints", {})
        assert refused["status"] is False
        created = ask(ready["api"], "POST", "endpoints", {"name": "n", "url": "https://a.invalid"})
        assert created["data"]["status"] == "active"
        process.terminate()
        _, said = process.communicate(timeout=TIMEOUT_S)
    [line] = said.decode().splitlines()
    assert line.startswith("hookproof: the dialect ours leaves ")
    assert "and those of reference are served: authentication.key_scope, " in line
    assert line.endswith(" more")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--dialect", "klingon"], "klingon"),
        (["--dialect", "./nowhere.yaml"], "nowhere.yaml"),
        (["--fixtures", "nowhere.yaml"], "nowhere.yaml"),
        (["--projects", "nowhere.yaml"], "nowhere.yaml"),
        (["--db", "/nowhere/at/all.db"], "/nowhere/at/all.db"),
        (["--ca", "nowhere.pem"], "nowhere.pem"),
    ],
)
def test_a_setting_that_cannot_be_used_is_reported_without_a_traceback(
    options: list[str], expected: str
) -> None:
    outcome = run_serve("--port", "0", *options)
    assert outcome.returncode == USAGE
    assert expected in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert outcome.stdout == ""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--smtp", "mail"], "'mail' is not of the form HOST:PORT"),
        (["--smtp", "mail:99999"], "HOST:PORT"),
        (["--smtp-from", "Hooks <hooks@a.invalid>"], "not an e-mail address"),
        (["--smtp-from", "hooks@a.invalid\r\nBcc: b@a.invalid"], "not an e-mail address"),
    ],
)
def test_a_mail_option_that_cannot_be_used_is_reported_without_a_traceback(
    options: list[str], expected: str
) -> None:
    outcome = run_serve("--port", "0", *options)
    assert outcome.returncode != 0
    assert expected in outcome.stderr
    assert "Traceback" not in outcome.stderr


def test_a_port_in_use_is_reported_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        outcome = run_serve("--port", str(listener.getsockname()[1]))
    assert outcome.returncode == USAGE
    assert outcome.stderr.count("\n") == 1
    assert "--port" in outcome.stderr


def test_no_log_line_holds_a_key_a_secret_or_a_credential() -> None:
    secrets = ("demo-key", "a-wrong-key", "s3cret-text", "passw0rd", "cl1ent-secret", "pr1vate")
    body = {
        "name": "n",
        "url": "https://nobody.invalid/",
        "secret": "s3cret-text",
        "authentication": {
            "type": "basic_auth",
            "basic_auth": {"username": "u", "password": "passw0rd"},
            "oauth2": {"client_secret": "cl1ent-secret", "signing_key": {"d": "pr1vate"}},
        },
    }
    with serving("--until-stdin-closes") as (process, ready):
        ask(ready["api"], "POST", "endpoints", body)
        ask(ready["api"], "POST", "endpoints", {**body, "name": 1})
        ask(ready["api"], "GET", "sources", key="a-wrong-key")
        ask(ready["api"], "POST", "events/broadcast", {"event_type": "t", "data": {}})
        os.kill(process.pid, signal.SIGTERM)
        out, err = process.communicate(timeout=TIMEOUT_S)
    for secret in secrets:
        assert secret.encode() not in out + err


# Enough for the schema and little else.
SPACE = 800_000


def test_a_full_disk_costs_nothing_that_was_acknowledged_and_is_reported_once(
    tmp_path: Path,
) -> None:
    database = ("--db", str(tmp_path / "hookproof.db"))
    created, refused = [], 0
    with serving(*database, before=with_files_of(SPACE)) as (process, addresses):
        while refused < 5:
            endpoint = {"name": "n", "url": "https://a.invalid/", "secret": "s" * 24}
            answer = ask(addresses["api"], "POST", "endpoints", endpoint)
            if answer["status"]:
                created.append(answer["data"]["uid"])
            else:
                refused += 1
                assert answer["message"] == "the server failed; see its log"
        shown = [ask(addresses["api"], "GET", f"endpoints/{uid}") for uid in created]
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0
    assert shown
    assert all(answer["status"] for answer in shown)
    [line] = errors.decode().splitlines()
    assert f"{database[1]} cannot be written: disk I/O error" in line
    with serving(*database) as (_, addresses):
        for uid in created:
            assert ask(addresses["api"], "GET", f"endpoints/{uid}")["status"]


def test_a_database_for_which_there_is_no_space_is_refused_in_one_line(tmp_path: Path) -> None:
    ended = subprocess.run(
        [*with_files_of(10_000), *SERVE, "--db", str(tmp_path / "hookproof.db")],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert ended.returncode == USAGE
    [line] = ended.stderr.splitlines()
    assert "hookproof.db cannot be used as a database: disk I/O error" in line
