import base64
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.model.evidence import NotExaminedError, Observation
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.destinations import Event
from hookproof.conformance.subjects.credentials.evidence import (
    FURTHER,
    ApiKeyDeliveries,
    BasicAuthDeliveries,
    ClientCertificateDeliveries,
    FixedCredentials,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery, TlsFacts
from tests.conformance.canned_deliveries import destination, event, observed, sent
from tests.conformance.canned_evidence import verdict
from tests.conformance.subjects.credentials.canned_oauth2 import masked

PASS, FAIL, NOT_APPLICABLE = Verdict.PASS, Verdict.FAIL, Verdict.NOT_APPLICABLE


def with_member(
    kind: type[FixedCredentials],
    name: str,
    member: dict[str, str],
    *headers: tuple[str, str],
    beside: ReceivedDelivery | None = None,
    accepted: bool = True,
    promised: bool = False,
) -> Observation:
    """What arrived at an endpoint with these credentials and, if anything, at a plain one."""
    where = destination("authorized", authentication={"type": name, name: member})
    arrived = [sent(event(), where, headers=headers), *([beside] if beside else [])]
    places = [where, destination("plain")]
    return masked(observed(kind, places, *arrived, accepted=accepted, promised=promised))


def with_api_key(*headers: tuple[str, str], **fields: Any) -> Observation:
    member = {"header_name": "X-Key", "header_value": "value-0815"}
    return with_member(ApiKeyDeliveries, "api_key", member, *headers, **fields)


def test_an_api_key_that_is_not_carried_fails() -> None:
    assert verdict("2.5-9", with_api_key(("x-key", "value-0815"))) is PASS
    assert verdict("2.5-9", with_api_key(("x-key", "value-0816"))) is FAIL
    assert verdict("2.5-9", with_api_key()) is FAIL


def test_an_api_key_that_is_not_accepted_fails_where_it_was_promised() -> None:
    assert verdict("2.5-9", with_api_key(accepted=False)) is NOT_APPLICABLE
    assert verdict("2.5-9", with_api_key(accepted=False, promised=True)) is FAIL


def with_basic_auth(authorization: str = "", **fields: Any) -> Observation:
    member = {"username": "Aladdin", "password": "open sesame"}
    headers = [("Authorization", authorization)] if authorization else []
    return with_member(BasicAuthDeliveries, "basic_auth", member, *headers, **fields)


def test_basic_credentials_that_are_not_carried_fail() -> None:
    other = base64.b64encode(b"Aladdin:close sesame").decode()
    assert verdict("2.5-10", with_basic_auth("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")) is PASS
    for wrong in ("Basic x", f"Basic {other}", "Basic Aladdin:open sesame", ""):
        assert verdict("2.5-10", with_basic_auth(wrong)) is FAIL


def test_basic_credentials_that_are_not_accepted_fail_where_they_were_promised() -> None:
    assert verdict("2.5-10", with_basic_auth(accepted=False)) is NOT_APPLICABLE
    assert verdict("2.5-10", with_basic_auth(accepted=False, promised=True)) is FAIL


@pytest.mark.parametrize("accepted", [True, False])
def test_credentials_that_reach_an_endpoint_without_any_fail(accepted: bool) -> None:
    plain, basic = destination("plain"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
    for given, own, requirement, leaked in (
        (with_api_key, ("x-key", "value-0815"), "2.5-9", ("x-key", "value-0815")),
        (with_basic_auth, basic, "2.5-10", ("Authorization", basic)),
    ):
        for value, shown in ((leaked[1], FAIL), ("Basic b3duOm93bg==", PASS)):
            beside = sent(event(), plain, headers=[(leaked[0], value)])
            expected = shown if accepted else NOT_APPLICABLE
            assert verdict(requirement, given(own, beside=beside, accepted=accepted)) is expected


CERTIFIED, PLAIN = destination("authorized"), destination("plain")


AGAIN = event(FURTHER)


def with_certificate(
    *arrived: ReceivedDelivery, events: Iterable[Event] = (event(),)
) -> ClientCertificateDeliveries:
    places = [CERTIFIED, PLAIN]
    kind = ClientCertificateDeliveries
    return observed(kind, places, *arrived, events=events, fingerprint="ab")


def presented(fingerprint: str | None) -> ReceivedDelivery:
    delivery = sent(event(), CERTIFIED, client_certificate=fingerprint)
    return replace(delivery, tls=TlsFacts(version="TLSv1.3", cipher="any", server_name=None))


def test_two_missing_deliveries_fail_where_the_plain_endpoint_got_its_own() -> None:
    both = (event(), AGAIN)
    missing = with_certificate(sent(event(), PLAIN), events=both)
    assert verdict("2.3-17", missing) is FAIL
    assert verdict("2.3-17", with_certificate(events=both)) is None


def test_one_delivery_that_is_lost_is_no_matter_of_certificates() -> None:
    at_the_other = sent(event(), PLAIN)
    with pytest.raises(NotExaminedError, match="a further event would help"):
        verdict("2.3-17", with_certificate(at_the_other))
    for fingerprint, expected in (("ab", PASS), ("cd", FAIL)):
        further = replace(presented(fingerprint), body=sent(AGAIN, CERTIFIED).body)
        second = with_certificate(at_the_other, further, events=(event(), AGAIN))
        assert verdict("2.3-17", second) is expected


def test_another_certificate_than_that_of_the_endpoint_fails() -> None:
    for fingerprint, expected in (("ab", PASS), ("cd", FAIL), (None, FAIL)):
        assert verdict("2.3-17", with_certificate(presented(fingerprint))) is expected


def test_a_certificate_that_was_not_given_fails() -> None:
    assert verdict("2.3-18", with_certificate(presented(None))) is PASS
    assert verdict("2.3-18", with_certificate(presented("ab"))) is FAIL


def test_where_tls_ended_at_a_proxy_no_certificate_could_be_seen() -> None:
    assert verdict("2.3-18", with_certificate(replace(presented(None), tls=None))) is None
