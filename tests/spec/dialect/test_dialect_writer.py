"""A dialect that was written is read back as an equal one."""

import json

import pytest

from hookproof.spec.dialect.reader import load_dialect, load_dialect_mapping, shipped_dialects
from hookproof.spec.dialect.writer import written_dialect


@pytest.mark.parametrize("name", shipped_dialects())
def test_a_dialect_that_was_written_is_read_back(name: str) -> None:
    dialect = load_dialect(name)
    written = json.loads(json.dumps(written_dialect(dialect)))
    assert load_dialect_mapping(written, "here") == dialect


def test_several_and_undecided_answers_are_read_back() -> None:
    mapping = {
        "extends": "reference",
        "name": "ours",
        "summary": "s",
        "authentication": {"missing_key_status": {"one_of": [401, 403]}},
        "paging": {"maximum_per_page": {"undecided": "none yet"}},
    }
    dialect = load_dialect_mapping(mapping, "here")
    assert load_dialect_mapping(written_dialect(dialect), "there") == dialect
