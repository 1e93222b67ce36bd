"""What each provider signs is verified with nothing but the secret, and nothing else is."""

import base64
import hashlib
import hmac
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
import yaml
from click.testing import CliRunner

from hookproof.receiver.cli.scheme import scheme as scheme_command
from hookproof.receiver.cli.verify import verify as verify_command
from hookproof.receiver.signatures.judgement import SignatureJudge, SignatureJudgement
from hookproof.receiver.signatures.schemes.catalogue import (
    Entry,
    NamedScheme,
    SchemeProblem,
    SecretText,
    load_scheme,
    shipped_schemes,
    shown,
)
from hookproof.receiver.signatures.schemes.challenge import Challenge
from hookproof.receiver.signatures.schemes.request_parts import (
    REQUEST_PART,
    RequestLine,
    inflated,
)
from hookproof.receiver.signatures.verification import Verified, verify
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.vocabulary import Algorithm
from tests.receiver.signatures.schemes.provider_signers import (
    GIVEN,
    JSON,
    KEY,
    NAMES,
    TEXT_SECRET,
    TIME,
    URL,
    ProviderRequest,
    scheme_of,
    signed,
)
from tests.source_tree import ROOT

LINE: Final = RequestLine(method="POST", url=URL)
# What these two sign of their bodies, altered.
SIGNED_MEMBERS: Final = {
    "adyen": ((b"7500", b"7501"), (b"SEK", b"EUR"), (b"PSP1", b"PSP2"), (b'"true"', b'"false"')),
    "mailgun": ((b"7a7a", b"7a7b"), (str(TIME).encode(), str(TIME + 1).encode())),
}
UNSIGNED_HEADERS: Final = {"Host", "Content-Type", "Content-Encoding", "PAYPAL-AUTH-ALGO"}
UNSIGNED_BODY: Final = {"gitlab", "telegram", "flutterwave", "postmark", "mailgun", "adyen"}


def judged(request: ProviderRequest, name: str | None = None) -> SignatureJudgement:
    judge = SignatureJudge(
        dialect=load_dialect("reference"),
        secrets=(request.secret,),
        schemes=(scheme_of(name),) if name else (),
        automatic=name is None,
    )
    return judge.judge(request.headers, request.body, TIME, LINE)


def verified_by(scheme: NamedScheme, request: ProviderRequest, line: RequestLine = LINE) -> bool:
    outcome = verify(
        scheme.signature,
        scheme.secret,
        (request.secret,),
        request.headers,
        scheme.entry.id_header,
        request.body,
        TIME,
        line,
    )
    return isinstance(outcome, Verified)


def test_every_scheme_is_signed_here() -> None:
    assert list(shipped_schemes()) == NAMES
    assert len(NAMES) >= 60


@pytest.mark.parametrize("name", NAMES)
def test_what_a_provider_signs_is_verified_with_nothing_but_the_secret(name: str) -> None:
    request = signed(name)
    automatic = judged(request)
    assert automatic.scheme is not None
    if name in GIVEN:
        assert automatic.scheme.name == name
        assert "give it after the name of the scheme" in automatic.sentence
        assert "is in no request, so nothing can be verified without it" in automatic.sentence
        assert "another key" not in automatic.sentence
    else:
        assert automatic.verified, automatic.sentence
        assert name in {automatic.scheme.name, *(each.name for each in automatic.others)} | (
            {"github-sha1"} if automatic.scheme.name == "intercom" else set()
        )
    assert judged(request, name).verified
    assert not judged(replace(request, secret="c2VjcmV0IG5vdA==")).verified
    assert load_scheme(name).entry.source.startswith("https://")


def tampered(
    request: ProviderRequest, name: str, chance: random.Random
) -> Iterator[ProviderRequest]:
    """The request with one byte of body, signature or time changed, cut off or doubled."""
    for old, new in SIGNED_MEMBERS.get(name, ()):
        yield replace(request, body=request.body.replace(old, new))
    if name not in UNSIGNED_BODY:
        place = chance.randrange(len(request.body))
        other = bytes([request.body[place] ^ (1 << chance.randrange(8))])
        changed = request.body[:place] + other + request.body[place + 1 :]
        yield replace(request, body=changed)
        yield replace(request, body=request.body + b" ")
        yield replace(request, body=request.body[:-1])
        yield replace(request, body=b"")
    for index, (header, value) in enumerate(request.headers):
        if header in UNSIGNED_HEADERS or "v1a,AAAA" in value:
            continue
        place = chance.randrange(len(value))
        letter = chance.choice([each for each in "0a1b" if each.lower() != value[place].lower()])
        for text in (value[:place] + letter + value[place + 1 :], value[:-2]):
            headers = list(request.headers)
            headers[index] = (header, text)
            yield replace(request, headers=tuple(headers))
        yield replace(request, headers=tuple(each for each in request.headers if each[0] != header))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_tampered_is_verified_by_any_scheme(name: str) -> None:
    chance = random.Random(name)
    request = signed(name)
    tried = 0
    for _ in range(12):
        for altered in tampered(request, name, chance):
            # Where the content is signed, gzip may say the same in other bytes.
            if altered == request or (
                name == "getstream"
                and altered.headers == request.headers
                and inflated(altered.body) == inflated(request.body)
            ):
                continue
            tried += 1
            verifying = [each for each in NAMES if verified_by(scheme_of(each), altered)]
            assert verifying == [], (altered.headers, altered.body)
    assert tried >= 12


