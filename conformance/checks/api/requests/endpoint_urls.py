"""URLs of endpoints on which the document is silent (section 8): taken or refused, as the dialect
says.
"""

from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import urlsplit

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged, not_applicable
from hookproof.conformance.observations.answer import refused, sent, was_accepted
from hookproof.conformance.observations.requests.endpoint_urls import (
    UnusualUrlTried,
    UrlKind,
    answer_to,
)
from hookproof.conformance.observations.requests.mistakes import UnansweredVisit
from hookproof.spec.dialect.groups.request_vocabulary import Acceptance
from hookproof.spec.dialect.groups.requests import RequestRules
from hookproof.spec.dialect.vocabulary import CreationVisit

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


@check("4.1-18")
def an_endpoint_that_answers_no_visit_is_taken_or_refused(
    request: UnansweredVisit, context: CheckContext
) -> Iterator[Judgement]:
    """Refused with whatever status, where an endpoint that answers is created."""
    rules, tried, answered = context.dialect.delivery, request.tried, request.answered
    if rules.creation_visit.allowed == (CreationVisit.NONE,):
        yield not_applicable("4.1-18", "the dialect has no request that tests a URL")
    elif rules.failed_visit.decided and tried is not None and answered is not None:
        is_refused = refused(tried) and was_accepted(answered)
        if is_refused or was_accepted(tried):
            yield judged(
                rules.failed_visit.allows(Acceptance.REFUSED if is_refused else Acceptance.TAKEN),
                "4.1-18",
                "An endpoint whose URL answers no visit is not treated as the dialect says",
                expected=" or ".join(rules.failed_visit.allowed),
                actual=tried.status,
                exchanges=[tried, answered],
            )
