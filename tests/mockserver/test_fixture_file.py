"""Words of the dialect in a fixture file."""

from pathlib import Path
from typing import Any

import pytest

from hookproof.mockserver.fixture_file import read_fixtures
from tests.spec.dialect_variants import UNDECIDED, variant

SOURCES = """
sources:
  - name: One
    type: "$source_types[1]"
    verifier: {type: hmac, hmac: {encoding: "$hmac_encodings[3]|usual"}}
"""


@pytest.mark.parametrize(
    ("words", "encoding"),
    [
        ("base64url", "base64url"),
        ({"one_of": ["base32", "base64url"]}, "base64url"),
        (UNDECIDED, "usual"),
    ],
)
def test_a_word_that_the_dialect_leaves_open_is_that_of_the_file(
    tmp_path: Path, words: Any, encoding: str
) -> None:
    path = tmp_path / "fixtures.yaml"
    path.write_text(SOURCES)
    answers = {"words.hmac_encodings": words, "words.source_types": ["a", "b"]}
    (source,) = read_fixtures(path, variant(answers)).sources
    assert source["type"] == "b"
    assert source["verifier"]["hmac"]["encoding"] == encoding