@pytest.mark.parametrize("name", ["square", "twilio", "hubspot", "trello", "hubspot-v2"])
def test_another_url_or_method_is_not_verified_where_these_are_signed(name: str) -> None:
    request, scheme = signed(name), scheme_of(name)
    assert verified_by(scheme, request)
    assert not verified_by(scheme, request, replace(LINE, url=URL.replace("https", "http")))
    assert not verified_by(scheme, request, replace(LINE, url=f"{URL}&y=1"))
    if "hubspot" in name:
        assert not verified_by(scheme, request, replace(LINE, method="PUT"))


@pytest.mark.parametrize(
    ("hashed", "verified"), [(JSON, True), (JSON + b" ", False), (None, False)]
)
def test_a_body_that_is_no_form_is_signed_by_its_hash_in_the_url(
    hashed: bytes | None, verified: bool
) -> None:
    query = "" if hashed is None else f"?bodySHA256={hashlib.sha256(hashed).hexdigest()}"
    url = f"https://hooks.example/in{query}"
    mac = hmac.new(KEY, url.encode(), "sha1").digest()
    request = ProviderRequest(
        headers=(
            ("Content-Type", "application/json"),
            ("X-Twilio-Signature", base64.b64encode(mac).decode()),
        ),
        body=JSON,
        secret=TEXT_SECRET,
    )
    assert verified_by(load_scheme("twilio"), request, replace(LINE, url=url)) is verified


# In seconds, where the documentation of the sender has another limit than most.
ACCEPTED_AGES: Final = {
    "box": 600, "calendly": 180, "elevenlabs": 1800, "paddle": 5, "twitch": 600, "workos": 180,
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_age_that_a_sender_allows_is_accepted_and_no_more(name: str) -> None:
    request, scheme = signed(name), scheme_of(name)
    accepted = ACCEPTED_AGES.get(name, 300)
    has_time = judged(request, name).age_s is not None
    for age, verified in ((accepted - 1, True), (accepted + 2, not has_time)):
        judge = SignatureJudge(
            dialect=load_dialect("reference"), secrets=(request.secret,), schemes=(scheme,)
        )
        assert judge.judge(request.headers, request.body, TIME + age, LINE).verified is verified


def test_a_batch_of_which_one_item_is_signed_is_not_verified() -> None:
    request = signed("adyen")
    item = request.body[request.body.index(b"[") + 1 : request.body.rindex(b"]")]
    assert not judged(
        replace(request, body=request.body.replace(item, item + b"," + item))
    ).verified


def test_a_token_does_not_count_beside_a_signature_that_is_wrong() -> None:
    request = signed("gitlab")
    headers = (*request.headers, ("X-Hub-Signature-256", "sha256=" + "ab" * 32))
    assert not judged(replace(request, headers=headers)).verified


def test_a_scheme_that_is_shown_can_be_given_as_a_file(tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    for name, scheme in shipped_schemes().items():
        file.write_text(shown(scheme), encoding="utf-8")
        again = load_scheme(str(file))
        assert (again.signature, again.secret) == (scheme.signature, scheme.secret), name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "is not YAML"),
        ("- 1", "is not a scheme"),
        ("{}", "missing required field `header`"),
        ("header: X\nsigned_by: me", "unknown field `signed_by`"),
        ("header: X\nhash: sha3", "$.hash"),
        ("header: X\nitem: v1", "item needs {signature}"),
        ("header: X\nsigned: text", "no placeholder"),
        ("header: X\ntolerance_s: -1", "tolerance_s"),
        ("header: X\nsecret: {public_key: AAAA}", "hmac has no public_key"),
        (
            'header: Signature\nhash: sha512\nsigned: "{signature_base}"',
            "HTTP message signatures have one of: hmac sha256, ed25519 sha256",
        ),
    ],
)
def test_a_scheme_with_a_mistake_is_refused_in_one_line(
    text: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SchemeProblem) as refused:
        load_scheme(str(file))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_settings_follow_the_name_of_a_scheme_or_stand_in_its_file(tmp_path: Path) -> None:
    request = signed("paypal")
    assert judged(request, "paypal").verified
    given = GIVEN["paypal"]
    assert not verified_by(load_scheme(f"{given}1"), request)
    file = tmp_path / "ours.yaml"
    file.write_text(shown(load_scheme(given)), encoding="utf-8")
    assert verified_by(load_scheme(str(file)), request)
    assert not verified_by(load_scheme(f"{file}:webhook_id=other"), request)
    for text, message in (
        ("paypal:webhook=1", "the scheme paypal has no setting 'webhook'; it has webhook_id"),
        ("github:webhook_id=1", "it has none"),
        ("paypals:webhook_id=1", "there is no scheme 'paypals'"),
        ("paypal:webhook_id", "there is no scheme 'paypal:webhook_id'"),
    ):
        with pytest.raises(SchemeProblem, match=message):
            load_scheme(text)


