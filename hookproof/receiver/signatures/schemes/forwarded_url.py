"""The URL that a sender called, as a proxy says it: X-Forwarded-Proto, -Host and -Prefix.

Whoever sends can write these headers too, so they mean something only where a proxy is known to set
them. Each may be a list to which every proxy adds its part at the end: the last entry is what the
nearest proxy has seen, and what stands before it is the word of others.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Self
from urllib.parse import urlsplit

from hookproof.receiver.signatures.schemes.request_parts import RequestLine

Headers = Sequence[tuple[str, str]]

SCHEMES: Final = ("http", "https")
HOST: Final = re.compile(r"(?:[0-9A-Za-z._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
PREFIX: Final = re.compile(r"(?:/[0-9A-Za-z._~!$&'()*+;=:@%-]+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardedUrl:
    """The scheme and the host that the client used, and what the proxy took off the path.

    Each is None, and the prefix empty, if the proxy does not say it, or not in a form that can be
    read.
    """

    scheme: str | None
    host: str | None
    prefix: str

    @classmethod
    def of(cls, headers: Headers) -> Self:
        """Read what the nearest proxy says."""
        scheme = last_entry(headers, "X-Forwarded-Proto").lower()
        host = last_entry(headers, "X-Forwarded-Host")
        prefix = last_entry(headers, "X-Forwarded-Prefix").rstrip("/")
        return cls(
            scheme=scheme if scheme in SCHEMES else None,
            host=host if HOST.fullmatch(host) else None,
            prefix=prefix if PREFIX.fullmatch(prefix) else "",
        )

    def base(self, public_url: str | None) -> str | None:
        """The URL before the path that arrived; what is not said is as in the public URL.

        None if neither says its scheme and its host.
        """
        parts = urlsplit(public_url or "")
        scheme, host = self.scheme or parts.scheme, self.host or parts.netloc
        return f"{scheme}://{host}{self.prefix}" if scheme and host else None


def forwarded_line(line: RequestLine, headers: Headers) -> RequestLine:
    """A request with the URL that a proxy says; as it is if none says anything."""
    if not line.is_plain:
        return line
    parts = urlsplit(line.url)
    base = ForwardedUrl.of(headers).base(f"{parts.scheme}://{parts.netloc}")
    if base is None:
        return line
    query = f"?{parts.query}" if parts.query else ""
    return replace(line, url=f"{base}{parts.path}{query}")


def last_entry(headers: Headers, wanted: str) -> str:
    """The last entry of a header that is a list; empty if there is none."""
    values = [value for name, value in headers if name.lower() == wanted.lower()]
    return ",".join(values).rpartition(",")[2].strip()
