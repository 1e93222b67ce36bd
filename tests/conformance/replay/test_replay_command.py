"""`hookproof replay`, from a run of the embedded server to servers that differ from it."""

import json
import re
import signal
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.canned_evidence import NOW, exchange
from tests.conformance.canned_run import header
from tests.conformance.command import (
    check,
    command_line,
    command_result,
    environment,
    run_command,
    with_signals,
)
from tests.conformance.reference_server import reference_server
from tests.conformance.results.behaviour.stored_runs import observed, stored_run
from tests.conformance.scripted_target import closed_port, empty_page, response, stand_in
from tests.source_tree import ROOT

# One worker makes the run that is sent again.
pytestmark = pytest.mark.xdist_group("replay")

KEY = ("--project", "p1", "--api-key", "secret-key")
MASKED = (("Authorization", "Bearer $HOOKPROOF_API_KEY"),)
SENT = re.compile(r"REPLAYED  ([\d,]+) of \1 requests; (.*)$")
SAME = "with another status: 0; fields that differ: 0; deliveries that did not arrive: 0"


@pytest.fixture(scope="module")
def judged_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run with lists, portal links, secrets, foreign keys and attempts."""
    folder = tmp_path_factory.mktemp("recorded")
    only = ("1-16", "4.3-2", "4.6-1", "4.7-9", "4.8-7", "5-3", "6-10")
    selectors = [word for each in only for word in ("--only", each)]
    done = check(folder, *selectors, "--profile", "quick", "--out", "run")
    assert done.code == 0, done.out
    return folder / "run"


def test_the_same_server_answers_the_same(judged_run: Path, tmp_path: Path) -> None:
    done = run_command(tmp_path, "replay", judged_run)
    match = SENT.match(done.out.splitlines()[-1])
    assert match is not None, done.out
    assert (done.code, match[2]) == (0, SAME), done.out
    assert re.fullmatch(
        r"hookproof replay: sending [\d,]+ requests to http://127\.0\.0\.1:\d+, in about \d+ s\n",
        done.err,
    )


def test_a_packed_run_is_sent_to_another_server_and_what_differs_is_shown(
    judged_run: Path, tmp_path: Path
) -> None:
    packed = tmp_path / "run.zip"
    assert (
        run_command(tmp_path, "report", "--format", "pack", judged_run, "--output", packed).code
        == 0
    )
    faults = ("empty_data_refused", "status_as_number")
    names = json.loads((judged_run / "run.jsonl").read_text().splitlines()[0])["projects"]
    options = tuple(word for fault in faults for word in ("--fault", fault))
    with reference_server(tmp_path, ROOT, *names, options=options) as ready:
        projects = [
            word for name in names for word in ("--project", name, "--api-key", f"key-{name}")
        ]
        done = run_command(
            tmp_path,
            "replay",
            packed,
            ready["api"],
            *projects,
            "--ca-dir",
            tmp_path / "ca",
            "--format",
            "json",
        )
    document = json.loads(done.out)
    assert (done.code, document["differs"]) == (1, True)
    assert document["replayed"]["requests"] == document["recorded"]["requests"]
    others = [
        (each["operation"], each["before"], each["after"])
        for each in document["behaviour"]["other_statuses"]
    ]
    assert ("createBroadcastEvent", "201", "400") in others
    fields = [(each["kind"], each["path"]) for each in document["behaviour"]["differing_fields"]]
    assert ("Event", "status") in fields


def recorded(folder: Path, *requests: Any) -> Path:
    run_header = replace(
        header(), projects=["p1"], nonce="aabbcc", receiver_url="https://127.0.0.1:4001"
    )
    return stored_run(folder / "run", observed(*requests), run_header=run_header)


def request(role: str, operation_id: str, at_s: float, **more: Any) -> Any:
    return exchange(
        role,
        operation_id,
        sent_at=NOW + at_s,
        url=None,
        request_headers=MASKED,
        **more,
    )


class Creating:
    """Takes its time to create an endpoint."""

    took_s = 0.4

    def __init__(self) -> None:
        self.heads: list[tuple[float, bytes]] = []

    def __call__(self, head: bytes) -> bytes:
        self.heads.append((time.monotonic(), head.splitlines()[0]))
        if head.startswith(b"POST "):
            threading.Event().wait(self.took_s)
            return response(201, b'{"status":true,"message":"","data":{"uid":"new-1"}}')
        return empty_page(head)

    def asked(self, word: bytes) -> list[float]:
        return [at_s for at_s, line in self.heads if word in line]


def test_what_an_answer_showed_is_asked_for_when_it_is_answered_again(tmp_path: Path) -> None:
    run = recorded(
        tmp_path,
        request("create", "createEndpoint", 0.0, data={"uid": "old-1"}, request={"name": "x"}),
        request("fetch", "getEndpoint", 0.02, path={"endpointID": "old-1"}, status=404),
        request("list", "listSources", 2.0, query="?perPage=3"),
    )
    target = Creating()
    with stand_in(target) as url:
        done = run_command(tmp_path, "replay", run, url, *KEY)
    assert "REPLAYED  3 of 3 requests; with another status: 0" in done.out
    ((created,), (fetched,), (listed,)) = map(target.asked, (b"POST", b"new-1", b"perPage=3"))
    assert not target.asked(b"old-1")
    assert created + target.took_s <= fetched < listed
    assert listed - created >= 1.0  # a busy machine reads the first one late


def test_an_interrupt_shows_what_was_answered_until_then(tmp_path: Path) -> None:
    run = recorded(tmp_path, request("a", "listSources", 0.0), request("b", "listSources", 3600.0))
    target = Creating()
    with stand_in(target) as url:
        process = subprocess.Popen(
            with_signals(command_line("replay", run, url, *KEY)),
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        assert "in about 3600 s" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    done = command_result(process.returncode, out, err)
    assert done.code == 3
    assert "The replay ended early: it was interrupted." in done.out
    assert done.out.splitlines()[-1].startswith("CUT  ")


def test_a_target_that_stops_answering_is_not_held_to_what_it_did_not_answer(
    tmp_path: Path,
) -> None:
    requests = [request(f"list {n}", "listSources", n / 10) for n in range(100)]
    run = recorded(tmp_path, *requests)
    counted = 0

    def dying(head: bytes) -> bytes | None:
        nonlocal counted
        counted += b"/sources" in head
        return empty_page(head) if counted < 30 else None

    with stand_in(dying) as url:
        done = run_command(tmp_path, "replay", run, url, *KEY)
    assert done.code == 3
    assert "The replay ended early: the target stopped answering after" in done.out
    assert "with another status: 0;" in done.out.splitlines()[-1]


def test_no_key_is_shown_wherever_the_target_shows_it(tmp_path: Path) -> None:
    run = recorded(tmp_path, request("list", "listSources", 0.0, data={"content": [{"uid": "s1"}]}))

    def telling(head: bytes) -> bytes:
        if b"/endpoints/" in head:
            return empty_page(head)
        told = re.search(rb"(?i)authorization: bearer (.*)\r", head)
        key = told[1] if told else b""
        return response(
            200, b'{"status":true,"message":"","data":{"content":[{"%s":1}],"x-%s":2}}' % (key, key)
        )

    with stand_in(telling) as url:
        done = run_command(tmp_path, "replay", run, url, *KEY)
    assert done.code == 1, done.err
    assert "Source: *" in done.out
    assert "secret-key" not in done.out + done.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nowhere"], 64, "cannot be read"),
        (["run"], 64, "give the URL of a target"),
        (["embedded", "--project", "p1"], 64, "--project is for a target"),
        (["run", "http://127.0.0.1:9", *KEY, "--dialect", "infer"], 64, "no such dialect"),
        (["run", "--format", "xml"], 64, "xml"),
    ],
)
def test_a_replay_that_cannot_begin_says_why(
    tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    run = recorded(tmp_path, request("list", "listSources", 0.0))
    text = (run / "run.jsonl").read_text().replace('"embedded":false', '"embedded":true', 1)
    (tmp_path / "embedded").mkdir()
    (tmp_path / "embedded" / "run.jsonl").write_text(text)
    done = run_command(tmp_path, "replay", *words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err


def test_a_target_with_too_few_projects_or_out_of_reach_is_refused(tmp_path: Path) -> None:
    run = recorded(tmp_path, request("list", "listSources", 0.0))
    with closed_port() as url:
        done = run_command(tmp_path, "replay", run, url, *KEY)
    assert (done.code, done.out) == (4, "")
    assert "target unreachable" in done.err
    lines = (run / "run.jsonl").read_text().replace('"projects":["p1"]', '"projects":["p1","p2"]')
    more = exchange(project="p2", sent_at=NOW + 1, request_headers=MASKED)
    (run / "run.jsonl").write_text(lines)
    stored_run(
        run,
        observed(request("list", "listSources", 0.0), more),
        run_header=replace(
            header(), projects=["p1", "p2"], nonce="aabbcc", receiver_url="https://127.0.0.1:4001"
        ),
    )
    with stand_in(empty_page) as url:
        done = run_command(tmp_path, "replay", run, url, *KEY)
    assert (done.code, done.out) == (64, "")
    assert "worked in 2 projects, and the target has 1" in done.err
