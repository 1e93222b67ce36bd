"""The tables of bugs and true words name what exists."""

import re
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from hookproof.receiver.http.authority import Authority
from hookproof.spec.catalogue import load_catalogue
from tests.strangers.services import (
    LEDGERLINE_BUGS,
    LEDGERLINE_TRUE_WORDS,
    QUEUEPOST_BUGS,
    QUEUEPOST_TRUE_WORDS,
    SOURCES,
    ledgerline,
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


def test_a_request_of_ledgerline_takes_the_time_that_it_is_said_to_cost(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "ca")
    with ledgerline(200).running(authority.certificate_path) as url:
        began = time.monotonic()
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{url}/api/v1/projects/main/sources")
    refused.value.close()
    assert time.monotonic() - began >= 0.2
