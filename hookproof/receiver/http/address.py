"""Where to listen, and the URL by which a listener is reached."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from hookproof.control.authority import is_well_formed

HOST_AND_PORT: Final = re.compile(
    r"(?:\[(?P<ipv6>[^\[\]]+)\]|(?P<host>[^\[\]:\s]+)):(?P<port>[0-9]{1,5})"
)
HIGHEST_PORT: Final = 65535
LOCAL_HOSTS: Final = ("localhost", "127.0.0.1", "::1")
ALL_ADDRESSES: Final = ("0.0.0.0", "::")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A host name or IP address, and a port; port 0 stands for any free port."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read `host:port` or `[ipv6]:port`; raises ValueError."""
        matched = HOST_AND_PORT.fullmatch(text)
        if matched is None or int(matched["port"]) > HIGHEST_PORT:
            raise ValueError(
                f"{text!r} is not an address; give HOST:PORT, "
                "for example 127.0.0.1:0 for any free port"
            )
        return cls(host=matched["ipv6"] or matched["host"], port=int(matched["port"]))

    def url(self, scheme: str) -> str:
        """The base URL by which this machine reaches the address."""
        host = self.host
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return f"{scheme}://{host}:{self.port}"
        is_ipv6 = isinstance(address, ipaddress.IPv6Address)
        if address.is_unspecified:
            host = "::1" if is_ipv6 else "127.0.0.1"
        if is_ipv6:
            host = f"[{host}]"
        return f"{scheme}://{host}:{self.port}"


def listener_names(bind: Address, public_url: str | None) -> tuple[str, ...]:
    """The names by which senders may reach a listener, for its certificate."""
    public = urlsplit(public_url or "").hostname
    hosts = [bind.host, *LOCAL_HOSTS, *([public] if public else [])]
    # 0.0.0.0 and :: stand for every address, so nobody is called that.
    return tuple(dict.fromkeys(host for host in hosts if host not in ALL_ADDRESSES))


def parse_base_url(text: str) -> str:
    """Read an http or https URL without query and fragment; drop its last slash.

    Raises ValueError.
    """
    parts = urlsplit(text)
    is_usable = parts.scheme in {"http", "https"} and is_well_formed(text, parts)
    if not is_usable or parts.query or parts.fragment:
        raise ValueError(
            f"{text!r} is not a base URL; give one like https://hooks.example.org:8443"
        )
    return text.rstrip("/")
