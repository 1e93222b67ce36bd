"""Names that nobody has, in place of the hosts in generated requests (RFC 2606)."""

from typing import Any, Final
from urllib.parse import quote, urlsplit

RESERVED: Final = ".invalid"


def with_reserved_hosts(value: Any) -> Any:
    """The value with every URL and e-mail address in it moved to a reserved name, so that nobody is
    called or written to.
    """
    if isinstance(value, dict):
        return {name: with_reserved_hosts(member) for name, member in value.items()}
    if isinstance(value, list):
        return [with_reserved_hosts(member) for member in value]
    if isinstance(value, str) and ("://" in value or "@" in value):
        return _reserved(value)
    return value


def _reserved(text: str) -> str:
    scheme, mark, rest = text.partition("://")
    if not mark:
        return text if text.endswith(RESERVED) else f"{text}{RESERVED}"
    try:
        host = urlsplit(text).hostname or ""
    except ValueError:
        host = ""
    return text if host.endswith(RESERVED) else f"{scheme}://host{RESERVED}/{quote(rest, safe='')}"
