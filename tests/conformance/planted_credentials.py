"""Credentials to plant: every field of the document that holds one, in every shape and place, and
what would tell a reader of them.
"""

import base64
import json
import random
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final
from urllib.parse import quote, quote_plus

COUNT: Final = 500
SEED: Final = 20

# Every field of the document that holds a credential (sections 2.3 to 2.7), as the member of an
# answer that shows it.
FIELDS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "endpoint secret": lambda text: {"secret": text},
    "secrets of an endpoint": lambda text: {"secrets": [{"uid": "s", "value": text}]},
    "client key": lambda text: {"mtls_client_cert": {"client_cert": "c", "client_key": text}},
    "api key of an endpoint": lambda text: {
        "authentication": {"type": "api_key", "api_key": {"header_name": "X", "header_value": text}}
    },
    "password of an endpoint": lambda text: {
        "authentication": {"basic_auth": {"username": "u", "password": text}}
    },
    "client secret": lambda text: {
        "authentication": {"oauth2": {"client_id": "c", "client_secret": text}}
    },
    **{
        f"signing key {name}": lambda text, name=name: {
            "authentication": {"oauth2": {"signing_key": {"kty": "RSA", name: text}}}
        }
        for name in ("d", "p", "q", "dp", "dq", "qi")
    },
    "auth key of a portal link": lambda text: {"auth_type": "t", "auth_key": text},
    "token of a portal link": lambda text: {"auth_type": "t", "token": text},
    "api key of a source": lambda text: {"verifier": {"api_key": {"header_value": text}}},
    "password of a source": lambda text: {"verifier": {"basic_auth": {"password": text}}},
    "hmac secret of a source": lambda text: {"verifier": {"hmac": {"secret": text}}},
    "amqp password": lambda text: {"pub_sub": {"amqp": {"auth": {"password": text}}}},
    "kafka password": lambda text: {"pub_sub": {"kafka": {"auth": {"password": text}}}},
    "google service account": lambda text: {"pub_sub": {"google": {"service_account": text}}},
    "sqs access key": lambda text: {"pub_sub": {"sqs": {"access_key_id": text}}},
    "sqs secret key": lambda text: {"pub_sub": {"sqs": {"secret_key": text}}},
    # A target may spell names in its own way.
    "secret in capitals": lambda text: {"SECRET": text},
    "secrets in capitals": lambda text: {"Secrets": [{"Uid": "s", "Value": text}]},
    "client secret in camel case": lambda text: {"oauth2": {"clientSecret": text}},
    "access key in camel case": lambda text: {"sqs": {"accessKeyID": text}},
    "signing key in camel case": lambda text: {"signingKey": {"KTY": "RSA", "D": text}},
    "token in camel case": lambda text: {"authType": "t", "Token": text},
}

# What a server may show in a field in place of a text.
SHAPES: Final[Mapping[str, Callable[[str], Any]]] = {
    "text": str,
    "array of bytes": lambda text: list(text.encode()),
    "list of texts": lambda text: [text],
    "object": lambda text: {"pem": text, "of": [{"more": text}]},
    "list of objects": lambda text: [{"key": text}],
    "number": lambda text: int.from_bytes(text.encode()),
}

# How a server may show a whole resource within another one.
WRAPPINGS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "as it is": lambda resource: resource,
    "JSON in JSON": lambda resource: {"raw": json.dumps(resource)},
    "JSON in JSON, not ASCII": lambda resource: {
        "raw": json.dumps({"name": "é/", **resource}, ensure_ascii=False)
    },
    "JSON in JSON in JSON": lambda resource: {"raw": json.dumps({"a": json.dumps([resource])})},
    "array of bytes": lambda resource: {"data": list(json.dumps(resource).encode())},
    "base64": lambda resource: {"data": base64.b64encode(json.dumps(resource).encode()).decode()},
    "base64 for URLs": lambda resource: {
        "data": base64.urlsafe_b64encode(json.dumps({"?": "~~~", **resource}).encode())
        .decode()
        .rstrip("=")
    },
    "base64 of an array of bytes": lambda resource: {
        "data": base64.b64encode(
            json.dumps([list(json.dumps(resource).encode())]).encode()
        ).decode()
    },
}

