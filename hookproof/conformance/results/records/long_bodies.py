"""Keeps run.jsonl small where a target answers megabytes: once its long bodies have taken their
room, further ones are cut to their beginning, with their length and hash.

A body is long by what it takes in the file, and so are the facts of an observation. It is judged
before it is cut; `regrade` cannot judge an observation without it.
"""

import base64
import hashlib
import zlib
from collections.abc import Mapping
from typing import Any, Final

from hookproof.conformance.results.records.compression import EVIDENCE, FACTS_PACKED, PACKED, PLAIN

# In characters of the file.
LONG: Final = 64 * 1024
MOST: Final = 4 * 1024 * 1024
# In bytes.
BEGINNING: Final = 4096

CUT: Final = "cut_bodies"


class LongBodies:
    """The long bodies of one run; `cut` counts those that were cut."""

    def __init__(self, most: int = MOST) -> None:
        self.cut = 0
        self._left = most

    def within(self, packed: Mapping[str, Any]) -> dict[str, Any]:
        """Packed evidence, or a finding, with what is too long cut; `CUT` tells what was."""
        kept, cut = dict(packed), list[dict[str, Any]]()
        for kind in EVIDENCE:
            kept[kind] = [
                self._record(record, {"of": kind, "position": position}, cut)
                for position, record in enumerate(packed[kind])
            ]
        if FACTS_PACKED in kept:
            facts = {FACTS_PACKED: kept.pop(FACTS_PACKED)}
            kept |= self._record(facts, {"of": FACTS_PACKED, "position": 0}, cut)
        self.cut += len(cut)
        return {**kept, CUT: cut} if cut else kept

    def _record(
        self, record: dict[str, Any], place: Mapping[str, Any], cut: list[dict[str, Any]]
    ) -> dict[str, Any]:
        kept = dict(record)
        for name, value in record.items():
            if not (name.endswith(PLAIN) and isinstance(value, str) and len(value) > LONG):
                continue
            if len(value) <= self._left:
                self._left -= len(value)
                continue
            member, body = name.removesuffix(PACKED).removesuffix(PLAIN), _body(name, value)
            told = {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
            cut.append({**place, "body": member, **told})
            del kept[name]
            kept[member + PLAIN] = base64.b64encode(body[:BEGINNING]).decode("ascii")
        return kept


def is_whole(event: Mapping[str, Any], kind: str, position: int) -> bool:
    """Whether nothing of this exchange or delivery was cut."""
    places = ((cut["of"], cut["position"]) for cut in event.get(CUT, ()))
    return (kind, position) not in places


def cut_words(event: Mapping[str, Any]) -> str:
    """What was cut, in words; empty if nothing was."""
    return ", ".join(
        f"{cut['body'].replace('_', ' ')} of {cut['bytes']} bytes, SHA-256 {cut['sha256']}"
        for cut in event.get(CUT, ())
    )


def _body(name: str, value: str) -> bytes:
    content = base64.b64decode(value)
    return zlib.decompress(content) if name.endswith(PACKED) else content
