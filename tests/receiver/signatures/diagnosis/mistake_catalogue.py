"""Signing mistakes of every kind, each with a part of its diagnosis."""

import base64
import hmac

from tests.receiver.signatures.diagnosis.body_mistakes import BODIES
from tests.receiver.signatures.diagnosis.signing_mistakes import (
    EVENT,
    OTHER_KEY,
    SigningMistake,
    in_base64,
    in_base64url,
    in_hex,
    plain_hash,
)

TEXT_KEYS, BASE64_KEYS = ("reference",), ("contrary", "standard-webhooks")

SECRETS = [
    SigningMistake(
        name="prefix kept",
        expected="prefix and all",
        key=lambda _, text: text.encode(),
        only=BASE64_KEYS,
    ),
    SigningMistake(
        name="undecoded",
        expected="undecoded",
        key=lambda _, text: text.split("_")[1].encode(),
        only=BASE64_KEYS,
    ),
    SigningMistake(
        name="key in hex", expected="into hex first", key=lambda key, _: key.hex().encode()
    ),
    SigningMistake(
        name="key in base64",
        expected="key into base64 first",
        key=lambda key, _: base64.b64encode(key),
        only=TEXT_KEYS,
    ),
    SigningMistake(
        name="line end", expected="left a line end after the secret", key=lambda key, _: key + b"\n"
    ),
    SigningMistake(
        name="quoted", expected="in quotation marks", key=lambda _, text: f'"{text}"'.encode()
    ),
    SigningMistake(name="no secret", expected="an empty secret", key=lambda *_: b""),
    SigningMistake(
        name="undefined",
        expected="signed with 'undefined' for a secret",
        key=lambda *_: b"undefined",
    ),
    SigningMistake(
        name="another's",
        expected="signed with the secret of endpoint 2",
        key=lambda *_: OTHER_KEY,
    ),
]

HASHES = [
    SigningMistake(
        name="SHA-1",
        expected="used SHA-1",
        digest=lambda key, message, _: hmac.digest(key, message, "sha1"),
    ),
    SigningMistake(
        name="MD5",
        expected="used MD5",
        digest=lambda key, message, _: hmac.digest(key, message, "md5"),
    ),
    SigningMistake(
        name="SHA-512",
        expected="used SHA-512 where SHA-256 is expected",
        only=("reference", "standard-webhooks"),
        digest=lambda key, message, _: hmac.digest(key, message, "sha512"),
    ),
    SigningMistake(
        name="SHA-256",
        expected="used SHA-256 where SHA-512 is expected",
        digest=lambda key, message, _: hmac.digest(key, message, "sha256"),
        only=("contrary",),
    ),
    SigningMistake(
        name="no HMAC",
        expected="the secret and then the message, without HMAC",
        digest=lambda key, message, name: plain_hash(key + message, name),
    ),
    SigningMistake(
        name="key last",
        expected="the message and then the secret, without HMAC",
        digest=lambda key, message, name: plain_hash(message + key, name),
    ),
    SigningMistake(
        name="no key",
        expected="the message alone, without a secret",
        digest=lambda _, message, name: plain_hash(message, name),
    ),
    SigningMistake(
        name="swapped",
        expected="took the message for the key",
        digest=lambda key, message, name: hmac.digest(message, key, name),
    ),
]

