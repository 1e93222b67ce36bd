"""`hookproof receive --expect`, `--verify`, `--jsonl`, and `hookproof verify` as users run them."""

import contextlib
import hashlib
import hmac
import io
import json
import os
import pty
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from hookproof.cli import main
from hookproof.receiver.cli.delivery_watch import JudgedDelivery, cells
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.full_disk import with_files_of
from tests.receiver.receiver_process import COMMAND, DEADLINE_S, read_to_end
from tests.source_tree import ROOT

SECRET = "a secret of this test"
BODY = b'{"order":1}'
SIGNATURE = hmac.new(SECRET.encode(), BODY, hashlib.sha256).hexdigest()
HEADER = f"X-Webhook-Signature: {SIGNATURE}"


@contextlib.contextmanager
def start_receiver(
    *arguments: str, before: tuple[str, ...] = ()
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A receiver without TLS whose lines can be read, and its port."""
    command = [*before, *COMMAND, "receive", "--http", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, cwd=ROOT, text=True
    ) as process:
        try:
            assert process.stdout is not None
            matched = re.search(
                r"(?:listening at|Receiving at) http://127\.0\.0\.1:(\d{2,})",
                process.stdout.readline(),
            )
            assert matched is not None
            yield process, int(matched[1])
        finally:
            process.kill()


def post(port: int, body: bytes, *headers: str, path: str = "/orders") -> bytes:
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: x",
        "Connection: close",
        f"Content-Length: {len(body)}",
        *headers,
    ]
    with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S) as sender:
        sender.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        return read_to_end(sender)


def wait_for_end(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    output, errors = process.communicate(timeout=DEADLINE_S)
    return process.returncode, output, errors


def test_it_stops_with_0_when_the_expected_deliveries_came(tmp_path: Path) -> None:
    with start_receiver(
        "--expect", "2", "--timeout", "30", "--jsonl", str(tmp_path / "all.jsonl")
    ) as (
        process,
        port,
    ):
        post(port, b"one")
        post(port, b"\xfftwo", path="/other")
        code, output, errors = wait_for_end(process)
    assert (code, errors) == (0, "")
    assert re.search(r"orders #1 POST /orders 3 bytes, answered 200\n", output)
    kept = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert [(line["token"], line["body_b64"], line["judgement"]) for line in kept] == [
        ("orders", "b25l", None),
        ("other", "/3R3bw==", None),
    ]


@pytest.mark.parametrize("is_told", [True, False])
def test_a_line_has_the_client_that_a_proxy_names_only_where_that_is_told(
    is_told: bool, tmp_path: Path
) -> None:
    file = tmp_path / "all.jsonl"
    told = ("--forwarded", "--public-url", "http://127.0.0.1:1") if is_told else ()
    command = ("--once", "--timeout", "30", "--jsonl", str(file), *told)
    with start_receiver(*command) as (process, port):
        headers = ("X-Forwarded-For: 192.0.2.1, 203.0.113.7", "X-Forwarded-Proto: https")
        post(port, b"one", *headers, "X-Forwarded-Host: hooks.example.org")
        assert wait_for_end(process)[0] == 0
    line = json.loads(file.read_text())
    named = {name: line[name] for name in ("client_address", "url") if name in line}
    if is_told:
        url = "https://hooks.example.org/orders"
        assert named == {"client_address": "203.0.113.7", "url": url}
    else:
        assert named == {}
    assert ["X-Forwarded-Proto", "https"] in line["headers"]


def test_a_file_of_deliveries_for_which_there_is_no_space_is_named_in_one_line(
    tmp_path: Path,
) -> None:
    file = tmp_path / "all.jsonl"
    with start_receiver("--jsonl", str(file), before=with_files_of(2000)) as (process, port):
        post(port, b"x" * 5000)
        code, _, errors = wait_for_end(process)
    assert (code, errors) == (64, f"hookproof: {file} cannot be written: File too large\n")


def test_it_stops_with_1_when_fewer_came_in_time() -> None:
    with start_receiver("--expect", "2", "--timeout", "1") as (process, port):
        post(port, b"one")
        code, _, errors = wait_for_end(process)
    assert code == 1
    assert errors == "1 of 2 deliveries came\n"


def test_once_stops_after_one_delivery() -> None:
    with start_receiver("--once") as (process, port):
        post(port, b"one")
        assert wait_for_end(process)[0] == 0


@pytest.mark.parametrize(("sent", "code"), [(BODY, 0), (b'{"order": 1}', 1)])
def test_each_signature_is_judged_and_explained(sent: bytes, code: int, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    with start_receiver("--once", "--verify", "--secret", SECRET, "--jsonl", str(file)) as (
        process,
        port,
    ):
        post(port, sent, HEADER)
        exit_code, output, errors = wait_for_end(process)
    assert exit_code == code
    judgement = json.loads(file.read_text())["judgement"]
    assert judgement["verified"] is (code == 0)
    if code:
        assert "signed the compact form of the body, sent it with spaces" in output
        assert judgement["bisection"] == "signed the compact form of the body, sent it with spaces"
        assert errors == "1 of 1 deliveries are not verified\n"
    else:
        assert "verified: signed by secret 1" in output


@pytest.mark.parametrize(
    ("options", "is_said"),
    [(("--secret", SECRET), True), (("--scheme", "stripe"), True), ((), False)],
)
def test_who_names_a_secret_or_a_scheme_is_told_that_nothing_is_verified(
    options: tuple[str, ...], is_said: bool
) -> None:
    with start_receiver("--once", *options) as (process, port):
        post(port, BODY)
        code, _, errors = wait_for_end(process)
    assert code == 0
    said = "hookproof receive: signatures are not verified; --verify does that\n"
    assert errors == (said if is_said else "")


def test_an_interrupt_ends_it_cleanly_and_loses_no_line(tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    with start_receiver("--jsonl", str(file)) as (process, port):
        for _ in range(50):
            post(port, b"one")
        process.send_signal(signal.SIGINT)
        assert wait_for_end(process)[0] == 0
    assert len(file.read_text().splitlines()) == 50


def shown_on_terminal(columns: int, path: str, *arguments: str) -> str:
    """What a terminal of this width shows of a receiver that gets one delivery."""
    control, terminal = pty.openpty()
    command = [*COMMAND, "receive", "--http", "--once", "--timeout", "20", *arguments]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns), "LINES": "30"}
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=terminal, cwd=ROOT, env=environment
    ) as process:
        os.close(terminal)
        shown, matched = b"", None
        while matched is None:
            shown += os.read(control, 4096)
            matched = re.search(rb"Receiving at http://127\.0\.0\.1:(\d+)\D", shown)
        post(int(matched[1]), b"one", path=path)
        with contextlib.suppress(OSError):  # the other end is closed
            while chunk := os.read(control, 4096):
                shown += chunk
        process.wait(DEADLINE_S)
    os.close(control)
    return shown.decode(errors="replace")


def test_a_terminal_shows_a_table() -> None:
    text = shown_on_terminal(140, "/orders")
    assert "verdict" in text
    assert "POST /orders" in text
    assert "Deliveries: 1." in text


@pytest.mark.parametrize("columns", [80, 40])
def test_a_narrow_terminal_shows_the_whole_of_a_delivery_in_lines(columns: int) -> None:
    path = "/0123456789abcdef/hooks/orders"
    text = shown_on_terminal(columns, path, "--verify", "--secret", SECRET)
    line = f"0123456789abcdef #1 POST {path} 3 bytes, answered 200, not verified: missing header"
    assert line in text
    assert "Deliveries" not in text


def test_no_sender_can_write_control_characters() -> None:
    hostile = ReceivedDelivery(
        token="\x1b[31m",
        sequence=1,
        method="POST",
        path="/\x9b\u202e[bold]" + "x" * 500,
        headers=(),
        body=b"",
        arrived_at=0.0,
        arrived_monotonic=0.0,
        completed_monotonic=None,
        closed_monotonic=1.0,
        peer_port=1,
        client_certificate=None,
        status=None,
    )
    shown = cells(JudgedDelivery(delivery=hostile, judgement=None))
    assert all(text.isprintable() and len(text) <= 90 for text in shown)
    assert "broke off before its answer" in shown
    waiting = JudgedDelivery(delivery=replace(hostile, closed_monotonic=None), judgement=None)
    assert "not answered yet" in cells(waiting)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["receive", "--timeout", "1"], "--timeout needs --expect"),
        (["receive", "--verify"], "a secret is needed"),
        (["receive", "--expect", "0"], "--expect"),
        (["receive", "--jsonl", "/nowhere/at/all"], "cannot write /nowhere/at/all"),
        (["receive", "--verify", "--secret", "x", "--dialect", "none-such"], "no such dialect"),
        (["verify", "--header", HEADER], "a secret is needed"),
        (["verify", "--secret", "x"], "give a saved delivery as FILE"),
        (["verify", "--secret", "x", "--header", "no header"], "is not a header"),
        (["verify", "--secret", "x", "--header", "@/nowhere"], "cannot read /nowhere"),
        (["verify", "--secret", "x", "--header", HEADER, "--at", "soon"], "is not a time"),
        (["verify", "--secret", "x", "--header", HEADER, "--at", "nan"], "is not a time"),
        (["verify", "--secret", "x", "--header", HEADER, "--request", "x"], "leave --header out"),
        (["verify", "--secret", "x", "x", "--request", "x"], "leave --request out"),
        (["verify", "--secret", "x", "--request", __file__], "does not hold an HTTP request"),
        (
            ["verify", "--secret", "x", "--header", HEADER, "--dialect", "none-such"],
            "no such dialect",
        ),
    ],
)
def test_a_wrong_call_is_reported_in_one_line_with_exit_64(
    arguments: list[str], message: str
) -> None:
    outcome = run_in_process(*arguments)
    assert outcome.returncode == 64
    assert outcome.stdout == ""
    assert message in outcome.stderr
    assert outcome.stderr.count("\n") == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOutcome:
    returncode: int
    stdout: str
    stderr: str


def run_in_process(
    *arguments: str, body: bytes = b"", secrets: str | None = None
) -> CommandOutcome:
    """Run a command within this process, `secrets` in its environment."""
    output, errors = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
    ):
        patch.setattr("sys.argv", ["hookproof", *arguments])
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(body)))
        patch.delenv("HOOKPROOF_SECRET", raising=False)
        if secrets is not None:
            patch.setenv("HOOKPROOF_SECRET", secrets)
        with pytest.raises(SystemExit) as ending:
            main()
    return CommandOutcome(
        returncode=int(ending.value.code or 0), stdout=output.getvalue(), stderr=errors.getvalue()
    )


def test_a_good_message_is_verified() -> None:
    outcome = run_in_process(
        "verify", "--secret", "other", "--secret", SECRET, "--header", HEADER, body=BODY
    )
    assert outcome.returncode == 0
    assert outcome.stdout.startswith("verified: signed by secret 2 in the simple format")


@pytest.mark.parametrize("secrets", [SECRET, f"another one\n{SECRET}", f"{SECRET}\n"])
def test_secrets_of_the_environment_are_separated_by_lines_and_may_have_spaces(
    secrets: str,
) -> None:
    assert " " in SECRET
    assert run_in_process("verify", "--header", HEADER, body=BODY, secrets=secrets).returncode == 0


def test_a_bad_message_is_explained_and_as_json_too() -> None:
    plain = run_in_process("verify", "--secret", SECRET, "--header", HEADER, body=BODY + b"\n")
    as_json = run_in_process(
        "verify", "--secret", SECRET, "--header", HEADER, "--json", body=BODY + b"\n"
    )
    assert plain.returncode == as_json.returncode == 1
    assert (
        plain.stdout.splitlines()[1]
        == "why: the sender signed the body without its last line end, here it is with one"
    )
    judgement = json.loads(as_json.stdout)
    assert (judgement["verified"], judgement["reason"], judgement["explained"]) == (
        False,
        "no signature matches",
        True,
    )
    assert judgement["deviations"] == [{"aspect": "body", "words": judgement["bisection"]}]


def test_a_time_a_tolerance_and_a_format_can_be_given() -> None:
    seconds = str(int(time.time()) - 1000)
    signature = hmac.new(
        SECRET.encode(), seconds.encode() + b"," + BODY, hashlib.sha256
    ).hexdigest()
    header = f"X-Webhook-Signature: t={seconds},v1={signature}"
    call = ["verify", "--secret", SECRET, "--header", header, "--format", "advanced"]
    assert run_in_process(*call, body=BODY).returncode == 1
    assert (
        "1000 s before its arrival"
        in run_in_process(*call, "--at", str(int(seconds) + 1000), body=BODY).stdout
    )
    for further in (["--at", seconds], ["--tolerance", "5000"]):
        assert run_in_process(*call, *further, body=BODY).returncode == 0


def test_a_saved_request_and_a_file_of_headers_are_read(tmp_path: Path) -> None:
    saved, headers = tmp_path / "request", tmp_path / "headers"
    saved.write_bytes(
        b"POST /orders HTTP/1.1\r\nHost: x\r\n" + HEADER.encode() + b"\r\n\r\n" + BODY
    )
    headers.write_text(f"Host: x\n{HEADER}\n")
    assert run_in_process("verify", "--secret", SECRET, "--request", str(saved)).returncode == 0
    assert (
        run_in_process(
            "verify", "--secret", SECRET, "--header", f"@{headers}", body=BODY
        ).returncode
        == 0
    )


def test_a_body_beyond_the_limit_is_refused_with_what_sets_it() -> None:
    with start_receiver("--max-body", "10", "--once") as (process, port):
        refused = post(port, b"0123456789a")
        assert refused.startswith(b"HTTP/1.1 413 ")
        assert b"the body of the request has more than 10 bytes" in refused
        assert b"`hookproof receive --max-body BYTES`" in refused
        assert post(port, b"0123456789").startswith(b"HTTP/1.1 200 ")
        code, output, _ = wait_for_end(process)
    assert code == 0
    assert " 10 bytes" in output
