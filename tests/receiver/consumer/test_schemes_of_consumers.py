"""A good consumer of any scheme is not named, whatever its scheme lacks."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

import pytest
from aiohttp import web

from hookproof.receiver.cli.check_consumer import BODY, new_event
from hookproof.receiver.cli.signing_options import JSON, Signing
from hookproof.receiver.consumer.examination import Examination
from hookproof.receiver.consumer.finding import Finding, Verdict, requirements
from hookproof.receiver.sending.attempt import Signer
from hookproof.receiver.sending.exchange import Consumer
from hookproof.receiver.signatures.judgement import Contract, contract_of_scheme
from hookproof.receiver.signatures.schemes.request_parts import RequestLine
from hookproof.receiver.signatures.verification import Verified, verify
from tests.receiver.sending.consumer_thread import serving
from tests.receiver.sending.signing_keys import FORM, two_secrets, verifying_secret
from tests.receiver.signatures.schemes.provider_signers import NAMES, scheme_of

URL: Final = "https://hooks.example/in"
# One scheme of each kind, with some of what it lacks.
LACKS: Final[Mapping[str, set[str]]] = {
    "adyen": {"refuses-tampered-body", "refuses-old", "takes-rolled", "survives-empty"},
    "discord": {"refuses-empty-secret", "takes-rolled"},
    "getstream": {"refuses-old", "takes-rolled"},
    "github": {"refuses-old", "refuses-changed-time", "takes-late", "takes-other-order"},
    "gitlab": {"refuses-tampered-body", "refuses-old", "refuses-empty-secret"},
    "http-message-signatures": set(),
    "http-message-signatures-ecdsa": {"refuses-empty-secret"},
    "http-message-signatures-ed25519": {"refuses-empty-secret"},
    "http-message-signatures-rsa": {"refuses-empty-secret"},
    "http-message-signatures-rsa-pss": {"refuses-empty-secret"},
    "hubspot": {"takes-rolled"},
    "mailgun": {"refuses-tampered-body", "takes-rolled", "survives-binary"},
    "paypal": {"refuses-empty-secret", "takes-rolled"},
    "postmark": {"refuses-tampered-body", "refuses-old", "refuses-empty-secret"},
    "sendgrid": {"refuses-empty-secret", "takes-rolled"},
    "slack": {"takes-rolled"},
    "standard-webhooks-ed25519": {"refuses-empty-secret"},
    "stripe": set(),
    "twilio": {"takes-indented", "refuses-old"},
    "twitch": {"takes-rolled"},
}
# What they have that others lack.
HAS: Final[Mapping[str, set[str]]] = {
    "http-message-signatures-ed25519": {
        "refuses-tampered-body", "refuses-changed-time", "refuses-old", "takes-rolled",
        "survives-compressed", "refuses-half-signature",
    },
    "paypal": {"refuses-tampered-body", "refuses-changed-time", "refuses-old"},
}  # fmt: skip


def consumer_of(contract: Contract, secret: str) -> object:
    """A consumer that takes what this secret verifies, and no body that is no text."""

    async def answer(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        headers = [(name.decode(), value.decode()) for name, value in request.raw_headers]
        outcome = verify(
            contract.signature,
            contract.secret,
            (secret,),
            headers,
            contract.event_id_header,
            body,
            time.time(),
            RequestLine(method="POST", url=URL),
        )
        return web.Response(status=204 if isinstance(outcome, Verified) else 403)

    return answer


def examine(name: str) -> list[Finding]:
    contract = contract_of_scheme(scheme_of(name))
    secret, expired = two_secrets(contract)
    is_form = "{form}" in contract.signature.signed
    signing = Signing(
        contract=contract,
        secrets=(secret,),
        headers=FORM if is_form else (JSON,),
        url=URL,
    )
    body = b"id=HOOKPROOF_EVENT_ID&note=HOOKPROOF_TEXT" if is_form else BODY
    signer = Signer(
        contract=contract,
        secrets=(secret,),
        line=RequestLine(method="POST", url=URL),
        size=2**16,
        expired=expired,
    )

    async def run(url: str) -> list[Finding]:
        examination = Examination(
            consumer=replace(Consumer.at(url, ca=None, timeout_s=20), pause_s=0.01),
            signer=signer,
            new_event=partial(new_event, signing, body),
            own_event=True,
            effect=None,
        )
        return [each async for each in examination.findings(requirements())]

    with serving(consumer_of(contract, verifying_secret(contract, secret))) as url:
        return asyncio.run(run(url))


@pytest.mark.parametrize("name", NAMES)
def test_a_good_consumer_is_not_named_whatever_its_scheme(name: str) -> None:
    findings = examine(name)
    by_verdict = {
        verdict: {each.id: each.proof for each in findings if each.verdict is verdict}
        for verdict in Verdict
    }
    assert by_verdict[Verdict.FAIL] == {}
    assert by_verdict[Verdict.NOT_EXERCISED].keys() == {"one-effect", "one-effect-at-once"}
    assert by_verdict[Verdict.NOT_APPLICABLE].keys() >= LACKS.get(name, set())
    assert by_verdict[Verdict.PASS].keys() >= HAS.get(name, set()) | {
        "takes-right", "refuses-unsigned", "refuses-other-secret", "refuses-changed-signature",
    }  # fmt: skip
