"""HTTP message signatures: the requests of RFC 9421, and what is refused although it is signed."""

import base64
import hashlib
import hmac
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from hookproof.receiver.signatures.judgement import SignatureJudge, SignatureJudgement
from hookproof.receiver.signatures.schemes.catalogue import load_scheme
from hookproof.receiver.signatures.schemes.model import ProviderScheme
from hookproof.receiver.signatures.schemes.request_parts import RequestLine
from hookproof.receiver.signatures.verification import Reason, Unverified, Verified, verify
from hookproof.spec.dialect.reader import load_dialect
from tests.receiver.signatures.schemes.provider_signers import (
    BASE64_SECRET,
    JSON,
    MESSAGE_SIGNATURES,
    TIME,
    URL,
    ProviderRequest,
    signed,
)

RFC: Final[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("rfc9421.yaml").read_text(encoding="utf-8")
)
LINE: Final = RequestLine(method="POST", url=URL)
BODY: Final = b'{"hello": "world"}'
CREATED: Final = 1618884473
HEADERS: Final = (
    ("Date", "Tue, 20 Apr 2021 02:07:55 GMT"),
    ("Content-Type", "application/json"),
    ("Content-Digest", f"sha-512=:{base64.b64encode(hashlib.sha512(BODY).digest()).decode()}:"),
    ("Content-Length", "18"),
)


def of_rfc(name: str) -> tuple[ProviderScheme, ProviderRequest, RequestLine]:
    """A request of the RFC, and a scheme that accepts whatever its signature covers."""
    row = RFC["requests"][name]
    scheme = replace(load_scheme(row["scheme"]).signature, required=())
    date = "Tue, 20 Apr 2021 02:07:56 GMT" if name == "4.3" else HEADERS[0][1]
    headers = (
        ("Host", row.get("host", "example.com")),
        ("Date", date),
        *HEADERS[1:],
        *row.get("headers", {}).items(),
        ("Signature-Input", row["input"]),
        ("Signature", row["signature"]),
    )
    request = ProviderRequest(headers=headers, body=BODY, secret=RFC["keys"][row["key"]])
    url = f"https://{headers[0][1]}/foo?param=Value&Pet=dog"
    return scheme, request, RequestLine(method="POST", url=url)


def outcome(
    scheme: ProviderScheme, request: ProviderRequest, line: RequestLine, now: float
) -> Verified | Unverified:
    rules = next(
        load_scheme(name).secret
        for name in MESSAGE_SIGNATURES
        if load_scheme(name).signature.algorithm is scheme.algorithm
    )
    return verify(scheme, rules, (request.secret,), request.headers, None, request.body, now, line)


@pytest.mark.parametrize("name", RFC["requests"])
def test_a_request_of_the_rfc_is_verified_and_with_a_change_it_is_not(name: str) -> None:
    scheme, request, line = of_rfc(name)
    verified = outcome(scheme, request, line, CREATED + 7)
    assert isinstance(verified, Verified), verified
    assert verified.timestamp == CREATED + (7 if name == "4.3" else 0)
    at = request.headers[-1][1].rindex("=:") - 20
    changes = {
        index: f"{value[:at]}{'A' if value[at] != 'A' else 'B'}{value[at + 1 :]}"
        if index == len(request.headers) - 1
        else f"{value}1"
        for index, (header, value) in enumerate(request.headers)
        if f'"{header.lower()}"' in RFC["requests"][name]["input"] or header.startswith("Signature")
    }
    assert len(changes) >= 2
    for index, value in changes.items():
        headers = list(request.headers)
        headers[index] = (headers[index][0], value)
        changed = outcome(scheme, replace(request, headers=tuple(headers)), line, CREATED + 7)
        assert isinstance(changed, Unverified), headers[index]


def test_the_url_and_the_method_count_where_they_are_covered() -> None:
    scheme, request, line = of_rfc("B.2.3")
    for other in (
        replace(line, method="PUT"),
        replace(line, url=line.url.replace("dog", "cat")),
        replace(line, url=line.url.replace("example.com", "example.org")),
        replace(line, url=line.url.replace("/foo", "/bar")),
    ):
        assert isinstance(outcome(scheme, request, other, CREATED), Unverified), other


def judged(
    request: ProviderRequest, name: str | None = None, at: float = TIME
) -> SignatureJudgement:
    judge = SignatureJudge(
        dialect=load_dialect("reference"),
        secrets=(request.secret,),
        schemes=(load_scheme(name),) if name else (),
        automatic=name is None,
    )
    return judge.judge(request.headers, request.body, TIME, LINE)


