"""What receivers do to deliveries is named for senders of every kind, not for one alone."""

import base64
import hmac
import html
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote_plus, unquote_plus

import pytest

from hookproof.receiver.cli.verify import judgement_text
from hookproof.receiver.signatures.judgement import SignatureJudge
from hookproof.receiver.signatures.schemes.request_parts import RequestLine
from hookproof.spec.dialect.reader import load_dialect
from tests.receiver.signatures.schemes.provider_signers import (
    TIME,
    URL,
    ProviderRequest,
    scheme_of,
    signed,
)

Change = Callable[[ProviderRequest], ProviderRequest]

OF_BODY: Final = (
    "discord", "github", "hubspot", "line", "linear", "notion", "outpost", "paddle", "paypal",
    "paystack", "sendgrid", "shopify", "slack", "square", "standard-webhooks",
    "standard-webhooks-ed25519", "stripe", "svix", "trello", "twitch", "typeform", "vercel",
    "workos", "zendesk", "zoom",
)  # fmt: skip
PUBLIC: Final = {"discord", "paypal", "sendgrid", "standard-webhooks-ed25519"}
WITH_SECRET: Final = tuple(name for name in OF_BODY if name not in PUBLIC)
WITH_TEXT_SECRET: Final = tuple(
    name for name in WITH_SECRET if name not in {"standard-webhooks", "svix"}
)
WITH_TIME: Final = (
    "hubspot", "paddle", "slack", "standard-webhooks", "stripe", "svix", "twitch", "workos",
    "zendesk",
)  # fmt: skip
RECEIVER: Final = "the receiver's side: Content-Length has the length of what was signed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverMistake:
    """A change of a right delivery, and what the answer has to hold."""

    name: str
    change: Change
    says: tuple[str, ...]
    senders: tuple[str, ...] = OF_BODY
    late_s: int = 0


def of_body(change: Callable[[bytes], bytes]) -> Change:
    return lambda request: replace(request, body=change(request.body))


def of_secret(change: Callable[[str], str]) -> Change:
    return lambda request: replace(request, secret=change(request.secret))


def of_headers(change: Callable[[str, str], list[tuple[str, str]]]) -> Change:
    return lambda request: replace(
        request,
        headers=tuple(
            each
            for name, value in request.headers
            for each in (
                [(name, value)] if name in {"Host", "Content-Length"} else change(name, value)
            )
        ),
    )


def as_javascript_writes(body: bytes) -> bytes:
    return json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False).encode()


def miscopied(value: str) -> str:
    """A header with another character near the end of its first signature."""
    start = value.index(",v0") if ",v0" in value else len(value)
    place = start - 7
    return value[:place] + ("a" if value[place] != "a" else "b") + value[place + 1 :]


MISTAKES: Final = [
    ReceiverMistake(
        name="parsed and written by JavaScript",
        change=of_body(as_javascript_writes),
        says=("1.50 where 1.5 is here", "JavaScript", RECEIVER, "express.raw"),
    ),
    ReceiverMistake(
        name="base64 of a cloud function",
        change=of_body(base64.b64encode),
        says=("the bytes behind the body's base64", "isBase64Encoded"),
    ),
    ReceiverMistake(
        name="out of a log",
        change=of_body(lambda body: body.replace(b'"', b'\\"')),
        says=("without the backslashes", "copied this delivery"),
    ),
    ReceiverMistake(
        name="read as Latin-1",
        change=of_body(lambda body: body.decode("latin-1").encode()),
        says=("read as Latin-1 and written as UTF-8 again", RECEIVER),
    ),
    ReceiverMistake(
        name="with a line end",
        change=of_body(lambda body: body + b"\n"),
        says=("without its last line end", RECEIVER),
    ),
    ReceiverMistake(
        name="read before",
        change=of_body(lambda _: b""),
        says=("the body is empty", "Content-Length says", "something read it before"),
    ),
    ReceiverMistake(
        name="cut off",
        change=of_body(lambda body: body[:20]),
        says=("cut off after 20 bytes", "nothing is known about the"),
    ),
    ReceiverMistake(
        name="with question marks",
        change=of_body(lambda body: body.decode().encode("ascii", "replace")),
        says=("question marks", "the original is lost"),
    ),
    ReceiverMistake(
        name="names of CGI",
        change=of_headers(lambda name, value: [(f"HTTP_{name.upper().replace('-', '_')}", value)]),
        says=("here under its CGI name HTTP_", "nothing else is wrong"),
    ),
    ReceiverMistake(
        name="doubled headers",
        change=of_headers(
            lambda name, value: [(name, value)] * (2 if "sign" in name.lower() else 1)
        ),
        says=("sent 2 equal ", "each is right"),
        senders=("github", "linear", "notion", "paddle", "slack", "stripe", "typeform", "zoom"),
    ),
    ReceiverMistake(
        name="a character of the signature",
        change=of_headers(
            lambda name, value: [(name, miscopied(value) if "ign" in name else value)]
        ),
        says=("a character or two of the signature are others",),
        senders=(
            "customer-io",
            "github",
            "linear",
            "notion",
            "slack",
            "stripe",
            "typeform",
            "zoom",
        ),
    ),
    ReceiverMistake(
        name="a secret with a line end",
        change=of_secret(lambda secret: secret + "\n"),
        says=("has white space at an end", "store the text"),
        senders=WITH_SECRET,
    ),
    ReceiverMistake(
        name="a secret in quotation marks",
        change=of_secret(lambda secret: f'"{secret}"'),
        says=("without the quotation marks around it",),
        senders=WITH_SECRET,
    ),
    ReceiverMistake(
        name="a secret with a label",
        change=of_secret(lambda secret: f"v1,{secret}"),
        says=("without the label before it",),
        senders=WITH_SECRET,
    ),
    ReceiverMistake(
        name="a line of a file of secrets",
        change=of_secret(lambda secret: f"export WEBHOOK_SECRET={secret}"),
        says=("without the name before it",),
        senders=WITH_SECRET,
    ),
    ReceiverMistake(
        name="another secret",
        change=of_secret(lambda _: "another one"),
        says=("most likely another secret signed", "test and live mode", "ways to sign: keys"),
        senders=WITH_TEXT_SECRET,
    ),
    ReceiverMistake(
        name="a clock that is slow by days",
        change=lambda request: request,
        says=("3 days) after its arrival", "receiver's clock", "signature itself is right"),
        senders=WITH_TIME,
        late_s=-3 * 86400,
    ),
    ReceiverMistake(
        name="a clock that is fast",
        change=lambda request: request,
        says=(" s before its arrival", "receiver's clock", "signature itself is right"),
        senders=WITH_TIME,
        late_s=1200,
    ),
]
CASES: Final = [
    pytest.param(mistake, name, id=f"{name}: {mistake.name}")
    for mistake in MISTAKES
    for name in mistake.senders
]


