"""The tables of bugs and true words name what exists."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from hookproof.spec.catalogue import load_catalogue
from tests.strangers.services import (
    LEDGERLINE_BUGS,
    LEDGERLINE_TRUE_WORDS,
    QUEUEPOST_BUGS,
    QUEUEPOST_TRUE_WORDS,
    SOURCES,
)

TABLES: Final = [
    (LEDGERLINE_BUGS, SOURCES / "ledgerline"),
    (QUEUEPOST_BUGS, SOURCES / "queuepost"),
]


@pytest.mark.parametrize(("bugs", "sources"), TABLES)
def test_the_table_has_every_bug_of_the_service_and_no_other(
    bugs: Mapping[str, str], sources: Path
) -> None:
    code = "".join(path.read_text("utf-8") for path in sources.iterdir() if path.is_file())
    assert set(re.findall(r'\b(?:bug|has)\("(\w+)"\)', code)) == set(bugs)
    assert len(bugs) >= 20


def test_the_requirements_of_the_tables_exist() -> None:
    known = set(load_catalogue().requirements)
    named = {name for bugs, _ in TABLES for names in bugs.values() for name in names.split(", ")}
    assert named | set(LEDGERLINE_TRUE_WORDS) | set(QUEUEPOST_TRUE_WORDS) <= known
