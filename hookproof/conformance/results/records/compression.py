"""Makes evidence in run.jsonl small, which reduces a run of 30 MB to a third.

A member whose name ends in `_b64` and whose value is long becomes one that ends in `_zlib_b64`: the
same bytes, compressed (RFC 1950) before they are put into base64. A body that an earlier exchange
of the same observation has, too, becomes `response_body_as_in`: the position of that exchange. Long
facts become `facts_zlib_b64`, their JSON as if it were a body.

Where a target answers megabytes, and its long bodies have taken their room, further ones are cut to
their beginning, with their length and hash; long is meant by what they take in the file. They are
judged before they are cut; `regrade` cannot judge an observation without them.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

# In characters of the file.
LONG: Final = 64 * 1024
MOST_LONG: Final = 4 * 1024 * 1024
# In bytes.
KEPT: Final = 4096

CUT: Final = "cut_bodies"


class LongBodies:
    """The long bodies of one run; `cut` counts those that were cut."""

    def __init__(self, most: int = MOST_LONG) -> None:
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
            kept[member + PLAIN] = base64.b64encode(body[:KEPT]).decode("ascii")
        return kept


def is_whole(event: Mapping[str, Any], kind: str, position: int) -> bool:
    """Whether nothing of this exchange or delivery was cut."""
    places = ((cut["of"], cut["position"]) for cut in event.get(CUT, ()))
    return (kind, position) not in places


def cut_words(event: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{cut['body'].replace('_', ' ')} of {cut['bytes']} bytes, SHA-256 {cut['sha256']}"
        for cut in event.get(CUT, ())
    )


def _body(name: str, value: str) -> bytes:
    content = base64.b64decode(value)
    return zlib.decompress(content) if name.endswith(PACKED) else content


PLAIN: Final = "_b64"
PACKED: Final = "_zlib_b64"
EVIDENCE: Final = ("exchanges", "deliveries")
FACTS: Final = "facts" + PLAIN
FACTS_PACKED: Final = "facts" + PACKED
BODY_PACKED: Final = "response_body" + PACKED
AS_IN: Final = "response_body_as_in"
# In characters of base64; shorter bodies stay readable with any base64 tool.
WORTHWHILE: Final = 512
# In bytes: several times what is read of any answer, so that a file made to harm stays harmless.
MOST_UNPACKED: Final = 64 * 1024 * 1024


def pack_evidence(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Evidence as JSON, made small; raises TypeError or ValueError if its facts are not JSON."""
    packed = {**evidence, **{name: pack(evidence[name]) for name in EVIDENCE}}
    packed["exchanges"] = list(_shared(packed["exchanges"]))
    facts = json.dumps(packed["facts"], separators=(",", ":"), allow_nan=False).encode()
    if len(facts) >= WORTHWHILE:
        del packed["facts"]
        packed |= [_pack_member(FACTS, base64.b64encode(facts).decode("ascii"))]
    return packed


def unpack_evidence(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Reverse `pack_evidence`; raises KeyError, ValueError or zlib.error for anything else."""
    whole = {**evidence, "exchanges": list(_separate(evidence["exchanges"]))}
    whole |= {name: unpack(whole[name]) for name in EVIDENCE}
    if FACTS_PACKED in whole:
        _, facts = _unpack_member(FACTS_PACKED, whole.pop(FACTS_PACKED))
        whole["facts"] = json.loads(base64.b64decode(facts))
    return whole


def _shared(exchanges: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    places: dict[str, int] = {}
    for place, exchange in enumerate(exchanges):
        body = exchange.get(BODY_PACKED)
        if body is not None and places.setdefault(body, place) < place:
            others = {name: value for name, value in exchange.items() if name != BODY_PACKED}
            yield others | {AS_IN: places[body]}
        else:
            yield exchange


def _separate(exchanges: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for exchange in exchanges:
        if AS_IN in exchange:
            others = {name: value for name, value in exchange.items() if name != AS_IN}
            yield others | {BODY_PACKED: exchanges[exchange[AS_IN]][BODY_PACKED]}
        else:
            yield exchange


def pack(value: Any) -> Any:
    """A JSON value with long bodies compressed."""
    if isinstance(value, dict):
        return dict(_pack_member(name, member) for name, member in value.items())
    return [pack(member) for member in value] if isinstance(value, list) else value


def unpack(value: Any) -> Any:
    """Reverse `pack`; raises ValueError or zlib.error if a body is damaged."""
    if isinstance(value, dict):
        return dict(_unpack_member(name, member) for name, member in value.items())
    return [unpack(member) for member in value] if isinstance(value, list) else value


def decompressed(content: bytes) -> bytes:
    """Reverse zlib.compress; raises zlib.error, and ValueError for what is long or cut off."""
    decompressor = zlib.decompressobj()
    whole = decompressor.decompress(content, MOST_UNPACKED)
    if decompressor.unconsumed_tail:
        raise ValueError(f"a body has more than {MOST_UNPACKED} bytes")
    if not decompressor.eof:
        raise ValueError("a body is cut off")
    return whole


def _pack_member(name: str, member: Any) -> tuple[str, Any]:
    if not (name.endswith(PLAIN) and isinstance(member, str)):
        return name, pack(member)
    if len(member) < WORTHWHILE:
        return name, member
    small = zlib.compress(base64.b64decode(member), level=6)
    return name.removesuffix(PLAIN) + PACKED, base64.b64encode(small).decode("ascii")


def _unpack_member(name: str, member: Any) -> tuple[str, Any]:
    if not (name.endswith(PACKED) and isinstance(member, str)):
        return name, unpack(member)
    whole = decompressed(base64.b64decode(member))
    return name.removesuffix(PACKED) + PLAIN, base64.b64encode(whole).decode("ascii")
