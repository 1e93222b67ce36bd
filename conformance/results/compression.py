"""Evidence made small for run.jsonl: long bodies are compressed, which takes a run from 20 MB to a
quarter of that.

A member whose name ends in `_b64` and whose value is long becomes one that ends in `_zlib_b64`: the
same bytes, compressed (RFC 1950) before they are put into base64.
"""

import base64
import zlib
from collections.abc import Mapping
from typing import Any, Final

PLAIN: Final = "_b64"
PACKED: Final = "_zlib_b64"
EVIDENCE: Final = ("exchanges", "deliveries")
# In characters of base64; shorter bodies stay readable with any base64 tool.
WORTHWHILE: Final = 512


def packed_case(case: Mapping[str, Any]) -> dict[str, Any]:
    """A case as JSON whose long bodies are compressed; what the facts hold is left alone."""
    return {**case, **{name: packed(case[name]) for name in EVIDENCE}}


def unpacked_case(case: Mapping[str, Any]) -> dict[str, Any]:
    """The case behind `packed_case`; raises KeyError, ValueError or zlib.error for anything else."""
    return {**case, **{name: unpacked(case[name]) for name in EVIDENCE}}


def packed(value: Any) -> Any:
    """A JSON value whose long bodies are compressed."""
    if isinstance(value, dict):
        return dict(_packed_member(name, member) for name, member in value.items())
    return [packed(member) for member in value] if isinstance(value, list) else value


def unpacked(value: Any) -> Any:
    """The value behind `packed`; raises ValueError or zlib.error if a body is damaged."""
    if isinstance(value, dict):
        return dict(_unpacked_member(name, member) for name, member in value.items())
    return [unpacked(member) for member in value] if isinstance(value, list) else value


def _packed_member(name: str, member: Any) -> tuple[str, Any]:
    if not (name.endswith(PLAIN) and isinstance(member, str)):
        return name, packed(member)
    if len(member) < WORTHWHILE:
        return name, member
    small = zlib.compress(base64.b64decode(member), level=6)
    return name.removesuffix(PLAIN) + PACKED, base64.b64encode(small).decode("ascii")


def _unpacked_member(name: str, member: Any) -> tuple[str, Any]:
    if not (name.endswith(PACKED) and isinstance(member, str)):
        return name, unpacked(member)
    whole = zlib.decompress(base64.b64decode(member))
    return name.removesuffix(PACKED) + PLAIN, base64.b64encode(whole).decode("ascii")
