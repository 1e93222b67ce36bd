"""What is signed here is what senders sign, and is verified; with one byte changed it is not."""

import base64
import json
import math
import time
from dataclasses import replace
from typing import Final

import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from http_message_signatures import (
    HTTPMessageSigner,
    HTTPMessageVerifier,
    HTTPSignatureKeyResolver,
    InvalidSignature,
    algorithms,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from standardwebhooks import Webhook as StandardWebhook
from svix.webhooks import Webhook as SvixWebhook

from hookproof.receiver.sending.signing import (
    CannotSign,
    SignedDelivery,
    both_sign,
    new_secret,
    sign,
    signing_key,
    signs_body,
)
from hookproof.receiver.signatures.judgement import (
    Contract,
    SchemeFormat,
    contract_of_dialect,
    contract_of_scheme,
)
from hookproof.receiver.signatures.schemes.catalogue import load_scheme
from hookproof.receiver.signatures.schemes.model import ProviderScheme
from hookproof.receiver.signatures.schemes.request_parts import RequestLine
from hookproof.receiver.signatures.signed_message import SignedMessage, read_headers
from hookproof.receiver.signatures.verification import Verified, prepared, verify
from hookproof.spec.dialect.reader import load_dialect, shipped_dialects
from tests.receiver.sending.signing_keys import FORM, two_secrets, verifying_secret
from tests.receiver.signatures.schemes.provider_signers import (
    EC_KEY,
    ED25519_KEY,
    NAMES,
    TIME,
    URL,
    private_pem,
    rsa_key,
    scheme_of,
    signed,
)

LINE: Final = RequestLine(method="POST", url=URL)
SEED: Final = bytes(range(32))
ECDSA_KEY: Final = ec.derive_private_key(7, ec.SECP256R1()).private_bytes(
    Encoding.DER, PrivateFormat.PKCS8, NoEncryption()
)
# Where what verifies is a public key, the private one of tests.
PRIVATE: Final = {
    "discord": SEED.hex(),
    "standard-webhooks-ed25519": f"whsk_{base64.b64encode(SEED).decode()}",
    "sendgrid": base64.b64encode(ECDSA_KEY).decode(),
    "paypal": private_pem(rsa_key()),
    "http-message-signatures-ecdsa": private_pem(EC_KEY),
    "http-message-signatures-ed25519": private_pem(ED25519_KEY),
    "http-message-signatures-rsa": private_pem(rsa_key()),
    "http-message-signatures-rsa-pss": private_pem(rsa_key()),
}
# Each signature of these is another one, or says another Content-Digest.
DIFFERENT: Final = {"sendgrid"} | {name for name in NAMES if name.startswith("http-message")}
IN_MILLISECONDS: Final = {"hubspot", "workos"}


def read(contract: Contract, delivery: SignedDelivery) -> SignedMessage:
    scheme = contract.signature
    assert isinstance(scheme, ProviderScheme)
    headers = prepared(scheme, delivery.headers, delivery.body, LINE)[0]
    return read_headers(scheme, headers, contract.event_id_header)


def is_verified(contract: Contract, secret: str, delivery: SignedDelivery, at: float) -> bool:
    outcome = verify(
        contract.signature,
        contract.secret,
        (secret,),
        delivery.headers,
        contract.event_id_header,
        delivery.body,
        at,
        LINE,
    )
    return isinstance(outcome, Verified)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_signed_is_what_was_signed_by_hand(name: str) -> None:
    request, contract = signed(name), contract_of_scheme(scheme_of(name))
    key = signing_key(contract, PRIVATE.get(name, request.secret))
    ours = sign(
        contract,
        [key],
        headers=tuple(each for each in request.headers if each[0].startswith(("Content", "Host"))),
        body=request.body,
        line=LINE,
        at=TIME + (0.792 if name in IN_MILLISECONDS else 0),
        event_id="msg_1",
    )
    by_hand = SignedDelivery(headers=request.headers, body=request.body)
    if name in DIFFERENT:
        assert is_verified(contract, request.secret, ours, TIME)
    else:
        assert read(contract, ours) == read(contract, by_hand)


texts = st.text(st.characters(codec="utf-8"), max_size=8)
events = st.dictionaries(texts, texts | st.integers() | st.booleans(), max_size=4)


@settings(max_examples=4)
@pytest.mark.parametrize("name", NAMES)
@given(event=events, place=st.randoms(use_true_random=False), at=st.integers(0, 2**32))
def test_what_is_signed_is_verified_and_with_one_byte_changed_it_is_not(
    name: str, event: dict[str, object], place: object, at: int
) -> None:
    contract = contract_of_scheme(scheme_of(name))
    secret, other = two_secrets(contract)
    is_form = "{form}" in contract.signature.signed
    body = b"Body=hi+there&To=%2B15550199" if is_form else json.dumps(event).encode()
    delivery = sign(
        contract,
        [signing_key(contract, secret)],
        headers=FORM if is_form else (),
        body=body,
        line=LINE,
        at=at,
        event_id="evt_1",
    )
    verifying = verifying_secret(contract, secret)
    assert is_verified(contract, verifying, delivery, at)
    assert not is_verified(contract, verifying_secret(contract, other), delivery, at)
    for changed in one_byte_changed(contract, delivery):
        assert not is_verified(contract, verifying, changed, at), changed


def one_byte_changed(contract: Contract, delivery: SignedDelivery) -> list[SignedDelivery]:
    """The delivery with the first, a middle and the last byte of what is signed changed, and with
    one of the signature changed.
    """
    scheme = contract.signature
    changed = []
    body = delivery.body
    if signs_body(contract):
        changed = [
            body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]
            for at in {0, len(body) // 2, len(body) - 1}
        ]
    found = [replace(delivery, body=each) for each in changed]
    for index, (name, value) in enumerate(delivery.headers):
        if name == scheme.header:
            at = len(value) - 5
            other = "0" if value[at] != "0" else "1"
            headers = list(delivery.headers)
            headers[index] = (name, value[:at] + other + value[at + 1 :])
            found.append(replace(delivery, headers=tuple(headers)))
    if not found:  # both stand in the body, which ends in the signature
        member = read(contract, delivery).signatures[0]
        assert member
        other = ("0" if member[0] != "0" else "1") + member[1:]
        found.append(replace(delivery, body=body.replace(member.encode(), other.encode())))
    return found


@pytest.mark.parametrize("name", shipped_dialects())
@pytest.mark.parametrize("format_", SchemeFormat)
def test_what_is_signed_by_a_dialect_is_verified(name: str, format_: SchemeFormat) -> None:
    contract = contract_of_dialect(load_dialect(name), format_)
    secrets = [new_secret(contract) for _ in range(1 + both_sign(contract))]
    delivery = sign(
        contract,
        [signing_key(contract, secret) for secret in secrets],
        headers=(),
        body=b"{}",
        line=None,
        at=TIME,
        event_id="evt_1",
    )
    for secret in secrets:
        assert is_verified(contract, secret, delivery, TIME)
    assert not is_verified(contract, secrets[0], replace(delivery, body=b"{ }"), TIME)


@pytest.mark.parametrize(
    ("library", "name"), [(StandardWebhook, "standard-webhooks"), (SvixWebhook, "svix")]
)
def test_the_library_of_a_provider_verifies_what_is_signed(library: type, name: str) -> None:
    contract = contract_of_scheme(load_scheme(name))
    old, new = new_secret(contract), new_secret(contract)
    delivery = sign(
        contract,
        [signing_key(contract, old), signing_key(contract, new)],
        headers=(),
        body='{"name": "Zoë"}'.encode(),
        line=None,
        at=time.time(),
        event_id="evt_1",
    )
    for secret in (old, new):
        library(secret).verify(delivery.body, dict(delivery.headers))
        with pytest.raises(Exception, match="signature"):
            library(secret).verify(delivery.body + b" ", dict(delivery.headers))


class KeyResolver(HTTPSignatureKeyResolver):
    """Has one key, for signing and for verifying."""

    def __init__(self, private: bytes, public: bytes) -> None:
        self.private, self.public = private, public

    def resolve_private_key(self, key_id: str) -> bytes:
        assert key_id == "k"
        return self.private

    def resolve_public_key(self, key_id: str) -> bytes:
        assert key_id == "k"
        return self.public


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [
        ("http-message-signatures", algorithms.HMAC_SHA256),
        ("http-message-signatures-ecdsa", algorithms.ECDSA_P256_SHA256),
        ("http-message-signatures-ed25519", algorithms.ED25519),
        ("http-message-signatures-rsa", algorithms.RSA_V1_5_SHA256),
        ("http-message-signatures-rsa-pss", algorithms.RSA_PSS_SHA512),
    ],
)
def test_a_library_of_message_signatures_and_we_verify_each_other(
    name: str, algorithm: type
) -> None:
    contract = contract_of_scheme(load_scheme(f"{name}:keyid=k"))
    secret = new_secret(contract)
    public = verifying_secret(contract, secret)
    resolver = KeyResolver(secret.encode(), public.encode())
    if name == "http-message-signatures":
        resolver = KeyResolver(base64.b64decode(secret), base64.b64decode(secret))
    now, body = math.floor(time.time()), b'{"order": 1}'
    ours = sign(
        contract,
        [signing_key(contract, secret)],
        headers=(),
        body=body,
        line=LINE,
        at=now,
        event_id="evt_1",
    )
    verifier = HTTPMessageVerifier(signature_algorithm=algorithm, key_resolver=resolver)
    request = requests.Request("POST", URL, headers=dict(ours.headers), data=body).prepare()
    (result,) = verifier.verify(request, body=body)
    assert result.parameters["created"] == now
    with pytest.raises(InvalidSignature):
        verifier.verify(request, body=body + b" ")

    theirs = requests.Request("POST", URL, data=body).prepare()
    signer = HTTPMessageSigner(signature_algorithm=algorithm, key_resolver=resolver)
    signer.sign(theirs, key_id="k", body=body, covered_component_ids=("@path", "@query"))
    delivery = SignedDelivery(headers=tuple(theirs.headers.items()), body=body)
    assert is_verified(contract, public, delivery, now)
    assert not is_verified(contract, public, replace(delivery, body=b"{}"), now)


