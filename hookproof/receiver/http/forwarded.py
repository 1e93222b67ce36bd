"""What a proxy says of the requests that it passes on: X-Forwarded-For, -Proto and -Host.

Whoever sends can write these headers too, so they mean something only where a proxy is known to set
them. Each may be a list to which every proxy adds its part at the end: the last entry is what the
nearest proxy has seen, and what stands before it is the word of others.
"""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, Self
from urllib.parse import urlsplit

from hookproof.receiver.http.address import Address
from hookproof.receiver.inbox.delivery import ReceivedDelivery

SCHEMES: Final = ("http", "https")
HOST: Final = re.compile(r"(?:[0-9A-Za-z._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarded:
    """The address of the client, and the scheme and the host that it used.

    Each is None if the proxy does not say it, or not in a form that can be read.
    """

    client_address: str | None
    scheme: str | None
    host: str | None

    @classmethod
    def of(cls, delivery: ReceivedDelivery) -> Self:
        """Read what the nearest proxy says."""
        scheme = _last(delivery, "X-Forwarded-Proto").lower()
        host = _last(delivery, "X-Forwarded-Host")
        return cls(
            client_address=_address(_last(delivery, "X-Forwarded-For")),
            scheme=scheme if scheme in SCHEMES else None,
            host=host if HOST.fullmatch(host) else None,
        )

    def origin(self, public_url: str | None) -> str | None:
        """Scheme and host of the URL that the client used; what is not said is as in this URL.

        None if neither says it.
        """
        parts = urlsplit(public_url or "")
        scheme, host = self.scheme or parts.scheme, self.host or parts.netloc
        return f"{scheme}://{host}" if scheme and host else None


def forwarded_members(delivery: ReceivedDelivery, public_url: str | None) -> dict[str, str | None]:
    """What is shown of a delivery that came through a proxy, beside what it shows itself."""
    forwarded = Forwarded.of(delivery)
    origin = forwarded.origin(public_url)
    has_url = origin is not None and delivery.path.startswith("/")
    return {
        "client_address": forwarded.client_address,
        "url": f"{origin}{delivery.path}" if has_url else None,
    }


def _last(delivery: ReceivedDelivery, name: str) -> str:
    return ",".join(delivery.all_headers(name)).rpartition(",")[2].strip()


def _address(text: str) -> str | None:
    """An address, which some proxies write with the port of the client."""
    for candidate in (text, _without_port(text)):
        try:
            return str(ip_address(candidate))
        except ValueError:
            continue
    return None


def _without_port(text: str) -> str:
    try:
        return Address.parse(text).host
    except ValueError:
        return text.removeprefix("[").removesuffix("]")
