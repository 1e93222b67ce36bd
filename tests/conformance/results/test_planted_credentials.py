"""Hundreds of credentials in every field of the document that holds one, in every encoding: none is
in any file that a run writes.
"""

import base64
import io
import json
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from hookproof.conformance.model.evidence import NotObserved
from hookproof.conformance.reports.console import show
from hookproof.conformance.reports.formats import FORMATS
from hookproof.conformance.results.records.compression import unpack
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.results.run_file import NAME, RunWriter
from hookproof.conformance.run.intake import Intake
from hookproof.process.encoded_credentials import (
    SHORTEST,
    STEP,
    WINDOW,
    EncodedCredentials,
    byte_array,
    rarest_place,
    windows_at,
)
from tests.conformance.canned_evidence import context, delivery, exchange, seen
from tests.conformance.canned_run import PROJECTS, failed, finding, finished_run, header
from tests.conformance.planted_credentials import (
    ENCODINGS,
    FIELDS,
    SHAPES,
    WRAPPINGS,
    credentials,
    readings,
    traces,
    traces_in,
)


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
    fields, shapes, wrappings = (list(each.values()) for each in (FIELDS, SHAPES, WRAPPINGS))
    field = fields[number % len(fields)]
    shape = shapes[number // len(fields) % len(shapes)]
    wrapping = wrappings[number // 7 % len(wrappings)]
    return {
        "shown": wrapping(field(shape(credential))),
        "name": "a resource",
        "metadata": {name: encode(credential) for name, encode in ENCODINGS.items()},
    }


def test_no_planted_credential_is_in_any_file(tmp_path: Path) -> None:
    planted = credentials()
    mask = Mask(PROJECTS, context().dialect)
    with (tmp_path / "evidence.jsonl").open("wb", buffering=0) as stream:
        intake = Intake(mask, context().dialect, RunWriter(stream, header()).evidence)
        for number, credential in enumerate(planted):
            intake.take(observed(number, credential))
            intake.take(seen(unrelated(credential)))
    reported = [exchange(data=shown(number, text)) for number, text in enumerate(planted[:40])]
    told = replace(
        finding(),
        exchanges=tuple(reported),
        message=f"The password {planted[1]} came back",
        actual=repr(planted[2]),
    )
    run = finished_run(tmp_path, mask.entry(replace(failed(), findings=(told,))))
    for format_ in FORMATS.values():
        (tmp_path / format_.file).write_text(format_.render(run), encoding="utf-8")
    console = io.StringIO()
    show(run, console, {})
    evidence = (tmp_path / "evidence.jsonl").read_text("utf-8").splitlines()
    content = everything_in(tmp_path, console=console.getvalue())
    content += b"\n".join(map(unpacked, evidence))
    assert traces_in(content, planted) == []


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


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("field", FIELDS)
def test_a_credential_is_masked_and_its_field_keeps_its_type(field: str, shape: str) -> None:
    secret = "hq-" + credentials()[0]
    resource = FIELDS[field](SHAPES[shape](secret))
    masked = Mask(PROJECTS, context().dialect).exchange(exchange(data=resource)).data
    assert masked == FIELDS[field](1 if shape == "number" else SHAPES[shape]("secret#1"))


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_credential_in_any_shape_is_found_where_nothing_else_shows_it(
    shape: str, wrapping: str
) -> None:
    found = []
    for number, field in enumerate(FIELDS):
        secret = credentials()[number]
        shown = SHAPES[shape](secret)
        resource = {"name": "a", **FIELDS[field](shown), "public": "a text that remains"}
        body = json.dumps({"data": WRAPPINGS[wrapping](resource)}, indent=number % 3 or None)
        masked = Mask(PROJECTS, context().dialect).exchange(exchange(body=body.encode()))
        readable = masked.response_body + b"\n".join(readings(masked.json))
        assert b"a text that remains" in readable
        spelled = str(shown) if shape == "number" else secret
        found += [(field, trace) for trace in traces(spelled) if trace in readable]
    assert found == []


def test_the_same_credential_has_the_same_name_in_every_encoding() -> None:
    secret = credentials()[3]
    data = {"secret": secret, **{name: encode(secret) for name, encode in ENCODINGS.items()}}
    masked = Mask(PROJECTS, context().dialect).exchange(exchange(data=data)).data
    assert masked["within a text"] == "beforesecret#1after"
    assert masked["bytes"] == list(b"<secret#1>")
    assert masked["hexadecimal"] == masked["upper case"] == masked["quoted"] == "secret#1"
    assert json.loads(masked["JSON in JSON"]) == {"any": {"member": "secret#1"}}


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
def test_a_trace_of_a_credential_is_found_wherever_it_stands(encode: Callable[[str], Any]) -> None:
    first, second, *others = credentials()
    content = json.dumps([encode(second)]).encode()
    assert {credential for credential, _ in traces_in(content, [first, second])} == {second}
    assert traces_in(content[:-2] + b"?" + content, others) == []


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


def test_an_array_of_a_million_bytes_needs_no_memory_for_what_a_match_gives_back() -> None:
    secret = "sk-5f1c9e0b2a-kqzvjxwpyfb"
    known = EncodedCredentials()
    known.add([(secret, "<secret#1>")])
    content = (
        b'{"raw":[' + b", ".join(b"%d" % byte for byte in bytes(10**6) + secret.encode()) + b"]}"
    )
    tracemalloc.start()
    try:
        replaced = known.content(content)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert bytes(json.loads(replaced)["raw"]) == bytes(10**6) + b"<secret#1>"
    assert peak < 64 * len(content)  # it was 112 times with what a match may give back


@pytest.mark.parametrize("numbers", [[], [1, 256], [1, -1], [1, True], [1, 1.0], [1, "1"]])
def test_numbers_that_are_no_bytes_stand_for_no_text(numbers: list[Any]) -> None:
    assert byte_array(numbers) is None
