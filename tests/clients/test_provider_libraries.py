"""What we sign is verified by providers' own libraries, and what they sign by us.

One table: the language, the package, and the scheme. With one byte changed both sides refuse it.
"""

import hashlib
import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

import pytest

from hookproof import Sender
from hookproof.receiver.sending.signing import SignedDelivery, new_secret
from hookproof.receiver.signatures.judgement import SignatureJudge, contract_of_scheme
from hookproof.receiver.signatures.schemes.catalogue import load_scheme
from hookproof.receiver.signatures.schemes.request_parts import RequestLine
from hookproof.spec.dialect.reader import load_dialect
from tests.clients.tools import ADVICE, FOLDER, PACKAGES, tool
from tests.receiver.sending.signing_keys import verifying_secret
from tests.source_tree import ROOT

PROGRAMS: Final = ROOT / "tests" / "clients"
URL: Final = "https://hooks.example/in?tenant=7"
FORM: Final = "From=%2B15550100&Body=hi+there&To=%2B15550199"
# Some libraries look at more than the signature.
FURTHER_HEADERS: Final[Mapping[str, Mapping[str, str]]] = {
    "shopify": {
        "X-Shopify-Topic": "orders/create",
        "X-Shopify-Api-Version": "2026-01",
        "X-Shopify-Shop-Domain": "a.myshopify.com",
        "X-Shopify-Webhook-Id": "w1",
    },
    "pusher": {"X-Pusher-Key": "key"},
}


@dataclass(frozen=True, slots=True)
class Library:
    language: str
    name: str
    scheme: str
    signs: bool = False
    is_form: bool = False


LIBRARIES: Final = (
    Library("npm", "stripe", "stripe", signs=True),
    Library("npm", "@octokit/webhooks-methods", "github", signs=True),
    Library("npm", "@slack/bolt", "slack"),
    Library("npm", "@shopify/shopify-api", "shopify"),
    Library("npm", "twilio", "twilio", signs=True, is_form=True),
    Library("npm", "twilio", "twilio"),
    Library("npm", "discord-interactions", "discord"),
    Library("npm", "square", "square"),
    Library("npm", "@paddle/paddle-node-sdk", "paddle"),
    Library("npm", "@line/bot-sdk", "line"),
    Library("npm", "@linear/sdk", "linear"),
    Library("npm", "@sendgrid/eventwebhook", "sendgrid"),
    Library("npm", "razorpay", "razorpay"),
    Library("npm", "pusher", "pusher"),
    Library("npm", "svix", "svix", signs=True),
    Library("npm", "standardwebhooks", "standard-webhooks", signs=True),
    Library("PyPI", "stripe", "stripe", signs=True),
    Library("PyPI", "twilio", "twilio", signs=True, is_form=True),
    Library("PyPI", "twilio", "twilio"),
    Library("PyPI", "slack_sdk", "slack", signs=True),
    Library("PyPI", "svix", "svix", signs=True),
    Library("PyPI", "standardwebhooks", "standard-webhooks", signs=True),
    Library("PyPI", "discord-interactions", "discord"),
    Library("PyPI", "PyNaCl", "discord", signs=True),
    Library("PyPI", "line-bot-sdk", "line"),
    Library("PyPI", "razorpay", "razorpay"),
    Library("PyPI", "Adyen", "adyen"),
    Library("PyPI", "Adyen, platforms", "adyen-platform", signs=True),
    Library("PyPI", "sendgrid", "sendgrid"),
    Library("PyPI", "paddle-python-sdk", "paddle"),
    Library("PyPI", "squareup", "square"),
    Library("PyPI", "workos", "workos"),
    Library("PyPI", "pusher", "pusher"),
    Library("PyPI", "gidgethub", "github"),
    Library("PyPI", "hubspot-api-client, version 1", "hubspot-v1", signs=True),
    Library("PyPI", "hubspot-api-client", "hubspot", signs=True),
)


def body_of(library: Library, now: float) -> str:
    """An event with what the libraries read in it: some look at a time in the body."""
    if library.is_form:
        return FORM
    ms = int(now * 1000)
    event: dict[str, object] = {"id": "evt_1", "object": "event", "note": "Zoë <b> & 1/2"}
    event |= {"webhookTimestamp": ms, "time_ms": ms}
    if library.scheme == "adyen":
        fields = {
            "pspReference": "PSP1",
            "merchantAccountCode": "Shop",
            "merchantReference": "order 7",
            "amount": {"value": 7500, "currency": "SEK"},
            "eventCode": "AUTHORISATION",
            "success": "true",
            "additionalData": {},
        }
        event["notificationItems"] = [{"NotificationRequestItem": fields}]
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def url_of(library: Library, body: str) -> str:
    if library.scheme != "twilio" or library.is_form:
        return URL
    return f"{URL}&bodySHA256={hashlib.sha256(body.encode()).hexdigest()}"


