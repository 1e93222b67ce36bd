"""Makes signatures.json, the vectors that signer and verifier must agree with (section 6, item 3).

Each vector is what a service of the named dialect sends: the secrets, oldest first, and the request
that results. The HMACs and their encodings come from the openssl command line, and the headers are
written by hand below, one function for each format. Nothing here reads a dialect file, so a wrong
template or a wrong reading of one shows up as a difference from the vectors.

Run `python spec/vectors/make_signatures.py` to write the file again; it needs openssl 1.1.1 or
later.
"""

import base64
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

VECTORS: Final = Path(__file__).with_name("signatures.json")
# How each encoding of the dialects changes what `openssl base64` writes.
BASE64: Final[Mapping[str, Callable[[str], str]]] = {
    "base64": lambda text: text,
    "base64_unpadded": lambda text: text.rstrip("="),
    "base64url": lambda text: text.replace("+", "-").replace("/", "_"),
    "base64url_unpadded": lambda text: text.replace("+", "-").replace("/", "_").rstrip("="),
}
ABOUT: Final = (
    "Signed deliveries. secrets: oldest first. timestamp: the time of the attempt in Unix seconds,"
    " of which a service that signs whole units drops the rest. body_b64: the raw body in base64."
    " headers: all that the signature needs. scheme, where present: answers that replace those of"
    " the dialect's format, which `advanced` chooses; secret, likewise, of its secrets."
)

