"""Deliveries are verified in every form in which people have saved them."""

import base64
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result

from hookproof.receiver.cli.verify import verify
from tests.receiver.signatures.schemes.provider_signers import JSON, URL, ProviderRequest, signed

SHOPIFY: Final = signed("shopify")
SQUARE: Final = signed("square")


def run(*arguments: str, secret: str | None = SHOPIFY.secret, **options: Any) -> Result:
    given = ["--secret", secret] if secret else []
    return CliRunner().invoke(verify, [*given, *arguments], **options)


def _head(request: ProviderRequest, target: str = "/in?x=a%3Ab") -> bytes:
    lines = [f"POST {target} HTTP/1.1", *(f"{name}: {value}" for name, value in request.headers)]
    return "\r\n".join([*lines, "", ""]).encode()


def _chunked(request: ProviderRequest) -> bytes:
    half = len(request.body) // 2
    chunks = [request.body[:half], request.body[half:], b""]
    framed = b"".join(b"%x;part\r\n%s\r\n" % (len(each), each) for each in chunks)
    return _head(request)[:-2] + b"Transfer-Encoding: chunked\r\n\r\n" + framed


def _pairs(request: ProviderRequest) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in request.headers]


def _archive(request: ProviderRequest) -> Any:
    sent = {
        "method": "POST",
        "url": URL,
        "headers": [{"name": ":method", "value": "POST"}, *_pairs(request)],
        "postData": {"mimeType": "application/json", "text": request.body.decode()},
    }
    fetched = {"method": "GET", "url": URL, "headers": []}
    return {"log": {"entries": [{"request": fetched}, {"request": sent}]}}


def _event(request: ProviderRequest, *, encoded: bool) -> Any:
    body = base64.b64encode(request.body).decode() if encoded else request.body.decode()
    return {
        "version": "2.0",
        "rawPath": "/in",
        "rawQueryString": "x=a%3Ab",
        "headers": {name.lower(): value for name, value in request.headers},
        "requestContext": {"http": {"method": "POST"}},
        "body": body,
        "isBase64Encoded": encoded,
    }


FORMS: Final[Mapping[str, Callable[[ProviderRequest], Any]]] = {
    "a request": lambda request: _head(request) + request.body,
    "a request with line feeds alone": lambda request: (
        _head(request).replace(b"\r\n", b"\n") + request.body
    ),
    "a chunked request": _chunked,
    "an archive": _archive,
    "an event": lambda request: _event(request, encoded=False),
    "an event in base64": lambda request: _event(request, encoded=True),
    "an event of Netlify": lambda request: {
        "httpMethod": "POST",
        "rawUrl": URL,
        "path": "/in",
        "multiValueHeaders": {name: [value] for name, value in request.headers},
        "headers": {},
        "body": request.body.decode(),
    },
    "webhook.site": lambda request: {
        "uuid": "1",
        "method": "POST",
        "url": URL,
        "headers": {name.lower(): [value] for name, value in request.headers},
        "content": request.body.decode(),
    },
    "webhook.site, a list": lambda request: {
        "data": [FORMS["webhook.site"](request)],
        "total": 1,
    },
    "ngrok": lambda request: {
        "requests": [{"request": {"raw": base64.b64encode(_head(request) + request.body).decode()}}]
    },
    "the receiver": lambda request: {
        "token": "t",
        "method": "POST",
        "path": "/in?x=a%3Ab",
        "headers": [list(each) for each in request.headers],
        "body_b64": base64.b64encode(request.body).decode(),
        "arrived_at": 1767323050.0,
    },
}


def saved(form: str, request: ProviderRequest, folder: Path) -> str:
    content = FORMS[form](request)
    path = folder / "saved"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return str(path)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("request_", [SHOPIFY, SQUARE], ids=["shopify", "square"])
def test_a_saved_delivery_is_verified(form: str, request_: ProviderRequest, tmp_path: Path) -> None:
    path = saved(form, request_, tmp_path)
    assert run(path).exit_code == run("--request", path).exit_code == 0
    changed = Path(path).read_bytes().replace(b"price", b"prise")
    if "base64" not in form and form not in {"ngrok", "the receiver"}:
        Path(path).write_bytes(changed)
        assert run("--request", path).exit_code == 1


