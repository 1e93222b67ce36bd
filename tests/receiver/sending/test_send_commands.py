"""`hookproof send` and `hookproof sign`, against a consumer that keeps what comes."""

import base64
import gzip
import json
import ssl
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
import trustme
from aiohttp import web
from click.testing import CliRunner, Result

from hookproof.cli import cli
from hookproof.receiver.sending.tables import ways
from hookproof.receiver.signatures.judgement import SignatureJudge
from hookproof.receiver.signatures.schemes.catalogue import load_scheme
from hookproof.spec.dialect.reader import load_dialect
from tests.receiver.sending.consumer_thread import ReceivedRequest, Recorder, serving

SECRET: Final = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLw=="
BODY: Final = b'{"price":1.50, "name":"Zo\xc3\xab" }\n'
GIVEN: Final = ("--scheme", "svix", "--secret", SECRET)
DAY_S: Final = 86400
SIZE: Final = 200_000


def run(command: str, *arguments: str, body: bytes = BODY) -> Result:
    return CliRunner().invoke(cli, [command, *arguments], input=body)


def exit_code(result: Result) -> int:
    """The exit code that the process would have: click's own for wrong usage is 2."""
    return 64 if result.exit_code == 2 else result.exit_code


def times(requests: Sequence[ReceivedRequest]) -> list[float]:
    return [time.time() - int(each.header("svix-timestamp") or 0) for each in requests]


def ids(requests: Sequence[ReceivedRequest]) -> list[str | None]:
    return [each.header("svix-id") for each in requests]


# What arrives in each way: whether it is so, of the requests that came whole.
ARRIVES: Final[dict[str, Callable[[Sequence[ReceivedRequest]], bool]]] = {
    "right": lambda came: len(came) == 1 and abs(times(came)[0]) < 20,
    "duplicate": lambda came: (
        len(set(ids(came))) == 1 and len({each.header("svix-signature") for each in came}) == 2
    ),
    "late": lambda came: 40 < times(came)[0] < 90,
    "out-of-order": lambda came: len(set(ids(came))) == 2 and times(came)[1] - times(came)[0] > 0.9,
    "old": lambda came: times(came)[0] >= DAY_S + 300,
    "future": lambda came: times(came)[0] < -DAY_S,
    "rolled": lambda came: (came[0].header("svix-signature") or "").count("v1,") == 2,
    "gzip": lambda came: (
        gzip.decompress(came[0].body) == BODY and came[0].header("Content-Encoding") == "gzip"
    ),
    "chunked": lambda came: (
        came[0].header("Transfer-Encoding") == "chunked"
        and came[0].header("Content-Length") is None
    ),
    "large": lambda came: (
        len(came[0].body) == SIZE and json.loads(came[0].body) == json.loads(BODY)
    ),
    "slow": lambda came: came[0].header("Content-Length") == str(len(BODY)),
    "aborted": lambda came: len(came) == 1,
}


def test_every_way_is_tried_here() -> None:
    assert list(ARRIVES) == list(ways())


@pytest.mark.parametrize("name", ARRIVES)
def test_a_way_arrives_as_it_says_and_is_signed(name: str) -> None:
    recorder = Recorder(status=401 if name == "old" else 200)
    with serving(recorder) as url:
        result = run("send", f"{url}/in?x=%3A", *GIVEN, "--as", name, "--size", str(SIZE))
    assert exit_code(result) == 0, result.output
    assert result.output.count("as it should be") == len(ways()[name].deliveries)
    assert ARRIVES[name](recorder.requests), recorder.requests
    judge = SignatureJudge(
        dialect=load_dialect("reference"), secrets=(SECRET,), schemes=(load_scheme("svix"),)
    )
    for request in recorder.requests:
        judgement = judge.judge(request.headers, request.body, time.time())
        wrong_time = {"old": "timestamp too old", "future": "timestamp too far ahead"}.get(name)
        assert judgement.reason == wrong_time, judgement.sentence
        assert request.target == "/in?x=%3A"
        if name not in {"gzip", "large"}:
            assert request.body == BODY


@pytest.mark.parametrize("name", ARRIVES)
@pytest.mark.parametrize("status", [500, 307])
def test_an_answer_that_is_wrong_is_told(name: str, status: int) -> None:
    recorder = Recorder(status=status)
    with serving(recorder) as url:
        result = run("send", url, *GIVEN, "--as", name)
    assert exit_code(result) == 1
    assert f"answered {status}" in result.output
    assert f"should be {ways()[name].wanted}: {ways()[name].why}" in result.output


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("old", 200, 1),
        ("old", 400, 0),
        ("right", 401, 1),
        ("right", 202, 0),
        ("duplicate", 409, 1),
        ("large", 413, 0),
        ("large", 400, 0),
        ("large", 401, 1),
        ("chunked", 411, 0),
        ("gzip", 415, 0),
    ],
)
def test_an_answer_is_right_or_wrong_by_its_way(name: str, status: int, code: int) -> None:
    with serving(Recorder(status=status)) as url:
        assert exit_code(run("send", url, *GIVEN, "--as", name)) == code


def test_several_ways_and_json() -> None:
    recorder = Recorder()
    with serving(recorder) as url:
        result = run("send", url, *GIVEN, "--as", "right, old", "--id", "evt_7", "--json")
    assert exit_code(result) == 1
    right, old = json.loads(result.output)
    assert (right["as"], right["status"], right["right"]) == ("right", 200, True)
    assert (old["as"], old["wanted"], old["right"]) == ("old", ["4xx"], False)
    assert ids(recorder.requests) == ["evt_7", "evt_7"]


