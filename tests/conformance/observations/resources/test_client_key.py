"""Private keys in answers: whether they are the ones sent, in any form of PEM."""

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.client_key import (
    ShownClientKey,
    is_same_key,
    shown_client_keys,
)
from tests.conformance.canned_evidence import verdict
from tests.conformance.checks.api.example import OTHER_UID, created, fetched
from tests.conformance.subjects.endpoints.examples import with_client_key


def written(key: ec.EllipticCurvePrivateKey, form: PrivateFormat = PrivateFormat.PKCS8) -> str:
    return key.private_bytes(Encoding.PEM, form, NoEncryption()).decode()


KEY = ec.derive_private_key(7, ec.SECP256R1())
GIVEN = written(KEY)


@pytest.mark.parametrize(
    ("shown", "same"),
    [
        (GIVEN, True),
        (GIVEN.strip().replace("\n", "\r\n"), True),
        (written(KEY, PrivateFormat.TraditionalOpenSSL), True),
        (written(ec.derive_private_key(8, ec.SECP256R1())), False),
        (GIVEN[:-40], False),
        ("********", False),
        ("\u00e9", False),
    ],
)
def test_a_key_is_the_same_in_any_form_of_pem(shown: str, same: bool) -> None:
    assert is_same_key(GIVEN, shown) is same


@pytest.mark.parametrize("shown", [None, "", {}, {"client_key": None}, {"client_key": ""}, "PEM"])
def test_a_key_that_is_not_shown_is_not_compared(shown: Any) -> None:
    creation = created({"mtls_client_cert": shown}, {"mtls_client_cert": {"client_key": GIVEN}})
    assert not list(shown_client_keys([creation]))


def test_a_key_is_compared_with_that_of_its_own_endpoint() -> None:
    pair = {"mtls_client_cert": {"client_key": GIVEN}}
    other = {"mtls_client_cert": {"client_key": "PEM"}}
    exchanges = [
        created({"uid": OTHER_UID, **other}, other),
        created(pair, pair),
        fetched(other),
    ]
    assert list(shown_client_keys(exchanges)) == [
        ShownClientKey(creation=0, answer=0, is_the_one_sent=True),
        ShownClientKey(creation=1, answer=1, is_the_one_sent=True),
        ShownClientKey(creation=1, answer=2, is_the_one_sent=False),
    ]


def test_a_key_that_the_dialect_masks_is_not_judged() -> None:
    shown = with_client_key("PEM", "PE")
    assert verdict("2.5-24", shown) is Verdict.NOT_APPLICABLE
    assert verdict("2.5-24", shown, "contrary") is Verdict.FAIL
