import base64
import json
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from hookproof.conformance.checks.deliveries.security.credentials import (
    a_delivery_carries_a_token_that_was_issued,
    a_delivery_carries_its_basic_credentials,
    a_delivery_carries_the_header_of_its_api_key,
    a_delivery_presents_no_certificate_that_it_was_not_given,
    a_delivery_presents_the_certificate_of_its_endpoint,
    a_redirect_of_the_token_url_is_not_followed,
    a_token_is_not_used_beyond_its_lifetime,
    a_token_request_carries_an_assertion,
    a_token_request_carries_what_was_given,
)
from hookproof.conformance.model.evidence import Observation
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.delivery.security.credentials import (
    ApiKeyDeliveries,
    AssertionGrant,
    BasicAuthDeliveries,
    ClientCertificateDeliveries,
    FixedCredentials,
    OAuth2Deliveries,
    RedirectedTokenUrl,
    SharedSecretGrant,
    ShortLivedToken,
)
from hookproof.conformance.observations.destinations import Destination
from hookproof.conformance.results.redaction import Mask
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import destination, event, observed, sent
from tests.conformance.canned_evidence import context, delivery, verdicts

PASS, FAIL, NOT_APPLICABLE = Verdict.PASS, Verdict.FAIL, Verdict.NOT_APPLICABLE
GIVEN = {
    "client_id": "me",
    "client_secret": "s+1",
    "grant_type": "client_credentials",
    "scope": "a",
    "audience": "b",
}
KEY = ec.derive_private_key(7, ec.SECP256R1())


def base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def coordinate(number: int) -> str:
    return base64url(number.to_bytes(32, "big"))


def mtoken_request(observation: Observation) -> Observation:
    """An observation whose credentials are masked, as checks see it."""
    evidence = Mask([], context().dialect).evidence(observation)
    assert isinstance(evidence, Observation)
    return evidence


def authorized(**members: Any) -> Destination:
    return destination(
        "authorized", authentication={"type": "oauth2", "oauth2": {**GIVEN, **members}}
    )


def with_oauth2(
    kind: type[OAuth2Deliveries] = SharedSecretGrant,
    *,
    authorization: str = "Bearer issued-1",
    request: ReceivedDelivery | None = None,
    where: Destination | None = None,
) -> Observation:
    where = where or authorized()
    arrived = sent(event(), where, headers=[("Authorization", authorization)])
    requests = [] if request is None else [request]
    observation = observed(
        kind,
        where,
        arrived,
        *requests,
        issued=("issued-1", "issued-2"),
        token_server="token server",
    )
    return mtoken_request(observation)


def token_request(body: str = "", **headers: str) -> ReceivedDelivery:
    return delivery("token server", body=body.encode(), headers=headers.items())


def test_a_delivery_with_an_issued_token_passes() -> None:
    check = a_delivery_carries_a_token_that_was_issued
    mapped = authorized(field_mapping={"access_token": "issued"})
    assert verdicts(check, with_oauth2()) == {"2.5-3": PASS}
    assert verdicts(check, with_oauth2(where=mapped)) == {"2.5-6": PASS}


def test_a_delivery_with_another_token_fails() -> None:
    check = a_delivery_carries_a_token_that_was_issued
    assert verdicts(check, with_oauth2(authorization="Bearer decoy")) == {"2.5-3": FAIL}


FORM = "client_id=me&client_secret=s%2B1&grant_type=client_credentials&scope=a&audience=b"


def test_a_token_request_with_all_that_was_given_passes() -> None:
    check = a_token_request_carries_what_was_given
    basic = base64.b64encode(b"me:s%2B1").decode()
    header = token_request(
        "grant_type=client_credentials&scope=a&audience=b", Authorization=f"Basic {basic}"
    )
    for request in (token_request(FORM), token_request(json.dumps(GIVEN)), header):
        assert verdicts(check, with_oauth2(request=request)) == {"2.5-4": PASS, "2.5-5": PASS}


def test_a_token_request_that_leaves_something_out_fails() -> None:
    check = a_token_request_carries_what_was_given
    no_scope = FORM.replace("&scope=a", "")
    other_client = FORM.replace("client_id=me", "client_id=you")
    assert verdicts(check, with_oauth2(request=token_request(no_scope))) == {
        "2.5-4": PASS,
        "2.5-5": FAIL,
    }
    assert verdicts(check, with_oauth2(request=token_request(other_client))) == {
        "2.5-4": FAIL,
        "2.5-5": PASS,
    }


def assertion(claims: dict[str, str], key: ec.EllipticCurvePrivateKey = KEY) -> str:
    signed = f"{base64url(b'{}')}.{base64url(json.dumps(claims).encode())}"
    r, s = decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    return f"{signed}.{base64url(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


def asserted(token: str) -> dict[str, Verdict]:
    point = KEY.public_key().public_numbers()
    jwk = {"kty": "EC", "crv": "P-256", "x": coordinate(point.x), "y": coordinate(point.y)}
    where = authorized(issuer="them", subject="us", signing_key=jwk)
    granted = with_oauth2(
        AssertionGrant, where=where, request=token_request(f"client_assertion={token}")
    )
    return verdicts(a_token_request_carries_an_assertion, granted)


def test_an_assertion_by_the_signing_key_passes() -> None:
    assert asserted(assertion({"iss": "them", "sub": "us"})) == {"2.5-8": PASS}