def with_parameters(covered: str, parameters: str, *lines: str) -> ProviderRequest:
    """A request that an HMAC of this signature base signed, over these lines."""
    value = f"({covered}){parameters}"
    base = "\n".join([*lines, f'"@signature-params": {value}'])
    mac = hmac.new(base64.b64decode(BASE64_SECRET), base.encode(), "sha256").digest()
    return ProviderRequest(
        headers=(
            ("Content-Digest", DIGEST),
            ("Signature-Input", f"sig1={value}"),
            ("Signature", f"sig1=:{base64.b64encode(mac).decode()}:"),
        ),
        body=JSON,
        secret=BASE64_SECRET,
    )


DIGEST: Final = f"sha-256=:{base64.b64encode(hashlib.sha256(JSON).digest()).decode()}:"
OF_DIGEST: Final = ('"content-digest"', f'"content-digest": {DIGEST}')


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        (with_parameters(OF_DIGEST[0], f";created={TIME}", OF_DIGEST[1]), ""),
        (
            with_parameters(
                '"content-digest";key="sha-256"',
                f";created={TIME}",
                f'"content-digest";key="sha-256": {DIGEST.partition("=")[2]}',
            ),
            "",
        ),
        (
            with_parameters('"@method"', f";created={TIME}", '"@method": POST'),
            "does not cover content-digest",
        ),
        (with_parameters(OF_DIGEST[0], "", OF_DIGEST[1]), "does not say when it was created"),
        (
            with_parameters(OF_DIGEST[0], f";created={TIME};expires={TIME - 1}", OF_DIGEST[1]),
            "it expires at",
        ),
        (
            with_parameters(OF_DIGEST[0], f";created={TIME - 400}", OF_DIGEST[1]),
            "it is 400.000 s old",
        ),
        (
            with_parameters(OF_DIGEST[0], f';created={TIME};alg="rsa-v1_5-sha256"', OF_DIGEST[1]),
            "says the algorithm 'rsa-v1_5-sha256', and the scheme 'hmac-sha256'",
        ),
        (
            with_parameters(f"{OF_DIGEST[0]} {OF_DIGEST[0]}", f";created={TIME}", OF_DIGEST[1]),
            "occurs twice",
        ),
        (
            with_parameters(f'{OF_DIGEST[0]} "x-none"', f";created={TIME}", OF_DIGEST[1]),
            'Covered header field "x-none" not found',
        ),
        (with_parameters(OF_DIGEST[0], ";created=1.5", OF_DIGEST[1]), "not a whole number"),
    ],
)
def test_a_signature_is_accepted_only_if_it_covers_the_body_and_is_of_now(
    request_: ProviderRequest, says: str
) -> None:
    judgement = judged(request_, "http-message-signatures")
    assert judgement.verified is (not says), judgement.sentence
    assert says in judgement.sentence
    assert "another secret" not in judgement.sentence


@pytest.mark.parametrize("name", MESSAGE_SIGNATURES)
def test_a_public_key_is_no_secret_of_an_hmac(name: str) -> None:
    """Who knows the public key could otherwise sign by the algorithm that a request says."""
    request = signed(name)
    if name == "http-message-signatures":
        return
    for key in (request.secret.encode(), base64.b64decode(BASE64_SECRET)):
        forged = with_parameters(OF_DIGEST[0], f';created={TIME};alg="hmac-sha256"', OF_DIGEST[1])
        value = forged.headers[1][1].removeprefix("sig1=")
        base = f'{OF_DIGEST[1]}\n"@signature-params": {value}'
        mac = base64.b64encode(hmac.new(key, base.encode(), "sha256").digest()).decode()
        headers = (*forged.headers[:2], ("Signature", f"sig1=:{mac}:"))
        assert not judged(replace(request, headers=headers), name).verified
        assert not judged(replace(request, headers=headers)).verified


def test_one_right_signature_among_several_is_enough_and_tells_its_secret() -> None:
    right = signed("http-message-signatures")
    (_, inputs), (_, signatures) = right.headers[-2:]
    other = signatures.replace("sig1=:", "sig0=:AAAA", 1)
    headers = (
        *right.headers[:-2],
        ("Signature-Input", f"{inputs.replace('sig1', 'sig0', 1)}, {inputs}"),
        ("Signature", f"{other}, {signatures}"),
    )
    several = replace(right, headers=headers)
    judgement = judged(several)
    assert judgement.verified
    assert judgement.secrets == (0,)
    scheme = load_scheme("http-message-signatures").signature
    verified = outcome(scheme, several, LINE, TIME)
    assert isinstance(verified, Verified)
    assert verified.in_order == (None, 0)
    # What another signature says of its algorithm does not matter.
    first = headers[-2][1].replace("hmac-sha256", "rsa-v1_5-sha256", 1)
    of_two = (*headers[:-2], ("Signature-Input", first), headers[-1])
    assert judged(replace(right, headers=of_two)).verified
    assert not judged(replace(right, headers=headers, secret="AAAA")).verified