# Signs a message: from key and message to the signature in a header.
Sign = Callable[[bytes, bytes], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is signed. `secrets` and their `keys` are in the same order, oldest first."""

    name: str
    dialect: str
    advanced: bool
    secrets: tuple[str, ...]
    keys: tuple[bytes, ...]
    event_id: str = "01JD5V9QZK3M8N4P7R2S6T0WXY"
    timestamp: float = 1735689600
    body: bytes = b'{"order":1}'
    hash: str
    encoding: str
    overrides: bool = False
    secret_form: str | None = None


def reference_simple(case: Case, sign: Sign) -> dict[str, str]:
    """The body alone, by the newest secret."""
    return {
        "X-Webhook-Event-Id": case.event_id,
        "X-Webhook-Signature": sign(case.keys[-1], case.body),
    }


def reference_advanced(case: Case, sign: Sign) -> dict[str, str]:
    """Time and body, by every valid secret, oldest first."""
    seconds = str(int(case.timestamp))
    message = seconds.encode() + b"," + case.body
    value = f"t={seconds}"
    for key in case.keys:
        value += ",v1=" + sign(key, message)
    return {"X-Webhook-Event-Id": case.event_id, "X-Webhook-Signature": value}


def contrary_simple(case: Case, sign: Sign) -> dict[str, str]:
    """Time and body, by the oldest valid secret; the time has a header of its own."""
    milliseconds = str(int(case.timestamp * 1000))
    signature = sign(case.keys[0], milliseconds.encode() + b":" + case.body)
    return {
        "Hook-Event": case.event_id,
        "Hook-Sent-At": milliseconds,
        "Hook-Signature": "signed s1:" + signature,
    }


def contrary_advanced(case: Case, sign: Sign) -> dict[str, str]:
    """Identifier, time and body, by every valid secret, newest first; the first is called v1."""
    milliseconds = str(int(case.timestamp * 1000))
    message = case.event_id.encode() + b"|" + milliseconds.encode() + b"|" + case.body
    value = "signed"
    label = "v1"
    for key in reversed(case.keys):
        value += f" {label}:" + sign(key, message)
        label = "v2"
    return {"Hook-Event": case.event_id, "Hook-Sent-At": milliseconds, "Hook-Signatures": value}


def standard_webhooks_simple(case: Case, sign: Sign) -> dict[str, str]:
    """The signature of the specification, by the newest secret."""
    return standard_webhooks_advanced(replace(case, keys=case.keys[-1:]), sign)


def standard_webhooks_advanced(case: Case, sign: Sign) -> dict[str, str]:
    """The signature of the specification, by every valid secret, oldest first."""
    seconds = str(int(case.timestamp))
    message = case.event_id.encode() + b"." + seconds.encode() + b"." + case.body
    value = " ".join("v1," + sign(key, message) for key in case.keys)
    return {"webhook-id": case.event_id, "webhook-timestamp": seconds, "webhook-signature": value}


# How the headers of each format are written: dialect and advanced_signatures to function.
FORMATS: Final = {
    ("reference", False): reference_simple,
    ("reference", True): reference_advanced,
    ("contrary", False): contrary_simple,
    ("contrary", True): contrary_advanced,
    ("standard-webhooks", False): standard_webhooks_simple,
    ("standard-webhooks", True): standard_webhooks_advanced,
}

# Hash and encoding of each dialect; both formats of a dialect agree in them.
ALGORITHMS: Final = {
    "reference": ("sha256", "hex"),
    "contrary": ("sha512", "base64"),
    "standard-webhooks": ("sha256", "base64"),
}

# Hash and encoding of the vectors that override their dialect's scheme.
OTHER_ALGORITHMS: Final = {
    "reference": (
        *(("sha256", "base64"), ("sha512", "hex"), ("sha512", "base64")),
        *(("sha256", "base64_unpadded"), ("sha256", "base64url"), ("sha256", "base64url_unpadded")),
    ),
    "contrary": (
        *(("sha256", "hex"), ("sha256", "base64"), ("sha512", "hex")),
        *(("sha512", "base64_unpadded"), ("sha512", "base64url"), ("sha512", "base64url_unpadded")),
    ),
}

BODIES: Final = {
    "a small object": b'{"order":1}',
    "an empty body": b"",
    "spaces, line ends and a key order of its own": (
        b'{ "b": 1,\r\n  "a": [1.0, 1e3, 12345678901234567890] }\n'
    ),
    "text beyond ASCII": '{"name":"Zo\u00eb \u6771\u4eac \U0001f3a3","escaped":"\\u00eb"}'.encode(),
    "bytes that are no text": bytes(range(256)),
    "a form": b"order=1&note=two+words&city=%E6%9D%B1%E4%BA%AC",
    "the separators of every format": b"t=1,v1=2 signed v1:3|4.5",
}


def cases() -> Iterator[Case]:
    """All vectors before signing, by format."""
    for dialect, advanced in FORMATS:
        kind = f"{dialect}, {'advanced' if advanced else 'simple'}"
        plain = with_keys(dialect, 1, advanced=advanced)
        for name, body in BODIES.items():
            yield replace(plain, name=f"{kind}: {name}", body=body)
        for secrets in (2, 3):
            yield replace(
                with_keys(dialect, secrets, advanced=advanced),
                name=f"{kind}: {secrets} living secrets",
            )
        yield replace(plain, name=f"{kind}: a fraction of a second", timestamp=1735689600.875)
        yield replace(
            with_keys(dialect, 1, advanced=advanced, size=200),
            name=f"{kind}: a key longer than the hash's block",
        )
        if advanced:
            long = b'{"text":"' + b"0123456789abcdef" * 4096 + b'"}'
            yield replace(
                with_keys(dialect, 2, advanced=advanced), name=f"{kind}: 64 kB", body=long
            )
        for hash_name, encoding in OTHER_ALGORITHMS.get(dialect, ()):
            name = f"{kind}: {hash_name} in {encoding}"
            yield replace(plain, name=name, hash=hash_name, encoding=encoding, overrides=True)
    for form in ("hex", *BASE64):
        plain = with_keys("contrary", 2, advanced=True)
        texts = (
            key.hex() if form == "hex" else BASE64[form](base64.b64encode(key).decode())
            for key in plain.keys
        )
        if form != "base64":  # which is the dialect's own
            yield replace(
                plain,
                name=f"contrary, advanced: secrets in {form}",
                secrets=tuple(f"hs_{text}" for text in texts),
                secret_form=form,
            )
    for advanced in (False, True):
        text = "cl\u00e9 \u9375 \U0001f511 with spaces"
        name = f"reference, {'advanced' if advanced else 'simple'}: a secret beyond ASCII"
        yield replace(
            with_keys("reference", 1, advanced=advanced),
            name=name,
            secrets=(text,),
            keys=(text.encode(),),
        )


def with_keys(dialect: str, count: int, *, advanced: bool, size: int = 32) -> Case:
    """A case with `count` secrets in the dialect's form, each with a key of `size` bytes."""
    if dialect == "reference":
        texts = tuple(
            f"living secret number {place} ".ljust(size, "*") for place in range(1, count + 1)
        )
        keys = tuple(text.encode() for text in texts)
    else:
        keys = tuple(
            bytes((place * 37 + index * 11) % 256 for index in range(size))
            for place in range(1, count + 1)
        )
        prefix = {"contrary": "hs_", "standard-webhooks": "whsec_"}[dialect]
        texts = tuple(prefix + base64.b64encode(key).decode() for key in keys)
    hash_name, encoding = ALGORITHMS[dialect]
    return Case(
        name="",
        dialect=dialect,
        advanced=advanced,
        secrets=texts,
        keys=keys,
        hash=hash_name,
        encoding=encoding,
    )


def vector(case: Case, sign: Sign) -> dict[str, object]:
    """The signed case as it is in the file."""
    override = {"scheme": {"hash": case.hash, "encoding": case.encoding}} if case.overrides else {}
    form = {"secret": {"form": case.secret_form}} if case.secret_form else {}
    return {
        "name": case.name,
        "dialect": case.dialect,
        "advanced": case.advanced,
        **override,
        **form,
        "secrets": list(case.secrets),
        "id": case.event_id,
        "timestamp": case.timestamp,
        "body_b64": base64.b64encode(case.body).decode(),
        "headers": FORMATS[case.dialect, case.advanced](case, sign),
    }


def signed_by_openssl(case: Case) -> dict[str, object]:
    """The case, signed with the openssl command line."""

    def sign(key: bytes, message: bytes) -> str:
        hmac = ["dgst", f"-{case.hash}", "-mac", "HMAC", "-macopt", f"hexkey:{key.hex()}"]
        if case.encoding == "hex":
            return openssl(*hmac, "-r", standard_input=message).split()[0].decode()
        raw = openssl(*hmac, "-binary", standard_input=message)
        return BASE64[case.encoding](openssl("base64", "-A", standard_input=raw).decode())

    return vector(case, sign)


def openssl(*arguments: str, standard_input: bytes) -> bytes:
    program = shutil.which("openssl")
    if program is None:
        sys.exit("make_signatures: openssl is not installed; the vectors are made with it")
    return subprocess.run(
        [program, *arguments], input=standard_input, capture_output=True, check=True, timeout=30
    ).stdout


def main() -> None:
    """Write signatures.json."""
    vectors = [signed_by_openssl(case) for case in cases()]
    VECTORS.write_text(json.dumps({"about": ABOUT, "vectors": vectors}, indent=1) + "\n")
    sys.stdout.write(f"{len(vectors)} vectors written to {VECTORS.name}\n")


if __name__ == "__main__":
    main()