@pytest.mark.parametrize("scheme", ["gitlab", "postmark"])
def test_a_secret_that_is_sent_is_not_shown(scheme: str) -> None:
    given = ("--scheme", scheme, "--secret", "user:hush", "--header", "Cookie: hush")
    with serving(Recorder()) as url:
        result = run("send", url, *given, "--json")
    assert exit_code(result) == 0
    assert "hush" not in result.output
    assert base64.b64encode(b"user:hush").decode() not in result.output
    assert "(the secret)" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--secret", "x"), "say who signs: --scheme NAME"),
        (("--scheme", "github"), "a secret is needed"),
        (("--scheme", "github", "--secret", "a", "--secret", "b"), "one secret signs here"),
        (("--scheme", "github", "--secret", "a", "--as", "old"), "the scheme sends no time"),
        (("--scheme", "github", "--secret", "a", "--as", "rolled"), "only one secret signs"),
        (("--scheme", "github", "--secret", "a", "--as", "odd"), "'odd' is not one of 'right'"),
        (("--scheme", "githob", "--secret", "a"), "there is no scheme 'githob'"),
        (("--scheme", "svix", "--secret", "whsec_*"), "the secret is not base64"),
        (("--scheme", "github", "--dialect", "convoy", "--secret", "a"), "takes the place of"),
        (("--scheme", "adyen", "--secret", "aa"), "no place for the member"),
        (("--scheme", "github", "--secret", "a", "--header", "x"), "is not a header"),
        (("--scheme", "github", "--secret", "a", "--header", "Expect: x"), "leave it out"),
        (("--scheme", "github", "--secret", "a", "--header", "A: \ud800"), "leave it out"),
        (("--scheme", "gitlab", "--secret", "a\nb"), "is not printable ASCII"),
        (("--scheme", "github", "--secret", "a", "--id", "é"), "give printable ASCII"),
        (("--scheme", "github", "--secret", "a", "--body", "gone"), "cannot read gone"),
    ],
)
def test_what_cannot_be_sent_is_refused_in_one_line_and_nothing_is_sent(
    arguments: tuple[str, ...], message: str
) -> None:
    recorder = Recorder()
    with serving(recorder) as url:
        result = run("send", url, *arguments, body=b"[]")
    assert exit_code(result) == 64
    assert message in result.output
    assert recorder.requests == []


@pytest.mark.parametrize("url", ["ftp://x", "127.0.0.1:80", "http://", "http://[x", "http://a b"])
def test_what_is_no_url_is_refused(url: str) -> None:
    result = run("send", url, *GIVEN)
    assert exit_code(result) == 64
    assert "is not a URL to send to" in result.output


def test_a_consumer_that_is_not_there_is_unreachable() -> None:
    with serving(Recorder()) as url:
        pass
    result = run("send", url, *GIVEN)
    assert exit_code(result) == 4
    assert "cannot be reached" in result.output


def test_a_consumer_that_does_not_answer_in_time_is_wrong() -> None:
    async def silent(request: web.Request) -> web.StreamResponse:
        await request.read()
        request.transport.close()
        return web.Response()

    with serving(silent) as url:
        result = run("send", url, *GIVEN)
    assert exit_code(result) == 1
    assert "did not answer" in result.output


def test_the_certificate_of_another_machine_is_verified(tmp_path: Path) -> None:
    authority, other = trustme.CA(), trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    for name, each in (("ca.pem", authority), ("other.pem", other)):
        each.cert_pem.write_to_path(str(tmp_path / name))
    with serving(Recorder(), context) as url:
        codes: dict[str, Any] = {
            name: exit_code(run("send", url, *GIVEN, "--ca", str(tmp_path / name)))
            for name in ("ca.pem", "other.pem")
        }
        assert codes == {"ca.pem": 0, "other.pem": 4}
        assert exit_code(run("send", url, *GIVEN)) == 0  # on this machine, without --ca


@pytest.mark.parametrize("scheme", ["stripe", "github", "slack", "gitlab"])
def test_what_sign_prints_is_what_verify_takes(scheme: str, tmp_path: Path) -> None:
    (tmp_path / "body.json").write_bytes(BODY)
    (tmp_path / "other.json").write_bytes(BODY + b" ")
    given = ("--scheme", scheme, "--secret", "a secret")
    signed = run("sign", *given, "--body", str(tmp_path / "body.json"))
    assert exit_code(signed) == 0, signed.output
    (tmp_path / "headers.txt").write_text(signed.output)
    checked = ("--header", f"@{tmp_path / 'headers.txt'}", "--body")
    assert exit_code(run("verify", *given, *checked, str(tmp_path / "body.json"))) == 0
    other = run("verify", *given, *checked, str(tmp_path / "other.json"))
    assert exit_code(other) == (0 if scheme == "gitlab" else 1)


def test_a_signature_within_the_body_needs_a_file_for_it(tmp_path: Path) -> None:
    given = ("--scheme", "mailgun", "--secret", "a secret")
    refused = run("sign", *given, body=b'{"signature":{"token":"7a"}}')
    assert exit_code(refused) == 64
    assert "add --write-body FILE" in refused.output
    body = tmp_path / "signed.json"
    signed = run("sign", *given, "--write-body", str(body), body=b'{"signature":{"token":"7a"}}')
    assert exit_code(signed) == 0
    verified = run("verify", *given, "--header", "A: b", "--body", str(body))
    assert exit_code(verified) == 0, verified.output
