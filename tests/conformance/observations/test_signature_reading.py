"""A service that signs the endpoint's URL signs the one that the endpoint was given."""

import hashlib
import hmac

import pytest

from hookproof.conformance.observations.signature_reading import read_signatures
from tests.conformance.canned_deliveries import SIGNATURE, destination, event, sent
from tests.spec.dialect_variants import variant

URL = "https://receiver.invalid/t?x=%2F"
DIALECT = variant({"signatures.simple.signed": "{url}|{body}"})


@pytest.mark.parametrize(
    ("signed", "cause"),
    [
        (URL, ""),
        ("https://receiver.invalid/t?x=/", "no known cause: "),
        ("https://receiver.invalid/t", "the sender signed the URL without its query"),
    ],
)
def test_the_url_as_it_was_given_is_signed(signed: str, cause: str) -> None:
    where, body = destination(url=URL), b'{"marker":"marker-event-"}'
    mac = hmac.digest(b"secret of plain", signed.encode() + b"|" + body, hashlib.sha256)
    arrived = sent(event(), where, body=body, headers=[(SIGNATURE, mac.hex())])
    (reading,) = read_signatures([where], [arrived], DIALECT)
    assert (reading.reason is None) is (signed == URL)
    assert reading.secrets == (("secret of plain",) if signed == URL else ())
    assert reading.cause.startswith(cause)
