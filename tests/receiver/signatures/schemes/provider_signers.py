"""How providers sign, written by hand as their documentation says, and without the catalogue.

`signed(name, secret, body)` is a request as the provider sends it, at TIME and to URL.
"""

import base64
import gzip
import hashlib
import hmac
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Final
from urllib.parse import parse_qsl

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from cryptography.x509.oid import NameOID

from hookproof.receiver.signatures.schemes.catalogue import NamedScheme, load_scheme

TIME: Final = 1767323045
DATE: Final = "2026-01-02T03:04:05Z"
URL: Final = "https://hooks.example/in?x=a%3Ab"
DECODED_URL: Final = "https://hooks.example/in?x=a:b"
JSON: Final = b'{"id":7,"note":"Zo\xc3\xab <b>","price":1.50}'
FORM: Final = b"From=%2B15550100&Body=hi+there&To=%2B15550199"
TEXT_SECRET: Final = "a made-up secret"
HEX_SECRET: Final = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"
WEBHOOK_ID: Final = "8PT597110X687430L"
BASE64_SECRET: Final = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLw=="


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRequest:
    """A request of a provider, and the secret that verifies it."""

    headers: tuple[tuple[str, str], ...]
    body: bytes
    secret: str


def _mac(key: bytes, message: bytes, name: str = "sha256") -> bytes:
    return hmac.new(key, message, name).digest()


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


# A header with the HMAC of the body alone, in hex: what stands before it.
HEX_OF_BODY: Final[Mapping[str, tuple[str, str]]] = {
    "asana": ("X-Hook-Signature", ""),
    "bitbucket": ("X-Hub-Signature", "sha256="),
    "circleci": ("circleci-signature", "v1="),
    "coinbase-commerce": ("X-CC-Webhook-Signature", ""),
    "dropbox": ("X-Dropbox-Signature", ""),
    "easypost": ("X-Hmac-Signature", "hmac-sha256-hex="),
    "github": ("X-Hub-Signature-256", "sha256="),
    "gocardless": ("Webhook-Signature", ""),
    "greenhouse": ("Signature", "sha256 "),
    "launchdarkly": ("X-LD-Signature", ""),
    "lemon-squeezy": ("X-Signature", ""),
    "linear": ("Linear-Signature", ""),
    "meta": ("X-Hub-Signature-256", "sha256="),
    "notion": ("X-Notion-Signature", "sha256="),
    "outpost": ("x-outpost-signature", "v0="),
    "pagerduty": ("X-PagerDuty-Signature", "v1="),
    "pusher": ("X-Pusher-Signature", ""),
    "razorpay": ("X-Razorpay-Signature", ""),
    "sentry": ("Sentry-Hook-Signature", ""),
}
# The same in base64.
BASE64_OF_BODY: Final[Mapping[str, tuple[str, str]]] = {
    "cronofy": ("Cronofy-HMAC-SHA256", ""),
    "docusign": ("X-DocuSign-Signature-1", ""),
    "heroku": ("Heroku-Webhook-Hmac-SHA256", ""),
    "hookdeck": ("x-hookdeck-signature", ""),
    "line": ("X-Line-Signature", ""),
    "quickbooks": ("intuit-signature", ""),
    "shopify": ("X-Shopify-Hmac-Sha256", ""),
    "typeform": ("Typeform-Signature", "sha256="),
    "woocommerce": ("X-WC-Webhook-Signature", ""),
    "xero": ("x-xero-signature", ""),
}
# One header with the time and the signature, as Stripe's.
TIME_IN_HEADER: Final[Mapping[str, tuple[str, str, str]]] = {
    "calendly": ("Calendly-Webhook-Signature", "t={time},v1={mac}", "."),
    "convoy": ("X-Convoy-Signature", "t={time},v1={mac}", ","),
    "elevenlabs": ("ElevenLabs-Signature", "t={time},v0={mac}", "."),
    "mux": ("Mux-Signature", "t={time},v1={mac}", "."),
    "paddle": ("Paddle-Signature", "ts={time};h1={mac}", ":"),
    "persona": ("Persona-Signature", "t={time},v1={mac}", "."),
    "stripe": ("Stripe-Signature", "t={time},v1={mac},v0=00", "."),
}


def _hex_of_body(name: str) -> ProviderRequest:
    header, before = HEX_OF_BODY[name]
    return _request((header, before + _mac(TEXT_SECRET.encode(), JSON).hex()))


