"""Signature headers are found by their form, whatever a dialect says of them."""

import base64
import hashlib
import hmac
from collections.abc import Callable

import pytest

from hookproof.receiver.signatures.signature_headers import may_be_signed, signature_headers

BODIES = tuple(b'{"number": %d}' % number for number in range(3))
Made = Callable[[bytes], str]


def mac(body: bytes, name: str = "sha256") -> bytes:
    return hmac.digest(b"some key", body, name)


def deliveries(
    header: str, value: Made, bodies: tuple[bytes, ...] = BODIES
) -> list[tuple[list[tuple[str, str]], bytes]]:
    return [
        ([("Content-Type", "application/json"), (header, value(body))], body) for body in bodies
    ]


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (lambda body: mac(body).hex(), 32),
        (lambda body: mac(body, "sha1").hex(), 20),
        (lambda body: mac(body, "sha512").hex().upper(), 64),
        (lambda body: f"sha384={mac(body, 'sha384').hex()}", 48),
        (lambda body: f"t=1700000000,v1={mac(body).hex()},v1={mac(body + b'old').hex()}", 32),
        (lambda body: f"v1,{base64.b64encode(mac(body)).decode()}", 32),
        (lambda body: base64.urlsafe_b64encode(mac(body, "sha1")).decode().rstrip("="), 20),
        (lambda body: f"key={mac(b'fixed', 'sha1').hex()} mac={mac(body).hex()}", 32),
    ],
)
def test_texts_of_a_mac_s_size_that_differ_with_the_body_are_found(value: Made, size: int) -> None:
    (found,) = signature_headers(deliveries("Acme-Proof", value))
    assert (found.name, found.size, found.deliveries) == ("Acme-Proof", size, 3)
    assert str(found) == f"Acme-Proof ({size} bytes, different on each of 3 deliveries)"


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("X-Body-Digest", lambda body: hashlib.sha256(body).hexdigest()),
        ("X-Fixed", lambda _body: mac(b"always the same").hex()),
        ("X-Request-Id", lambda body: mac(body).hex()[:32]),
        ("X-Webhook-Id", lambda body: f"msg_{mac(body).hex()[:24]}"),
        ("Authorization", lambda body: f"Bearer {mac(body).hex()}"),
        ("X-Number", lambda body: str(len(body))),
    ],
)
def test_other_headers_are_not(header: str, value: Made) -> None:
    assert not signature_headers(deliveries(header, value))


def test_one_body_alone_shows_nothing_and_its_retry_may_have_the_same_signature() -> None:
    once = deliveries("X-Signature", lambda body: mac(body).hex(), BODIES[:1])
    assert not signature_headers([*once, *once])
    assert signature_headers([*once, *once, *deliveries("X-Signature", lambda b: mac(b).hex())])


def test_a_header_that_is_not_on_every_delivery_is_found_and_the_usual_name_is_first() -> None:
    other = deliveries("Ticket", lambda body: mac(body + b"other").hex())
    signed = deliveries("X-Signature", lambda body: mac(body).hex())
    unsigned = deliveries("X-Other", lambda _body: "1")
    found = signature_headers([*other, *signed, *unsigned])
    assert [header.name for header in found] == ["X-Signature", "Ticket"]


def test_deliveries_without_any_long_text_of_their_own_are_not_signed() -> None:
    plain = deliveries("Content-Type", lambda _body: "application/x-www-form-urlencoded")
    assert not may_be_signed(plain)
    assert may_be_signed(plain[:1]), "one body alone does not show what differs"
    token = deliveries("Authorization", lambda body: f"Bearer {mac(body).hex()}")
    assert not may_be_signed(token)


@pytest.mark.parametrize("name", ["sha1", "sha256", "sha512"])
def test_whatever_may_be_a_signature_is_taken_for_one(name: str) -> None:
    assert may_be_signed(deliveries("Acme", lambda body: f"rsa={mac(body, name).hex()}"))
