"""URLs of endpoints on which the document is silent (section 8): taken or refused, as the dialect
says.
"""

from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import urlsplit

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import refused, sent, was_accepted
from hookproof.conformance.observations.requests.endpoint_urls import (
    UnusualUrlTried,
    UrlKind,
    answer_to,
)
from hookproof.spec.dialect.groups.request_vocabulary import Acceptance
from hookproof.spec.dialect.groups.requests import RequestRules

REQUIREMENTS: Final[Mapping[UrlKind, str]] = {
    UrlKind.ADDRESS: "8-22",
    UrlKind.OTHER_PORT: "8-23",
    UrlKind.USER_INFORMATION: "8-24",
    UrlKind.ODD_HOST: "8-25",
    UrlKind.FRAGMENT: "8-26",
}


@check(*REQUIREMENTS.values())
def an_unusual_endpoint_url_is_taken_or_refused(
    request: UnusualUrlTried, context: CheckContext
) -> Iterator[Judgement]:
    """Refused with whatever status, where a URL that differs in nothing else is accepted.

    A refusal may be for something else: a service without IPv6 takes no such address, and one that
    reads odd forms as the addresses that they are refuses them as such.
    """
    tried, plain, kind = request.tried, request.plain, request.kind
    rules = context.dialect.requests
    answer = answer_to(kind, rules)
    if tried is None or not answer.decided or not (refused(tried) or was_accepted(tried)):
        return
    url, is_refused = str(sent(tried).get("url")), refused(tried)
    judged_by = [tried]
    if is_refused:
        if plain is None or not was_accepted(plain):
            return
        if not answer.allows(Acceptance.REFUSED) and _may_be_refused_otherwise(url, kind, rules):
            return
        judged_by.append(plain)
    yield judged(
        answer.allows(Acceptance.REFUSED if is_refused else Acceptance.TAKEN),
        REQUIREMENTS[kind],
        f"An endpoint URL with {kind} is not treated as the dialect says",
        expected=" or ".join(answer.allowed),
        actual=f"{tried.status} for {url}",
        exchanges=judged_by,
    )


def _may_be_refused_otherwise(url: str, kind: UrlKind, rules: RequestRules) -> bool:
    """Whether an address may be refused for something else than its kind."""
    is_ipv6 = ":" in (urlsplit(url).hostname or "")
    takes_addresses = rules.url_addresses.allowed == (Acceptance.TAKEN,)
    return is_ipv6 or (kind is UrlKind.ODD_HOST and not takes_addresses)