# What a server may make of a credential where the document has no field for it.
ENCODINGS: Final[Mapping[str, Callable[[str], Any]]] = {
    "as it is": lambda text: text,
    "within a text": lambda text: f"before{text}after",
    "bytes": lambda text: list(f"<{text}>".encode()),
    "hexadecimal": lambda text: text.encode().hex(),
    "upper case": lambda text: text.encode().hex().upper(),
    **{
        f"base64 after {offset} bytes": lambda text, offset=offset: base64.b64encode(
            b"x" * offset + text.encode() + b"yz"
        ).decode()
        for offset in range(5)
    },
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64 of JSON": lambda text: base64.b64encode(json.dumps({"a": text}).encode()).decode(),
    "quoted": lambda text: quote(text, safe=""),
    "in a path": lambda text: f"https://a.invalid/{quote(text)}",
    "in a form": lambda text: f"a={quote_plus(text)}&b=c",
    "JSON in JSON": lambda text: json.dumps({"any": {"member": text}}),
    "JSON in JSON in JSON": lambda text: json.dumps({"a": json.dumps([text])}),
}

ALPHABETS: Final = (
    string.ascii_letters + string.digits,
    string.hexdigits.lower()[:16],
    string.ascii_letters + string.digits + "+/",
    string.ascii_letters + string.digits + "!\"#$%&'()*+,-./:;<=>?@[]\\^_`{|}~ ",
    string.ascii_letters + "äöüß€\n",
)


@cache
def credentials() -> tuple[str, ...]:
    """Texts that nothing else is equal to, of all lengths and alphabets."""
    draw = random.Random(SEED)
    return tuple(
        "".join(draw.choice(ALPHABETS[number % len(ALPHABETS)]) for _ in range(16 + number % 49))
        for number in range(COUNT)
    )


def traces_in(content: bytes, planted: Iterable[str]) -> Sequence[tuple[str, bytes]]:
    """Each of these credentials of which a trace is in the content, with that trace.

    It is read once for all of them, by what their traces begin with.
    """
    sought = [(credential, trace) for credential in planted for trace in traces(credential)]
    shortest = min(len(trace) for _, trace in sought)
    beginnings: dict[bytes, list[tuple[str, bytes]]] = {}
    for credential, trace in sought:
        beginnings.setdefault(trace[:shortest], []).append((credential, trace))
    return [
        (credential, trace)
        for place in range(len(content) - shortest + 1)
        for credential, trace in beginnings.get(content[place : place + shortest], ())
        if content.startswith(trace, place)
    ]


def traces(credential: str) -> Iterator[bytes]:
    """What would tell a reader the credential, in any of the encodings."""
    for text in {credential, json.dumps(credential)[1:-1]}:
        content = text.encode()
        yield from (content, content.hex().encode(), content.hex().upper().encode())
        yield from (quote(text, safe="").encode(), quote_plus(text).encode())
        yield from (", ".join(map(str, content)).encode(), ",".join(map(str, content)).encode())
        for offset in range(3):
            encoded = base64.b64encode(bytes(offset) + content)
            inner = encoded[4 if offset else 0 : (offset + len(content)) // 3 * 4]
            yield from (inner, inner.replace(b"+", b"-").replace(b"/", b"_"))


def readings(value: Any) -> Iterator[bytes]:
    """Every text in a JSON value, and what arrays of bytes, base64 and JSON in texts stand for."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield name.encode()
            yield from readings(member)
    elif isinstance(value, list):
        if value and all(isinstance(item, int) and 0 <= item <= 255 for item in value):
            yield from readings(bytes(value).decode("utf-8", "replace"))
        for item in value:
            yield from readings(item)
    elif isinstance(value, str):
        yield value.encode("utf-8", "surrogatepass")
        yield from readings(_decoded(value))
    elif value is not None:
        yield repr(value).encode()


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        padded = text + "=" * (-len(text) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except ValueError:
        return None
