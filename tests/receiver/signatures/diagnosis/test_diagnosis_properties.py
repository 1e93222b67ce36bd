"""For any delivery: the diagnosis never raises, and never invents a cause."""

import base64
import importlib
import math
import random
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookproof.receiver.signatures.diagnosis import KnownValues
from hookproof.receiver.signatures.diagnosis.search import EFFORT_OF_A_HASH, MOST_EFFORT
from hookproof.receiver.signatures.diagnosis.time_variants import unsent_times
from hookproof.receiver.signatures.verification import Verified
from hookproof.spec.dialect.vocabulary import SignatureTime
from tests.receiver.signatures.signature_vectors import SignedVector, dialect, find_vector, vectors
from tests.receiver.signatures.tamper import tamper

few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FORMATS = (
    "reference, simple",
    "reference, advanced",
    "contrary, simple",
    "contrary, advanced",
    "standard-webhooks, simple",
    "standard-webhooks, advanced",
)


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector.name)
def test_a_valid_message_is_never_diagnosed(vector: SignedVector) -> None:
    assert vector.diagnosis() is None


@pytest.mark.parametrize("kind", FORMATS)
def test_a_random_signature_has_no_known_cause(kind: str) -> None:
    vector = find_vector(f"{kind}: a small object")
    (text,) = vector.signatures()
    digest = random.Random(7).randbytes(64 if kind.startswith("contrary") else 32)
    encoded = digest.hex() if kind.startswith("reference") else base64.b64encode(digest).decode()
    diagnosis = vector.with_value(vector.value.replace(text, encoded)).diagnosis()
    assert diagnosis is not None
    assert (diagnosis.explained, diagnosis.deviations) == (False, ())
    assert diagnosis.cause.startswith("no known cause: the signature has the size of SHA-")


def test_an_altered_body_has_no_known_cause_unless_its_length_shows_it() -> None:
    vector = replace(find_vector(f"{FORMATS[0]}: a small object"), body=b'{"order":7}')
    diagnosis = vector.diagnosis()
    assert diagnosis is not None
    assert diagnosis.cause.endswith("or the body is not the one that was signed")
    cut = replace(
        vector, body=b'{"ord', headers=(*vector.headers, ("Content-Length", "11"))
    ).diagnosis()
    assert cut is not None
    assert (
        "the body has 5 bytes and its Content-Length says 11: it was changed on its way; "
        "it was cut off after 5 bytes"
    ) in cut.cause
    assert "another secret" not in cut.cause


def test_an_unsigned_delivery_is_reported_as_unsigned() -> None:
    diagnosis = find_vector(f"{FORMATS[1]}: a small object").with_value("").diagnosis()
    assert diagnosis is not None
    assert diagnosis.cause == "sent no signature"


@pytest.mark.parametrize(
    ("moved", "message"),
    [
        (400, "sent a time that is 400 s before its arrival, 300 s are accepted"),
        (-400, "sent a time that is 400 s after its arrival, 300 s are accepted"),
    ],
)
def test_a_time_beyond_the_tolerance_is_reported_beside_the_signature(
    moved: int, message: str
) -> None:
    vector = find_vector("reference, advanced: a small object")
    diagnosis = vector.diagnosis(now=vector.timestamp + moved)
    assert diagnosis is not None
    assert (diagnosis.cause, diagnosis.explained) == (message, True)
    both = replace(vector, body=b'{"order": 1}').diagnosis(now=vector.timestamp + moved)
    assert both is not None
    assert both.cause == f"signed the compact form of the body, sent it with spaces; {message}"


def test_a_time_in_another_unit_is_reported() -> None:
    vector = find_vector("standard-webhooks, advanced: a small object").with_header(
        "webhook-timestamp", "1735689600000"
    )
    diagnosis = vector.diagnosis()
    assert diagnosis is not None
    assert diagnosis.explained
    assert "sent the time in milliseconds where seconds are expected" in diagnosis.cause


def test_known_bodies_and_times_are_tried() -> None:
    vector = find_vector("reference, advanced: a small object")
    known = KnownValues(bodies={"the body of event 2": vector.body}, times=(vector.timestamp,))
    other = replace(vector, body=b"other").diagnosis(known=known)
    assert other is not None
    assert other.cause == "signed the body of event 2, sent another body"
    retried = vector.with_value(vector.value.replace("1735689600", "1735693200"))
    again = retried.diagnosis(now=1735693200, known=known)
    assert again is not None
    assert again.cause == "signed another time that is known, 3600 s before the one that it sent"


def test_a_known_time_too_large_for_the_unit_that_was_sent_is_left_out() -> None:
    vector = find_vector("reference, advanced: a small object")
    in_milliseconds = vector.with_value(vector.value.replace("1735689600", "1735689600000"))
    assert in_milliseconds.diagnosis(known=KnownValues(times=(1e307,))) is not None


