"""Headers that a delivery has under other names than its scheme expects.

They are renamed before anything is searched, so that one of them causes no false statement about
another. What was renamed is reported only if that explains the delivery.
"""

import re
from collections.abc import Iterator
from typing import Final

from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation
from hookproof.receiver.signatures.signed_message import Headers
from hookproof.spec.dialect.signature_scheme import SignatureScheme

CGI: Final = re.compile(r"(?:REDIRECT_)?HTTP_([A-Z0-9_]+)")
# What proxies put before the name of a header that they take away or replace.
PROXY: Final = re.compile(r"x-(?:amzn-remapped|original|forwarded)-(.+)", re.IGNORECASE)
# By the kind of header: the last word of its usual names, and what its value looks like.
KINDS: Final = {
    "signature": (
        re.compile(r"sign(ature)?|hmac|mac|digest"),
        re.compile(r".*[0-9A-Za-z+/_-]{20,}.*"),
    ),
    "time": (re.compile(r"time(stamp)?|date|ts"), re.compile(r"[0-9]{9,19}|\d{4}-\d\d-\d\dT.*")),
    "identifier": (re.compile(r"id"), re.compile(r"[!-~]{1,256}")),
}  # fmt: skip
WORD: Final = re.compile(r"[a-z]+")


def plain_name(name: str) -> str:
    """The name of a header behind the one that CGI and PHP's $_SERVER give it."""
    match = CGI.fullmatch(name)
    return match[1].replace("_", "-").title() if match else name


def _name_before_proxy(name: str) -> str:
    """The name that a header had before a proxy renamed it, as far as it shows."""
    match = PROXY.fullmatch(name)
    return match[1] if match else plain_name(name)


def repaired(
    scheme: SignatureScheme, headers: Headers, event_id_header: str | None
) -> tuple[Headers, tuple[Deviation, ...]]:
    """The headers under the names that are expected, and which of them had others."""
    wanted = {
        "signature": scheme.header,
        "time": scheme.timestamp_header,
        "identifier": event_id_header if "{id}" in scheme.signed + scheme.value else None,
    }
    deviations: list[Deviation] = []
    for kind, expected in wanted.items():
        if expected and not _values(headers, expected):
            found = next(_candidates(headers, kind, expected), None)
            if found is not None:
                headers = [(expected if name == found else name, value) for name, value in headers]
                deviations.append(_other_name(kind, found, expected))
    return headers, tuple(deviations)


def _values(headers: Headers, wanted: str) -> list[str]:
    return [value for name, value in headers if name.lower() == wanted.lower()]


def _candidates(headers: Headers, kind: str, expected: str) -> Iterator[str]:
    """The names that the expected header may have; none if several are as likely."""
    yield from (name for name, _ in headers if plain_name(name).lower() == expected.lower())
    yield from (name for name, _ in headers if _name_before_proxy(name).lower() == expected.lower())
    usual, looks = KINDS[kind]
    alike = dict.fromkeys(
        name
        for name, value in headers
        if usual.fullmatch((WORD.findall(plain_name(name).lower()) or [""])[-1])
        and looks.fullmatch(value)
    )
    if len(alike) == 1:
        yield from alike


def _other_name(kind: str, found: str, expected: str) -> Deviation:
    if plain_name(found).lower() == expected.lower():
        words = f"sent {expected}, which is here under its CGI name {found[:60]}"
        return Deviation(aspect=Aspect.HEADER, words=words, remedy="cgi")
    if _name_before_proxy(found).lower() == expected.lower():
        words = f"sent {expected}, which is here under the name {found[:60]} that a proxy gave it"
        return Deviation(aspect=Aspect.HEADER, words=words, remedy="renamed")
    words = f"sent the {kind} as {found[:60]}, it is expected as {expected}"
    return Deviation(aspect=Aspect.HEADER, words=words)
