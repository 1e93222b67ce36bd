"""Where the URL is signed, a proxy may say it: believed if that is told, and named if it is not."""

import json
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from hookproof.receiver.cli.verify import verify
from tests.receiver.cli.test_watching_commands import post, start_receiver, wait_for_end
from tests.receiver.signatures.schemes.provider_signers import TIME, URL, signed

# What the proxy at URL tells of a request that it passes on to another host and another path.
FORWARDED: Final = (
    ("X-Forwarded-Proto", "https"),
    ("X-Forwarded-Host", "hooks.example"),
    ("X-Forwarded-Prefix", "/in"),
)
INNER: Final = URL.replace("https://hooks.example/in", "http://inner.example:8080")
SIGNING_URLS: Final = (
    "http-message-signatures", "hubspot", "hubspot-v2", "mandrill", "square", "trello", "twilio",
)  # fmt: skip


def verified(name: str, tmp_path: Path, *arguments: str, told: bool = True) -> tuple[int, str]:
    """Exit code and output for a delivery of this sender that the proxy has passed on."""
    request = signed(name)
    headers = [(each, value) for each, value in request.headers if each != "Host"]
    lines = [f"{each}: {value}" for each, value in (*headers, *(FORWARDED if told else ()))]
    path = tmp_path / "delivery.http"
    head = f"POST {INNER} HTTP/1.1\r\nHost: inner.example:8080\r\n" + "\r\n".join(lines)
    path.write_bytes(f"{head}\r\n\r\n".encode() + request.body)
    result = CliRunner().invoke(
        verify,
        ["--request", str(path), "--secret", request.secret, "--at", str(TIME), *arguments],
    )
    assert isinstance(result.exception, SystemExit | None), result.exception
    return result.exit_code, result.output


@pytest.mark.parametrize("name", SIGNING_URLS)
def test_the_url_of_a_proxy_is_taken_if_that_is_told(name: str, tmp_path: Path) -> None:
    assert verified(name, tmp_path, "--forwarded")[0] == 0
    assert verified(name, tmp_path, "--url", URL)[0] == 0
    code, text = verified(name, tmp_path, "--scheme", name)
    assert code == 1
    assert f"signed the URL {URL}, as the headers X-Forwarded-* say it" in text
    assert "here, give --forwarded" in text
    code, text = verified(name, tmp_path, "--forwarded", told=False)
    assert code == 1
    assert "--forwarded" not in text


def test_it_is_not_named_where_it_would_not_help(tmp_path: Path) -> None:
    code, text = verified("square", tmp_path, "--secret", "another", "--scheme", "square")
    assert "X-Forwarded" in text
    code, text = verified("github", tmp_path)
    assert code == 0
    assert "X-Forwarded" not in text


def test_two_words_about_the_url_are_refused(tmp_path: Path) -> None:
    code, text = verified("square", tmp_path, "--forwarded", "--url", URL)
    assert code == 2
    assert "leave --forwarded out" in text
    headers = ["--forwarded", "--secret", "a", "--header", "X-Forwarded-Host: a.example"]
    result = CliRunner().invoke(verify, headers, input="{}")
    assert result.exit_code == 2


@pytest.mark.parametrize("told", [True, False])
def test_the_receiver_takes_it_if_that_is_told(told: bool, tmp_path: Path) -> None:
    request = signed("square")
    lines = tmp_path / "all.jsonl"
    arguments = ["--verify", "--scheme", "square", "--secret", request.secret, "--once"]
    arguments += ["--jsonl", str(lines), *(["--forwarded"] if told else [])]
    with start_receiver(*arguments) as (process, port):
        headers = [f"{name}: {value}" for name, value in (*FORWARDED[:2], *request.headers[1:])]
        post(port, request.body, *headers, path=URL.removeprefix("https://hooks.example"))
        assert wait_for_end(process)[0] == (0 if told else 1)
    judgement = json.loads(lines.read_text())["judgement"]
    assert judgement["verified"] is told
    assert told or f"signed the URL {URL}" in judgement["bisection"]
