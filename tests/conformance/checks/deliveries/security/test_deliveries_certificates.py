from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest

from hookproof.conformance.checks.deliveries.security.certificates import (
    no_faulty_certificate_is_accepted,
)
from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.delivery.security.certificates import (
    CERTIFICATES,
    TRUSTED,
    FaultyCertificates,
)
from tests.conformance.canned_deliveries import destination, event, observed, sent
from tests.conformance.canned_evidence import context, exchange, verdicts

CHECK = no_faulty_certificate_is_accepted
EVENT = event("event")
TRYING_ALL = dict.fromkeys(CERTIFICATES, 1)
NONE_TRIED = dict.fromkeys(CERTIFICATES, 0)


def endpoints(
    *arrived_at: str, handshakes: Mapping[str, int] = TRYING_ALL, refused: Iterable[str] = ()
) -> FaultyCertificates:
    """The event arrived at these; some creations were refused."""
    left_out = set(refused)
    made = [destination(name) for name in (TRUSTED, *CERTIFICATES) if name not in left_out]
    observation = observed(
        FaultyCertificates,
        made,
        *(sent(EVENT, where) for where in made if where.name in arrived_at),
        events=[EVENT],
        handshakes=handshakes,
    )
    refusals = [exchange(name, status=400) for name in left_out]
    return replace(observation, exchanges=(*observation.exchanges, *refusals))


def messages(observation: FaultyCertificates) -> list[str]:
    return [judgement.message for judgement in CHECK(observation, context())]


def test_faulty_certificates_that_were_tried_and_not_accepted_pass() -> None:
    assert verdicts(CHECK, endpoints(TRUSTED)) == {"6-21": Verdict.PASS}


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_faulty_certificate_that_is_accepted_fails(name: str) -> None:
    assert verdicts(CHECK, endpoints(TRUSTED, name)) == {"6-21": Verdict.FAIL}


def test_a_service_that_verifies_nothing_has_one_finding() -> None:
    assert messages(endpoints(TRUSTED, *CERTIFICATES)) == [
        "The service verifies no certificate of an endpoint"
    ]


def test_an_endpoint_that_was_visited_and_refused_passes() -> None:
    refused = endpoints(TRUSTED, refused=CERTIFICATES)
    assert verdicts(CHECK, refused) == {"6-21": Verdict.PASS}


@pytest.mark.parametrize("refused", [(), tuple(CERTIFICATES)])
def test_a_listener_that_was_never_tried_proves_nothing(refused: tuple[str, ...]) -> None:
    unreached = endpoints(TRUSTED, handshakes=NONE_TRIED, refused=refused)
    with pytest.raises(NotExaminedError, match=r"tried no TLS connection.*expired"):
        verdicts(CHECK, unreached)


def test_one_that_was_not_tried_hides_no_other_that_was_accepted() -> None:
    partly = endpoints(TRUSTED, "expired", handshakes={**TRYING_ALL, "wrong_host": 0})
    judgements = CHECK(partly, context())
    assert next(iter(judgements)).verdict is Verdict.FAIL
    with pytest.raises(NotExaminedError, match="wrong_host"):
        list(judgements)


def test_without_a_delivery_over_a_trusted_certificate_silence_proves_nothing() -> None:
    with pytest.raises(NotExaminedError, match="did not arrive over a trusted certificate"):
        verdicts(CHECK, endpoints())
