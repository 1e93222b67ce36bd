"""Client certificates are written as the dialect says (section 2.3)."""

import base64
import ssl

import trustme
from cryptography.hazmat.primitives.serialization import load_der_private_key, load_pem_private_key

from hookproof.conformance.experiments.support.client_certificate import written_pair
from hookproof.receiver.client.control_api import IssuedCertificate
from tests.conformance.canned_evidence import context
from tests.spec.dialect_variants import UNDECIDED, variant

LEAF = trustme.CA().issue_cert("the-client")
ISSUED = IssuedCertificate(
    client_cert=LEAF.cert_chain_pems[0].bytes().decode(),
    client_key=LEAF.private_key_pem.bytes().decode(),
)
IN_PEM = {"client_cert": ISSUED.client_cert, "client_key": ISSUED.client_key}


def test_a_pair_stays_in_pem_where_the_dialect_says_so_or_nothing() -> None:
    assert written_pair(ISSUED, context().dialect) == IN_PEM
    assert written_pair(ISSUED, variant({"requests.client_certificate": UNDECIDED})) == IN_PEM


def test_a_pair_in_der_is_the_same_certificate_and_key() -> None:
    pair = {
        name: base64.b64decode(text, validate=True)
        for name, text in written_pair(ISSUED, context("contrary").dialect).items()
    }
    assert pair["client_cert"] == ssl.PEM_cert_to_DER_cert(ISSUED.client_cert)
    expected = load_pem_private_key(ISSUED.client_key.encode(), password=None).public_key()
    assert load_der_private_key(pair["client_key"], password=None).public_key() == expected
