"""Tables of the characters that codecs encode, where Hypothesis looks for them.

It keeps such tables in its storage directory, which is a new one in each run of a generator.
Without them it tries to encode and decode each of the 1.1 million code points, which takes half of
the time of a short run.
"""

import gzip
import json
from typing import Final

from hypothesis.internal.charmap import charmap_file

# The ranges of code points that a codec encodes, and decodes to the same: the first and the last.
# UTF-8 encodes all but surrogates (RFC 3629).
ENCODABLE: Final = {"utf-8": ((0x0, 0xD7FF), (0xE000, 0x10FFFF)), "ascii": ((0x0, 0x7F),)}


def save_codec_tables() -> None:
    for codec, intervals in ENCODABLE.items():
        table = charmap_file(f"codec-v2-{codec}")
        table.parent.mkdir(parents=True, exist_ok=True)
        not_decoded_alike: list[tuple[int, int]] = []
        table.write_bytes(gzip.compress(json.dumps([intervals, not_decoded_alike]).encode()))
