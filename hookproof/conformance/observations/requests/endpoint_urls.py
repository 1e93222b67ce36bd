"""URLs of new endpoints on which the document is silent, and what becomes of them (section 8).

All of them lead to reserved names or to the own machine of the service.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final

from hookproof.conformance.observations.requests.mistakes import RequestTried
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.groups.requests import RequestRules
from hookproof.spec.dialect.vocabulary import Acceptance

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


class UrlKind(StrEnum):
    """What a service may look at in the URL of an endpoint, beyond its scheme."""

    ADDRESS = "an address in place of a name"
    OTHER_PORT = "another port"
    USER_INFORMATION = "a user name and a password"
    ODD_HOST = "an address in an odd form"
    FRAGMENT = "a fragment"


# The field of RequestRules that says what becomes of each.
FIELDS: Final[Mapping[UrlKind, str]] = {
    UrlKind.ADDRESS: "url_addresses",
    UrlKind.OTHER_PORT: "url_other_ports",
    UrlKind.USER_INFORMATION: "url_user_information",
    UrlKind.ODD_HOST: "url_odd_hosts",
    UrlKind.FRAGMENT: "url_fragments",
}


def answer_to(kind: UrlKind, rules: RequestRules) -> Answer[Acceptance]:
    """What the dialect says of such URLs."""
    answer: Answer[Acceptance] = getattr(rules, FIELDS[kind])
    return answer


class UnusualUrls:
    """URLs with and without what is unusual, at one host that is a reserved name.

    Each has a path of its own, since a service may refuse to call one URL twice.
    """

    def __init__(self, word: Callable[[str], str]) -> None:
        self._word = word
        self._host = f"{word('host')}.invalid"

    def plain(self) -> str:
        """What each of `beside_plain` differs from in one thing."""
        return self._at(self._host)

    def ported(self) -> str:
        """The same with another port."""
        return self._at(f"{self._host}:{PORT}")

    def beside_plain(self) -> Mapping[UrlKind, tuple[str, ...]]:
        """URLs that differ from `plain` in what is unusual."""
        user = self._word("user")
        return {
            UrlKind.USER_INFORMATION: (self._at(f"{user}:password@{self._host}"),),
            UrlKind.FRAGMENT: (f"{self.plain()}#part",),
        }

    def addresses(self, *, with_port: bool) -> Mapping[UrlKind, tuple[str, ...]]:
        """URLs that differ from `ported` or `plain` in their host.

        With a port, where services take one: unlike at 443, nothing is likely to answer there.
        """
        port = f":{PORT}" if with_port else ""
        return {
            UrlKind.ADDRESS: tuple(self._at(f"{host}{port}") for host in ADDRESSES),
            UrlKind.ODD_HOST: tuple(self._at(f"{host}{port}") for host in ODD_HOSTS),
        }

    def _at(self, authority: str) -> str:
        return f"https://{authority}/{self._word('path')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusualUrlTried(RequestTried):
    """The creation of an endpoint with such a URL, and of one whose URL differs in that alone."""

    role_of_ordinary: ClassVar[str] = "tried: plain"

    kind: UrlKind

    @property
    def topic(self) -> object:
        return self.kind
