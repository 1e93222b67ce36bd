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
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.case import Case
from hookproof.conformance.observations.destinations import Destination
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import destination, event, scenario, sent
from tests.conformance.canned_evidence import delivery, verdicts

PASS, FAIL, NOT_APPLICABLE = Verdict.PASS, Verdict.FAIL, Verdict.NOT_APPLICABLE
GIVEN = {
    "client_id": "me",
    "client_secret": "s+1",
    "grant_type": "client_credentials",
    "scope": "a",
    "audience": "b",
}
KEY = ec.derive_private_key(7, ec.SECP256R1())


def text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def numbered(number: int) -> str:
    return text(number.to_bytes(32, "big"))


def authorized(**members: Any) -> Destination:
    return destination(
        "authorized", authentication={"type": "oauth2", "oauth2": {**GIVEN, **members}}
    )


def oauth2(
    *,
    authorization: str = "Bearer issued-1",
    request: ReceivedDelivery | None = None,
    name: str = "oauth2",
    where: Destination | None = None,
) -> Case:
    where = where or authorized()
    arrived = sent(event(), where, headers=[("Authorization", authorization)])
    asked = [] if request is None else [request]
    facts = {"issued": ["issued-1", "issued-2"], "token_server": "token server"}
    return scenario(where, arrived, *asked, name=name, **facts)


def asked(body: str = "", **headers: str) -> ReceivedDelivery:
    return delivery("token server", body=body.encode(), headers=headers.items())


def test_a_delivery_with_an_issued_token_passes() -> None:
    check = a_delivery_carries_a_token_that_was_issued
    mapped = authorized(field_mapping={"access_token": "issued"})
    assert verdicts(check, oauth2()) == {"2.5-3": PASS}
    assert verdicts(check, oauth2(where=mapped, name="oauth2 with field_mapping")) == {
        "2.5-6": PASS
    }


def test_a_delivery_with_another_token_fails() -> None:
    check = a_delivery_carries_a_token_that_was_issued
    assert verdicts(check, oauth2(authorization="Bearer decoy")) == {"2.5-3": FAIL}


FORM = "client_id=me&client_secret=s%2B1&grant_type=client_credentials&scope=a&audience=b"


def test_a_token_request_that_tells_everything_passes() -> None:
    check = a_token_request_carries_what_was_given
    basic = base64.b64encode(b"me:s%2B1").decode()
    header = asked(
        "grant_type=client_credentials&scope=a&audience=b", Authorization=f"Basic {basic}"
    )
    for request in (asked(FORM), asked(json.dumps(GIVEN)), header):
        assert verdicts(check, oauth2(request=request)) == {"2.5-4": PASS, "2.5-5": PASS}


def test_a_token_request_that_leaves_something_out_fails() -> None:
    check = a_token_request_carries_what_was_given
    no_scope = FORM.replace("&scope=a", "")
    other_client = FORM.replace("client_id=me", "client_id=you")
    assert verdicts(check, oauth2(request=asked(no_scope))) == {"2.5-4": PASS, "2.5-5": FAIL}
    assert verdicts(check, oauth2(request=asked(other_client))) == {"2.5-4": FAIL, "2.5-5": PASS}


def assertion(claims: dict[str, str], key: ec.EllipticCurvePrivateKey = KEY) -> str:
    signed = f"{text(b'{}')}.{text(json.dumps(claims).encode())}"
    r, s = decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    return f"{signed}.{text(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


def asserted(token: str) -> dict[str, Verdict]:
    point = KEY.public_key().public_numbers()
    jwk = {"kty": "EC", "crv": "P-256", "x": numbered(point.x), "y": numbered(point.y)}
    where = authorized(issuer="them", subject="us", signing_key=jwk)
    case = oauth2(
        where=where, request=asked(f"client_assertion={token}"), name="oauth2 with assertion"
    )
    return verdicts(a_token_request_carries_an_assertion, case)


def test_an_assertion_by_the_signing_key_passes() -> None:
    assert asserted(assertion({"iss": "them", "sub": "us"})) == {"2.5-8": PASS}


def test_an_assertion_by_another_key_or_about_another_subject_fails() -> None:
    assert asserted(
        assertion({"iss": "them", "sub": "us"}, ec.derive_private_key(8, ec.SECP256R1()))
    ) == {"2.5-8": FAIL}
    assert asserted(assertion({"iss": "them", "sub": "you"})) == {"2.5-8": FAIL}
    assert asserted("none") == {"2.5-8": FAIL}
    assert asserted("a.b.c") == {"2.5-8": FAIL}


