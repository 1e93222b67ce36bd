"""Credentials in URLs: what a parameter such as `token` gives, and the path of a webhook of Slack.

Others may be anything: the path of another host is where it takes a delivery, for instance.
"""

import re
from collections.abc import Iterator
from typing import Final

from hookproof.process.encoded_credentials import SHORTEST

# A content with none of these has no such URL.
_SIGNS: Final = (b"token=", b"key=", b"secret=", b"password=", b"hooks.slack")
# An ampersand and a slash may be written with escapes in JSON.
_IN_URL: Final = re.compile(
    rb"(?:[?&]|\\u0026)(?:(?:access|auth|refresh)?[_-]?token|(?:auth|api)[_-]?key"
    rb"|(?:client[_-]?)?secret|password)=([\w.~%%+/=:-]{%d,})"
    rb"|hooks\.slack(?:-gov)?\.com\\?/(\w+(?:\\?/\w+)+)" % SHORTEST,
    re.IGNORECASE,
)


def may_be_url(text: str) -> bool:
    """Whether a text may be a URL with a credential."""
    return "://" in text and ("=" in text or "slack" in text.lower())


def url_credentials(content: bytes) -> Iterator[tuple[int, int]]:
    """Where there are credentials in the URLs of a text, from left to right."""
    lowered = content.lower()
    if any(sign in lowered for sign in _SIGNS):
        for match in _IN_URL.finditer(content):
            yield match.span(match.lastindex or 0)
