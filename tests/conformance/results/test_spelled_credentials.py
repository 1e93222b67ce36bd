"""A credential in 500 places and eight spellings, from the first exchange on: nothing that is
written shows it.
"""

import base64
import html
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

import pytest

from hookproof.conformance.results.records.compression import unpack
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.results.run_file import NAME, RunWriter
from hookproof.conformance.run.intake import Intake
from hookproof.target.masking.known_credentials import unescaped
from tests.conformance.canned_evidence import context, delivery, exchange, seen
from tests.conformance.canned_run import PROJECTS, header
from tests.conformance.planted_credentials import traces
from tests.conformance.results.test_planted_credentials import bodies

PLACES: Final = 500
SECRET: Final = "whsec_5f1c9e0b2a/Kq+zVjXw=pyFb"
KEY: Final = "sk-embedded-Zm9vYmFyYmF6cXV4"


def every_letter(text: str, escape: Callable[[int], str]) -> str:
    return "".join(map(escape, text.encode()))


SPELLINGS: Final[Mapping[str, Callable[[str], str]]] = {
    "as it is": str,
    "escapes of JSON": lambda text: every_letter(text, "\\u{:04x}".format),
    "escapes of a URL": lambda text: every_letter(text, "%{:02X}".format),
    "one needless escape": lambda text: f"{quote(text[0])}%{ord(text[1]):x}{quote(text[2:])}",
    "entities of HTML": lambda text: every_letter(text, "&#{};".format),
    "hexadecimal": lambda text: text.encode().hex(),
    "base64": lambda text: base64.b64encode(b"ab" + text.encode() + b"c").decode(),
    "a URL in a URL": lambda text: quote(every_letter(text, "%{:02x}".format)),
}


def planted(number: int, credential: str) -> Any:
    """An observation that shows the credential in one place, in one spelling."""
    spelled = [*SPELLINGS.values()][number % len(SPELLINGS)](credential)
    is_escaped = spelled.startswith("\\u")
    # An escape of JSON is one in a body alone; elsewhere it is what it says.
    body = f'{{"name": "a {spelled}"}}' if is_escaped else json.dumps({"name": f"a {spelled}"})
    member = f'{{"{spelled}": [1]}}' if is_escaped else json.dumps({spelled: [1]})
    place = number // len(SPELLINGS) % 8
    return seen(
        exchange(
            body=[body, member, json.dumps({"raw": body}), b"{}"][min(place, 3)].encode()
            if place < 3
            else b"{}",
            response_headers=[("X-Debug", spelled)] if place == 3 else (),
            query=f"?q={quote(spelled) if is_escaped else spelled}" if place == 4 else "",
            request_body=body.encode() if place == 5 else None,
        ),
        deliveries=[delivery(body=body.encode())] if place == 6 else [],
        facts={"text": f"{spelled} came"} if place == 7 else {},
        name=f"number {number}",
    )


def readable(folder: Path) -> bytes:
    """All that the file says, however it is spelled."""
    pieces = []
    for line in (folder / NAME).read_text("utf-8").splitlines():
        event = unpack(json.loads(line))
        text = json.dumps(event, ensure_ascii=False).encode("utf-8", "surrogatepass")
        pieces += [text, *bodies(event)]
    content = b"\n".join(pieces)
    for _ in range(4):
        pieces.append(content := unescaped(content).content)
    return b"\n".join(pieces)


@pytest.mark.parametrize("credential", [SECRET, KEY])
def test_a_planted_credential_is_in_no_place_in_no_spelling(
    tmp_path: Path, credential: str
) -> None:
    projects = [PROJECTS[0].__class__(id="p1", api_key=KEY)]
    mask = Mask(projects, context().dialect)
    mask.learn(json.dumps({"secret": credential}).encode())  # as the client does, once it is sent
    with (tmp_path / NAME).open("wb", buffering=0) as stream:
        intake = Intake(mask, context().dialect, RunWriter(stream, header()).evidence)
        for number in range(PLACES):
            assert intake.take(evidence := planted(number, credential)) is evidence
    content = readable(tmp_path)
    assert content.count(b"secret#1" if credential == SECRET else b"$HOOKPROOF_API_KEY") >= PLACES
    assert [trace for trace in traces(credential) if trace in content] == []