def test_an_assertion_by_another_key_or_about_another_subject_fails() -> None:
    assert asserted(
        assertion({"iss": "them", "sub": "us"}, ec.derive_private_key(8, ec.SECP256R1()))
    ) == {"2.5-8": FAIL}
    assert asserted(assertion({"iss": "them", "sub": "you"})) == {"2.5-8": FAIL}
    assert asserted("none") == {"2.5-8": FAIL}
    assert asserted("a.b.c") == {"2.5-8": FAIL}


def after_its_end(token: str) -> Observation:
    where, after = authorized(), event("after")
    arrived = sent(after, where, headers=[("Authorization", f"Bearer {token}")])
    observation = observed(
        ShortLivedToken,
        where,
        arrived,
        events=[after],
        issued=("first", "second"),
        token_server="token server",
    )
    return mtoken_request(observation)


def test_a_token_that_is_used_beyond_its_lifetime_fails() -> None:
    assert verdicts(a_token_is_not_used_beyond_its_lifetime, after_its_end("second")) == {
        "2.5-7": PASS
    }
    assert verdicts(a_token_is_not_used_beyond_its_lifetime, after_its_end("first")) == {
        "2.5-7": FAIL
    }


def redirected(*arrived: ReceivedDelivery) -> RedirectedTokenUrl:
    return observed(
        RedirectedTokenUrl, authorized(), *arrived, aside="aside", token_server="token server"
    )


def test_a_redirect_of_the_token_url_that_is_followed_fails() -> None:
    check = a_redirect_of_the_token_url_is_not_followed
    assert verdicts(check, redirected(token_request())) == {"2.5-14": PASS}
    assert verdicts(check, redirected(token_request(), delivery("aside"))) == {"2.5-14": FAIL}
    assert verdicts(check, redirected()) == {}


def with_member(
    kind: type[FixedCredentials],
    name: str,
    member: dict[str, str],
    *headers: tuple[str, str],
    accepted: bool = True,
    promised: bool = False,
) -> Observation:
    where = destination("authorized", authentication={"type": name, name: member})
    arrived = sent(event(), where, headers=headers)
    observation = observed(kind, where, arrived, accepted=accepted, promised=promised)
    return mtoken_request(observation)


def with_api_key(*headers: tuple[str, str], **fields: bool) -> Observation:
    member = {"header_name": "X-Key", "header_value": "value-0815"}
    return with_member(ApiKeyDeliveries, "api_key", member, *headers, **fields)


def test_an_api_key_that_is_not_carried_fails() -> None:
    check = a_delivery_carries_the_header_of_its_api_key
    assert verdicts(check, with_api_key(("x-key", "value-0815"))) == {"2.5-9": PASS}
    assert verdicts(check, with_api_key(("x-key", "value-0816"))) == {"2.5-9": FAIL}
    assert verdicts(check, with_api_key()) == {"2.5-9": FAIL}


def test_an_api_key_that_is_not_accepted_fails_where_it_was_promised() -> None:
    check = a_delivery_carries_the_header_of_its_api_key
    assert verdicts(check, with_api_key(accepted=False)) == {"2.5-9": NOT_APPLICABLE}
    assert verdicts(check, with_api_key(accepted=False, promised=True)) == {"2.5-9": FAIL}


def with_basic_auth(authorization: str = "", **fields: bool) -> Observation:
    member = {"username": "Aladdin", "password": "open sesame"}
    headers = [("Authorization", authorization)] if authorization else []
    return with_member(BasicAuthDeliveries, "basic_auth", member, *headers, **fields)


def test_basic_credentials_that_are_not_carried_fail() -> None:
    check = a_delivery_carries_its_basic_credentials
    other = base64.b64encode(b"Aladdin:close sesame").decode()
    assert verdicts(check, with_basic_auth("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")) == {
        "2.5-10": PASS
    }
    for wrong in ("Basic x", f"Basic {other}", "Basic Aladdin:open sesame", ""):
        assert verdicts(check, with_basic_auth(wrong)) == {"2.5-10": FAIL}


def test_basic_credentials_that_are_not_accepted_fail_where_they_were_promised() -> None:
    check = a_delivery_carries_its_basic_credentials
    assert verdicts(check, with_basic_auth(accepted=False)) == {"2.5-10": NOT_APPLICABLE}
    assert verdicts(check, with_basic_auth(accepted=False, promised=True)) == {"2.5-10": FAIL}


CERTIFIED, PLAIN = destination("authorized"), destination("plain")


def with_certificate(*arrived: ReceivedDelivery) -> ClientCertificateDeliveries:
    return observed(ClientCertificateDeliveries, [CERTIFIED, PLAIN], *arrived, fingerprint="ab")


def presented(fingerprint: str | None) -> ReceivedDelivery:
    return sent(event(), CERTIFIED, client_certificate=fingerprint)


def test_a_missing_delivery_fails_where_the_plain_endpoint_got_its_own() -> None:
    check = a_delivery_presents_the_certificate_of_its_endpoint
    assert verdicts(check, with_certificate(sent(event(), PLAIN))) == {"2.3-17": FAIL}
    assert verdicts(check, with_certificate()) == {}


def test_another_certificate_than_that_of_the_endpoint_fails() -> None:
    check = a_delivery_presents_the_certificate_of_its_endpoint
    for fingerprint, expected in (("ab", PASS), ("cd", FAIL), (None, FAIL)):
        assert verdicts(check, with_certificate(presented(fingerprint))) == {"2.3-17": expected}


def test_a_certificate_that_was_not_given_fails() -> None:
    check = a_delivery_presents_no_certificate_that_it_was_not_given
    assert verdicts(check, with_certificate(presented(None))) == {"2.3-18": PASS}
    assert verdicts(check, with_certificate(presented("ab"))) == {"2.3-18": FAIL}
