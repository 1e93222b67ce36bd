"""Whatever a delivery holds, judging it by any scheme ends in an answer."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookproof.receiver.cli.verify import judgement_text
from hookproof.receiver.signatures.judgement import SignatureJudge
from hookproof.receiver.signatures.schemes.catalogue import shipped_schemes
from hookproof.receiver.signatures.schemes.request_parts import RequestLine
from hookproof.spec.dialect.reader import load_dialect
from tests.receiver.signatures.schemes.provider_signers import NAMES, TIME, URL, signed

NAMES_OF_HEADERS = sorted({name for each in NAMES for name, _ in signed(each).headers})
texts = st.text(st.characters(exclude_categories=()), max_size=40)
values = texts | st.sampled_from(
    [
        "sha256=" + "ab" * 32, "v1,AAAA", "t=1,v1=00", "ab" * 64, "2026-13-99T00:00:00Z", "9" * 40,
        'sig1=("@method" "content-digest");created=1', 'sig1=("x";bs "@status";req)',
        'sig1=("@query-param";name=1);created=-1;expires=2;alg=7', "sig1=(), b=1",
        "sig1=:AAAA:", "sha-256=:AAAA:",
    ]
)  # fmt: skip
secret_texts = texts | st.sampled_from(
    [
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\\nAAAA\\n-----END PUBLIC KEY-----",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\n-----END ENCRYPTED PRIVATE KEY-----",
        signed("paypal").secret,
        signed("http-message-signatures-ecdsa").secret,
    ]
)
bodies = st.binary(max_size=60) | st.sampled_from(
    [
        b'{"signature":{"signature":{}}}',
        b'{"additionalData":{"hmacSignature":1e999}}',
        b'{"a":' * 900 + b"1" + b"}" * 900,
        b'{"notificationItems":[{"NotificationRequestItem":[]}]}',
        b"a=%ff&a=\xff&==&;",
        b'{"n":' + b"9" * 5000 + b',"7":1,"a":2}',
        b"(" * 300 + b"'",
    ]
)
lines = st.none() | st.builds(
    RequestLine,
    method=st.just("POST") | texts,
    url=st.sampled_from([URL, "https://[", "http://x:99999/{body}", "https://\ud800"]) | texts,
)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    scheme=st.none() | st.sampled_from(list(shipped_schemes().values())),
    headers=st.lists(st.tuples(st.sampled_from(NAMES_OF_HEADERS) | texts, values), max_size=4),
    sender=st.none() | st.sampled_from(NAMES),
    body=bodies,
    secrets=st.lists(secret_texts, max_size=2).map(tuple),
    line=lines,
)
def test_every_delivery_gets_an_answer(
    scheme: Any, headers: Any, sender: Any, body: bytes, secrets: Any, line: Any
) -> None:
    sent = tuple(headers) if sender is None else signed(sender).headers
    judge = SignatureJudge(
        dialect=load_dialect("reference"),
        secrets=secrets,
        schemes=(scheme,) if scheme else (),
        automatic=scheme is None,
        at_own_time=True,
    )
    judgement = judge.judge(sent, body, TIME, line)
    assert judgement_text(judgement, sent, body)
    assert judgement.to_json()
