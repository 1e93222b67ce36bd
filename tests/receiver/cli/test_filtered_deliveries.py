"""`hookproof receive --only`: what does not match is answered and kept, and else left alone."""

import json
from pathlib import Path

import pytest

from tests.receiver.cli.test_watching_commands import post, start_receiver, wait_for_end
from tests.receiver.receiver_process import run
from tests.receiver.sending.consumer_thread import Recorder, serving


def test_only_what_matches_is_reported_counted_and_written(tmp_path: Path) -> None:
    lines = tmp_path / "all.jsonl"
    arguments = (
        "--only", "header:X-GitHub-Event=p*", "--only", "body:action!=deleted",
        "--expect", "2", "--jsonl", str(lines),
    )  # fmt: skip
    sent = (
        (b'{"action":"opened"}', "push"),
        (b'{"action":"deleted"}', "push"),
        (b'{"action":"opened"}', "issues"),
        (b"", "ping"),
    )
    with start_receiver(*arguments) as (process, port):
        for body, event in sent:
            answer = post(port, body, f"X-GitHub-Event: {event}")
            assert answer.startswith(b"HTTP/1.1 200 ")
        code, output, _ = wait_for_end(process)
    assert code == 0
    kept = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [each["sequence"] for each in kept] == [1, 4]
    assert [line.split()[2] for line in output.splitlines()] == ["#1", "#4"]


def test_what_does_not_match_is_not_verified() -> None:
    arguments = ("--only", "body:a=2", "--once", "--verify", "--secret", "a")
    with start_receiver(*arguments) as (process, port):
        post(port, b'{"a":1}')
        post(port, b'{"a":2}')
        code, output, errors = wait_for_end(process)
    assert code == 1
    assert "1 of 1 deliveries are not verified" in errors
    assert "#2" in output
    assert "#1" not in output


def test_only_what_matches_is_forwarded_and_the_rest_is_answered() -> None:
    server = Recorder(status=202)
    with serving(server) as url:
        arguments = ("--forward-to", url, "--only", "body:data.items.*.sku=x", "--once")
        with start_receiver(*arguments) as (process, port):
            other = post(port, b'{"data":{"items":[{"sku":"y"}]}}')
            assert other.startswith(b"HTTP/1.1 200 ")
            matching = post(port, b'{"data":{"items":[{"sku":"y"},{"sku":"x"}]}}')
            assert matching.startswith(b"HTTP/1.1 202 ")
            assert wait_for_end(process)[0] == 0
    assert [each.body for each in server.requests] == [
        b'{"data":{"items":[{"sku":"y"},{"sku":"x"}]}}'
    ]


@pytest.mark.parametrize("text", ["X-Event=push", "path=/x", ""])
def test_a_condition_on_nothing_is_refused_in_a_line(text: str) -> None:
    completed = run("receive", "--only", text)
    assert completed.returncode == 64
    assert "give method, header:NAME, query:NAME or body:PATH" in completed.stderr
    assert completed.stderr.count("\n") == 1