def one_byte_changed(library: Library, body: str) -> str:
    """With a byte changed that is signed, and that leaves JSON to be JSON."""
    old, new = {"adyen": ("7500", "7501")}.get(library.scheme, ("h", "j"))
    if library.is_form:
        old, new = "there", "thfre"
    elif library.scheme != "adyen":
        old, new = "evt_1", "evt_2"
    assert old in body
    return body.replace(old, new)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One library's part: what we signed, and the secret for each side."""

    library: Library
    signing: str
    verifying: str
    body: str
    url: str
    at: float

    def delivery(self) -> SignedDelivery:
        kind = "application/x-www-form-urlencoded" if self.library.is_form else "application/json"
        headers = {"Content-Type": kind, **FURTHER_HEADERS.get(self.library.scheme, {})}
        sender = Sender(self.library.scheme, self.signing, headers=headers)
        (delivery,) = sender.signed(self.body, url=self.url)
        return delivery

    def judged(self, headers: Mapping[str, str], body: str) -> bool:
        judge = SignatureJudge(
            dialect=load_dialect("reference"), secrets=(self.verifying,), automatic=True
        )
        line = RequestLine(method="POST", url=self.url)
        found = [*headers.items()]
        return judge.judge(found, body.encode(), self.at, line).verified


def exchange_of(library: Library, at: float) -> Exchange:
    contract = contract_of_scheme(load_scheme(library.scheme))
    signing = new_secret(contract)
    body = body_of(library, at)
    verifying = verifying_secret(contract, signing)
    return Exchange(library, signing, verifying, body, url_of(library, body), at)


class Outcome(NamedTuple):
    """The verdicts on our delivery and on it with one byte changed; the headers that it signed."""

    verdicts: tuple[bool, bool]
    signed: Mapping[str, str]
    exchange: Exchange


@cache
def outcomes_of(language: str) -> Mapping[Library, Outcome]:
    """Of all libraries of a language, run at once: their verdicts and signatures."""
    at = time.time()
    libraries = [each for each in LIBRARIES if each.language == language]
    exchanges = {each: exchange_of(each, at) for each in libraries}
    given: dict[str, Any] = {"at": at, "verify": [], "sign": []}
    for library, exchange in exchanges.items():
        delivery = exchange.delivery()
        text = delivery.body.decode()
        for body in (text, one_byte_changed(library, text)):
            headers = {name.lower(): value for name, value in delivery.headers}
            request = {"secret": exchange.verifying, "headers": headers, "body": body}
            given["verify"].append([library.name, request | {"url": exchange.url}])
        event = {"secret": exchange.verifying, "private": exchange.signing, "body": exchange.body}
        if library.signs:
            event |= {"url": exchange.url, "id": "evt_1"}
            given["sign"].append([library.name, event | {"at": at}])
    done = subprocess.run(
        COMMANDS[language](),
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        # Certificates of the tests are none of theirs.
        env={name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ},
    )
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    verdicts, signatures = iter(answers["verify"]), iter(answers["sign"])
    return {
        library: Outcome(
            (next(verdicts), next(verdicts)), next(signatures) if library.signs else {}, exchange
        )
        for library, exchange in exchanges.items()
    }


def _node() -> list[str]:
    return ["node", str(PROGRAMS / "provider_libraries.mjs"), str(PACKAGES)]


def _python() -> list[str]:
    return [tool("python"), str(PROGRAMS / "provider_libraries.py")]


COMMANDS: Final[Mapping[str, Callable[[], list[str]]]] = {"npm": _node, "PyPI": _python}


@pytest.fixture(params=COMMANDS)
def outcomes(request: pytest.FixtureRequest) -> Mapping[Library, Outcome]:
    language: str = request.param
    is_installed = {
        "npm": (PACKAGES / "@paddle").exists(),
        "PyPI": bool(list(FOLDER.glob("lib/python*/site-packages/paddle_billing"))),
    }
    if not is_installed[language]:
        pytest.skip(f"the libraries of {language} are not installed: {ADVICE}")
    return outcomes_of(language)


def test_libraries_verify_what_we_sign_and_refuse_one_byte_changed(
    outcomes: Mapping[Library, Outcome],
) -> None:
    verdicts = {each: outcome.verdicts for each, outcome in outcomes.items()}
    assert verdicts == dict.fromkeys(verdicts, (True, False))


def test_we_verify_what_libraries_sign_and_refuse_one_byte_changed(
    outcomes: Mapping[Library, Outcome],
) -> None:
    verdicts = {}
    for library, (_, signed, exchange) in outcomes.items():
        if library.signs:
            headers = {"content-type": "application/json"} | signed
            changed = one_byte_changed(library, exchange.body)
            verdicts[library] = (
                exchange.judged(headers, exchange.body),
                exchange.judged(headers, changed),
            )
    assert verdicts == dict.fromkeys(verdicts, (True, False))