def answer(request: ProviderRequest, name: str, now: float) -> str:
    judge = SignatureJudge(
        dialect=load_dialect("reference"),
        secrets=(request.secret,),
        schemes=(scheme_of(name),),
    )
    line = RequestLine(method="POST", url=URL)
    judgement = judge.judge(request.headers, request.body, now, line)
    assert not judgement.verified
    return judgement_text(judgement, request.headers, request.body)


@pytest.mark.parametrize(("mistake", "name"), CASES)
def test_a_mistake_is_named_with_who_made_it(mistake: ReceiverMistake, name: str) -> None:
    right = signed(name)
    length = ("Content-Length", str(len(right.body)))
    sent = replace(right, headers=(*right.headers, length))
    text = answer(mistake.change(sent), name, TIME + mistake.late_s)
    missing = [each for each in mistake.says if each not in text]
    assert not missing, text
    assert text.count("another secret") == ("another secret" in mistake.name), text


LARGE: Final = b'{"id":820982911946154508,"name":"Zoe"}'
FORM: Final = b"payload=" + quote_plus(LARGE.decode()).encode()


@pytest.mark.parametrize(
    ("was_signed", "seen", "says"),
    [
        (LARGE, LARGE.replace(b"508", b"500"), "820982911946154508 where 820982911946154500"),
        (FORM, LARGE, "signed the form payload="),
        (FORM, unquote_plus(FORM.decode()).encode(), "signed the form payload="),
        (LARGE, FORM, "signed the value of 'payload' alone"),
        (b"a=%2f&b=1+2", b"a=%2F&b=1+2", "parsed and encoded again, in capital letters"),
        (b"a=1+2&b=%2F", b"a=1%202&b=%2F", "and + for a space"),
        (b"a=1&b=2", b'{"a":"1","b":"2"}', "signed the form encoding of the body"),
        (LARGE, html.escape(LARGE.decode()).encode(), "without HTML escapes"),
        (LARGE, repr(LARGE).encode(), "Python's repr"),
        (b'{"a":true,"b":null}', b"{'a': True, 'b': None}", "Python's repr"),
        (LARGE, json.dumps({"body": LARGE.decode()}).encode(), "the text in the member 'body'"),
        (b'{"a":"\\u00E9\\/"}', '{"a":"\u00e9/"}'.encode(), "escaped, in capital digits"),
        (b'{\r\n  "a": 1\r\n}', b'{"a":1}', "indented by 2 spaces, with CR LF"),
        (b'{\n    "a": "\\/"\n}', b'{"a":"/"}', "JSON_PRETTY_PRINT"),
        (b'{"a":"\\u0027\\u002B"}', b'{"a":"\'+"}', "System.Text.Json"),
        (LARGE[:20], LARGE, "the first 20 bytes of the body, as Content-Length says"),
    ],
)
def test_what_was_made_of_a_body_is_found(was_signed: bytes, seen: bytes, says: str) -> None:
    mac = hmac.new(b"a secret", was_signed, "sha256").hexdigest()
    request = ProviderRequest(
        headers=(
            ("X-Hub-Signature-256", f"sha256={mac}"),
            ("Content-Length", str(len(was_signed))),
        ),
        body=seen,
        secret="a secret",
    )
    assert says in answer(request, "github", TIME)


@pytest.mark.parametrize(
    "given",
    [
        "Bearer a secret",
        "whsec_a secret",
        "\ufeffa secret",
        "a\\ secret",
        "a%20secret",
        "a secret\r\n",
    ],
)
def test_what_was_made_of_a_secret_is_found(given: str) -> None:
    mac = hmac.new(b"a secret", LARGE, "sha256").hexdigest()
    headers = (("X-Hub-Signature-256", f"sha256={mac}"),)
    text = answer(ProviderRequest(headers=headers, body=LARGE, secret=given), "github", TIME)
    assert "signed with the secret" in text
    assert "store the text that the sender signs with" in text


def test_as_many_cases_are_tried_as_were_reported() -> None:
    assert len(CASES) > 4 * 70
