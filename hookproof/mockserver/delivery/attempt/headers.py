"""The headers of a delivery: which ones only the service sets, and which ones a sender may add.

A custom header never replaces a header of the service: section 4.8 lets custom headers be added.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import HeaderText

Headers = tuple[tuple[str, str], ...]

# The headers that frame and route a message: RFC 9110, sections 7.2, 7.6.1, 8.6, 10.1.1 and 11.7,
# and RFC 9112, section 6.
FRAMING_HEADERS: Final = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
CONTENT_TYPE: Final = "Content-Type"
AUTHORIZATION: Final = "Authorization"
# RFC 9110, section 5.6.2.
TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
# RFC 9110, section 5.5: a value contains no control character except the tab, and no character that
# needs more than one byte.
VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


def reserved_header_names(dialect: Dialect) -> frozenset[str]:
    """Return the lower-case names of the headers that only the service sets on a delivery, and of
    those that the dialect treats alike.
    """
    return (
        FRAMING_HEADERS
        | {name.lower() for name in dialect.delivery.further_reserved_headers}
        | service_header_names(dialect)
        | {CONTENT_TYPE.lower(), AUTHORIZATION.lower()}
    )


def service_header_names(dialect: Dialect) -> frozenset[str]:
    """Return the lower-case names of the headers for signatures, event and attempt."""
    delivery, signatures = dialect.delivery, dialect.signatures
    names = (
        *(scheme.header for scheme in (signatures.simple, signatures.advanced)),
        *(scheme.timestamp_header for scheme in (signatures.simple, signatures.advanced)),
        delivery.event_id_header,
        delivery.attempt_header,
        delivery.event_type_header,
    )
    return frozenset(name.lower() for name in names if name is not None)


def header_problems(headers: Mapping[str, object]) -> tuple[str, ...]:
    """Return one sentence for each reason why headers cannot be sent."""
    problems = []
    for name, value in headers.items():
        if not TOKEN.fullmatch(name):
            problems.append(
                f"{name!r} is not a header name: it consists of letters, digits and !#$%&'*+-.^_`|~"
            )
        if not isinstance(value, str):
            problems.append(f"the value of the header {name!r} is not a string")
        elif not VALUE.fullmatch(value):
            problems.append(
                f"the value of the header {name!r} contains a character that no header can carry"
            )
    return tuple(problems)


def custom_header_problems(headers: Mapping[str, object], text: HeaderText) -> tuple[str, ...]:
    """Return one sentence for each reason why custom headers are not accepted."""
    sendable = {
        name: carried(value, text) if isinstance(value, str) else value
        for name, value in headers.items()
    }
    too_large = [
        f"the value of the header {name!r} contains a character that is not accepted"
        for name, value in headers.items()
        if isinstance(value, str) and any(character > text.largest for character in value)
    ]
    return (*header_problems(sendable), *too_large)


def carried(value: str, text: HeaderText) -> str:
    """Return the characters that stand for a value: those of its UTF-8 where any text goes."""
    return value.encode().decode("latin-1") if text is HeaderText.ANY else value


def header_text(dialect: Dialect) -> HeaderText:
    """Return the texts that custom headers can have: what one byte each can carry, by default."""
    text = dialect.requests.header_text
    return text.value if text.decided else HeaderText.LATIN_1


def allowed_custom_headers(custom: Mapping[str, str], reserved: Iterable[str]) -> Headers:
    """Return the custom headers whose lower-case names are not reserved (section 4.8)."""
    reserved = frozenset(reserved)
    return tuple((name, value) for name, value in custom.items() if name.lower() not in reserved)
