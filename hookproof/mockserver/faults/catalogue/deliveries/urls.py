"""Deliveries that go to another path or query than the URL has (sections 2.3 and 4.1)."""

from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_deliveries import AlteredUrl

BROADCAST: Final = ("broadcast",)
URLS: Final = "requested_as_given"


@fault(URLS, seen="the query of the URL is lost", shows_in=BROADCAST)
class QueryDropped(AlteredUrl):
    """Deliveries go to the URL without its query."""

    def alter_url(self, url: str) -> str:
        return url.partition("?")[0]


@fault(URLS, seen="a URL that is escaped already is escaped again", shows_in=BROADCAST)
class UrlEscapedTwice(AlteredUrl):
    """The percent signs in a URL are escaped before a delivery is sent there."""

    def alter_url(self, url: str) -> str:
        return url.replace("%", "%25")


@fault(URLS, seen="a query is kept as a map from names to values", shows_in=BROADCAST)
class RepeatedParametersMerged(AlteredUrl):
    """Of the parameters of a URL that have one name, deliveries carry the last."""

    def alter_url(self, url: str) -> str:
        parts = urlsplit(url)
        return parts._replace(query=urlencode(dict(_parameters(parts.query)))).geturl()


@fault(URLS, seen="parameters without a value are left out", shows_in=BROADCAST)
class EmptyParametersDropped(AlteredUrl):
    """Deliveries lack the parameters of the URL that have no value."""

    def alter_url(self, url: str) -> str:
        parts = urlsplit(url)
        given = [(name, value) for name, value in _parameters(parts.query) if value]
        return parts._replace(query=urlencode(given)).geturl()


@fault(URLS, seen="plus signs are escaped as if they were meant", shows_in=BROADCAST)
class PlusSignsEscaped(AlteredUrl):
    """A plus sign in the query, which stands for a space, arrives as one."""

    def alter_url(self, url: str) -> str:
        return url.replace("+", "%2B")


@fault(URLS, seen="a slash at the end of a path is dropped", shows_in=BROADCAST)
class TrailingSlashDropped(AlteredUrl):
    """Deliveries go to the path of the URL without the slash at its end."""

    def alter_url(self, url: str) -> str:
        parts = urlsplit(url)
        return parts._replace(path=parts.path.rstrip("/")).geturl()


def _parameters(query: str) -> list[tuple[str, str]]:
    return parse_qsl(query, keep_blank_values=True)
