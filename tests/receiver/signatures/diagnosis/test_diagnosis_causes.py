"""Every signing mistake is named, in every dialect in which it can be made."""

import base64
import hmac
import json

import pytest

from hookproof.receiver.signatures.diagnosis import Aspect, Diagnosis, diagnose
from hookproof.receiver.signatures.diagnosis.known_values import KnownValues
from hookproof.receiver.signatures.verification import Unverified
from tests.receiver.signatures.diagnosis.signing_mistakes import (
    EVENT,
    FORMATS,
    TIME,
    Mistake,
    in_base64,
    in_base64url,
    in_hex,
    plain_hash,
    signed_with,
)
from tests.receiver.signatures.signature_vectors import SignedVector

SPACED = b'{"order": 1, "name": "Zo\xc3\xab <b> a/b", "price": 1.50}'
COMPACT = b'{"order":1,"name":"Zo\xc3\xab <b> a/b","price":1.50}'
ESCAPED = b'{"order": 1, "name": "Zo\\u00eb <b> a/b", "price": 1.50}'
TEXT_KEYS, BASE64_KEYS = ("reference",), ("contrary", "standard-webhooks")

BODIES = [
    Mistake(
        name="compact",
        expected="signed the compact form of the body, sent it with spaces",
        sent=SPACED,
        signed=COMPACT,
    ),
    Mistake(
        name="spaced",
        expected="signed the body with spaces, sent it compact",
        sent=COMPACT,
        signed=SPACED,
    ),
    Mistake(
        name="own white space",
        expected="signed the compact form of the body, sent it with white space of its own",
        sent=b'{ "a":1,\r\n"b": 2 }',
        signed=b'{"a":1,"b":2}',
    ),
    Mistake(
        name="indented",
        expected="signed the body indented by 2 spaces, sent it compact",
        sent=b'{"a":[1,{}]}',
        signed=json.dumps({"a": [1, {}]}, indent=2).encode(),
    ),
    Mistake(
        name="tabs",
        expected="indented by tabs",
        sent=b'{"a":[1,[],{"b":2}]}',
        signed=json.dumps({"a": [1, [], {"b": 2}]}, indent="\t").encode(),
    ),
    Mistake(
        name="sorted",
        expected="with its keys sorted",
        sent=b'{"b":1,"a":{"d":[{"f":1,"e":2}],"c":1}}',
        signed=b'{"a":{"c":1,"d":[{"e":2,"f":1}]},"b":1}',
    ),
    Mistake(name="ASCII", expected="characters beyond ASCII escaped", sent=SPACED, signed=ESCAPED),
    Mistake(name="unescaped", expected="escapes resolved", sent=ESCAPED, signed=SPACED),
    Mistake(
        name="HTML",
        expected="<, > and & escaped",
        sent=COMPACT,
        signed=COMPACT.replace(b"<b>", b"\\u003cb\\u003e"),
    ),
    Mistake(
        name="slashes",
        expected="slashes escaped",
        sent=COMPACT,
        signed=COMPACT.replace(b"a/b", b"a\\/b"),
    ),
    Mistake(
        name="doubles",
        expected="numbers read as doubles",
        sent=b'{"n":12345678901234567890,"m":1.0,"k":1e3}',
        signed=b'{"n":12345678901234567000,"m":1,"k":1000}',
    ),
    Mistake(
        name="Python numbers",
        expected="read and written by Python",
        sent=b'{"m":1.50,"k":1e3}',
        signed=b'{"m":1.5,"k":1000.0}',
    ),
    Mistake(
        name="json.dumps",
        expected="as json.dumps of Python writes it",
        sent=COMPACT,
        signed=json.dumps(json.loads(COMPACT)).encode(),
    ),
    Mistake(
        name="line end lost",
        expected="with a line end after it",
        sent=COMPACT,
        signed=COMPACT + b"\n",
    ),
    Mistake(
        name="line end added",
        expected="without its last line end",
        sent=COMPACT + b"\n",
        signed=COMPACT,
    ),
    Mistake(name="stripped", expected="white space around it", sent=b"  text \n", signed=b"text"),
    Mistake(
        name="CRLF",
        expected="carriage returns before its line feeds",
        sent=b"a\nb",
        signed=b"a\r\nb",
    ),
    Mistake(name="LF", expected="line feeds as line ends", sent=b"a\r\nb", signed=b"a\nb"),
    Mistake(name="empty", expected="signed an empty body", signed=b""),
    Mistake(name="BOM", expected="byte order mark", signed=b'\xef\xbb\xbf{"order":1}'),
    Mistake(
        name="form",
        expected="form encoding of the body",
        sent=b'{"a":"x y","b":2}',
        signed=b"a=x+y&b=2",
    ),
    Mistake(
        name="JSON of a form",
        expected="sent it form-encoded",
        sent=b"a=x+y&b=2",
        signed=b'{"a":"x y","b":"2"}',
    ),
    Mistake(
        name="unquoted",
        expected="percent escapes resolved",
        sent=b"a=%E6%9D%B1",
        signed="a=\u6771".encode(),
    ),
    Mistake(
        name="base64", expected="signed the body in base64", signed=base64.b64encode(b'{"order":1}')
    ),
    Mistake(
        name="decoded",
        expected="behind the body's base64",
        sent=base64.b64encode(COMPACT),
        signed=COMPACT,
    ),
    Mistake(name="listed bytes", expected="lists as numbers", sent=b"[104, 105]", signed=b"hi"),
    Mistake(
        name="string", expected="as a string of JSON", signed=json.dumps('{"order":1}').encode()
    ),
    Mistake(
        name="text of a string", expected="text within the string", sent=b'"hello"', signed=b"hello"
    ),
    Mistake(
        name="member",
        expected="the member 'data' of the body alone",
        sent=b'{"type":"a","data":{"x":1}}',
        signed=b'{"x":1}',
    ),
    Mistake(
        name="Latin-1",
        expected="in Latin-1",
        sent=COMPACT,
        signed=COMPACT.decode().encode("latin-1"),
    ),
    Mistake(
        name="UTF-16",
        expected="in UTF-16",
        sent=COMPACT,
        signed=COMPACT.decode().encode("utf-16-le"),
    ),
    Mistake(
        name="mojibake",
        expected="read as Latin-1 and encoded again",
        sent=COMPACT,
        signed=COMPACT.decode("latin-1").encode(),
    ),
    Mistake(
        name="lossy",
        expected="replaced by U+FFFD",
        sent=b"\xff\x00a",
        signed="\ufffd\x00a".encode(),
    ),
]
SECRETS = [
    Mistake(
        name="prefix kept",
        expected="prefix and all",
        key=lambda _, text: text.encode(),
        only=BASE64_KEYS,
    ),
    Mistake(
        name="undecoded",
        expected="undecoded",
        key=lambda _, text: text.split("_")[1].encode(),
        only=BASE64_KEYS,
    ),
    Mistake(name="key in hex", expected="into hex first", key=lambda key, _: key.hex().encode()),
    Mistake(
        name="key in base64",
        expected="key into base64 first",
        key=lambda key, _: base64.b64encode(key),
        only=TEXT_KEYS,
    ),
    Mistake(
        name="line end", expected="left a line end after the secret", key=lambda key, _: key + b"\n"
    ),
    Mistake(name="quoted", expected="in quotation marks", key=lambda _, text: f'"{text}"'.encode()),
    Mistake(name="no secret", expected="an empty secret", key=lambda *_: b""),
    Mistake(
        name="undefined",
        expected="signed with 'undefined' for a secret",
        key=lambda *_: b"undefined",
    ),
    Mistake(
        name="another's",
        expected="signed with the secret of endpoint 2",
        key=lambda *_: b"\x07" * 24,
    ),
]
HASHES = [
    Mistake(
        name="SHA-1",
        expected="used SHA-1",
        digest=lambda key, message, _: hmac.digest(key, message, "sha1"),
    ),
    Mistake(
        name="MD5",
        expected="used MD5",
        digest=lambda key, message, _: hmac.digest(key, message, "md5"),
    ),
    Mistake(
        name="SHA-512",
        expected="used SHA-512 where SHA-256 is expected",
        only=("reference", "standard-webhooks"),
        digest=lambda key, message, _: hmac.digest(key, message, "sha512"),
    ),
    Mistake(
        name="SHA-256",
        expected="used SHA-256 where SHA-512 is expected",
        digest=lambda key, message, _: hmac.digest(key, message, "sha256"),
        only=("contrary",),
    ),
    Mistake(
        name="no HMAC",
        expected="the secret and then the message, without HMAC",
        digest=lambda key, message, name: plain_hash(key + message, name),
    ),
    Mistake(
        name="key last",
        expected="the message and then the secret, without HMAC",
        digest=lambda key, message, name: plain_hash(message + key, name),
    ),
    Mistake(
        name="no key",
        expected="the message alone, without a secret",
        digest=lambda _, message, name: plain_hash(message, name),
    ),
    Mistake(
        name="swapped",
        expected="took the message for the key",
        digest=lambda key, message, name: hmac.digest(message, key, name),
    ),
]
JOINS = [
    Mistake(name="body alone", expected="signed the body alone", join=lambda _, body: body),
    Mistake(
        name="body first",
        expected="'{body}.{timestamp}'",
        join=lambda time, body: body + b"." + time,
        only=("reference",),
    ),
    Mistake(
        name="colons",
        expected="joined what is signed by ':'",
        join=lambda time, body: time + b":" + body,
        only=("reference",),
    ),
    Mistake(
        name="nothing between",
        expected="joined what is signed by ''",
        join=lambda time, body: EVENT + time + body,
        only=BASE64_KEYS,
    ),
    Mistake(
        name="no identifier",
        expected="left the identifier out",
        join=lambda time, body: time + b"." + body,
        only=("standard-webhooks",),
    ),
    Mistake(
        name="no time",
        expected="left the time out",
        join=lambda _, body: EVENT + b"|" + body,
        only=("contrary",),
    ),
    Mistake(
        name="identifier too",
        expected="signed the identifier too",
        join=lambda time, body: EVENT + b"," + time + b"," + body,
        only=("reference",),
    ),
    Mistake(
        name="time first",
        expected="{timestamp}.{id}.{body}",
        only=("standard-webhooks",),
        join=lambda time, body: time + b"." + EVENT + b"." + body,
    ),
    Mistake(
        name="v0",
        expected="'v0:{timestamp}:{body}'",
        join=lambda time, body: b"v0:" + time + b":" + body,
    ),
]
TIMES = [
    Mistake(
        name="milliseconds",
        expected="signed the time in milliseconds, sent it in seconds",
        time=b"1735689600000",
        only=("reference", "standard-webhooks"),
    ),
    Mistake(
        name="seconds",
        expected="signed the time in seconds, sent it in milliseconds",
        time=b"1735689600",
        only=("contrary",),
    ),
    Mistake(
        name="microseconds", expected="signed the time in microseconds", time=b"1735689600000000"
    ),
    Mistake(
        name="RFC 3339",
        expected="signed the time as 2025-01-01T00:00:00Z",
        time=b"2025-01-01T00:00:00Z",
    ),
    Mistake(
        name="fraction", expected="with a decimal point", time=b"1735689600.0", only=("reference",)
    ),
    Mistake(
        name="a second early",
        expected="1 s before the one that it sent",
        time=b"1735689599",
        only=("reference", "standard-webhooks"),
    ),
    Mistake(
        name="stale",
        expected="47 s before the one that it sent",
        time=b"1735689553",
        only=("reference", "standard-webhooks"),
    ),
    Mistake(
        name="stale, in milliseconds",
        expected="250 s before the one that it sent",
        time=b"1735689350000",
        only=("contrary",),
    ),
]
ENCODINGS = [
    Mistake(
        name="base64",
        expected="in base64 where hex is expected",
        encode=in_base64,
        only=("reference",),
    ),
    Mistake(
        name="hex", expected="in hex where base64 is expected", encode=in_hex, only=BASE64_KEYS
    ),
    Mistake(name="base64url", expected="in base64url", encode=in_base64url, only=("contrary",)),
    Mistake(
        name="no padding",
        expected="without its padding",
        encode=lambda made: in_base64(made).rstrip("="),
        only=BASE64_KEYS,
    ),
    Mistake(
        name="base64 of hex",
        expected="in base64 of its hex",
        encode=lambda made: in_base64(made.hex().encode()),
    ),
    Mistake(
        name="small letters",
        expected="changed the case",
        encode=lambda made: in_base64(made).lower(),
        only=BASE64_KEYS,
    ),
    Mistake(
        name="percent",
        expected="did not write the",
        only=BASE64_KEYS,
        encode=lambda made: (
            in_base64(made).replace("=", "%3D").replace("/", "%2F").replace("+", "%2B")
        ),
    ),
    Mistake(
        name="truncated",
        expected="cut the signature off after 16 bytes",
        write=lambda text: text[:32] if len(text) == 64 else text[:20] + "g=",
        only=("reference",),
    ),
    Mistake(name="labelled", expected="did not write the", write=lambda text: "sha256=" + text),
]
ALL = {
    "body": BODIES,
    "secret": SECRETS,
    "hash": HASHES,
    "join": JOINS,
    "time": TIMES,
    "encoding": ENCODINGS,
}
CASES = [
    pytest.param(dialect, mistake, kind, id=f"{dialect}: {kind}: {mistake.name}")
    for kind, mistakes in ALL.items()
    for mistake in mistakes
    for dialect in mistake.only
]