def test_where_nothing_says_so_the_reason_of_the_refusal_is_that_of_the_signature() -> None:
    request = signed("http-message-signatures")
    refused = judged(replace(request, headers=request.headers[:-1]), "http-message-signatures")
    assert refused.reason is Reason.MALFORMED
    assert "there is no Signature header" in refused.sentence


@pytest.mark.parametrize("name", MESSAGE_SIGNATURES)
@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (JSON + b"\n", "signed the body without its last line end"),
        (JSON.replace(b":", b": "), "signed the compact form of the body"),
        (b"{}", "signed the Content-Digest of another body than the one here"),
    ],
)
def test_a_body_that_was_changed_is_told_by_its_digest(
    name: str, changed: bytes, says: str
) -> None:
    judgement = judged(replace(signed(name), body=changed))
    assert not judgement.verified
    assert says in judgement.sentence
    assert judgement.scheme is not None
    assert judgement.scheme.name == name


@pytest.mark.parametrize("name", MESSAGE_SIGNATURES)
def test_another_key_is_told(name: str) -> None:
    other = signed("http-message-signatures-rsa" if name.endswith("ecdsa") else "sendgrid").secret
    key = "c2VjcmV0IG5vdA==" if name == "http-message-signatures" else other
    judgement = judged(replace(signed(name), secret=key))
    assert not judgement.verified
    assert "no known" in judgement.sentence, judgement.sentence
    assert "a header, the method or the URL" in judgement.sentence
    assert "ecdsa_raw" not in judgement.sentence


@pytest.mark.parametrize("name", MESSAGE_SIGNATURES)
def test_names_of_cgi_are_told_where_any_header_may_be_covered(name: str) -> None:
    request = signed(name)
    headers = tuple(
        (f"HTTP_{each.upper().replace('-', '_')}", value) for each, value in request.headers
    )
    judgement = judged(replace(request, headers=headers))
    assert "Signature-Input, which is here under its CGI name HTTP_SIGNATURE_INPUT" in (
        judgement.sentence
    )


@pytest.mark.parametrize(
    ("url", "says"),
    [
        (URL.replace("https", "http"), "signed https:// where the request came with http://"),
        (URL.replace("/in", "/in/"), "signed the path '/in'"),
        (URL.replace(".example", ".example:8443"), "signed the URL without its port"),
        (URL.replace("hooks", "other"), "a header, the method or the URL"),
    ],
)
def test_another_url_is_told(url: str, says: str) -> None:
    request = signed("http-message-signatures")
    judge = SignatureJudge(
        dialect=load_dialect("reference"), secrets=(request.secret,), automatic=True
    )
    line = RequestLine(method="POST", url=url)
    assert says in judge.judge(request.headers, request.body, TIME, line).sentence


def test_a_digest_that_is_not_compared_with_the_body_covers_nothing() -> None:
    """Beside it anybody could add a digest of a body of their own."""
    request = with_parameters(
        '"content-digest";key="md5"', f";created={TIME}", '"content-digest";key="md5": :AAAA:'
    )
    headers = (("Content-Digest", f"md5=:AAAA:, {DIGEST}"), *request.headers[1:])
    judgement = judged(replace(request, headers=headers), "http-message-signatures")
    assert not judgement.verified
    assert "does not cover content-digest" in judgement.sentence


def test_a_signature_of_two_numbers_has_exactly_their_size() -> None:
    request = signed("http-message-signatures-ecdsa")
    name, value = request.headers[-1]
    raw = base64.b64decode(value.removeprefix("sig1=:").removesuffix(":"))
    longer = base64.b64encode(raw[:32] + b"\0" + raw[32:]).decode()
    assert judged(request).verified
    changed = replace(request, headers=(*request.headers[:-1], (name, f"sig1=:{longer}:")))
    assert not judged(changed).verified


def test_a_header_that_no_request_can_have_changes_nothing() -> None:
    request = signed("http-message-signatures")
    forged = (("Signature-Input;expires", "never"), *request.headers)
    assert judged(replace(request, headers=forged)).verified