JOINS = [
    SigningMistake(name="body alone", expected="signed the body alone", join=lambda _, body: body),
    SigningMistake(
        name="body first",
        expected="'{body}.{timestamp}'",
        join=lambda time, body: body + b"." + time,
        only=("reference",),
    ),
    SigningMistake(
        name="colons",
        expected="joined what is signed by ':'",
        join=lambda time, body: time + b":" + body,
        only=("reference",),
    ),
    SigningMistake(
        name="nothing between",
        expected="joined what is signed by ''",
        join=lambda time, body: EVENT + time + body,
        only=BASE64_KEYS,
    ),
    SigningMistake(
        name="no identifier",
        expected="left the identifier out",
        join=lambda time, body: time + b"." + body,
        only=("standard-webhooks",),
    ),
    SigningMistake(
        name="no time",
        expected="left the time out",
        join=lambda _, body: EVENT + b"|" + body,
        only=("contrary",),
    ),
    SigningMistake(
        name="identifier too",
        expected="signed the identifier too",
        join=lambda time, body: EVENT + b"," + time + b"," + body,
        only=("reference",),
    ),
    SigningMistake(
        name="time first",
        expected="{timestamp}.{id}.{body}",
        only=("standard-webhooks",),
        join=lambda time, body: time + b"." + EVENT + b"." + body,
    ),
    SigningMistake(
        name="v0",
        expected="'v0:{timestamp}:{body}'",
        join=lambda time, body: b"v0:" + time + b":" + body,
    ),
]

TIMES = [
    SigningMistake(
        name="milliseconds",
        expected="signed the time in milliseconds, sent it in seconds",
        time=b"1735689600000",
        only=("reference", "standard-webhooks"),
    ),
    SigningMistake(
        name="seconds",
        expected="signed the time in seconds, sent it in milliseconds",
        time=b"1735689600",
        only=("contrary",),
    ),
    SigningMistake(
        name="microseconds", expected="signed the time in microseconds", time=b"1735689600000000"
    ),
    SigningMistake(
        name="RFC 3339",
        expected="signed the time as 2025-01-01T00:00:00Z",
        time=b"2025-01-01T00:00:00Z",
    ),
    SigningMistake(
        name="fraction", expected="with a decimal point", time=b"1735689600.0", only=("reference",)
    ),
    SigningMistake(
        name="a second early",
        expected="1 s before the one that it sent",
        time=b"1735689599",
        only=("reference", "standard-webhooks"),
    ),
    SigningMistake(
        name="stale",
        expected="47 s before the one that it sent",
        time=b"1735689553",
        only=("reference", "standard-webhooks"),
    ),
    SigningMistake(
        name="stale, in milliseconds",
        expected="250 s before the one that it sent",
        time=b"1735689350000",
        only=("contrary",),
    ),
]

ENCODINGS = [
    SigningMistake(
        name="base64",
        expected="in base64 where hex is expected",
        encode=in_base64,
        only=("reference",),
    ),
    SigningMistake(
        name="hex", expected="in hex where base64 is expected", encode=in_hex, only=BASE64_KEYS
    ),
    SigningMistake(
        name="base64url", expected="in base64url", encode=in_base64url, only=("contrary",)
    ),
    SigningMistake(
        name="no padding",
        expected="without its padding",
        encode=lambda digest: in_base64(digest).rstrip("="),
        only=BASE64_KEYS,
    ),
    SigningMistake(
        name="base64 of hex",
        expected="in base64 of its hex",
        encode=lambda digest: in_base64(digest.hex().encode()),
    ),
    SigningMistake(
        name="small letters",
        expected="changed the case",
        encode=lambda digest: in_base64(digest).lower(),
        only=BASE64_KEYS,
    ),
    SigningMistake(
        name="percent",
        expected="did not write the",
        only=BASE64_KEYS,
        encode=lambda digest: (
            in_base64(digest).replace("=", "%3D").replace("/", "%2F").replace("+", "%2B")
        ),
    ),
    SigningMistake(
        name="truncated",
        expected="cut the signature off after 16 bytes",
        write=lambda text: text[:32] if len(text) == 64 else text[:20] + "g=",
        only=("reference",),
    ),
    SigningMistake(
        name="labelled", expected="did not write the", write=lambda text: "sha256=" + text
    ),
]

ALL = {
    "body": BODIES,
    "secret": SECRETS,
    "hash": HASHES,
    "join": JOINS,
    "time": TIMES,
    "encoding": ENCODINGS,
}