def diagnosed(
    vector: SignedVector, *, known: KnownValues | None = None, now: float = TIME
) -> Diagnosis:
    """The diagnosis of a delivery that does not verify."""
    assert isinstance(vector.outcome(now=now), Unverified)
    rules = vector.dialect.signatures.secret
    diagnosis = diagnose(
        vector.scheme,
        rules,
        vector.secrets,
        vector.headers,
        vector.dialect.delivery.event_id_header,
        vector.body,
        now,
        known=known,
    )
    assert diagnosis is not None
    return diagnosis


def others(dialect: str) -> KnownValues:
    prefix = {"reference": "", "contrary": "hs_", "standard-webhooks": "whsec_"}[dialect]
    text = (
        "\x07" * 24 if dialect == "reference" else prefix + base64.b64encode(b"\x07" * 24).decode()
    )
    return KnownValues(secrets={"the secret of endpoint 2": text})


@pytest.mark.parametrize(("dialect", "mistake", "kind"), CASES)
def test_a_mistake_is_named(dialect: str, mistake: Mistake, kind: str) -> None:
    diagnosis = diagnosed(signed_with(dialect, mistake), known=others(dialect))
    assert diagnosis.explained, diagnosis.cause
    assert mistake.expected in diagnosis.cause
    allowed = {kind, "label"} if kind == "encoding" else {kind}
    assert {deviation.aspect for deviation in diagnosis.deviations} <= allowed, diagnosis