def test_a_public_key_may_stand_in_the_scheme(tmp_path: Path) -> None:
    request = signed("paypal")
    entry = yaml.safe_load(shown(load_scheme(GIVEN["paypal"])))
    entry["secret"]["public_key"] = request.secret
    file = tmp_path / "ours.yaml"
    file.write_text(yaml.safe_dump(entry), encoding="utf-8")
    lines = [f"{name}: {value}" for name, value in request.headers]
    delivery = tmp_path / "delivery.http"
    delivery.write_bytes("\r\n".join(["POST /in HTTP/1.1", *lines, "", ""]).encode() + JSON)
    arguments = ["--request", str(delivery), "--scheme", str(file)]
    ours = CliRunner().invoke(verify_command, arguments, env={"HOOKPROOF_SECRET": ""})
    assert ours.output.startswith("verified: signed by the key 1, by the scheme ours")
    other = CliRunner().invoke(verify_command, arguments, env={"HOOKPROOF_SECRET": "AAAA"})
    assert other.output.startswith("not verified")
    pem = CliRunner().invoke(
        verify_command,
        [*arguments[:2], "--scheme", GIVEN["paypal"]],
        env={"HOOKPROOF_SECRET": request.secret},
    )
    assert request.secret.endswith("\n")
    assert pem.output.startswith("verified")
    assert "note:" not in pem.output


def test_the_commands_show_all_schemes_and_one() -> None:
    listed = CliRunner().invoke(scheme_command, ["list"]).output.splitlines()
    assert [line.split()[0] for line in listed] == NAMES
    assert "Stripe-Signature" in CliRunner().invoke(scheme_command, ["show", "stripe"]).output
    unknown = CliRunner().invoke(scheme_command, ["show", "stripes"])
    assert unknown.exit_code == 2
    assert "there is no scheme 'stripes'" in unknown.output


@pytest.mark.parametrize(
    ("name", "header"),
    [
        (each.name, header)
        for each in shipped_schemes().values()
        for header in each.entry.other_headers
    ],
)
def test_a_further_header_has_the_signature_of_another_secret(name: str, header: str) -> None:
    right = signed(name)
    first = load_scheme(name).signature.header
    moved = tuple((header if each == first else each, value) for each, value in right.headers)
    of_another = (first, base64.b64encode(bytes(32)).decode())
    request = replace(right, headers=(*moved, of_another))
    for chosen in (None, name):
        judgement = judged(request, chosen)
        assert (judgement.verified, judgement.header) == (True, header)
        assert not judged(replace(request, body=right.body + b" "), chosen).verified


PAGE: Final = (ROOT / "docs" / "schemes.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_the_page_of_schemes_has_a_true_row_for_each(name: str) -> None:
    entry = load_scheme(name).entry
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| [`{name}`](")]
    link, title, header, signed_, age = re.split(r" ?(?<!\\)\| ?", row)[1:-1]
    assert link == f"[`{name}`]({entry.source})"
    assert (title, header) == (entry.title, f"`{entry.header}`")
    assert not entry.algorithm.signs or f"`{entry.signed}`" in signed_.replace("\\|", "|")
    has_time = entry.timestamp_header or "{timestamp}" in entry.signed + entry.value
    assert age.strip() == (f"{entry.tolerance_s:g} s" if has_time else "")


def test_the_page_of_schemes_describes_all_that_a_file_may_say() -> None:
    parts = [each.split(":")[0] for each in REQUEST_PART.split("|")]
    words = [
        *Entry.__struct_fields__,
        *SecretText.__struct_fields__,
        *Challenge.__struct_fields__,
        *Algorithm,
        *FORMS,
    ]
    assert [each for each in words if f"`{each}`" not in PAGE] == []
    described = {*re.findall(r"`\{(\w+)", PAGE)}
    assert described >= {*parts, "id", "timestamp", "body", "signatures", "signature", "version"}


# Values of fields that stand in the same cell.
FORMS: Final = ("hex", "pem", "base64", "base64_unpadded", "base64url", "base64url_unpadded")
