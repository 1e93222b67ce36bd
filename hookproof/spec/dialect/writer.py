"""Writes a dialect: the mapping from which `load_dialect_mapping` makes an equal one.

The mapping extends no other dialect, so that a change of the inherited one does not change it.
"""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import yaml

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.file_schema import ONE_OF, UNDECIDED
from hookproof.spec.dialect.model import Dialect


def written_dialect(dialect: Dialect) -> dict[str, Any]:
    """The dialect as a JSON object, with all its answers."""
    written: dict[str, Any] = _written(dialect)
    return written


def answer_text(answer: Any) -> str:
    """An answer in one line of YAML: `{one_of: [401, 403]}`."""
    text: str = yaml.safe_dump(
        answer, default_flow_style=True, sort_keys=False, allow_unicode=True, width=float("inf")
    )
    line = text.removesuffix("\n").removesuffix("\n...")
    return json.dumps(answer, ensure_ascii=False) if "\n" in line else line  # JSON is YAML too


def _written(value: Any) -> Any:
    if isinstance(value, Answer):
        return _answer(value)
    if is_dataclass(value):
        return {field.name: _written(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: _written(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_written(item) for item in value]
    return str(value) if isinstance(value, str) else value


def _answer(answer: Answer[Any]) -> Any:
    if not answer.allowed:
        return {UNDECIDED: answer.reason}
    if len(answer.allowed) == 1:
        return _written(answer.allowed[0])
    return {ONE_OF: [_written(value) for value in answer.allowed]}
