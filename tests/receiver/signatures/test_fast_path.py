"""The fast path recognises the plain form of every scheme, and never contradicts the verifier."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookproof.receiver.signatures.fast_path import FastPath
from hookproof.receiver.signatures.verification import Verified
from hookproof.spec.dialect.vocabulary import SignatureTime
from tests.receiver.signatures.signature_vectors import SignedVector, vectors

PLAIN = [
    vector
    for vector in vectors()
    if isinstance(vector.outcome(), Verified) and len(vector.signatures()) == 1
]


def certain(vector: SignedVector, now: float) -> bool:
    fast_path = FastPath(
        vector.scheme,
        vector.dialect.signatures.secret,
        vector.secrets,
        vector.dialect.delivery.event_id_header,
    )
    raw = tuple((name.encode("latin-1"), value.encode("latin-1")) for name, value in vector.headers)
    return fast_path.is_certain(raw, vector.body, now)


@pytest.mark.parametrize("vector", PLAIN, ids=lambda vector: vector.name)
def test_a_plain_signature_is_recognised(vector: SignedVector) -> None:
    assert certain(vector, vector.timestamp)


@pytest.mark.parametrize("vector", PLAIN, ids=lambda vector: vector.name)
def test_an_altered_body_is_not_certain(vector: SignedVector) -> None:
    assert not certain(replace(vector, body=vector.body + b" "), vector.timestamp)


def test_a_number_is_not_certain_where_times_are_in_rfc_3339() -> None:
    timed = [vector for vector in PLAIN if vector.scheme.timestamp_header is not None]
    scheme = replace(timed[0].scheme, timestamp_unit=SignatureTime.RFC3339)
    assert not certain(replace(timed[0], scheme=scheme), timed[0].timestamp)


headers = st.lists(
    st.sampled_from(sorted({header for vector in vectors() for header in vector.headers}))
    | st.tuples(
        st.sampled_from(sorted({name for vector in vectors() for name, _ in vector.headers})),
        st.text(st.characters(max_codepoint=255), max_size=20),
    ),
    max_size=5,
)


@settings(max_examples=500, deadline=None)
@given(
    vector=st.sampled_from(vectors()),
    others=headers,
    body=st.none() | st.binary(max_size=5),
    cut=st.integers(0, 3),
    later_s=st.sampled_from([0.0, 119.0, 121.0, 299.5, 301.0, -299.5, -301.0]),
)
def test_what_is_certain_is_verified(
    vector: SignedVector,
    others: list[tuple[str, str]],
    body: bytes | None,
    cut: int,
    later_s: float,
) -> None:
    tried = replace(
        vector,
        headers=(*vector.headers[: -cut or None], *others),
        body=vector.body if body is None else body,
    )
    now = vector.timestamp + later_s
    if certain(tried, now):
        assert isinstance(tried.outcome(now=now), Verified)
    elif not cut and not others and body is None and vector in PLAIN:
        assert not isinstance(tried.outcome(now=now), Verified)