def _base64_of_body(name: str) -> ProviderRequest:
    header, before = BASE64_OF_BODY[name]
    return _request((header, before + _base64(_mac(TEXT_SECRET.encode(), JSON))))


def _time_in_header(name: str) -> ProviderRequest:
    header, form, joint = TIME_IN_HEADER[name]
    mac = _mac(TEXT_SECRET.encode(), f"{TIME}{joint}".encode() + JSON).hex()
    return _request((header, form.format(time=TIME, mac=mac)))


def _request(
    *headers: tuple[str, str], body: bytes = JSON, secret: str = TEXT_SECRET
) -> ProviderRequest:
    kind = "application/x-www-form-urlencoded" if body == FORM else "application/json"
    return ProviderRequest(
        headers=(("Host", "hooks.example"), ("Content-Type", kind), *headers),
        body=body,
        secret=secret,
    )


def _slack_like(header: str, time_header: str, before: str) -> ProviderRequest:
    mac = _mac(TEXT_SECRET.encode(), f"v0:{TIME}:".encode() + JSON).hex()
    return _request((time_header, str(TIME)), (header, before + mac))


def _standard(prefix: str) -> ProviderRequest:
    message = f"msg_1.{TIME}.".encode() + JSON
    mac = _base64(_mac(base64.b64decode(BASE64_SECRET), message))
    return _request(
        (f"{prefix}-id", "msg_1"),
        (f"{prefix}-timestamp", str(TIME)),
        (f"{prefix}-signature", f"v1a,AAAA v1,{mac}"),
        secret=f"whsec_{BASE64_SECRET}",
    )


def _standard_ed25519() -> ProviderRequest:
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    signature = _base64(key.sign(f"msg_1.{TIME}.".encode() + JSON))
    return _request(
        ("webhook-id", "msg_1"),
        ("webhook-timestamp", str(TIME)),
        ("webhook-signature", f"v1a,{signature}"),
        secret=f"whpk_{_base64(key.public_key().public_bytes_raw())}",
    )


def _discord() -> ProviderRequest:
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    return _request(
        ("X-Signature-Timestamp", str(TIME)),
        ("X-Signature-Ed25519", key.sign(str(TIME).encode() + JSON).hex()),
        secret=key.public_key().public_bytes_raw().hex(),
    )


def _sendgrid() -> ProviderRequest:
    key = ec.derive_private_key(7, ec.SECP256R1())
    signature = key.sign(str(TIME).encode() + JSON, ec.ECDSA(hashes.SHA256()))
    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return _request(
        ("X-Twilio-Email-Event-Webhook-Timestamp", str(TIME)),
        ("X-Twilio-Email-Event-Webhook-Signature", _base64(signature)),
        secret=_base64(public),
    )


