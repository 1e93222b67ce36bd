"""What strangers wrote reaches neither the terminal as commands nor a message with a password."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from hookproof.cli import main
from hookproof.load.target.settings import KEY_VARIABLE
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.terminal_text import message_text, printable, without_passwords
from tests.conformance.scripted_target import response, stand_in

HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m"
PASSWORD = "hunter-2-the-password"

# Commands that are given a URL with a password where none can be used.
REFUSED = [
    ["check", "http://user:{}@127.0.0.1:1", "--project", "p", "--api-key", "k"],
    ["check", "ftp://user:{}@127.0.0.1:1", "--project", "p", "--api-key", "k"],
    ["check", "http://user:{}@[x", "--project", "p", "--api-key", "k"],
    ["doctor", "http://user:{}@127.0.0.1:1", "--project", "p", "--api-key", "k"],
    ["learn", "http://user:{}@127.0.0.1:1", "--project", "p", "--api-key", "k"],
    ["learn", "http://user:{}@[x", "--project", "p", "--api-key", "k"],
    ["init", "http://user:{}@127.0.0.1:1", "--project", "p", "--api-key", "k", "--no-ask"],
    ["load", "--url", "http://user:{}@127.0.0.1:1", "--project", "p", "--api-key", "k"],
    ["load", "--url", "http://127.0.0.1:1", "--receiver-url", "x://user:{}@a", "--project", "p"],
    ["receive", "--public-url", "ftp://user:{}@hooks.example.org"],
]


def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """All that a command shows, which runs in this process and ends with an error."""
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    monkeypatch.setattr(sys, "argv", ["hookproof", *words])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code
    captured = capsys.readouterr()
    return captured.out + captured.err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb", "a\\nb"),
        ("\x9b", "\\x9b"),
        ("\u202e", "\\u202e"),
        ("Zoë", "Zoë"),
    ],
)
def test_control_characters_are_written_as_escapes(text: str, expected: str) -> None:
    assert printable(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at https://user:pw@host/a refused", "at https://***@host/a refused"),
        ("'http://u:p@ss@[::1]:8/?q=1'", "'http://***@[::1]:8/?q=1'"),
        ("//user@host", "//***@host"),
        ("https://host/a@b", "https://host/a@b"),
        ("https://host?x=a@b", "https://host?x=a@b"),
        ("mail to a@b", "mail to a@b"),
    ],
)
def test_users_and_passwords_of_urls_are_hidden(text: str, expected: str) -> None:
    assert without_passwords(text) == expected


def test_a_message_keeps_its_lines() -> None:
    assert message_text(f"one\n\ttwo {HOSTILE}").count("\n") == 1
    assert "\x1b" not in str(CommandError(HOSTILE))


@pytest.mark.parametrize("words", REFUSED, ids=lambda words: " ".join(words[:3]))
def test_no_command_repeats_a_password(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: Sequence[str]
) -> None:
    output = shown(monkeypatch, capsys, *(word.format(PASSWORD) for word in words))
    assert output
    assert PASSWORD not in output


@pytest.mark.parametrize(
    "words",
    [
        ["doctor", "{}", "--project", "p", "--api-key", "k", "--ca-dir", "{ca}"],
        ["check", "{}", "--project", "p", "--api-key", "k", "--ca-dir", "{ca}", "--only", "4.1-1"],
        ["load", "--url", "{}", "--project", "p", "--api-key", "k", "--ca-dir", "{ca}"],
        ["learn", "{}", "--project", "p", "--api-key", "k", "--ca-dir", "{ca}"],
        ["init", "{}", "--project", "p", "--api-key", "k", "--ca-dir", "{ca}", "--no-ask"],
    ],
    ids=lambda words: words[0],
)
def test_what_a_target_answers_cannot_command_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    words: Sequence[str],
) -> None:
    from hookproof.receiver.http.authority import Authority

    Authority(tmp_path / "ca")
    monkeypatch.chdir(tmp_path)
    body = b'{"status": true, "message": "' + HOSTILE.encode() + b'", "data": "x"}'

    def answer(head: bytes) -> bytes:
        listed = b'{"status":true,"message":"","data":{"content":[],"pagination":{}}}'
        return response(200, listed) if head.startswith(b"GET ") else response(500, body)

    with stand_in(answer) as url:
        filled = (word.format(url, ca=tmp_path / "ca") for word in words)
        output = shown(monkeypatch, capsys, *filled)
    assert output
    raw = {c for c in output if not c.isprintable() and c not in "\n\t"}
    assert raw == set()


def test_doctor_shows_no_credential_of_an_answer_that_it_quotes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from hookproof.receiver.http.authority import Authority

    Authority(tmp_path / "ca")
    secret = "whsec_5f4dcc3b5aa765d61d83"
    body = json.dumps({"status": True, "data": [{"secrets": [{"value": secret}]}]}).encode()

    def answer(head: bytes) -> bytes:
        listed = b'{"status":true,"message":"","data":{"content":[],"pagination":{}}}'
        return response(200, listed if head.startswith(b"GET ") else body)

    with stand_in(answer) as url:
        words = ("doctor", url, "--project", "p", "--api-key", "k", "--ca-dir", "{ca}")
        filled = (word.format(ca=tmp_path / "ca") for word in words)
        output = shown(monkeypatch, capsys, *filled)
    assert "an endpoint can be created" in output
    assert "secret#1" in output
    assert secret not in output


def test_an_error_that_nobody_expected_is_shown_safely(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> int:
        raise RuntimeError(f"{HOSTILE} at https://user:{PASSWORD}@host")

    monkeypatch.setattr("hookproof.cli.cli.main", fail)
    monkeypatch.setattr(sys, "argv", ["hookproof"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == ExitCode.INTERNAL_ERROR
    message = capsys.readouterr().err
    assert "\x1b" not in message
    assert PASSWORD not in message
