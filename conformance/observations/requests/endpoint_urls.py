"""URLs of new endpoints on which the document is silent (sections 2.3 and 8)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.requests.mistakes import RequestTried
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.groups.request_vocabulary import Acceptance
from hookproof.spec.dialect.groups.requests import RequestRules


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


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusualUrlTried(RequestTried):
    """The creation of an endpoint with such a URL, and of one whose URL differs in that alone."""

    kind: UrlKind

    @property
    def plain(self) -> Exchange | None:
        """The other creation, without which a refusal may be for anything."""
        return self.exchange("tried: plain")
