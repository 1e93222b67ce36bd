"""Makes data classes of what was read from a file that anyone may have written."""

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, get_type_hints

import msgspec

T = TypeVar("T")


def typed(kind: type[T], written: Mapping[str, Any], **ready: Any) -> T:
    """An object of a data class, each of whose members has the type that it is declared with.

    Members that it does not have, which another version wrote, are left unread; `ready` are those
    that need no conversion. Raises ValueError or TypeError.
    """
    types = _types(kind)  # type: ignore[arg-type] # a class can be hashed
    known = {
        name: msgspec.convert(value, types[name])
        for name, value in written.items()
        if name in types and name not in ready
    }
    return kind(**known, **ready)


@cache
def _types(kind: type[Any]) -> Mapping[str, Any]:
    return get_type_hints(kind)
