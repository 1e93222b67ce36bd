"""Has providers' packages of PyPI verify and sign, as JSON on standard input says.

{"at": ..., "verify": [["stripe", {"secret": ..., "headers": {...}, "body": ..., "url": ...}], ...],
 "sign": [["stripe", {"secret": ..., "body": ..., "url": ..., "at": ..., "id": ...}], ...]}

Prints {"verify": [true, ...], "sign": [{header: value}, ...]}. Headers are in small letters.
"""

import json
import sys
from contextlib import redirect_stdout
from datetime import UTC, datetime
from types import SimpleNamespace
from urllib.parse import parse_qsl

import Adyen
import Adyen.util
import discord_interactions
import gidgethub.sansio
import hubspot.utils.signature
import linebot.v3.webhook
import nacl.signing
import pusher
import razorpay
import sendgrid.helpers.eventwebhook
import slack_sdk.signature
import square.utils.webhooks_helper
import standardwebhooks
import stripe
import svix
import twilio.request_validator
import workos
from paddle_billing.Notifications import Secret, Verifier


def hubspot_signature(given, version):
    return hubspot.utils.signature.Signature.get_signature(
        given["secret"],
        given["body"],
        version,
        given["url"],
        "POST",
        str(int(given.get("at", 0) * 1000)),
    )


def within_pem(text):
    """What the settings of SendGrid show: the base64 of a key without its first and last line."""
    return "".join(line for line in text.splitlines() if not line.startswith("-----"))


def twilio_fields(given):
    is_form = "form" in given["headers"]["content-type"]
    return dict(parse_qsl(given["body"], keep_blank_values=True)) if is_form else given["body"]


def with_time(given, sign, prefix):
    """Headers of Standard Webhooks; svix names them after itself."""
    at = datetime.fromtimestamp(int(given["at"]), UTC)
    return {
        f"{prefix}-id": given["id"],
        f"{prefix}-timestamp": str(int(given["at"])),
        f"{prefix}-signature": sign(given["id"], at, given["body"]),
    }