def test_what_curl_shows_is_verified_with_the_body_beside_it(tmp_path: Path) -> None:
    shown = tmp_path / "curl.txt"
    lines = "".join(f"> {line}\n" for line in _head(SHOPIFY).decode().split("\r\n")[:-1])
    shown.write_text(f"* Connected to hooks.example\n{lines}* sent\n< HTTP/1.1 200 OK\n< X: 1\n")
    body = tmp_path / "body.json"
    body.write_bytes(JSON)
    assert run("--request", str(shown), "--body", str(body)).exit_code == 0
    assert run("--request", str(shown), input=JSON).exit_code == 0
    assert run("--request", str(shown), input=b"other").exit_code == 1


def test_headers_and_body_may_be_in_files(tmp_path: Path) -> None:
    headers, body = tmp_path / "headers.txt", tmp_path / "body.json"
    headers.write_text("".join(f"{name}: {value}\n" for name, value in SQUARE.headers))
    body.write_bytes(SQUARE.body)
    given = ("--header", f"@{headers}", "--body", str(body))
    assert run(*given, "--url", URL).exit_code == 0
    unknown = run(*given)
    assert unknown.exit_code == 1
    assert "give --url" in unknown.output


def test_the_url_that_the_sender_called_can_be_given(tmp_path: Path) -> None:
    path = tmp_path / "behind a proxy"
    path.write_bytes(_head(SQUARE, "/internal") + SQUARE.body)
    assert run("--request", str(path)).exit_code == 1
    assert run("--request", str(path), "--url", URL).exit_code == 0
    insecure = run("--request", str(path), "--url", URL.replace("https", "http"))
    assert "signed https:// where the request came with http://" in insecure.output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "is JSON, but not a saved delivery"),
        ('{"headers": {}, "body": {"id": 1}}', "the body in this event is parsed JSON"),
        ('{"headers": {}, "body": "?", "isBase64Encoded": true}', "the body is not base64"),
        ('{"a": 1}\n{"a": 2}', "holds 2 lines: keep the one"),
        ("[{}, {}]", "holds 2 requests: keep the one"),
        ("{", "is neither JSON nor an HTTP request"),
        ("[" * 100_000, "is neither JSON nor an HTTP request"),
        ("hello", "does not hold an HTTP request"),
    ],
)
def test_what_is_no_delivery_is_refused_in_one_line(
    content: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "saved"
    path.write_text(content)
    refused = run("--request", str(path))
    assert refused.exit_code == 2  # 64 by the main command
    assert message in refused.output
    assert isinstance(refused.exception, SystemExit)


def test_a_saved_delivery_is_judged_by_its_own_time_and_its_age_is_told(tmp_path: Path) -> None:
    path = tmp_path / "saved"
    stripe = signed("stripe")
    path.write_bytes(_head(stripe) + stripe.body)
    given = ("--request", str(path))
    told = run(*given)
    assert told.exit_code == 0
    assert "old, which is not judged without --at" in told.output
    for further in (["--at", str(int(time.time()))], ["--tolerance", "300"]):
        assert run(*given, *further).exit_code == 1
    path.write_bytes(_head(stripe).replace(b"t=1767", b"t=9767") + stripe.body)
    assert "ahead" in run(*given).output


def test_a_line_end_of_the_environment_is_told_and_further_ones_are_kept(tmp_path: Path) -> None:
    path = saved("a request", SHOPIFY, tmp_path)
    plain, ended, twice = (
        run("--request", path, secret=None, env={"HOOKPROOF_SECRET": SHOPIFY.secret + end})
        for end in ("", "\n", "\n\n")
    )
    assert (plain.exit_code, ended.exit_code, twice.exit_code) == (0, 0, 1)
    assert ("note:" in plain.output, "ends in a line end" in ended.output) == (False, True)
    assert "has white space at an end" in twice.output


def test_a_scheme_and_a_dialect_exclude_each_other(tmp_path: Path) -> None:
    path = saved("a request", SHOPIFY, tmp_path)
    assert run("--request", path, "--scheme", "shopify").exit_code == 0
    assert run("--request", path, "--scheme", "linear").exit_code == 1
    both = run("--request", path, "--scheme", "shopify", "--dialect", "convoy")
    assert "takes the place of --dialect" in both.output
    assert "there is no scheme 'shopfy'" in run("--request", path, "--scheme", "shopfy").output
    other = run("--request", path, "--dialect", "convoy")
    assert "give --scheme shopify" in other.output
