"""What a scheme signs cannot be changed, whatever the provider or the algorithm."""

from hookproof.spec.dialect.vocabulary import Algorithm
from tests.receiver.signatures.tampered_requests import (
    CHANGES,
    signed_requests,
    tamper_with_requests,
)


def test_the_requests_are_verified_as_they_are_and_have_every_algorithm() -> None:
    assert [request.name for request in signed_requests() if not request.is_verified] == []
    assert {request.scheme.algorithm for request in signed_requests()} == set(Algorithm)


def test_no_changed_request_is_verified() -> None:
    tried, accepted = tamper_with_requests(1_000, seed=7)
    assert [request.name for request in accepted] == []
    assert tried.keys() == CHANGES.keys()