@pytest.mark.parametrize(
    "shows_it_first",
    [
        seen(exchange(data={"secrets": [{"value": SECRET}]}), name="the last one"),
        seen(deliveries=[delivery(body=f'{{"secret": "{SECRET}"}}'.encode())], name="the last one"),
        seen(
            deliveries=[delivery(headers=[("Authorization", f"Bearer {SECRET}")])],
            name="the last one",
        ),
    ],
    ids=["an answer", "the body of a delivery", "the header of a delivery"],
)
def test_what_was_written_before_its_credential_was_known_is_written_again(
    tmp_path: Path, shows_it_first: Any
) -> None:
    mask = Mask(PROJECTS, context().dialect)
    with (tmp_path / NAME).open("wb", buffering=0) as stream:
        writer = RunWriter(stream, header())
        intake = Intake(mask, context().dialect, writer.evidence)
        for number in range(len(SPELLINGS) * 4):  # what a target sends
            intake.take(planted(number, SECRET))
        assert SECRET.encode() in readable(tmp_path)
        intake.take(shows_it_first)
        early = intake.shown_early()
        writer.replace_evidence(early)
        assert intake.shown_early().keys() == early.keys()
        intake.take(seen(exchange(), name="a later one"))
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    content = readable(tmp_path)
    assert len(early) == len(SPELLINGS) * 4
    assert [trace for trace in traces(SECRET) if trace in content] == []
    names = [json.loads(line)["name"] for line in (tmp_path / NAME).read_text().splitlines()[1:]]
    assert names == [
        *(f"number {n}" for n in range(len(SPELLINGS) * 4)),
        "the last one",
        "a later one",
    ]


@pytest.mark.parametrize("word", ["correcthorsebattery", "thistleSparrowLantern"])
@pytest.mark.parametrize(
    "spelled",
    [
        lambda word: base64.b64encode(f"x{word}y".encode()).decode(),
        lambda word: word.encode().hex(),
        lambda word: [*f"it is {word}.".encode()],
        lambda word: word,
    ],
    ids=["base64", "hexadecimal", "bytes", "a whole value"],
)
def test_a_credential_that_looks_like_a_word_is_masked_encoded_and_as_a_whole(
    word: str, spelled: Callable[[str], Any]
) -> None:
    mask = Mask(PROJECTS, context().dialect)
    mask.exchange(exchange(request={"secret": word}))
    shown = mask.exchange(exchange(data={"note": spelled(word), "text": f"no {word}s here"}))
    note = shown.data["note"]
    said = bytes(note).decode() if isinstance(note, list) else note
    assert "secret#1" in said
    assert [trace for trace in traces(word) if trace in said.encode()] == []
    assert shown.data["text"] == f"no {word}s here", "where it may be a word of any text"


@pytest.mark.parametrize("short", ["hunter2", "abcd"])
def test_a_short_credential_is_masked_where_it_is_a_whole_value(short: str) -> None:
    mask = Mask(PROJECTS, context().dialect)
    mask.exchange(exchange(request={"secret": short}))
    escaped = every_letter(short, "\\u{:04x}".format)
    body = f'{{"a": "{short}", "b": "{escaped}", "{short}": "{short} {short}x", "c": "%61{short}"}}'
    shown = mask.exchange(exchange(body=body.encode(), query=f"?k={short}&l={short}x"))
    assert json.loads(shown.response_body) == {
        "a": "secret#1",
        "b": "secret#1",
        "secret#1": f"{short} {short}x",
        "c": f"%61{short}",
    }
    assert shown.url.endswith(f"?k=secret#1&l={short}x")
    encoded = base64.b64encode(short.encode()).decode()
    assert mask.exchange(exchange(data=[encoded, short.encode().hex()])).data == ["secret#1"] * 2


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_what_a_text_says_is_found_where_it_is_written(spelling: str) -> None:
    if spelling in {"hexadecimal", "base64"}:
        return
    written = SPELLINGS[spelling](SECRET)
    text = unescaped(f'"é\\"{written}\\n%C3%A9"'.encode())
    if spelling == "a URL in a URL":
        assert unquote(text.content.decode()).find(SECRET) >= 0
        return
    start = text.content.index(SECRET.encode())
    first, last = text.written(start, start + len(SECRET))
    assert f'"é\\"{written}\\n%C3%A9"'.encode()[first:last].decode() == written
    assert html.unescape("&#115;") == "s"
