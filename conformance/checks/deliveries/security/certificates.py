"""Hygiene of section 6: no delivery goes where the certificate does not prove who listens."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.judgement import Judgement, holds, violated
from hookproof.conformance.observations.answer import refused
from hookproof.conformance.observations.delivery.security.certificates import (
    CERTIFICATES,
    FaultyCertificates,
)

NOTHING_ARRIVED: Final = (
    "the event did not arrive over a trusted certificate either, so that what was not delivered"
    " proves nothing"
)
NOT_TRIED: Final = (
    "the target tried no TLS connection to the receiver's listeners whose certificate is faulty"
    " ({}); they have ports of their own on the receiver's host, which the target has to reach"
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