VERIFIERS = {
    "stripe": lambda each, headers: stripe.WebhookSignature.verify_header(
        each["body"], headers["stripe-signature"], each["secret"], 300
    ),
    "twilio": lambda each, headers: twilio.request_validator.RequestValidator(
        each["secret"]
    ).validate(each["url"], twilio_fields(each), headers["x-twilio-signature"]),
    "slack_sdk": lambda each, headers: slack_sdk.signature.SignatureVerifier(
        each["secret"]
    ).is_valid_request(each["body"], headers),
    "svix": lambda each, headers: svix.Webhook(each["secret"]).verify(each["body"], headers) or 1,
    "standardwebhooks": lambda each, headers: (
        standardwebhooks.Webhook(each["secret"]).verify(each["body"], headers) or 1
    ),
    "discord-interactions": lambda each, headers: discord_interactions.verify_key(
        each["body"].encode(),
        headers["x-signature-ed25519"],
        headers["x-signature-timestamp"],
        each["secret"],
    ),
    "PyNaCl": lambda each, headers: nacl.signing.VerifyKey(bytes.fromhex(each["secret"])).verify(
        (headers["x-signature-timestamp"] + each["body"]).encode(),
        bytes.fromhex(headers["x-signature-ed25519"]),
    ),
    "line-bot-sdk": lambda each, headers: linebot.v3.webhook.SignatureValidator(
        each["secret"]
    ).validate(each["body"], headers["x-line-signature"]),
    "razorpay": lambda each, headers: razorpay.Client(
        auth=("key", "secret")
    ).utility.verify_webhook_signature(
        each["body"], headers["x-razorpay-signature"], each["secret"]
    ),
    "Adyen": lambda each, _: Adyen.util.is_valid_hmac_notification(
        json.loads(each["body"]), each["secret"]
    ),
    "Adyen, platforms": lambda each, headers: Adyen.util.is_valid_hmac_payload(
        headers["hmacsignature"], each["secret"], each["body"].encode()
    ),
    "sendgrid": lambda each, headers: sendgrid.helpers.eventwebhook.EventWebhook(
        within_pem(each["secret"])
    ).verify_signature(
        each["body"],
        headers["x-twilio-email-event-webhook-signature"],
        headers["x-twilio-email-event-webhook-timestamp"],
    ),
    "paddle-python-sdk": lambda each, headers: Verifier(5).verify(
        SimpleNamespace(
            headers={"Paddle-Signature": headers["paddle-signature"]}, body=each["body"].encode()
        ),
        Secret(each["secret"]),
        verify_time_drift=False,  # it accepts five seconds, and starting may take longer
    ),
    "squareup": lambda each, headers: square.utils.webhooks_helper.verify_signature(
        request_body=each["body"],
        signature_header=headers["x-square-hmacsha256-signature"],
        signature_key=each["secret"],
        notification_url=each["url"],
    ),
    "workos": lambda each, headers: (
        workos.WorkOSClient(api_key="sk", client_id="c").webhooks.verify_header(
            event_body=each["body"],
            event_signature=headers["workos-signature"],
            secret=each["secret"],
        )
        or 1
    ),
    "pusher": lambda each, headers: pusher.Pusher(
        "1", headers["x-pusher-key"], each["secret"]
    ).validate_webhook(headers["x-pusher-key"], headers["x-pusher-signature"], each["body"]),
    "gidgethub": lambda each, headers: (
        gidgethub.sansio.validate_event(
            each["body"].encode(),
            signature=headers["x-hub-signature-256"],
            secret=each["secret"],
        )
        or 1
    ),
    "hubspot-api-client, version 1": lambda each, headers: (
        hubspot.utils.signature.Signature.is_valid(
            headers["x-hubspot-signature"],
            each["secret"],
            each["body"],
            signature_version="v1",
        )
    ),
    "hubspot-api-client": lambda each, headers: hubspot.utils.signature.Signature.is_valid(
        headers["x-hubspot-signature-v3"],
        each["secret"],
        each["body"],
        each["url"],
        "POST",
        "v3",
        headers["x-hubspot-request-timestamp"],
    ),
}
SIGNERS = {
    "stripe": lambda each: {
        "stripe-signature": stripe.WebhookSignature.generate_signature_header(
            each["body"], each["secret"], int(each["at"])
        )
    },
    "twilio": lambda each: {
        "content-type": "application/x-www-form-urlencoded",
        "x-twilio-signature": twilio.request_validator.RequestValidator(
            each["secret"]
        ).compute_signature(each["url"], dict(parse_qsl(each["body"]))),
    },
    "slack_sdk": lambda each: {
        "x-slack-request-timestamp": str(int(each["at"])),
        "x-slack-signature": slack_sdk.signature.SignatureVerifier(
            each["secret"]
        ).generate_signature(timestamp=str(int(each["at"])), body=each["body"]),
    },
    "svix": lambda each: with_time(each, svix.Webhook(each["secret"]).sign, "svix"),
    "standardwebhooks": lambda each: with_time(
        each, standardwebhooks.Webhook(each["secret"]).sign, "webhook"
    ),
    "PyNaCl": lambda each: {
        "x-signature-timestamp": str(int(each["at"])),
        "x-signature-ed25519": nacl.signing.SigningKey(bytes.fromhex(each["private"]))
        .sign(f"{int(each['at'])}{each['body']}".encode())
        .signature.hex(),
    },
    "Adyen, platforms": lambda each: {
        "hmacsignature": Adyen.util.generate_payload_sig(
            each["body"].encode(), each["secret"]
        ).decode()
    },
    "hubspot-api-client, version 1": lambda each: {
        "x-hubspot-signature": hubspot_signature(each, "v1")
    },
    "hubspot-api-client": lambda each: {
        "x-hubspot-request-timestamp": str(int(each["at"] * 1000)),
        "x-hubspot-signature-v3": hubspot_signature(each, "v3"),
    },
}
# Errors of this program; any other says that a signature is refused.
OWN = (AttributeError, ImportError, KeyError, NameError, OSError, TypeError)


def verdict(library, each):
    try:
        return bool(VERIFIERS[library](each, each["headers"]))
    except OWN:
        raise
    except Exception:  # noqa: BLE001 - each library refuses by errors of its own
        return False


given = json.load(sys.stdin)
with redirect_stdout(sys.stderr):  # some of them print
    done = {
        "verify": [verdict(library, each) for library, each in given["verify"]],
        "sign": [SIGNERS[library](each) for library, each in given["sign"]],
    }
sys.stdout.write(json.dumps(done))