@cache
def rsa_key(_number: int = 1) -> rsa.RSAPrivateKey:
    """A key of all tests, and others: to make one takes a while."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def private_pem(key: PrivateKeyTypes) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def _public_pem(key: PublicKeyTypes) -> str:
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def _certificate(key: rsa.RSAPrivateKey) -> str:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a sender")])
    from_, until = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
    unsigned = x509.CertificateBuilder(name, name, key.public_key(), 7, from_, until)
    return unsigned.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM).decode()


def _paypal() -> ProviderRequest:
    message = f"msg_1|{DATE}|{WEBHOOK_ID}|{zlib.crc32(JSON)}".encode()
    signature = rsa_key().sign(message, padding.PKCS1v15(), hashes.SHA256())
    return _request(
        ("PAYPAL-TRANSMISSION-ID", "msg_1"),
        ("PAYPAL-TRANSMISSION-TIME", DATE),
        ("PAYPAL-AUTH-ALGO", "SHA256withRSA"),
        ("PAYPAL-TRANSMISSION-SIG", _base64(signature)),
        secret=_certificate(rsa_key()),
    )


def message_signed(
    algorithm: str, sign: Callable[[bytes], bytes], secret: str, digest: str = "sha256"
) -> ProviderRequest:
    """An HTTP message signature, written by hand."""
    content = _base64(hashlib.new(digest, JSON).digest())
    field = f"{digest[:3]}-{digest[3:]}=:{content}:"
    parameters = (
        f'("@method" "@target-uri" "content-digest");created={TIME};keyid="k";alg="{algorithm}"'
    )
    base = (
        f'"@method": POST\n"@target-uri": {URL}\n"content-digest": {field}\n'
        f'"@signature-params": {parameters}'
    )
    return _request(
        ("Content-Digest", field),
        ("Signature-Input", f"sig1={parameters}"),
        ("Signature", f"sig1=:{_base64(sign(base.encode()))}:"),
        secret=secret,
    )


def _raw(signature: bytes) -> bytes:
    return b"".join(number.to_bytes(32, "big") for number in decode_dss_signature(signature))


ED25519_KEY: Final = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
EC_KEY: Final = ec.derive_private_key(7, ec.SECP256R1())
MESSAGE_SIGNATURES: Final[Mapping[str, Callable[[], ProviderRequest]]] = {
    "http-message-signatures": lambda: message_signed(
        "hmac-sha256", lambda base: _mac(base64.b64decode(BASE64_SECRET), base), BASE64_SECRET
    ),
    "http-message-signatures-ecdsa": lambda: message_signed(
        "ecdsa-p256-sha256",
        lambda base: _raw(EC_KEY.sign(base, ec.ECDSA(hashes.SHA256()))),
        _public_pem(EC_KEY.public_key()),
    ),
    "http-message-signatures-ed25519": lambda: message_signed(
        "ed25519", ED25519_KEY.sign, _public_pem(ED25519_KEY.public_key()), "sha512"
    ),
    "http-message-signatures-rsa": lambda: message_signed(
        "rsa-v1_5-sha256",
        lambda base: rsa_key().sign(base, padding.PKCS1v15(), hashes.SHA256()),
        _public_pem(rsa_key().public_key()),
    ),
    "http-message-signatures-rsa-pss": lambda: message_signed(
        "rsa-pss-sha512",
        lambda base: rsa_key().sign(
            base, padding.PSS(padding.MGF1(hashes.SHA512()), 64), hashes.SHA512()
        ),
        _public_pem(rsa_key().public_key()),
    ),
}


def _adyen() -> ProviderRequest:
    item = {
        "additionalData": {},
        "amount": {"value": 7500, "currency": "SEK"},
        "eventCode": "AUTHORISATION",
        "merchantAccountCode": "ACC",
        "merchantReference": "14-08",
        "pspReference": "PSP1",
        "success": "true",
    }
    message = b"PSP1::ACC:14-08:7500:SEK:AUTHORISATION:true"
    mac = _base64(_mac(bytes.fromhex(HEX_SECRET), message))
    item["additionalData"] = {"hmacSignature": mac}
    body = {"live": "false", "notificationItems": [{"NotificationRequestItem": item}]}
    return _request(body=json.dumps(body).encode(), secret=HEX_SECRET)


def _mailgun() -> ProviderRequest:
    token = "7a" * 25
    signature = {
        "token": token,
        "timestamp": str(TIME),
        "signature": _mac(TEXT_SECRET.encode(), f"{TIME}{token}".encode()).hex(),
    }
    return _request(body=json.dumps({"signature": signature, "event-data": {}}).encode())


def _of_url_and_form(header: str) -> ProviderRequest:
    fields = "".join(name + value for name, value in sorted(parse_qsl(FORM.decode())))
    mac = _mac(TEXT_SECRET.encode(), (URL + fields).encode(), "sha1")
    return _request((header, _base64(mac)), body=FORM)


def _with_date(
    header: str, time_header: str, message: bytes, encode: Callable[[bytes], str]
) -> ProviderRequest:
    mac = _mac(TEXT_SECRET.encode(), message)
    identifier = (("Twitch-Eventsub-Message-Id", "msg_1"),) if "Twitch" in header else ()
    return _request(*identifier, (time_header, DATE), (header, encode(mac)))


def _getstream() -> ProviderRequest:
    request = _request(("X-Signature", _mac(TEXT_SECRET.encode(), JSON).hex()))
    return ProviderRequest(
        headers=(*request.headers, ("Content-Encoding", "gzip")),
        body=gzip.compress(JSON, mtime=0),
        secret=request.secret,
    )


def _plain_hash(message: bytes) -> str:
    return hashlib.sha256(TEXT_SECRET.encode() + message).hexdigest()


KEY: Final = TEXT_SECRET.encode()
OTHERS: Final[Mapping[str, Callable[[], ProviderRequest]]] = {
    "adyen": _adyen,
    "adyen-platform": lambda: _request(
        ("HmacSignature", _base64(_mac(bytes.fromhex(HEX_SECRET), JSON))), secret=HEX_SECRET
    ),
    "airtable": lambda: _request(
        (
            "X-Airtable-Content-MAC",
            f"hmac-sha256={_mac(base64.b64decode(BASE64_SECRET), JSON).hex()}",
        ),
        secret=BASE64_SECRET,
    ),
    "box": lambda: _with_date(
        "BOX-SIGNATURE-PRIMARY", "BOX-DELIVERY-TIMESTAMP", JSON + DATE.encode(), _base64
    ),
    "customer-io": lambda: _slack_like("X-CIO-Signature", "X-CIO-Timestamp", ""),
    "discord": _discord,
    "flutterwave": lambda: _request(("verif-hash", TEXT_SECRET)),
    "getstream": _getstream,
    "github-sha1": lambda: _request(("X-Hub-Signature", f"sha1={_mac(KEY, JSON, 'sha1').hex()}")),
    "gitlab": lambda: _request(("X-Gitlab-Token", TEXT_SECRET)),
    "hubspot": lambda: _request(
        ("X-HubSpot-Request-Timestamp", f"{TIME}792"),
        (
            "X-HubSpot-Signature-v3",
            _base64(_mac(KEY, f"POST{DECODED_URL}".encode() + JSON + f"{TIME}792".encode())),
        ),
    ),
    "hubspot-v1": lambda: _request(("X-HubSpot-Signature", _plain_hash(JSON))),
    "hubspot-v2": lambda: _request(
        ("X-HubSpot-Signature", _plain_hash(f"POST{URL}".encode() + JSON))
    ),
    "intercom": lambda: _request(("X-Hub-Signature", f"sha1={_mac(KEY, JSON, 'sha1').hex()}")),
    "mailgun": _mailgun,
    "mandrill": lambda: _of_url_and_form("X-Mandrill-Signature"),
    "paypal": _paypal,
    "paystack": lambda: _request(("x-paystack-signature", _mac(KEY, JSON, "sha512").hex())),
    "postmark": lambda: _request(
        ("Authorization", f"Basic {_base64(b'name:password')}"), secret="name:password"
    ),
    "sendgrid": _sendgrid,
    "slack": lambda: _slack_like("X-Slack-Signature", "X-Slack-Request-Timestamp", "v0="),
    "square": lambda: _request(
        ("x-square-hmacsha256-signature", _base64(_mac(KEY, URL.encode() + JSON)))
    ),
    "standard-webhooks": lambda: _standard("webhook"),
    "standard-webhooks-ed25519": _standard_ed25519,
    "svix": lambda: _standard("svix"),
    "telegram": lambda: _request(("X-Telegram-Bot-Api-Secret-Token", TEXT_SECRET)),
    "trello": lambda: _request(
        ("X-Trello-Webhook", _base64(_mac(KEY, JSON + URL.encode(), "sha1")))
    ),
    "twilio": lambda: _of_url_and_form("X-Twilio-Signature"),
    "twitch": lambda: _with_date(
        "Twitch-Eventsub-Message-Signature",
        "Twitch-Eventsub-Message-Timestamp",
        f"msg_1{DATE}".encode() + JSON,
        lambda mac: f"sha256={mac.hex()}",
    ),
    "vercel": lambda: _request(("x-vercel-signature", _mac(KEY, JSON, "sha1").hex())),
    "workos": lambda: _request(
        ("WorkOS-Signature", f"t={TIME}792, v1={_mac(KEY, f'{TIME}792.'.encode() + JSON).hex()}")
    ),
    "zendesk": lambda: _with_date(
        "X-Zendesk-Webhook-Signature",
        "X-Zendesk-Webhook-Signature-Timestamp",
        DATE.encode() + JSON,
        _base64,
    ),
    "zoom": lambda: _slack_like("x-zm-signature", "x-zm-request-timestamp", "v0="),
}


def signed(name: str) -> ProviderRequest:
    """A request that this provider signed."""
    if name in MESSAGE_SIGNATURES:
        return MESSAGE_SIGNATURES[name]()
    for table, sign in (
        (HEX_OF_BODY, _hex_of_body),
        (BASE64_OF_BODY, _base64_of_body),
        (TIME_IN_HEADER, _time_in_header),
    ):
        if name in table:
            return sign(name)
    return OTHERS[name]()


NAMES: Final = sorted(
    [*HEX_OF_BODY, *BASE64_OF_BODY, *TIME_IN_HEADER, *OTHERS, *MESSAGE_SIGNATURES]
)
# What the receiver has to give besides the secret.
GIVEN: Final = {"paypal": f"paypal:webhook_id={WEBHOOK_ID}"}


def scheme_of(name: str) -> NamedScheme:
    """The scheme of a provider, with what has to be given."""
    return load_scheme(GIVEN.get(name, name))
