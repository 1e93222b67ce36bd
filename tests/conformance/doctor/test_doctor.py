"""`hookproof doctor` as a user runs it: each thing that is wrong is a line that says what to do."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from hookproof.receiver.http.authority import Authority
from tests.conformance.command import Ended, ended, environment
from tests.conformance.scripted_target import closed_port, empty_page, response, stand_in

PLACE = {"ca": "ca/ca.pem", "ca_key": "ca/ca.key"}


def doctor(folder: Path, *words: str, **settings: object) -> Ended:
    if settings:
        (folder / "target.yaml").write_text(yaml.safe_dump(settings))
        words = ("--target", "target.yaml", *words)
    process = subprocess.run(
        [sys.executable, "-P", "-m", "hookproof", "doctor", *words],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return ended(process.returncode, process.stdout, process.stderr)


@contextmanager
def served(folder: Path, *, trusting: bool = True) -> Iterator[str]:
    """The reference server with two projects; yields its URL."""
    Authority(folder / "ca")
    command = [
        sys.executable,
        "-P",
        "-m",
        "hookproof",
        "serve",
        "--port",
        "0",
        "--json",
        "--until-stdin-closes",
    ]
    trust = ["--ca", str(folder / "ca" / "ca.pem")] if trusting else []
    process = subprocess.Popen(
        [*command, *trust, "--project", "p1=key-1", "--project", "p2=key-2"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield str(yaml.safe_load(process.stdout.readline())["api"])
    finally:
        process.stdin.close()
        process.wait(timeout=120)
        process.stdout.close()


def projects(**keys: str) -> list[dict[str, str]]:
    return [{"id": name, "api_key": key} for name, key in keys.items()]


def failures(done: Ended) -> list[str]:
    return [line for line in done.out.splitlines() if line.startswith("FAIL")]


def test_a_target_that_is_ready_is_found_so(tmp_path: Path) -> None:
    with served(tmp_path) as url:
        done = doctor(
            tmp_path, base_url=url, projects=projects(p1="key-1", p2="key-2"), receiver=PLACE
        )
    assert (done.code, done.err, failures(done)) == (0, "", []), done.out
    assert [line.split(maxsplit=1)[0] for line in done.out.splitlines()] == ["ok"] * 9
    assert "ok    a delivery arrives" in done.out


def test_a_wrong_key_a_ca_that_is_not_trusted_and_an_address_out_of_reach_are_told_apart(
    tmp_path: Path,
) -> None:
    short = {"delivery_s": 8}
    with served(tmp_path, trusting=False) as url:
        settings = {"base_url": url, "budgets": short, "receiver": PLACE}
        done = doctor(tmp_path, **settings, projects=projects(p1="key-1", p2="wrong"))
        assert done.code == 64
        first, second = failures(done)
        assert first.startswith("FAIL  the key of project p2 is accepted: refused with 401")
        assert second.startswith("FAIL  the target trusts the receiver's CA: it connected ")
        with closed_port() as nowhere:
            away = {**PLACE, "public_url": nowhere.replace("http://", "https://")}
            done = doctor(tmp_path, **{**settings, "receiver": away}, projects=projects(p1="key-1"))
        (only,) = failures(done)
        assert only.startswith(
            f"FAIL  the target reaches the receiver at {away['public_url']}: no connection came"
        )
        done = doctor(tmp_path, base_url=url, projects=projects(p1="key-1"))
    assert done.code == 64
    assert "hookproof ca DIR" in failures(done)[0]


def test_a_target_out_of_reach_ends_with_its_own_code(tmp_path: Path) -> None:
    with closed_port() as url:
        done = doctor(tmp_path, base_url=url, projects=projects(p1="k"))
    assert done.code == 4
    assert failures(done)[0].startswith(f"FAIL  the target answers at {url}: ")


@pytest.mark.parametrize(
    ("date", "told"),
    [
        (
            b"Date: Mon, 01 Jan 2001 00:00:00 GMT",
            "s behind: signed times and expiries would be misjudged",
        ),
        (b"Date: Fri, 01 Jan 2100 00:00:00 GMT", "s ahead"),
    ],
)
def test_a_clock_that_is_off_is_told(tmp_path: Path, date: bytes, told: str) -> None:
    page = empty_page(b"").partition(b"\r\n\r\n")[2]
    with stand_in(lambda _: response(200, page, date)) as url:
        done = doctor(tmp_path, base_url=url, projects=projects(p1="k"))
    assert done.code == 64
    assert told in failures(done)[0]


def test_a_target_that_refuses_an_endpoint_is_told_what_it_said(tmp_path: Path) -> None:
    def refuses(head: bytes) -> bytes:
        return (
            empty_page(head)
            if head.startswith(b"GET")
            else response(400, b'{"message":"no such field: name"}')
        )

    Authority(tmp_path / "ca")
    with stand_in(refuses) as url:
        done = doctor(tmp_path, base_url=url, projects=projects(p1="k"), receiver=PLACE)
    assert done.code == 64
    assert "createEndpoint was answered 400" in failures(done)[0]
    assert "no such field: name" in failures(done)[0]


@pytest.mark.parametrize("words", [(), ("http://127.0.0.1:1",), ("--target", "gone.yaml")])
def test_wrong_usage_is_told_in_one_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = doctor(tmp_path, *words)
    assert (done.code, done.out, done.err.count("\n")) == (64, "", 1)