def test_the_search_is_limited_by_a_count_and_not_by_a_clock() -> None:
    vector = replace(find_vector("reference, advanced: a small object"), body=b'{"a":1}')
    assert vector.diagnosis() == vector.diagnosis()
    large = replace(vector, body=b"x" * 2**20).diagnosis()
    assert large is not None
    # The 30 are for short bodies that are tried too, such as an empty one.
    assert large.hashes <= 1 + MOST_EFFORT // (2**20 + EFFORT_OF_A_HASH) + 30


NESTED = b'{"a":' * 900 + b"1" + b"}" * 900
texts = st.text(st.characters(exclude_categories=()), max_size=60)
header_names = st.sampled_from(sorted({name for vector in vectors() for name, _ in vector.headers}))
values = texts | st.sampled_from(
    ["t=1735689600,v1=00", "v1,AAAA", "signed v1:" + "A" * 86 + "==", "9" * 19, "0x" * 20]
)


@pytest.mark.parametrize("now", [1.797693134862316e305, math.inf, -math.inf, math.nan])
def test_a_clock_that_shows_no_time_offers_none_that_was_signed(now: float) -> None:
    in_milliseconds = dialect("contrary").signatures.scheme(advanced=True)
    assert in_milliseconds.timestamp_unit is SignatureTime.MILLISECONDS
    assert list(unsent_times(in_milliseconds, now)) == []
    assert list(unsent_times(in_milliseconds, 0.0))


@few
@given(
    vector=st.sampled_from(vectors()),
    headers=st.lists(st.tuples(header_names | texts, values), max_size=5),
    body=st.binary(max_size=60) | st.sampled_from([b"[" * 3000, b'{"\\ud800":1e999}', NESTED]),
    secrets=st.lists(texts, max_size=3).map(tuple),
    now=st.floats(),
)
def test_nothing_makes_the_diagnosis_raise(
    vector: SignedVector, headers: Any, body: bytes, secrets: tuple[str, ...], now: float
) -> None:
    for used, sent in (
        (secrets, headers),
        (vector.secrets, vector.headers),
        (vector.secrets, headers),
    ):
        changed = replace(vector, headers=tuple(sent), body=body, secrets=used)
        known = KnownValues(secrets={"x": "\ud800"}, times=(now,))
        diagnosis = changed.diagnosis(now=now, known=known)
        assert diagnosis is None or diagnosis.cause


def test_of_many_tampered_messages_none_is_accepted() -> None:
    tried, accepted = tamper(5_000)
    assert accepted == []
    assert tried.total() == 5_000
    assert min(tried.values()) > 100


@settings(max_examples=100, deadline=None)
@given(
    key=st.binary(min_size=1, max_size=100),
    event=st.from_regex(r"msg_[0-9A-Za-z]{1,30}", fullmatch=True),
    seconds=st.integers(0, 2**33),
    body=st.text(st.characters(codec="utf-8"), max_size=300),
)
def test_what_the_svix_package_signs_verifies(
    key: bytes, event: str, seconds: int, body: str
) -> None:
    secret = "whsec_" + base64.b64encode(key).decode()
    webhooks = importlib.import_module("svix.webhooks")  # here, as it takes a second
    signature = webhooks.Webhook(secret).sign(event, datetime.fromtimestamp(seconds, UTC), body)
    answers = dialect("standard-webhooks")
    outcome = SignedVector(
        name="drawn",
        dialect=answers,
        scheme=answers.signatures.advanced,
        secrets=(secret,),
        body=body.encode(),
        headers=(
            ("webhook-id", event),
            ("webhook-timestamp", str(seconds)),
            ("webhook-signature", signature),
        ),
        timestamp=seconds,
    ).outcome()
    assert outcome == Verified(secrets=(0,), in_order=(0,), timestamp=float(seconds))


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
@settings(max_examples=15, deadline=None)
@given(body=st.binary(max_size=300), secret=st.from_regex(r"[0-9A-Za-z]{1,40}", fullmatch=True))
def test_what_openssl_signs_verifies_and_what_it_signs_otherwise_is_explained(
    body: bytes, secret: str
) -> None:
    def signed(name: str) -> str:
        command = ["openssl", "dgst", f"-{name}", "-hmac", secret, "-r"]
        return (
            subprocess.run(command, input=body, capture_output=True, check=True, timeout=30)
            .stdout.split()[0]
            .decode()
        )

    vector = replace(find_vector("reference, simple: a small object"), body=body, secrets=(secret,))
    assert isinstance(vector.with_value(signed("sha256")).outcome(), Verified)
    diagnosis = vector.with_value(signed("sha1")).diagnosis()
    assert diagnosis is not None
    assert diagnosis.cause == "used SHA-1 where SHA-256 is expected"
