"""Compresses long bodies in run.jsonl, which reduces a run of 20 MB to a quarter.

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


def pack_evidence(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Evidence as JSON with long bodies compressed; its facts are unchanged."""
    return {**evidence, **{name: pack(evidence[name]) for name in EVIDENCE}}


def unpack_evidence(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Reverse `pack_evidence`; raises KeyError, ValueError or zlib.error for anything else."""
    return {**evidence, **{name: unpack(evidence[name]) for name in EVIDENCE}}


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
    whole = zlib.decompress(base64.b64decode(member))
    return name.removesuffix(PACKED) + PLAIN, base64.b64encode(whole).decode("ascii")
