"""Hundreds of credentials in every field of the document that holds one, in every encoding: none is
in any file that a run writes.
"""

import base64
import io
import json
import random
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, quote_plus

import pytest

from hookproof.conformance.model.evidence import NotObserved
from hookproof.conformance.observations.masking.encoded_credentials import (
    SHORTEST,
    STEP,
    WINDOW,
    byte_array,
    rarest_place,
    windows_at,
)
from hookproof.conformance.reports.console import show
from hookproof.conformance.reports.formats import FORMATS
from hookproof.conformance.results.compression import unpack
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.results.run_file import NAME, RunWriter
from hookproof.conformance.run.intake import Intake
from tests.conformance.canned_evidence import context, delivery, exchange, seen
from tests.conformance.canned_run import PROJECTS, failed, finding, finished_run, header

COUNT: Final = 500
SEED: Final = 20

# Every field of the document that holds a credential (sections 2.3 to 2.7), as the member of an
# answer that shows it.
FIELDS: Final[Mapping[str, Callable[[str], Any]]] = {
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
    "google service account": lambda text: {
        "pub_sub": {"google": {"service_account": list(text.encode())}}
    },
    "google service account as text": lambda text: {
        "pub_sub": {"google": {"service_account": text}}
    },
    "sqs access key": lambda text: {"pub_sub": {"sqs": {"access_key_id": text}}},
    "sqs secret key": lambda text: {"pub_sub": {"sqs": {"secret_key": text}}},
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


def credentials() -> list[str]:
    """Texts that nothing else is equal to, of all lengths and alphabets."""
    draw = random.Random(SEED)
    return [
        "".join(draw.choice(ALPHABETS[number % len(ALPHABETS)]) for _ in range(16 + number % 49))
        for number in range(COUNT)
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


def unpacked(line: str) -> bytes:
    """A line of run.jsonl with everything that it holds, bodies in clear."""
    event = unpack(json.loads(line))
    readable = json.dumps(event, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return b"\n".join([line.encode(), readable, *bodies(event)])


def bodies(value: Any) -> Iterator[bytes]:
    """The bodies in a record, which are base64 there."""
    if isinstance(value, dict):
        for name, member in value.items():
            if name.endswith("_b64") and member is not None:
                yield base64.b64decode(member)
            else:
                yield from bodies(member)
    elif isinstance(value, list):
        for member in value:
            yield from bodies(member)


def everything_in(folder: Path, *, console: str) -> bytes:
    """All bytes of all files of a run, and of its console, evidence in clear."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != NAME]
    lines = (folder / NAME).read_text("utf-8").splitlines()
    return b"\n".join(
        [*map(unpacked, lines), *(path.read_bytes() for path in files), console.encode()]
    )


def shown(number: int, credential: str) -> dict[str, Any]:
    """A resource with the credential in a field of the document, and in all encodings besides."""
    fields = list(FIELDS.values())
    return {
        **fields[number % len(fields)](credential),
        "name": "a resource",
        "metadata": {name: encode(credential) for name, encode in ENCODINGS.items()},
    }


def test_no_planted_credential_is_in_any_file(tmp_path: Path) -> None:
    planted = credentials()
    intake = Intake(Mask(PROJECTS, context().dialect), context().dialect)
    with (tmp_path / "evidence.jsonl").open("wb", buffering=0) as stream:
        writer = RunWriter(stream, header())
        for number, credential in enumerate(planted):
            writer.evidence(intake.take(observed(number, credential)))
            writer.evidence(intake.take(seen(unrelated(credential))))
    reported = [exchange(data=shown(number, text)) for number, text in enumerate(planted[:40])]
    told = replace(
        finding(),
        exchanges=tuple(intake.exchange(each) for each in reported),
        message=intake.text(f"The password {planted[1]} came back"),
        actual=intake.text(repr(planted[2])),
    )
    run = finished_run(tmp_path, replace(failed(), findings=(told,)))
    for format_ in FORMATS.values():
        (tmp_path / format_.file).write_text(format_.render(run), encoding="utf-8")
    console = io.StringIO()
    show(run, console, {})
    evidence = (tmp_path / "evidence.jsonl").read_text("utf-8").splitlines()
    content = everything_in(tmp_path, console=console.getvalue())
    content += b"\n".join(map(unpacked, evidence))
    found = [
        (number, trace)
        for number, credential in enumerate(planted)
        for trace in traces(credential)
        if trace in content
    ]
    assert found == []


def observed(number: int, credential: str) -> Any:
    """An observation in which the credential is in every place."""
    resource = shown(number, credential)
    header_value = base64.b64encode(f"user:{credential}".encode()).decode()
    return seen(
        exchange(
            request=resource,
            data=resource,
            query=f"?s={quote(credential, safe='')}",
            response_headers=[("X-Echo", header_value)],
        ),
        deliveries=[
            delivery(
                headers=[("Authorization", f"Basic {header_value}")],
                body=json.dumps(resource, indent=2).encode(),
                path=f"/t1?{quote_plus(credential)}",
            )
        ],
        facts={"text": f"signed with {credential}", "payload": list(credential.encode())},
    )


def unrelated(credential: str) -> Any:
    """A later exchange that shows the credential where nothing says that it is one."""
    encoded = {name: encode(credential) for name, encode in ENCODINGS.items()}
    return exchange("later", "getEndpoint", data={"events": encoded}, path={"endpointID": "e"})


@pytest.mark.parametrize("field", FIELDS)
def test_a_credential_is_masked_and_its_field_keeps_its_type(field: str) -> None:
    secret = "hq-" + credentials()[0]
    resource = FIELDS[field](secret)
    masked = Mask(PROJECTS, context().dialect).exchange(exchange(data=resource)).data
    kept = json.loads(json.dumps(resource).replace(json.dumps(secret), '"secret#1"'))
    account = resource.get("pub_sub", {}).get("google", {}).get("service_account")
    if isinstance(account, list):
        kept = {"pub_sub": {"google": {"service_account": list(b"secret#1")}}}
    assert masked == kept


def test_the_same_credential_has_the_same_name_in_every_encoding() -> None:
    secret = credentials()[3]
    data = {"secret": secret, **{name: encode(secret) for name, encode in ENCODINGS.items()}}
    masked = Mask(PROJECTS, context().dialect).exchange(exchange(data=data)).data
    assert masked["within a text"] == "beforesecret#1after"
    assert masked["bytes"] == list(b"<secret#1>")
    assert masked["hexadecimal"] == masked["upper case"] == masked["quoted"] == "secret#1"
    assert json.loads(masked["JSON in JSON"]) == {"any": {"member": "secret#1"}}


def test_a_key_of_a_project_is_masked_in_every_encoding() -> None:
    key = "embedded-Zm9vYmFyYmF6cXV4"
    projects = (replace(PROJECTS[0], api_key=key),)
    data = {name: encode(key) for name, encode in ENCODINGS.items()}
    masked = Mask(projects, context().dialect).exchange(exchange(data=data))
    assert not [trace for trace in traces(key) if trace in masked.response_body]


def test_the_reason_of_what_was_not_observed_is_masked() -> None:
    secret = credentials()[4]
    reason = f"it was refused: {base64.b64encode(secret.encode()).decode()}"
    evidence = NotObserved(
        experiment="e",
        name="n",
        observation="o",
        reason=reason,
        exchanges=(exchange(request={"secret": secret}),),
    )
    masked = Mask(PROJECTS, context().dialect).evidence(evidence)
    assert isinstance(masked, NotObserved)
    assert not [trace for trace in traces(secret) if trace in masked.reason.encode()]


@pytest.mark.parametrize("text", ["00000000", "0001-01-01T00:00:00Z", "password", "aaaabbbbcccc"])
def test_what_anything_may_be_equal_to_is_masked_in_its_own_place_alone(text: str) -> None:
    masking = Mask(PROJECTS, context().dialect)
    masking.exchange(exchange(data={"secret": text}))
    later = exchange(data={"created_at": text, "data": list(text.encode()), "raw": f"x{text}"})
    assert masking.exchange(later).data == later.data


@pytest.mark.parametrize(
    ("credential", "looked_for"),
    [
        (b"01M84VJ9FPQX4T7ZRWNC", b"9FPQX4T7ZRWNC"),
        (b"whsec_5f1c9e0b" + b"x" * 100, b"whsec_5f1c9e0bxxxxx"),
        (b"secret-5f1c9e0b2a " + b"a longer text " * 9, b"secret-5f1c9e0b2a a longer text"),
        (b"-----BEGIN-" + b"MIIEvQIBADAN" * 2 + b"-----------", b"ADANMIIEvQIBADAN---"),
    ],
)
def test_what_a_credential_repeats_is_not_looked_for(credential: bytes, looked_for: bytes) -> None:
    place = rarest_place(credential, {})
    assert credential[place : place + SHORTEST] in looked_for


def test_no_window_of_a_credential_that_was_filled_up_is_repeated() -> None:
    credential = b"value-5f1c9e0b2a " + b"x" * 1200 + b" caf\xc3\xa9"
    ends_alike = {window: [b""] for _, window in windows_at(credential, len(credential) - SHORTEST)}
    place = rarest_place(credential, ends_alike)
    windows = [credential[at : at + WINDOW] for at in range(place, place + STEP)]
    assert [credential.count(window) for window in windows] == [1] * STEP


def test_what_credentials_have_in_common_is_not_looked_for() -> None:
    first, second = (b"whsec_%x-aaaaaa kqzvjxwpyfb" % number for number in (0xF1C9E, 0xA2B3D))
    known = {window: [first] for _, window in windows_at(first, len(first) - SHORTEST)}
    assert rarest_place(second, {}) == len(second) - SHORTEST
    assert known.keys().isdisjoint(dict(windows_at(second, rarest_place(second, known))).values())


@pytest.mark.parametrize("numbers", [[], [1, 256], [1, -1], [1, True], [1, 1.0], [1, "1"]])
def test_numbers_that_are_no_bytes_stand_for_no_text(numbers: list[Any]) -> None:
    assert byte_array(numbers) is None
