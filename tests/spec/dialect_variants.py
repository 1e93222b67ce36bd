"""Dialects and contracts for tests: the reference dialect with some other answers."""

from collections.abc import Mapping
from typing import Any

from hookproof.spec.contract.service_contract import Contract, SchemaProblem, contract_for
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect_mapping, shipped_dialects

# The shipped dialects that a server can act on.
ANSWERED = tuple(name for name in shipped_dialects() if name != "undecided")

UNDECIDED = {"undecided": "nobody knows"}


def variant_mapping(answers: Mapping[str, Any], *, extends: str = "reference") -> dict[str, Any]:
    """The content of a file with these answers, by their dotted names."""
    mapping: dict[str, Any] = {"extends": extends, "name": "variant", "summary": "A variant."}
    for path, answer in answers.items():
        *groups, field = path.split(".")
        group = mapping
        for name in groups:
            group = group.setdefault(name, {})
        group[field] = answer
    return mapping


def variant(answers: Mapping[str, Any], *, extends: str = "reference") -> Dialect:
    """The dialect of such a file."""
    return load_dialect_mapping(variant_mapping(answers, extends=extends), "variant")


def contract(answers: Mapping[str, Any]) -> Contract:
    """The contract of a service with this dialect."""
    return contract_for(variant(answers))


def pointers(problems: tuple[SchemaProblem, ...]) -> list[str]:
    return [problem.pointer for problem in problems]