def test_at_least_75_mistakes_are_tried() -> None:
    assert (
        len({(kind, mistake.name) for kind, mistakes in ALL.items() for mistake in mistakes}) >= 75
    )
    assert {dialect for dialect, *_ in (case.values for case in CASES)} == set(FORMATS)


PAIRS = [
    ("reference", BODIES[0], HASHES[0]),
    ("reference", BODIES[0], TIMES[0]),
    ("reference", JOINS[2], ENCODINGS[0]),
    ("contrary", BODIES[0], SECRETS[0]),
    ("contrary", SECRETS[1], ENCODINGS[1]),
    ("contrary", JOINS[0], HASHES[0]),
    ("standard-webhooks", BODIES[13], SECRETS[0]),
    ("standard-webhooks", BODIES[1], JOINS[0]),
    ("standard-webhooks", SECRETS[1], TIMES[0]),
    ("standard-webhooks", HASHES[2], ENCODINGS[1]),
]


@pytest.mark.parametrize(
    ("dialect", "first", "second"),
    [pytest.param(*pair, id=f"{pair[0]}: {pair[1].name} and {pair[2].name}") for pair in PAIRS],
)
def test_two_mistakes_at_once_are_both_named(dialect: str, first: Mistake, second: Mistake) -> None:
    diagnosis = diagnosed(signed_with(dialect, first, second))
    assert diagnosis.explained, diagnosis.cause
    assert first.expected in diagnosis.cause
    assert second.expected in diagnosis.cause
    assert len(diagnosis.deviations) == 2


def test_the_sentence_is_the_deviations_joined() -> None:
    diagnosis = diagnosed(signed_with("contrary", BODIES[0], SECRETS[0]))
    assert diagnosis.cause == "; ".join(deviation.words for deviation in diagnosis.deviations)
    assert [deviation.aspect for deviation in diagnosis.deviations] == [Aspect.BODY, Aspect.SECRET]
