"""Every planted mistake of a sender is named, in every dialect that it can be made in."""

import base64
import hmac
import json

import pytest

from hookproof.receiver.signatures.diagnosis import Aspect, Bisection, bisect
from hookproof.receiver.signatures.diagnosis.known_values import Known
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
    planted,
)
from tests.receiver.signatures.signature_vectors import Vector

SPACED = b'{"order": 1, "name": "Zo\xc3\xab <b> a/b", "price": 1.50}'
COMPACT = b'{"order":1,"name":"Zo\xc3\xab <b> a/b","price":1.50}'
ESCAPED = b'{"order": 1, "name": "Zo\\u00eb <b> a/b", "price": 1.50}'
TEXT_KEYS, BASE64_KEYS = ("reference",), ("contrary", "standard-webhooks")

BODIES = [
    Mistake(
        name="compact",
        told="signed the compact form of the body, sent it with spaces",
        sent=SPACED,
        signed=COMPACT,
    ),
    Mistake(
        name="spaced",
        told="signed the body with spaces, sent it compact",
        sent=COMPACT,
        signed=SPACED,
    ),
    Mistake(
        name="own white space",
        told="signed the compact form of the body, sent it with white space of its own",
        sent=b'{ "a":1,\r\n"b": 2 }',
        signed=b'{"a":1,"b":2}',
    ),
    Mistake(
        name="indented",
        told="signed the body indented by 2 spaces, sent it compact",
        sent=b'{"a":[1,{}]}',
        signed=json.dumps({"a": [1, {}]}, indent=2).encode(),
    ),
    Mistake(
        name="tabs",
        told="indented by tabs",
        sent=b'{"a":[1,[],{"b":2}]}',
        signed=json.dumps({"a": [1, [], {"b": 2}]}, indent="\t").encode(),
    ),
    Mistake(
        name="sorted",
        told="with its keys sorted",
        sent=b'{"b":1,"a":{"d":[{"f":1,"e":2}],"c":1}}',
        signed=b'{"a":{"c":1,"d":[{"e":2,"f":1}]},"b":1}',
    ),
    Mistake(name="ASCII", told="characters beyond ASCII escaped", sent=SPACED, signed=ESCAPED),
    Mistake(name="unescaped", told="escapes resolved", sent=ESCAPED, signed=SPACED),
    Mistake(
        name="HTML",
        told="<, > and & escaped",
        sent=COMPACT,
        signed=COMPACT.replace(b"<b>", b"\\u003cb\\u003e"),
    ),
    Mistake(
        name="slashes",
        told="slashes escaped",
        sent=COMPACT,
        signed=COMPACT.replace(b"a/b", b"a\\/b"),
    ),
    Mistake(
        name="doubles",
        told="numbers read as doubles",
        sent=b'{"n":12345678901234567890,"m":1.0,"k":1e3}',
        signed=b'{"n":12345678901234567000,"m":1,"k":1000}',
    ),
    Mistake(
        name="Python numbers",
        told="read and written by Python",
        sent=b'{"m":1.50,"k":1e3}',
        signed=b'{"m":1.5,"k":1000.0}',
    ),
    Mistake(
        name="json.dumps",
        told="as json.dumps of Python writes it",
        sent=COMPACT,
        signed=json.dumps(json.loads(COMPACT)).encode(),
    ),
    Mistake(
        name="line end lost", told="with a line end after it", sent=COMPACT, signed=COMPACT + b"\n"
    ),
    Mistake(
        name="line end added",
        told="without its last line end",
        sent=COMPACT + b"\n",
        signed=COMPACT,
    ),
    Mistake(name="stripped", told="white space around it", sent=b"  text \n", signed=b"text"),
    Mistake(
        name="CRLF", told="carriage returns before its line feeds", sent=b"a\nb", signed=b"a\r\nb"
    ),
    Mistake(name="LF", told="line feeds as line ends", sent=b"a\r\nb", signed=b"a\nb"),
    Mistake(name="empty", told="signed an empty body", signed=b""),
    Mistake(name="BOM", told="byte order mark", signed=b'\xef\xbb\xbf{"order":1}'),
    Mistake(
        name="form",
        told="form encoding of the body",
        sent=b'{"a":"x y","b":2}',
        signed=b"a=x+y&b=2",
    ),
    Mistake(
        name="JSON of a form",
        told="sent it form-encoded",
        sent=b"a=x+y&b=2",
        signed=b'{"a":"x y","b":"2"}',
    ),
    Mistake(
        name="unquoted",
        told="percent escapes resolved",
        sent=b"a=%E6%9D%B1",
        signed="a=\u6771".encode(),
    ),
    Mistake(
        name="base64", told="signed the body in base64", signed=base64.b64encode(b'{"order":1}')
    ),
    Mistake(
        name="decoded",
        told="behind the body's base64",
        sent=base64.b64encode(COMPACT),
        signed=COMPACT,
    ),
    Mistake(name="listed bytes", told="lists as numbers", sent=b"[104, 105]", signed=b"hi"),
    Mistake(name="string", told="as a string of JSON", signed=json.dumps('{"order":1}').encode()),
    Mistake(
        name="text of a string", told="text within the string", sent=b'"hello"', signed=b"hello"
    ),
    Mistake(
        name="member",
        told="the member 'data' of the body alone",
        sent=b'{"type":"a","data":{"x":1}}',
        signed=b'{"x":1}',
    ),
    Mistake(
        name="Latin-1", told="in Latin-1", sent=COMPACT, signed=COMPACT.decode().encode("latin-1")
    ),
    Mistake(
        name="UTF-16", told="in UTF-16", sent=COMPACT, signed=COMPACT.decode().encode("utf-16-le")
    ),
    Mistake(
        name="mojibake",
        told="read as Latin-1 and encoded again",
        sent=COMPACT,
        signed=COMPACT.decode("latin-1").encode(),
    ),
    Mistake(
        name="lossy", told="replaced by U+FFFD", sent=b"\xff\x00a", signed="\ufffd\x00a".encode()
    ),
]
SECRETS = [
    Mistake(
        name="prefix kept",
        told="prefix and all",
        key=lambda _, text: text.encode(),
        only=BASE64_KEYS,
    ),
    Mistake(
        name="undecoded",
        told="undecoded",
        key=lambda _, text: text.split("_")[1].encode(),
        only=BASE64_KEYS,
    ),
    Mistake(name="key in hex", told="into hex first", key=lambda key, _: key.hex().encode()),
    Mistake(
        name="key in base64",
        told="key into base64 first",
        key=lambda key, _: base64.b64encode(key),
        only=TEXT_KEYS,
    ),
    Mistake(
        name="line end", told="left a line end after the secret", key=lambda key, _: key + b"\n"
    ),
    Mistake(name="quoted", told="in quotation marks", key=lambda _, text: f'"{text}"'.encode()),
    Mistake(name="no secret", told="an empty secret", key=lambda *_: b""),
    Mistake(
        name="undefined", told="signed with 'undefined' for a secret", key=lambda *_: b"undefined"
    ),
    Mistake(
        name="another's", told="signed with the secret of endpoint 2", key=lambda *_: b"\x07" * 24
    ),
]
HASHES = [
    Mistake(
        name="SHA-1",
        told="used SHA-1",
        digest=lambda key, message, _: hmac.digest(key, message, "sha1"),
    ),
    Mistake(
        name="MD5", told="used MD5", digest=lambda key, message, _: hmac.digest(key, message, "md5")
    ),
    Mistake(
        name="SHA-512",
        told="used SHA-512 where SHA-256 is expected",
        only=("reference", "standard-webhooks"),
        digest=lambda key, message, _: hmac.digest(key, message, "sha512"),
    ),
    Mistake(
        name="SHA-256",
        told="used SHA-256 where SHA-512 is expected",
        digest=lambda key, message, _: hmac.digest(key, message, "sha256"),
        only=("contrary",),
    ),
    Mistake(
        name="no HMAC",
        told="the secret and then the message, without HMAC",
        digest=lambda key, message, name: plain_hash(key + message, name),
    ),
    Mistake(
        name="key last",
        told="the message and then the secret, without HMAC",
        digest=lambda key, message, name: plain_hash(message + key, name),
    ),
    Mistake(
        name="no key",
        told="the message alone, without a secret",
        digest=lambda _, message, name: plain_hash(message, name),
    ),
    Mistake(
        name="swapped",
        told="took the message for the key",
        digest=lambda key, message, name: hmac.digest(message, key, name),
    ),
]
JOINS = [
    Mistake(name="body alone", told="signed the body alone", join=lambda _, body: body),
    Mistake(
        name="body first",
        told="'{body}.{timestamp}'",
        join=lambda time, body: body + b"." + time,
        only=("reference",),
    ),
    Mistake(
        name="colons",
        told="joined what is signed by ':'",
        join=lambda time, body: time + b":" + body,
        only=("reference",),
    ),
    Mistake(
        name="nothing between",
        told="joined what is signed by ''",
        join=lambda time, body: EVENT + time + body,
        only=BASE64_KEYS,
    ),
    Mistake(
        name="no identifier",
        told="left the identifier out",
        join=lambda time, body: time + b"." + body,
        only=("standard-webhooks",),
    ),
    Mistake(
        name="no time",
        told="left the time out",
        join=lambda _, body: EVENT + b"|" + body,
        only=("contrary",),
    ),
    Mistake(
        name="identifier too",
        told="signed the identifier too",
        join=lambda time, body: EVENT + b"," + time + b"," + body,
        only=("reference",),
    ),
    Mistake(
        name="time first",
        told="{timestamp}.{id}.{body}",
        only=("standard-webhooks",),
        join=lambda time, body: time + b"." + EVENT + b"." + body,
    ),
    Mistake(
        name="v0",
        told="'v0:{timestamp}:{body}'",
        join=lambda time, body: b"v0:" + time + b":" + body,
    ),
]
TIMES = [
    Mistake(
        name="milliseconds",
        told="signed the time in milliseconds, sent it in seconds",
        time=b"1735689600000",
        only=("reference", "standard-webhooks"),
    ),
    Mistake(
        name="seconds",
        told="signed the time in seconds, sent it in milliseconds",
        time=b"1735689600",
        only=("contrary",),
    ),
    Mistake(name="microseconds", told="signed the time in microseconds", time=b"1735689600000000"),
    Mistake(
        name="RFC 3339",
        told="signed the time as 2025-01-01T00:00:00Z",
        time=b"2025-01-01T00:00:00Z",
    ),
    Mistake(
        name="fraction", told="with a decimal point", time=b"1735689600.0", only=("reference",)
    ),
    Mistake(
        name="a second early",
        told="1 s before the one that it sent",
        time=b"1735689599",
        only=("reference", "standard-webhooks"),
    ),
    Mistake(
        name="stale",
        told="47 s before the one that it sent",
        time=b"1735689553",
        only=("reference", "standard-webhooks"),
    ),
    Mistake(
        name="stale, in milliseconds",
        told="250 s before the one that it sent",
        time=b"1735689350000",
        only=("contrary",),
    ),
]
ENCODINGS = [
    Mistake(
        name="base64", told="in base64 where hex is expected", encode=in_base64, only=("reference",)
    ),
    Mistake(name="hex", told="in hex where base64 is expected", encode=in_hex, only=BASE64_KEYS),
    Mistake(name="base64url", told="in base64url", encode=in_base64url, only=("contrary",)),
    Mistake(
        name="no padding",
        told="without its padding",
        encode=lambda made: in_base64(made).rstrip("="),
        only=BASE64_KEYS,
    ),
    Mistake(
        name="base64 of hex",
        told="in base64 of its hex",
        encode=lambda made: in_base64(made.hex().encode()),
    ),
    Mistake(
        name="small letters",
        told="changed the case",
        encode=lambda made: in_base64(made).lower(),
        only=BASE64_KEYS,
    ),
    Mistake(
        name="percent",
        told="did not write the",
        only=BASE64_KEYS,
        encode=lambda made: (
            in_base64(made).replace("=", "%3D").replace("/", "%2F").replace("+", "%2B")
        ),
    ),
    Mistake(
        name="truncated",
        told="cut the signature off after 16 bytes",
        write=lambda text: text[:32] if len(text) == 64 else text[:20] + "g=",
        only=("reference",),
    ),
    Mistake(name="labelled", told="did not write the", write=lambda text: "sha256=" + text),
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


def bisected(vector: Vector, *, known: Known | None = None, now: float = TIME) -> Bisection:
    """The explanation of a delivery that does not verify."""
    assert isinstance(vector.outcome(now=now), Unverified)
    rules = vector.dialect.signatures.secret
    found = bisect(
        vector.scheme,
        rules,
        vector.secrets,
        vector.headers,
        vector.dialect.delivery.event_id_header,
        vector.body,
        now,
        known=known,
    )
    assert found is not None
    return found


def others(dialect: str) -> Known:
    prefix = {"reference": "", "contrary": "hs_", "standard-webhooks": "whsec_"}[dialect]
    text = (
        "\x07" * 24 if dialect == "reference" else prefix + base64.b64encode(b"\x07" * 24).decode()
    )
    return Known(secrets={"the secret of endpoint 2": text})


@pytest.mark.parametrize(("dialect", "mistake", "kind"), CASES)
def test_a_planted_mistake_is_named(dialect: str, mistake: Mistake, kind: str) -> None:
    found = bisected(planted(dialect, mistake), known=others(dialect))
    assert found.explained, found.cause
    assert mistake.told in found.cause
    allowed = {kind, "label"} if kind == "encoding" else {kind}
    assert {one.aspect for one in found.deviations} <= allowed, found


def test_well_over_thirty_causes_are_planted() -> None:
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
    found = bisected(planted(dialect, first, second))
    assert found.explained, found.cause
    assert first.told in found.cause
    assert second.told in found.cause
    assert len(found.deviations) == 2


def test_the_sentence_is_the_deviations_joined() -> None:
    found = bisected(planted("contrary", BODIES[0], SECRETS[0]))
    assert found.cause == "; ".join(one.words for one in found.deviations)
    assert [one.aspect for one in found.deviations] == [Aspect.BODY, Aspect.SECRET]
