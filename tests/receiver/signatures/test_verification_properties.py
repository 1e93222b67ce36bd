"""For any message: the verifier never raises, and accepts what was signed and nothing else."""

import base64
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from standardwebhooks import Webhook

from hookproof.receiver.signatures.verification import Unverified, Verified
from hookproof.spec.dialect.signature_scheme import SignatureScheme
from hookproof.spec.dialect.vocabulary import Encoding, Hash, SecretForm, SignatureTime
from tests.receiver.signatures.signature_vectors import (
    SignedVector,
    dialect,
    find_vector,
    read_vector,
    vectors,
)
from tests.receiver.signatures.vector_maker import maker, signed_by_python

many = settings(max_examples=300, deadline=None)

anything = st.text(st.characters(exclude_categories=()), max_size=60)
fragments = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "t=1735689600",
                "v1=",
                "v1,",
                "v1:",
                "v2:",
                ",",
                " ",
                "signed ",
                "00" * 32,
                "A" * 43 + "=",
            ]
        ),
        st.text(st.characters(max_codepoint=255), max_size=4),
    ),
    max_size=8,
).map("".join)
header_names = st.sampled_from(sorted({name for vector in vectors() for name, _ in vector.headers}))
headers = st.lists(
    st.tuples(header_names | anything, fragments | anything | st.just("1735689600000")), max_size=6
)
templates = st.lists(
    st.sampled_from(
        [
            "{id}",
            "{timestamp}",
            "{body}",
            "{signatures}",
            "{signature}",
            "{version}",
            "{",
            "}",
            ".*",
            "(",
            ",",
            " ",
            "v",
        ]
    ),
    max_size=6,
).map("".join)
schemes = st.builds(
    SignatureScheme,
    header=header_names | anything,
    timestamp_header=st.none() | header_names,
    hash=st.sampled_from(Hash),
    encoding=st.sampled_from(Encoding),
    signed=templates,
    value=templates,
    item=templates,
    separator=st.sampled_from([",", " ", "", ", ", "{"]),
    versions=st.lists(st.sampled_from(["v1", "v2", ""]), max_size=3).map(tuple),
    timestamp_unit=st.sampled_from(SignatureTime),
    secrets=st.just(vectors()[0].scheme.secrets),
    tolerance_s=st.floats(),
)
secrets = st.lists(anything | st.sampled_from(["whsec_AAAA", "hs_AAAA", "text"]), max_size=3).map(
    tuple
)


@many
@given(
    vector=st.sampled_from(vectors()),
    headers=headers,
    body=st.binary(max_size=100),
    secrets=secrets,
    now=st.floats() | st.just(1735689600.0),
)
def test_no_headers_body_or_secret_make_the_verifier_raise(
    vector: SignedVector, headers: Any, body: bytes, secrets: tuple[str, ...], now: float
) -> None:
    for used in (secrets, vector.secrets):
        outcome = replace(vector, headers=tuple(headers), body=body, secrets=used).outcome(now=now)
        assert isinstance(outcome, Unverified)


@many
@given(vector=st.sampled_from(vectors()), text=fragments | anything, at=st.integers(0, 200))
def test_no_text_within_a_valid_header_makes_the_verifier_raise(
    vector: SignedVector, text: str, at: int
) -> None:
    value = vector.value
    outcome = vector.with_value(value[:at] + text + value[at:]).outcome()
    assert isinstance(outcome, Verified | Unverified)


@many
@given(
    scheme=schemes,
    form=st.sampled_from(SecretForm),
    headers=headers,
    body=st.binary(max_size=20),
    now=st.floats(),
)
def test_no_scheme_makes_the_verifier_raise(
    scheme: SignatureScheme, form: SecretForm, headers: Any, body: bytes, now: float
) -> None:
    vector = replace(
        find_vector("reference, simple: a small object"),
        scheme=scheme,
        headers=tuple(headers),
        body=body,
    )
    signatures = replace(
        vector.dialect.signatures, secret=replace(vector.dialect.signatures.secret, form=form)
    )
    outcome = replace(vector, dialect=replace(vector.dialect, signatures=signatures)).outcome(
        now=now
    )
    assert isinstance(outcome, Verified | Unverified)


