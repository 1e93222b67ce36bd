"""What has not arrived at an endpoint with credentials may be late rather than missing."""

from typing import Any

import pytest

from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.credentials.evidence import (
    FURTHER,
    ClientCertificateDeliveries,
)
from tests.conformance.canned_deliveries import destination, event, observed, sent
from tests.conformance.canned_evidence import NOW, judgements, verdicts

CERTIFIED, PLAIN = destination("authorized"), destination("plain")


def missing(waited_s: float, **fields: Any) -> ClientCertificateDeliveries:
    """Only the plain endpoint got the first of two events, after so long; six seconds were
    waited.
    """
    return observed(
        ClientCertificateDeliveries,
        [CERTIFIED, PLAIN],
        sent(event(), PLAIN, at=NOW + waited_s),
        events=[event(), event(FURTHER)],
        fingerprint="ab",
        ended_at=NOW + 6,
        **fields,
    )


def test_what_waited_much_longer_than_the_plain_delivery_is_missing() -> None:
    assert verdicts("2.3-17", missing(1)) == {"2.3-17": Verdict.FAIL}


@pytest.mark.parametrize(
    ("observation", "reason"),
    [(missing(5), "still arriving"), (missing(1, late_s=2.0), "this machine was late")],
    ids=["a slow service", "a slow machine"],
)
def test_what_may_be_late_is_not_examined(
    observation: ClientCertificateDeliveries, reason: str
) -> None:
    with pytest.raises(NotExaminedError, match=reason):
        list(judgements("2.3-17", observation))
