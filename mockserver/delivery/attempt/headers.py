"""The headers of a delivery: which are the service's own, which a sender may add, and in which
order they go out.

The service's own headers say who the delivery is from and where it ends; a custom header never
takes their place (section 4.8 lets custom headers be added, not replaced).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from hookproof.spec.dialect.model import Dialect

Headers = tuple[tuple[str, str], ...]

# RFC 9110 sections 5.6.2, 7.2, 7.6.1, 8.3 and 8.6, and RFC 9112 section 6: what frames and routes a
# message.
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
TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
# RFC 9110 section 5.5: a value has no control character but the tabulator, and no character beyond
# one byte.
VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


def reserved_header_names(dialect: Dialect) -> frozenset[str]:
    """The names, in lower case, that only the service sets on a delivery."""
    return (
        FRAMING_HEADERS
        | service_header_names(dialect)
        | {CONTENT_TYPE.lower(), AUTHORIZATION.lower()}
    )


def service_header_names(dialect: Dialect) -> frozenset[str]:
    """The names, in lower case, of the headers in which a delivery says what it is: signatures,
    event and attempt.
    """
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
    """What keeps headers from being sent, one sentence for each problem; nothing for headers that
    can be sent.
    """
    problems = []
    for name, value in headers.items():
        if not TOKEN.fullmatch(name):
            problems.append(
                f"{name!r} is no header name: letters, digits and !#$%&'*+-.^_`|~ make one"
            )
        if not isinstance(value, str):
            problems.append(f"the value of the header {name!r} is no text")
        elif not VALUE.fullmatch(value):
            problems.append(
                f"the value of the header {name!r} holds a character that no header can carry"
            )
    return tuple(problems)


def addable(custom: Mapping[str, str], taken: Iterable[str]) -> Headers:
    """The custom headers that may go out, given the lower-case names that are taken; section 4.8."""
    taken = frozenset(taken)
    return tuple((name, value) for name, value in custom.items() if name.lower() not in taken)
