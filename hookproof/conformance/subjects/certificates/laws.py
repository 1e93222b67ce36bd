"""Hygiene of section 6: no delivery goes where the certificate does not prove who listens."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.judgement import Judgement, holds, violated
from hookproof.conformance.observations.answer import refused
from hookproof.conformance.subjects.certificates.evidence import (
    CERTIFICATES,
    NO_TLS,
    TRUSTED,
    WITH_OAUTH2,
    FaultyCertificates,
    WithoutTls,
)

NOTHING_ARRIVED: Final = (
    "the event did not arrive over a trusted certificate either, so that what was not delivered"
    " proves nothing"
)
NOT_TRIED: Final = (
    "the target tried no TLS connection to the receiver's listeners whose certificate is faulty"
    " ({}); they have ports of their own on the receiver's host, which the target has to reach"
)
NOT_ASKED: Final = (
    "the target tried no TLS connection to the token URLs whose certificate is faulty ({}); they"
    " have ports of their own on the receiver's host, which the target has to reach"
)
NOTHING_REQUESTED: Final = (
    "no access token was requested at a token URL with a trusted certificate either, so that what"
    " was not requested proves nothing"
)
NO_CONNECTION: Final = (
    "the target made no connection to the receiver's listener without TLS; it has a port of its own"
    " on the receiver's host, which the target has to reach"
)


@check("6-21")
def no_faulty_certificate_is_accepted(
    observed: FaultyCertificates, context: CheckContext
) -> Iterator[Judgement]:
    """Nothing was sent over a faulty certificate, while the target tried to connect and delivered
    over a trusted one.

    A target that visits such a URL and refuses the endpoint passes too.
    """
    trusted, accepted = observed.trusted(context.dialect), observed.accepted(context.dialect)
    if accepted.keys() == CERTIFICATES.keys():
        yield violated(
            "6-21",
            "The service verifies no certificate of an endpoint",
            expected="no delivery over a faulty certificate",
            actual=f"{len(accepted)} of {len(CERTIFICATES)} faulty certificates were accepted",
            exchanges=[observed.exchange(name) for name in accepted],
            deliveries=[attempts[0] for attempts in accepted.values()],
        )
        return
    not_tried = []
    for name, fault in CERTIFICATES.items():
        creation = observed.exchange(name)
        if name in accepted:
            yield violated(
                "6-21",
                f"A delivery went to an endpoint whose certificate {fault}",
                expected="no delivery",
                actual=f"{len(accepted[name])} deliveries",
                exchanges=[creation],
                deliveries=accepted[name],
            )
        elif not observed.handshakes.get(name):
            not_tried.append(name)
        elif trusted or (creation is not None and refused(creation)):
            yield holds("6-21", exchanges=[creation], deliveries=trusted)
    if not_tried:
        raise NotExaminedError(NOT_TRIED.format(", ".join(not_tried)))
    if not trusted and not accepted:
        raise NotExaminedError(NOTHING_ARRIVED)


@check("6-27")
def no_faulty_certificate_of_a_token_url_is_accepted(
    observed: FaultyCertificates, _context: CheckContext
) -> Iterator[Judgement]:
    """Nothing was requested over a faulty certificate, while the target tried to connect to the
    token URL and asked for a token over a trusted one.
    """
    requests = observed.token_requests()
    trusted = requests.get(TRUSTED, ())
    accepted = [name for name in CERTIFICATES if requests.get(name)]
    for name in accepted:
        yield violated(
            "6-27",
            f"A token was requested at a URL whose certificate {CERTIFICATES[name]}",
            expected="no request",
            actual=f"{len(requests[name])} requests",
            exchanges=[observed.exchange(WITH_OAUTH2.format(name))],
            deliveries=requests[name],
        )
    silent = [name for name in CERTIFICATES if name in requests and name not in accepted]
    for name in silent:
        if trusted and observed.token_handshakes.get(name):
            creation = observed.exchange(WITH_OAUTH2.format(name))
            yield holds("6-27", exchanges=[creation], deliveries=trusted)
    if not trusted and not accepted:
        raise NotExaminedError(NOTHING_REQUESTED)
    if not_tried := [name for name in silent if not observed.token_handshakes.get(name)]:
        raise NotExaminedError(NOT_ASKED.format(", ".join(not_tried)))


@check("6-28")
def an_https_url_is_not_requested_without_tls(
    observed: WithoutTls, context: CheckContext
) -> Iterator[Judgement]:
    """Nothing was delivered where no TLS is spoken, while the target tried to connect there and
    delivered over TLS, or refused the endpoint when it had tried.
    """
    creation = observed.exchange(NO_TLS)
    trusted, in_clear = observed.trusted(context.dialect), observed.in_clear(context.dialect)
    if in_clear:
        yield violated(
            "6-28",
            "An https URL was requested over plain HTTP",
            expected="TLS or no delivery",
            actual=f"{len(in_clear)} deliveries without TLS",
            exchanges=[creation],
            deliveries=in_clear,
        )
    elif not observed.connections:
        raise NotExaminedError(NO_CONNECTION)
    elif trusted or (creation is not None and refused(creation)):
        yield holds("6-28", exchanges=[creation], deliveries=trusted)
    else:
        raise NotExaminedError(NOTHING_ARRIVED)
