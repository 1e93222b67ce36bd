"""No Python file answers a gap: what a dialect decides is in the dialect files alone.

Three kinds of literal are looked for in the packages that take a dialect: the texts of the shipped
dialects (header names, parameter names, words, templates), the statuses, and the names by which the
standard library calls statuses. Names that the document itself uses (properties, parameters) and
the words of the vocabulary are not answers.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from http import HTTPStatus
from typing import Any, Final

import pytest
import yaml
from aiohttp import web

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.reader import load_dialect, shipped_dialects
from tests.source_tree import ROOT

PACKAGES: Final = ("mockserver", "receiver", "conformance", "load")
FILES: Final = sorted(
    path for package in PACKAGES for path in (ROOT / "hookproof" / package).rglob("*.py")
)

PLACEHOLDER: Final = re.compile(r"\{\w+\}")

# A text of a dialect that is looked for within longer literals too.
DISTINCTIVE: Final = re.compile(r"^(?=.{6,})(?=.*[A-Z_-])")

# Texts that mean something else as well: a media type, a scheme, nothing, encodings.
NEUTRAL: Final = frozenset({"application/json", "http", "none", "hex", "base64", "base64url"})

ANY_STATUS: Final = frozenset(range(100, 600))

# The statuses that http.HTTPStatus and aiohttp.web call by name.
NAMED_STATUSES: Final = {status.name: status.value for status in HTTPStatus} | {
    kind.__name__: kind.status_code
    for kind in vars(web).values()
    if isinstance(kind, type) and issubclass(kind, web.HTTPException) and kind.status_code > 0
}

# Fields that describe a dialect and answer nothing.
PROSE: Final = ("name", "summary", "policy", "assumed")

# What is allowed in the modules whose path begins so, although a dialect has the same text or
# status, and why.
OWN: Final[Mapping[str, tuple[frozenset[object], str]]] = {
    "hookproof/mockserver/control/listener.py": (
        ANY_STATUS,
        "the control listener is not part of the API: its statuses are its own",
    ),
    "hookproof/receiver/": (
        ANY_STATUS,
        "the control API and the answers of an endpoint are the receiver's own",
    ),
    "hookproof/receiver/replies/token_": (
        frozenset({"Bearer", "basic", "client_assertion", "client_assertion_type"}),
        "RFC 6749, 6750, 7523 and 7617 say how a client proves itself to a token endpoint",
    ),
    "hookproof/receiver/signatures/diagnosis/": (frozenset({"signed"}), "a word of a sentence"),
    "hookproof/receiver/signatures/schemes/": (frozenset({"basic"}), "the scheme of RFC 7617"),
    "hookproof/mockserver/delivery/": (
        frozenset({"Bearer", "client_assertion", "client_assertion_type", 401}),
        (
            "RFC 6750 and RFC 7523 say how OAuth 2 tokens and assertions are sent, and how an"
            " endpoint refuses one"
        ),
    ),
    "hookproof/load/locust_worker/stats_display.py": (
        frozenset({403}),
        "how the web page of a run refuses what it does not do",
    ),
    "hookproof/conformance/subjects/retries/experiment.py": (
        ANY_STATUS,
        "what the receiver is made to answer",
    ),
    "hookproof/conformance/subjects/exhaustion/experiment.py": (
        ANY_STATUS,
        "what the receiver is made to answer",
    ),
    "hookproof/mockserver/faults/catalogue/deliveries/retries.py": (
        ANY_STATUS,
        "what an endpoint answers, of which a fault mistakes one",
    ),
    "hookproof/conformance/subjects/keys/experiment.py": (
        frozenset({"Bearer"}),
        "one of the schemes that are wrong in most dialects",
    ),
    "hookproof/conformance/experiments/deliveries/token_server.py": (
        frozenset({"Bearer"}),
        "the token_type of RFC 6750",
    ),
    "hookproof/conformance/subjects/credentials/laws.py": (
        frozenset({"Bearer"}),
        "the scheme of RFC 6750",
    ),
    "hookproof/conformance/subjects/questions/experiment.py": (
        frozenset({400}),
        "a count of digits",
    ),
    "hookproof/conformance/subjects/arrival/experiment.py": (
        frozenset({400}),
        "a count of broadcasts",
    ),
    "hookproof/conformance/subjects/lists/walks.py": (
        frozenset({400}),
        "a count of pages",
    ),
    "hookproof/conformance/subjects/sweep/experiment.py": (
        frozenset({400}),
        "a count of examples",
    ),
    "hookproof/conformance/observations/answer.py": (
        frozenset({400, 408}),
        "where the client errors of HTTP begin, and what RFC 9110 says of slow requests",
    ),
    "hookproof/conformance/target/preflight.py": (
        frozenset({400, 401, 403}),
        "where classes of statuses begin, and how HTTP itself refuses a key (RFC 9110, 15.5)",
    ),
    "hookproof/conformance/subjects/credentials/evidence.py": (
        frozenset({"basic"}),
        "the scheme of RFC 7617",
    ),
    "hookproof/conformance/subjects/endpoints/laws.py": (
        frozenset({"active"}),
        "a word of a sentence",
    ),
    "hookproof/conformance/learning/": (
        frozenset({"shared_secret", "signed"}),
        "parts of the names of a dialect's fields, which are learned one by one",
    ),
    "hookproof/conformance/learning/deliveries/gathering.py": (
        frozenset({400, 410, "shared_secret", "signed"}),
        "what the receiver is made to answer",
    ),
    "hookproof/conformance/reports/formats.py": (
        frozenset({"github"}),
        "a format of reports, named after the CI system that reads it",
    ),
    "hookproof/conformance/observations/signature_reading.py": (
        frozenset({"signed"}),
        "a word of a sentence",
    ),
}


def leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield the single values of a dialect with their dotted paths.

    Members of enums are left out: they are vocabulary, not answers.
    """
    if isinstance(value, Answer):
        value = value.allowed
    if isinstance(value, Enum) or value is None or path in PROSE:
        return
    if is_dataclass(value):
        for field in fields(value):
            yield from leaves(getattr(value, field.name), f"{path}.{field.name}".lstrip("."))
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves(item, path)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from leaves(item, path)
    else:
        yield path, value


