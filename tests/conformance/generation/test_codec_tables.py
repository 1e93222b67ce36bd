"""Tests of the tables that spare Hypothesis from trying every code point."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookproof.conformance.generation.unpublished_interfaces import ENCODABLE

READ_BACK = """
from hypothesis.internal.charmap import intervals_from_codec
from hookproof.conformance.generation import unpublished_interfaces as codec_tables
codec_tables.ENCODABLE = {"utf-8": ((65, 70),), "ascii": ((48, 57),)}
codec_tables.save_codec_tables()
for codec in codec_tables.ENCODABLE:
    encodable, not_decoded_alike = intervals_from_codec(codec)
    print(codec, *encodable.intervals, *not_decoded_alike.intervals)
"""


@pytest.mark.parametrize("codec", ENCODABLE)
def test_a_table_has_the_code_points_that_its_codec_encodes(codec: str) -> None:
    listed = {point for first, last in ENCODABLE[codec] for point in range(first, last + 1)}
    assert listed == {point for point in range(sys.maxunicode + 1) if _encodes(codec, point)}


def test_hypothesis_reads_the_tables(tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-c", READ_BACK],
        env={**os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout.splitlines() == ["utf-8 (65, 70)", "ascii (48, 57)"]


def _encodes(codec: str, point: int) -> bool:
    try:
        return chr(point).encode(codec).decode(codec) == chr(point)
    except UnicodeError:
        return False
