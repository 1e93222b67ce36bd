"""What a proxy says of the requests that it passes on: who sent them, and to which URL.

Whoever sends can write these headers too: see `forwarded_url`.
"""

from ipaddress import ip_address

from hookproof.receiver.http.address import Address
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.signatures.schemes.forwarded_url import ForwardedUrl, last_entry


def forwarded_members(delivery: ReceivedDelivery, public_url: str | None) -> dict[str, str | None]:
    """What is shown of a delivery that came through a proxy, beside what it shows itself."""
    base = ForwardedUrl.of(delivery.headers).base(public_url)
    has_url = base is not None and delivery.path.startswith("/")
    return {
        "client_address": client_address(delivery),
        "url": f"{base}{delivery.path}" if has_url else None,
    }


def client_address(delivery: ReceivedDelivery) -> str | None:
    """The address of the client, which some proxies write with its port; None if it is not said."""
    text = last_entry(delivery.headers, "X-Forwarded-For")
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