@st.composite
def signed_messages(draw: st.DrawFn) -> SignedVector:
    """A delivery in one of the six formats, signed by hand-written code that reads no dialect."""
    name, advanced = draw(st.sampled_from(sorted(maker.FORMATS)))
    keys = tuple(
        draw(st.lists(st.binary(min_size=1, max_size=150), min_size=1, max_size=4, unique=True))
    )
    if name == "reference":
        texts = tuple(key.hex() for key in keys)
        keys = tuple(text.encode() for text in texts)
    else:
        prefix = dialect(name).signatures.secret.prefix
        texts = tuple(prefix + base64.b64encode(key).decode() for key in keys)
    case = replace(
        maker.with_keys(name, 1, advanced=advanced),
        name="drawn",
        secrets=texts,
        keys=keys,
        event_id=draw(
            st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=40)
        ),
        timestamp=draw(st.integers(0, 2**40)) / 8,
        body=draw(st.binary(max_size=300)),
        hash=draw(st.sampled_from(["sha256", "sha512"])),
        encoding=draw(st.sampled_from(["hex", "base64"])),
        overrides=True,
    )
    return read_vector(signed_by_python(case))


@many
@given(vector=signed_messages())
def test_what_was_signed_verifies(vector: SignedVector) -> None:
    outcome = vector.outcome()
    assert isinstance(outcome, Verified), outcome
    assert outcome.signatures == len(outcome.secrets)


@many
@given(
    vector=signed_messages(),
    body=st.binary(max_size=300),
    at=st.integers(0, 299),
    bit=st.integers(0, 7),
)
def test_no_other_body_verifies(vector: SignedVector, body: bytes, at: int, bit: int) -> None:
    flipped = bytearray(vector.body or b" ")
    flipped[at % len(flipped)] ^= 1 << bit
    for other in (body, bytes(flipped)):
        if other != vector.body:
            assert isinstance(replace(vector, body=other).outcome(), Unverified)


@many
@given(vector=signed_messages(), length=st.integers(0, 130))
def test_no_shorter_signature_verifies(vector: SignedVector, length: int) -> None:
    value = vector.value
    for signature in vector.signatures():
        value = value.replace(signature, signature[: length % len(signature)])
    assert isinstance(vector.with_value(value).outcome(), Unverified)


@many
@given(
    key=st.binary(min_size=1, max_size=100),
    event=st.from_regex(r"msg_[0-9A-Za-z]{1,30}", fullmatch=True),
    seconds=st.integers(0, 2**33),
    body=st.text(st.characters(codec="utf-8"), max_size=300),
)
@example(key=b"k", event="msg_1", seconds=1735689600, body="")
def test_what_the_standard_webhooks_package_signs_verifies(
    key: bytes, event: str, seconds: int, body: str
) -> None:
    secret = "whsec_" + base64.b64encode(key).decode()
    signature = Webhook(secret).sign(
        msg_id=event, timestamp=datetime.fromtimestamp(seconds, UTC), data=body
    )
    answers = dialect("standard-webhooks")
    for advanced in (False, True):
        outcome = SignedVector(
            name="drawn",
            dialect=answers,
            scheme=answers.signatures.scheme(advanced=advanced),
            secrets=(secret,),
            headers=(
                ("Webhook-Id", event),
                ("Webhook-Timestamp", str(seconds)),
                ("Webhook-Signature", signature),
            ),
            body=body.encode(),
            timestamp=seconds,
        ).outcome()
        assert outcome == Verified(secrets=(0,), in_order=(0,), timestamp=float(seconds))


def test_the_standard_webhooks_package_signs_what_the_vectors_say() -> None:
    compared = 0
    for vector in vectors():
        is_text = vector.body != bytes(range(256))  # the package accepts text only
        if vector.dialect.name != "standard-webhooks" or not is_text:
            continue
        time = datetime.fromtimestamp(int(vector.timestamp), UTC)
        expected = [
            Webhook(secret).sign(
                msg_id=vector.header("webhook-id"), timestamp=time, data=vector.body.decode()
            )
            for secret in vector.secrets
        ]
        outcome = vector.outcome()
        assert isinstance(outcome, Verified)
        assert vector.value == " ".join(expected[place] for place in outcome.secrets)
        compared += 1
    assert compared >= 15