@pytest.mark.parametrize(
    ("name", "secret", "message"),
    [
        ("svix", "whsec_???", "is not base64"),
        ("paypal", "-----BEGIN CERTIFICATE-----", "is not a key or a certificate in PEM"),
        ("paypal", signed("paypal").secret, "is no private key of RSA (PKCS #8 in DER or PEM)"),
        ("http-message-signatures-rsa", private_pem(EC_KEY), "is no private key of RSA"),
        ("github", "", "is empty"),
        ("discord", "ab", "is no private key of ed25519: it has 1 bytes"),
        ("standard-webhooks-ed25519", "whpk_AAAA", "does not begin with 'whsk_'"),
        ("sendgrid", "AAAA", "is no private key on P-256"),
        # A public key signs nothing.
        ("sendgrid", signed("sendgrid").secret, "is no private key on P-256"),
    ],
    # Not the secrets, some of which are new in each process.
    ids=[
        "not base64",
        "half of PEM",
        "a certificate",
        "another algorithm",
        "empty",
        "short",
        "no prefix",
        "not DER",
        "a public key",
    ],
)
def test_a_secret_that_cannot_sign_is_refused(name: str, secret: str, message: str) -> None:
    with pytest.raises(CannotSign) as refused:
        signing_key(contract_of_scheme(load_scheme(name)), secret)
    assert message in str(refused.value)
    assert not secret or secret not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "body", "line", "message"),
    [
        ("adyen", b"a=1", LINE, "has to be JSON"),
        ("adyen", b"[]", LINE, "no place for the member additionalData.hmacSignature"),
        ("mailgun", b'{"signature": 1}', LINE, "no place for the member signature.timestamp"),
        ("square", b"{}", None, "give --url"),
        ("twilio", b"{}", LINE, "neither a form nor the one whose SHA-256"),
    ],
)
def test_what_lacks_something_that_is_signed_is_refused(
    name: str, body: bytes, line: RequestLine | None, message: str
) -> None:
    contract = contract_of_scheme(load_scheme(name))
    key = signing_key(contract, new_secret(contract))
    with pytest.raises(CannotSign) as refused:
        sign(contract, [key], headers=(), body=body, line=line, at=TIME, event_id="evt_1")
    assert message in str(refused.value)