def after_its_end(token: str) -> Case:
    where, after = authorized(), event("after")
    arrived = sent(after, where, headers=[("Authorization", f"Bearer {token}")])
    facts = {"issued": ["first", "second"], "token_server": "token server"}
    return scenario(where, arrived, events=[after], name="oauth2 with a short life", **facts)


def test_a_token_that_is_over_must_not_be_used() -> None:
    assert verdicts(a_token_is_not_used_beyond_its_lifetime, after_its_end("second")) == {
        "2.5-7": PASS
    }
    assert verdicts(a_token_is_not_used_beyond_its_lifetime, after_its_end("first")) == {
        "2.5-7": FAIL
    }


def redirected(*arrived: ReceivedDelivery) -> Case:
    return scenario(
        authorized(), *arrived, name="oauth2 redirected", aside="aside", token_server="token server"
    )


def test_a_redirect_of_the_token_url_must_not_be_followed() -> None:
    check = a_redirect_of_the_token_url_is_not_followed
    assert verdicts(check, redirected(asked())) == {"2.5-14": PASS}
    assert verdicts(check, redirected(asked(), delivery("aside"))) == {"2.5-14": FAIL}
    assert verdicts(check, redirected()) == {}


def with_member(
    name: str,
    member: dict[str, str],
    *headers: tuple[str, str],
    taken: bool = True,
    promised: bool = False,
) -> Case:
    where = destination("authorized", authentication={"type": name, name: member})
    return scenario(
        where, sent(event(), where, headers=headers), name=name, taken=taken, promised=promised
    )


def test_an_api_key_is_carried() -> None:
    check, member = (
        a_delivery_carries_the_header_of_its_api_key,
        {"header_name": "X-Key", "header_value": "v"},
    )
    assert verdicts(check, with_member("api_key", member, ("x-key", "v"))) == {"2.5-9": PASS}
    assert verdicts(check, with_member("api_key", member)) == {"2.5-9": FAIL}
    assert verdicts(check, with_member("api_key", member, taken=False)) == {"2.5-9": NOT_APPLICABLE}
    assert verdicts(check, with_member("api_key", member, taken=False, promised=True)) == {
        "2.5-9": FAIL
    }


def test_basic_credentials_are_carried() -> None:
    check, member = (
        a_delivery_carries_its_basic_credentials,
        {"username": "Aladdin", "password": "open sesame"},
    )
    good = ("Authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    assert verdicts(check, with_member("basic_auth", member, good)) == {"2.5-10": PASS}
    assert verdicts(check, with_member("basic_auth", member, ("Authorization", "Basic x"))) == {
        "2.5-10": FAIL
    }
    assert verdicts(check, with_member("basic_auth", member, taken=False)) == {
        "2.5-10": NOT_APPLICABLE
    }
    assert verdicts(check, with_member("basic_auth", member, taken=False, promised=True)) == {
        "2.5-10": FAIL
    }


def presented(fingerprint: str | None) -> ReceivedDelivery:
    return sent(event(), destination("with certificate"), client_certificate=fingerprint)


def test_a_missing_delivery_fails_where_the_plain_endpoint_got_its_own() -> None:
    where, plain = destination("with certificate"), destination("plain")
    arrived = scenario(
        [where, plain], sent(event(), plain), name="client certificate", fingerprint="ab"
    )
    silent = scenario([where, plain], name="client certificate", fingerprint="ab")
    assert verdicts(a_delivery_presents_the_certificate_of_its_endpoint, arrived) == {
        "2.3-17": FAIL
    }
    assert verdicts(a_delivery_presents_the_certificate_of_its_endpoint, silent) == {}


def test_the_certificate_of_the_endpoint_is_presented() -> None:
    check, where = (
        a_delivery_presents_the_certificate_of_its_endpoint,
        destination("with certificate"),
    )
    for fingerprint, expected in (("ab", PASS), ("cd", FAIL), (None, FAIL)):
        case = scenario(where, presented(fingerprint), name="client certificate", fingerprint="ab")
        assert verdicts(check, case) == {"2.3-17": expected}


def test_no_certificate_is_presented_where_none_was_given() -> None:
    check, where = (
        a_delivery_presents_no_certificate_that_it_was_not_given,
        destination("with certificate"),
    )
    assert verdicts(check, scenario(where, presented(None))) == {"2.3-18": PASS}
    assert verdicts(check, scenario(where, presented("ab"))) == {"2.3-18": FAIL}
