"""URLs that a service may refuse for what they lead to or look like (sections 2.3 and 8).

All of them lead to reserved names or to the own machine of the service.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.observations.requests.endpoint_urls import UrlKind

# Neither a port that nothing may be sent to (fetch standard, section 2.9) nor one that services
# often allow beside 443, and so one of those that "other ports" speaks of whoever says it.
PORT: Final = 20443
# The second is an address of the own machine too, as is every one that begins with 127.
ADDRESSES: Final = ("127.0.0.1", "127.83.71.5", "[::1]")
# All of them are 127.0.0.1: decimal, hexadecimal, octal, short, and mapped into IPv6.
ODD_HOSTS: Final = (
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "127.1",
    "[::ffff:127.0.0.1]",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusualUrls:
    """URLs with and without what is unusual, at a host that is a reserved name."""

    host: str
    user: str

    @property
    def plain(self) -> str:
        """What each of `beside_plain` differs from in one thing."""
        return f"https://{self.host}/"

    @property
    def ported(self) -> str:
        """The same with another port."""
        return f"https://{self.host}:{PORT}/"

    @property
    def beside_plain(self) -> Mapping[UrlKind, tuple[str, ...]]:
        """URLs that differ from `plain` in what is unusual."""
        return {
            UrlKind.USER_INFORMATION: (f"https://{self.user}:password@{self.host}/",),
            UrlKind.FRAGMENT: (f"{self.plain}#part",),
        }

    @staticmethod
    def addresses(*, with_port: bool) -> Mapping[UrlKind, tuple[str, ...]]:
        """URLs that differ from `ported` or `plain` in their host.

        With a port, where services take one: unlike at 443, nothing is likely to answer there.
        """
        port = f":{PORT}" if with_port else ""
        return {
            UrlKind.ADDRESS: tuple(f"https://{host}{port}/" for host in ADDRESSES),
            UrlKind.ODD_HOST: tuple(f"https://{host}{port}/" for host in ODD_HOSTS),
        }
