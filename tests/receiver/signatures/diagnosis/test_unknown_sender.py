"""How a sender signs that no scheme describes is found, and told as a scheme that verifies it."""

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookproof.receiver.signatures.diagnosis import Diagnosis
from hookproof.receiver.signatures.diagnosis.unknown_sender import form_of_unknown_sender
from hookproof.receiver.signatures.judgement import SignatureJudge
from hookproof.receiver.signatures.schemes.catalogue import load_scheme
from hookproof.receiver.signatures.schemes.request_parts import RequestLine
from hookproof.spec.dialect.reader import load_dialect

BODY: Final = b'{"order": 1, "note": "Zo\xc3\xab"}'
LINE: Final = RequestLine(method="POST", url="https://hooks.example/in")
KEY: Final = b"a made-up key of 32 bytes, or so"
SECRETS: Final[Mapping[str, Callable[[bytes], str]]] = {
    "text": bytes.decode,
    "base64": lambda key: base64.b64encode(key).decode(),
    "hex": bytes.hex,
}
ENCODINGS: Final[Mapping[str, Callable[[bytes], str]]] = {
    "hex": bytes.hex,
    "base64": lambda mac: base64.b64encode(mac).decode(),
    "base64url_unpadded": lambda mac: base64.urlsafe_b64encode(mac).decode().rstrip("="),
}
TIMES: Final = ("1767323045", "1767323045792", "2026-01-02T03:04:05Z")
TEMPLATES: Final = (
    "{body}",
    "{url}{body}",
    "{timestamp}.{body}",
    "{body}{timestamp}",
    "v1:{timestamp}:{body}",
    "{id}|{timestamp}|{body}",
)
VALUES: Final = ("{signature}", "sha={signature}", "t={timestamp},s={signature}")


def headers_of(
    template: str,
    value: str,
    mac: Callable[[bytes], bytes],
    encode: Callable[[bytes], str],
    at: str,
) -> list[tuple[str, str]]:
    fields = {"url": LINE.url, "timestamp": at, "id": "e7"}
    message = b""
    for index, part in enumerate(template.replace("}", "{").split("{")):
        message += BODY if part == "body" else (fields[part] if index % 2 else part).encode()
    headers = [("Host", "hooks.example"), ("X-Acme-Event-Id", "e7")]
    if "{timestamp}" not in value:
        headers.append(("X-Acme-Time", at))
    written = value.format(signature=encode(mac(message)), timestamp=at)
    return [*headers, ("X-Acme-Seal", written)]


def found(secret: str, headers: list[tuple[str, str]], body: bytes = BODY) -> Diagnosis | None:
    return form_of_unknown_sender((secret,), headers, body, LINE)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    template=st.sampled_from(TEMPLATES),
    value=st.sampled_from(VALUES),
    name=st.sampled_from(["sha1", "sha256", "sha512"]),
    form=st.sampled_from([*SECRETS]),
    encoding=st.sampled_from([*ENCODINGS]),
    at=st.sampled_from(TIMES),
    place=st.integers(0, len(BODY) - 1),
)
def test_what_is_found_is_a_scheme_that_verifies_and_one_changed_byte_is_not_found(
    tmp_path: Path,
    template: str,
    value: str,
    name: str,
    form: str,
    encoding: str,
    at: str,
    place: int,
) -> None:
    def mac(message: bytes) -> bytes:
        return hmac.new(KEY, message, name).digest()

    secret = SECRETS[form](KEY)
    headers = headers_of(template, value, mac, ENCODINGS[encoding], at)
    diagnosis = found(secret, headers)
    assert diagnosis is not None
    file = tmp_path / "ours.yaml"
    file.write_text("\n".join(diagnosis.scheme_lines), encoding="utf-8")
    judge = SignatureJudge(
        dialect=load_dialect("reference"),
        secrets=(secret,),
        schemes=(load_scheme(str(file)),),
        at_own_time=True,
    )
    assert judge.judge(headers, BODY, 1767323046, LINE).verified, yaml.safe_load(file.read_text())
    changed = BODY[:place] + bytes([BODY[place] ^ 1]) + BODY[place + 1 :]
    assert found(secret, headers, changed) is None
    assert found(f"{secret}x", headers) is None


@pytest.mark.parametrize(
    ("mac", "words"),
    [
        (lambda message: hashlib.sha256(KEY + message).digest(), "SHA-256 of the secret and then"),
        (lambda message: hashlib.sha256(message + KEY).digest(), "and then the secret"),
        (lambda message: hmac.new(KEY, message, "md5").digest(), "HMAC-MD5 of"),
        (lambda message: hmac.new(KEY + b"&", message, "sha256").digest(), "with & after it"),
    ],
)
def test_what_few_senders_do_is_told(mac: Callable[[bytes], bytes], words: str) -> None:
    headers = headers_of("{timestamp}.{body}", "{signature}", mac, bytes.hex, TIMES[0])
    diagnosis = found(KEY.decode(), headers)
    assert diagnosis is not None
    assert words in diagnosis.cause
    says_it = words.startswith("SHA-256")
    assert bool(diagnosis.scheme_lines) == says_it


texts = st.text(max_size=90) | st.from_regex(r"(t=)?[0-9]{10},?[0-9a-f]{40}", fullmatch=True)


@settings(max_examples=40, deadline=None)
@given(
    headers=st.lists(st.tuples(st.sampled_from(["X-Sign", "X-Id", "Authorization"]), texts)),
    body=st.binary(max_size=40),
    secret=st.text(min_size=1, max_size=20),
)
def test_nothing_that_is_no_signature_is_found_in_any_headers(
    headers: list[tuple[str, str]], body: bytes, secret: str
) -> None:
    assert form_of_unknown_sender((secret,), headers, body, None) is None


def test_a_large_body_ends_the_search_in_time() -> None:
    headers = headers_of("{timestamp}.{body}", "{signature}", lambda _: b"x" * 32, bytes.hex, "0")
    assert form_of_unknown_sender(("s",), headers, b"x" * 2**20, LINE) is None