@cache
def answers() -> tuple[frozenset[str], frozenset[int]]:
    """Return the texts and the statuses of all shipped dialects.

    Of a template, these are the texts between its placeholders.
    """
    leaves_of_all = [leaf for name in shipped_dialects() for leaf in leaves(load_dialect(name))]
    pieces = {
        piece.strip()
        for _, value in leaves_of_all
        if isinstance(value, str)
        for piece in PLACEHOLDER.split(value)
    }
    texts = {
        piece
        for piece in pieces
        if len(piece) > 2 and not set(piece.split(".")) <= document_names()
    } - NEUTRAL
    statuses = {
        value
        for path, value in leaves_of_all
        if path.startswith(("errors.", "success.")) or path.endswith("_status")
    }
    return frozenset(texts), frozenset(value for value in statuses if type(value) is int) - {200}


@cache
def document_names() -> frozenset[str]:
    """Return every key of the contract and every name that it gives to a parameter."""
    return frozenset(
        _names(yaml.safe_load((ROOT / "hookproof" / "spec" / "openapi.yaml").read_text()))
    )


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (key for key in value if isinstance(key, str))
        if isinstance(value.get("name"), str):
            yield value["name"]
        for item in value.values():
            yield from _names(item)
    elif isinstance(value, list):
        for item in value:
            yield from _names(item)


def literals(source: str) -> Iterator[tuple[int, object]]:
    """Yield every constant of a module except docstrings, with its line.

    A status that is called by its name counts as its number.
    """
    tree = ast.parse(source)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in prose:
            yield node.lineno, node.value
        elif isinstance(node, ast.Attribute) and node.attr in NAMED_STATUSES:
            yield node.lineno, NAMED_STATUSES[node.attr]


def misplaced_answers(source: str, *, name: str = "") -> list[str]:
    """Return what is in a module although it belongs to a dialect."""
    own = {
        value for prefix, (values, _) in OWN.items() if name.startswith(prefix) for value in values
    }
    return [
        f"line {line}: {value!r}" for line, value in literals(source) if is_an_answer(value, own)
    ]


def is_an_answer(value: object, own: AbstractSet[object]) -> bool:
    """Return whether a literal is a text or a status of a dialect, and not the module's own."""
    texts, statuses = answers()
    if isinstance(value, str):
        foreign = texts - own
        return value.strip() in foreign or any(
            DISTINCTIVE.search(text) and text in value for text in foreign
        )
    return type(value) is int and value in statuses - own


def test_no_module_holds_an_answer_to_a_gap() -> None:
    names = {path: str(path.relative_to(ROOT)) for path in FILES}
    misplaced = {
        name: misplaced_answers(path.read_text(), name=name) for path, name in names.items()
    }
    assert misplaced
    assert {name: answers for name, answers in misplaced.items() if answers} == {}


@pytest.mark.parametrize(
    "planted",
    [
        'HEADER = "X-Webhook-Signature"',
        'headers["Authorization"] = f"Bearer {key}"',
        'query = {"ownerId": owner}',
        'if endpoint["status"] == "inactive": pass',
        "assert response.status == 422",
        "raise web.HTTPNotFound()",
    ],
)
def test_a_planted_answer_is_reported(planted: str) -> None:
    assert misplaced_answers(planted) != []


def test_a_docstring_may_name_an_answer() -> None:
    assert (
        misplaced_answers('"""Sends X-Webhook-Signature, as the reference dialect does."""') == []
    )
