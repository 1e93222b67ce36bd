"""Seventy deliveries that did not verify, or were said not to, of many providers.

Each is signed here as its provider documents it, with hashlib, hmac and cryptography alone, and is
then handled as a consumer handled it. What a person has to read in the answer was written from
these facts, by somebody who had neither read the diagnosis nor run it.
"""

import base64
import gzip
import hashlib
import hmac
import html
import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, unquote_plus

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

NOW: Final = 1782900000
"""When the deliveries were signed, in seconds since 1970."""

ED25519: Final = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"a made up key").digest())
ECDSA: Final = ec.derive_private_key(0x5EED5EED5EED5EED5EED5EED5EED5EED, ec.SECP256R1())
OTHER_SECRET: Final = r"another secret|other secret"
"""What nobody may read whose secret is the right one."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """`says`: patterns that all have to be found in the answer; `never`: of which none may be."""

    name: str
    source: str
    cause: str
    answer: str
    delivery: bytes
    secret: str
    options: tuple[str, ...] = ()
    scheme: Mapping[str, Any] = field(default_factory=dict)
    """The file of a scheme that the person wrote."""
    verified: bool = False
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


def mac(secret: str | bytes, message: bytes, algorithm: str = "sha256") -> bytes:
    key = secret.encode() if isinstance(secret, str) else secret
    return hmac.new(key, message, algorithm).digest()


def plain_sha1(message: bytes) -> str:
    return hashlib.sha1(message, usedforsecurity=False).hexdigest()


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def compact(value: object) -> bytes:
    """As JSON.stringify() writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def spaced(value: object) -> bytes:
    """As Python's json.dumps() writes it."""
    return json.dumps(value).encode()


def post(
    body: bytes,
    *headers: str,
    length: int | None = -1,
    path: str = "/hooks",
    host: str = "hooks.example",
    kind: str = "application/json",
    method: str = "POST",
) -> bytes:
    """A saved request; `length` is what Content-Length says, -1 for the truth, None for nothing."""
    head = [f"{method} {path} HTTP/1.1", f"Host: {host}", f"Content-Type: {kind}", *headers]
    if length is not None:
        head.append(f"Content-Length: {len(body) if length < 0 else length}")
    return "\r\n".join([*head, "", ""]).encode() + body


def _parsed_and_written_again() -> list[Case]:
    order = {
        "data": {
            "type": "orders",
            "id": "7",
            "links": {"self": "https://api.shop.example/v1/orders/7"},
        },
        "meta": {"event_name": "order_created"},
    }
    php = compact(order).replace(b"/", rb"\/")
    lemon = Case(
        name="lemon-squeezy-escaped-slashes",
        source="docs.lemonsqueezy.com/help/webhooks; lmsqueezy/lemonsqueezy.js#115",
        cause="PHP signs escaped slashes; JSON.stringify(JSON.parse()) writes them plain",
        answer="Signed with escaped slashes; the receiver's side wrote the JSON again without.",
        delivery=post(
            compact(order), f"X-Signature: {mac('ls-made-up', php).hex()}", length=len(php)
        ),
        secret="ls-made-up",
        says=(r"slash|\\/", r"receiver"),
        never=(OTHER_SECRET,),
    )
    entropy = (
        b'{"events":[],"firstEventSequence": 0,"lastEventSequence": 0, "entropy": "LMXBSNRWXBPL"}'
    )
    lost = compact(json.loads(entropy))
    xero = Case(
        name="xero-irregular-spaces",
        source="developer.xero.com/documentation/guides/webhooks; XeroAPI/xero-node#563",
        cause="Xero puts spaces in some places only; parsing and writing again loses them",
        answer="The body is not the one that was sent: it is shorter than its Content-Length.",
        delivery=post(
            lost, f"x-xero-signature: {b64(mac('xero-key', entropy))}", length=len(entropy)
        ),
        secret="xero-key",
        says=(rf"Content-Length.*{len(entropy)}|{len(entropy)}.*Content-Length", r"body"),
        never=(OTHER_SECRET,),
    )
    party = {"destination": "U1", "events": [{"type": "message", "text": "テスト 😭 café"}]}
    upper = json.dumps(party, separators=(",", ":"))
    for code in ("\\ud83d", "\\ude2d", "\\u30c6", "\\u30b9", "\\u30c8", "\\u00e9"):
        upper = upper.replace(code, "\\u" + code[2:].upper())
    line = Case(
        name="line-escaped-by-jsesc",
        source="developers.line.biz verify-webhook-signature; line/line-bot-sdk-nodejs#46, #922",
        cause="the handler escapes all beyond ASCII, in upper case; LINE signs plain UTF-8",
        answer="Signed with the characters themselves; this body has \\u escapes instead.",
        delivery=post(
            upper.encode(),
            f"x-line-signature: {b64(mac('line-secret', compact(party)))}",
            length=len(compact(party)),
        ),
        secret="line-secret",
        says=(r"escape|\\u|beyond ASCII", r"receiver"),
        never=(OTHER_SECRET,),
    )
    quote_ = {"_id": "a1", "quote": "families & millions <b>"}
    escaped = compact(quote_).replace(b"&", b"\\u0026").replace(b"<", b"\\u003c")
    escaped = escaped.replace(b">", b"\\u003e")
    time = str(NOW * 1000)
    signature = base64.urlsafe_b64encode(mac("sanity", f"{time}.".encode() + escaped)).decode()
    sanity = Case(
        name="sanity-ampersand",
        source="sanity.io/docs/webhooks; sanity-io/webhook-toolkit#9",
        cause="Go escapes & < > as \\u0026; JSON.stringify() does not, so some events fail only",
        answer="Signed with \\u0026 for &; the body was written again without these escapes.",
        delivery=post(
            compact(quote_),
            f"sanity-webhook-signature: t={time},v1={signature.rstrip('=')}",
            length=len(escaped),
        ),
        secret="sanity",
        scheme={
            "header": "sanity-webhook-signature",
            "value": "t={timestamp},{signatures}",
            "item": "v1={signature}",
            "encoding": "base64url_unpadded",
            "timestamp": "milliseconds",
            "signed": "{timestamp}.{body}",
        },
        says=(r"u0026|escape|<|&", r"receiver"),
        never=(OTHER_SECRET,),
    )
    paid = {"event": "charge.success", "data": {"id": 30, "amount": 5000, "channel": "card"}}
    sorted_ = json.dumps(paid, sort_keys=True).encode()
    paystack = Case(
        name="paystack-sorted-keys",
        source="paystack.com/docs/payments/webhooks",
        cause="the handler hashes json.dumps(payload, sort_keys=True)",
        answer="The keys of this body are sorted and it has spaces: it was written again.",
        delivery=post(
            sorted_,
            f"x-paystack-signature: {mac('sk_test_made_up', compact(paid), 'sha512').hex()}",
            length=len(compact(paid)),
        ),
        secret="sk_test_made_up",
        says=(r"sorted|order of (the )?(keys|members)", r"Content-Length|receiver"),
        never=(OTHER_SECRET,),
    )
    note = {"type": "notification_event", "data": {"item": {"body": "<p>Tea & cake</p>"}}}
    rails = compact(note).replace(b"<", rb"\u003c").replace(b">", rb"\u003e")
    rails = rails.replace(b"&", rb"\u0026")
    intercom = Case(
        name="intercom-rails-to-json",
        source="developers.intercom.com/docs/webhooks/webhook-notifications",
        cause="the Rails handler hashes params.to_json, which escapes < > &",
        answer="Signed with < > & themselves; this body has \\u003c escapes.",
        delivery=post(
            rails,
            f"X-Hub-Signature: sha1={mac('intercom', compact(note), 'sha1').hex()}",
            length=len(compact(note)),
        ),
        secret="intercom",
        says=(r"u003c|escape|<", r"receiver"),
        never=(OTHER_SECRET, r"beyond ASCII escaped"),
    )
    charge = {"id": 1, "event": {"type": "charge:confirmed", "data": {"code": "66BEOV2A"}}}
    coinbase = Case(
        name="coinbase-commerce-python-dumps",
        source="docs.cdp.coinbase.com/commerce/docs/webhooks-security",
        cause="Flask handler hashes json.dumps(request.json)",
        answer="Signed compact; this body has a space after each comma and colon.",
        delivery=post(
            spaced(charge),
            f"X-CC-Webhook-Signature: {mac('cc-secret', compact(charge)).hex()}",
            length=len(compact(charge)),
        ),
        secret="cc-secret",
        says=(r"compact|spaces?\b", r"receiver"),
        never=(OTHER_SECRET,),
    )
    change = b'{"eventNotifications":[{"realmId":"11","lastUpdated":"2026-07-01T10:00:00.000Z"}]}'
    dates = change.replace(b".000Z", b"Z")
    quickbooks = Case(
        name="quickbooks-newtonsoft-dates",
        source="developer.intuit.com webhooks; JsonConvert parses dates and writes its own form",
        cause="JsonConvert.SerializeObject(model) writes 10:00:00.000Z as 10:00:00Z",
        answer="The body is not the one that was sent: shorter than its Content-Length by 4.",
        delivery=post(
            dates, f"intuit-signature: {b64(mac('qb-token', change))}", length=len(change)
        ),
        secret="qb-token",
        says=(rf"Content-Length.*{len(change)}|{len(change)}.*Content-Length|time|date",),
        never=(OTHER_SECRET,),
    )
    trigger = b'{"type":"webhook_event","id":1234567890123456789,"source":{"id":73835521473}}'
    rounded = trigger.replace(b"1234567890123456789", b"1234567890123456800")
    box = Case(
        name="box-integers-beyond-2-to-53",
        source="developer.box.com/guides/webhooks/v2/signatures-v2",
        cause="JSON.parse() rounds integers beyond 2^53",
        answer="An integer beyond 2^53 was rounded by JavaScript; the length is the same.",
        delivery=post(
            rounded,
            f"BOX-SIGNATURE-PRIMARY: {b64(mac('box-key', trigger + b'2026-07-01T10:00:00Z'))}",
            "BOX-SIGNATURE-VERSION: 1",
            "BOX-SIGNATURE-ALGORITHM: HmacSHA256",
            "BOX-DELIVERY-TIMESTAMP: 2026-07-01T10:00:00Z",
        ),
        secret="box-key",
        says=(r"2\^53|integer|digits|rounded|precision",),
    )
    page = b'{"id":"n1","type":"page.created","data":{"parent":{},"tags":[]}}'
    notion = Case(
        name="notion-empty-object-to-array",
        source="developers.notion.com/reference/webhooks; json_decode($x, true) of PHP",
        cause="PHP reads {} as an empty array and writes []; the length stays the same",
        answer="Signed with {}; PHP wrote [] for it: the body was parsed and written again.",
        delivery=post(
            page.replace(b"{}", b"[]"), f"X-Notion-Signature: sha256={mac('secret_n', page).hex()}"
        ),
        secret="secret_n",
        says=(r"\{\}|empty (object|array|list)|PHP",),
        never=(OTHER_SECRET,),
    )
    inquiry = b'{"data":{"type":"event","attributes":{"name":"inquiry.completed","note":""}}}'
    empty = inquiry.replace(b'""', b"null")
    persona = Case(
        name="persona-laravel-empty-strings",
        source="docs.withpersona.com/webhooks-best-practices; Laravel: ConvertEmptyStringsToNull",
        cause="Laravel's middleware turned empty strings into null before they were written again",
        answer="Signed with an empty string where this body has null.",
        delivery=post(
            empty,
            f"Persona-Signature: t={NOW},v1={mac('wbhsec_p', b'%d.' % NOW + inquiry).hex()}",
            length=len(inquiry),
        ),
        secret="wbhsec_p",
        says=(r"null|empty string|Content-Length",),
        never=(OTHER_SECRET,),
    )
    asset = b'{"type":"video.asset.ready","id":"v9","attempts":[]}'
    added = asset[:-1] + b',"_received_at":"2026-07-01T10:00:01Z"}'
    mux = Case(
        name="mux-member-added",
        source="mux.com/docs/core/verify-webhook-signatures",
        cause="a middleware adds a member to the parsed body, which is written again",
        answer="This body is longer than its Content-Length: something was added.",
        delivery=post(
            added,
            f"Mux-Signature: t={NOW},v1={mac('mux-secret', b'%d.' % NOW + asset).hex()}",
            length=len(asset),
        ),
        secret="mux-secret",
        says=(rf"Content-Length.*{len(asset)}|{len(asset)}.*Content-Length|_received_at",),
        never=(OTHER_SECRET,),
    )
    ping = {"type": 2, "data": {"name": "echo"}, "id": "77"}
    discord = Case(
        name="discord-spaces-with-ed25519",
        source="discord.com/developers/docs/interactions/overview; discord-interactions-js#26",
        cause="the handler verifies json.dumps(request.json)",
        answer="Signed compact; this body has a space after each comma and colon.",
        delivery=post(
            spaced(ping),
            f"X-Signature-Ed25519: {ED25519.sign(b'%d' % NOW + compact(ping)).hex()}",
            f"X-Signature-Timestamp: {NOW}",
            length=len(compact(ping)),
        ),
        secret=ED25519.public_key().public_bytes_raw().hex(),
        says=(r"compact|spaces?\b", r"receiver"),
        never=(OTHER_SECRET,),
    )
    mails = b'[{"email":"a@example.org","event":"open"},\r\n{"email":"b@example.org"}]\r\n'
    sendgrid = Case(
        name="sendgrid-line-ends-between-events",
        source="twilio.com/docs/sendgrid event webhook security; sendgrid/sendgrid-nodejs#1411",
        cause="JSON.stringify(req.body) has no CR LF between and after events",
        answer="Signed with CR LF after each event; they are missing here.",
        delivery=post(
            compact(json.loads(mails)),
            "X-Twilio-Email-Event-Webhook-Signature: "
            + b64(ECDSA.sign(b"%d" % NOW + mails, ec.ECDSA(hashes.SHA256()))),
            f"X-Twilio-Email-Event-Webhook-Timestamp: {NOW}",
            length=len(mails),
        ),
        secret=b64(
            ECDSA.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        ),
        says=(r"CR ?LF|line (end|break)|\\r\\n",),
        never=(OTHER_SECRET,),
    )
    return [
        lemon,
        xero,
        line,
        sanity,
        paystack,
        intercom,
        coinbase,
        quickbooks,
        box,
        notion,
        persona,
        mux,
        discord,
        sendgrid,
    ]


def _bodies() -> list[Case]:
    event = {"type": "created", "name": "Zoë & co", "total": 12}
    body = compact(event)
    lines = json.dumps(event, indent=2, ensure_ascii=False).encode()
    voice = gzip.compress(body, mtime=0)
    form = b"token=x&command=%2Fdeploy&text=shop+%26+api+%28now%29&user_name=jo"
    decoded = unquote_plus(form.decode()).encode()
    slack_time = f"v0:{NOW}:".encode()
    twitch_time = "2026-07-01T10:00:00.123456789Z"
    other = compact({"type": "deleted", "name": "another one", "total": 99999})
    return [
        Case(
            name="typeform-empty-body",
            source="sanity-io/next-sanity#483 (Firebase hands over an empty body)",
            cause="the platform read the body; the handler sees an empty one",
            answer="The body is empty.",
            delivery=post(
                b"", f"Typeform-Signature: sha256={b64(mac('tf', body))}", length=len(body)
            ),
            secret="tf",
            says=(r"body is empty|empty body|empty",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="elevenlabs-gzip-taken-off",
            source="a proxy that inflates bodies and keeps Content-Encoding (class)",
            cause="the compressed bytes were signed; a proxy inflated them",
            answer="Content-Encoding says gzip, the body is not compressed: it was inflated.",
            delivery=post(
                body,
                f"ElevenLabs-Signature: t={NOW},v0={mac('el', b'%d.' % NOW + voice).hex()}",
                "Content-Encoding: gzip",
                length=None,
            ),
            secret="el",
            says=(r"gzip|compress|inflat|Content-Encoding",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="zendesk-json-in-a-string",
            source="developer.zendesk.com/documentation/webhooks/verifying",
            cause="a queue put the body as a string into JSON; the handler has this string",
            answer="The body is a JSON string of what was signed.",
            delivery=post(
                json.dumps(body.decode()).encode(),
                "X-Zendesk-Webhook-Signature: " + b64(mac("zd", b"2026-07-01T10:00:00Z" + body)),
                "X-Zendesk-Webhook-Signature-Timestamp: 2026-07-01T10:00:00Z",
                length=None,
            ),
            secret="zd",
            says=(r"JSON string|string",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="dropbox-saved-as-utf-16",
            source="PowerShell 5: > and Out-File write UTF-16 LE with a byte order mark",
            cause="the body was saved by PowerShell",
            answer="The body is UTF-16; UTF-8 was signed.",
            delivery=post(
                b"\xff\xfe" + body.decode().encode("utf-16-le"),
                f"X-Dropbox-Signature: {mac('dbx', body).hex()}",
                length=len(body),
            ),
            secret="dbx",
            says=(r"UTF-16",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="customer-io-byte-order-mark",
            source="editors on Windows put a byte order mark in front",
            cause="the body was saved with an editor",
            answer="A byte order mark stands in front of what was signed.",
            delivery=post(
                b"\xef\xbb\xbf" + body,
                f"X-CIO-Signature: {mac('cio', b'v0:%d:' % NOW + body).hex()}",
                f"X-CIO-Timestamp: {NOW}",
                length=None,
            ),
            secret="cio",
            says=(r"byte order mark|BOM",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="bitbucket-crlf",
            source="git with core.autocrlf, or an editor, turns LF into CR LF",
            cause="the saved body went through a checkout on Windows",
            answer="Signed with LF; this body has CR LF.",
            delivery=post(
                lines.replace(b"\n", b"\r\n"),
                f"X-Hub-Signature: sha256={mac('bb', lines).hex()}",
                length=len(lines),
            ),
            secret="bb",
            says=(r"CR ?LF|line ends?|\\r\\n",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="meta-normalised-unicode",
            source="macOS and some databases normalise to NFD; unicode.org/reports/tr15",
            cause="the text was normalised: e and a combining accent in place of one character",
            answer="Signed in NFC; this body is in NFD.",
            delivery=post(
                unicodedata.normalize("NFD", body.decode()).encode(),
                f"X-Hub-Signature-256: sha256={mac('meta', body).hex()}",
                length=len(body),
            ),
            secret="meta",
            says=(r"NF[CD]|normali[sz]|combining|Content-Length",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="typeform-typographic-quotation-marks",
            source="a body pasted through a chat or word processor",
            cause='the chat made typographic quotation marks of "',
            answer='The body has typographic quotation marks where " was signed; it is not JSON.',
            delivery=post(
                body.decode().replace('"', "“").encode(),
                f"Typeform-Signature: sha256={b64(mac('tf', body))}",
                length=None,
            ),
            secret="tf",
            says=(r"typographic|quotation|curly|“|not JSON",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="airtable-html-escaped-body",
            source="a body copied from the page of an admin tool",
            cause='the tool shows &quot; and &amp; for " and &',
            answer="The body is HTML-escaped; unescaped it is what was signed.",
            delivery=post(
                html.escape(body.decode()).encode(),
                f"X-Airtable-Content-MAC: hmac-sha256={mac(b'airtable-key', body).hex()}",
                length=None,
            ),
            secret=b64(b"airtable-key"),
            says=(r"HTML|&quot;",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="slack-form-decoded",
            source="docs.slack.dev verifying requests; a gateway that decodes forms",
            cause="the percent escapes of the form were decoded before the handler saw it",
            answer="Signed was the form with percent escapes; this is decoded.",
            delivery=post(
                decoded,
                f"X-Slack-Signature: v0={mac('slack', slack_time + form).hex()}",
                f"X-Slack-Request-Timestamp: {NOW}",
                kind="application/x-www-form-urlencoded",
                length=len(form),
            ),
            secret="slack",
            says=(r"form|percent|decoded|escape|Content-Length",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="launchdarkly-headers-of-another-delivery",
            source="handlers that keep the last request in a global variable (class)",
            cause="headers of one delivery were put together with the body of another",
            answer="Content-Length is not that of this body: they do not belong together.",
            delivery=post(other, f"X-LD-Signature: {mac('ld', body).hex()}", length=len(body)),
            secret="ld",
            says=(rf"Content-Length.*{len(body)}|{len(body)}.*Content-Length",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="linear-edited-in-postman",
            source="linear.app/developers/webhooks; people resend a delivery with another body",
            cause="the body was edited in Postman, the signature is of the old one",
            answer="Secret or body is another; the length says nothing here.",
            delivery=post(
                body.replace(b"12", b"99"),
                f"Linear-Signature: {mac('lin', body).hex()}",
                "User-Agent: PostmanRuntime/7.39.0",
                "Postman-Token: 5f0c8a52-0000-4000-8000-000000000000",
            ),
            secret="lin",
            says=(r"body", r"secret"),
        ),
        Case(
            name="twitch-body-cut-in-log",
            source="dev.twitch.tv handling webhook events; log lines are cut and marked",
            cause="the body was copied from a log that cuts lines",
            answer="The body ends in the middle: it is cut.",
            delivery=post(
                body[:30] + b"...",
                "Twitch-Eventsub-Message-Id: e76c6bd4-55c9-4987-8304-da1588d8988b",
                f"Twitch-Eventsub-Message-Timestamp: {twitch_time}",
                "Twitch-Eventsub-Message-Signature: sha256="
                + mac(
                    "twitch",
                    b"e76c6bd4-55c9-4987-8304-da1588d8988b" + twitch_time.encode() + body,
                ).hex(),
                length=None,
            ),
            secret="twitch",
            says=(r"cut|incomplete|ends|not JSON",),
            never=(OTHER_SECRET,),
        ),
    ]


def _secrets() -> list[Case]:
    body = compact({"type": "user.created", "data": {"id": "user_29w83sxmDNGwOuEthce5gg56FcC"}})
    key = b"clerk made up key of 24b"
    svix_headers = [
        "svix-id: msg_p5jXN8AQM9LWM0D4loKWxJek",
        f"svix-timestamp: {NOW}",
        "svix-signature: v1," + b64(mac(key, b"msg_p5jXN8AQM9LWM0D4loKWxJek.%d." % NOW + body)),
    ]
    polar = "polar_whs_" + "ab12" * 8
    events = [{"event": "send", "msg": {"email": "a@example.org"}}]
    mandrill_field = json.dumps(events)
    mandrill_form = b"mandrill_events=" + quote(mandrill_field, safe="").encode()
    signed_mandrill = b"https://hooks.example/hooksmandrill_events" + mandrill_field.encode()
    pem = ECDSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    fitbit = b'[{"collectionType":"foods","date":"2026-07-01","ownerId":"228S74"}]'
    return [
        Case(
            name="resend-secret-in-quotation-marks",
            source="resend.com/docs webhooks; docker --env-file keeps quotation marks",
            cause="the environment's secret has quotation marks around it",
            answer="Quotation marks stand around the secret; without them all is right.",
            delivery=post(body, *svix_headers),
            secret=f'"whsec_{b64(key)}"',
            says=(r"quotation|quotes?\b",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="clerk-other-environment",
            source="clerk.com/docs/webhooks; development and production have secrets of their own",
            cause="the secret of the development instance, an event of production",
            answer="Another secret signed: the body has the length that was sent.",
            delivery=post(body, *svix_headers),
            secret=f"whsec_{b64(b'clerk other key of 24 b')}",
            says=(r"secret", r"Content-Length|length"),
        ),
        Case(
            name="cronofy-percent-encoded-secret",
            source="docs.cronofy.com push notification authentication; secrets in a connection URL",
            cause="the secret was taken out of a URL, where it is percent-encoded",
            answer="The secret is percent-encoded; decoded it is the one that signed.",
            delivery=post(body, f"Cronofy-HMAC-SHA256: {b64(mac('CRN/a+b=', body))}"),
            secret="CRN%2Fa%2Bb%3D",
            says=(r"percent|URL-?encoded|%2F|decoded",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="docusign-second-key",
            source="developers.docusign.com/platform/webhooks/connect/validate (up to 100 keys)",
            cause="the account has two keys; the secret at hand is that of the second header",
            answer="Verified by X-DocuSign-Signature-2.",
            delivery=post(
                body,
                f"X-DocuSign-Signature-1: {b64(mac('key one', body))}",
                f"X-DocuSign-Signature-2: {b64(mac('key two', body))}",
            ),
            secret="key two",
            verified=True,
            says=(r"X-DocuSign-Signature-2",),
        ),
        Case(
            name="box-secondary-key",
            source="developer.box.com/guides/webhooks/v2/signatures-v2 (rolled keys)",
            cause="the keys are being rolled; the secret at hand is the secondary one",
            answer="Verified by BOX-SIGNATURE-SECONDARY.",
            delivery=post(
                body,
                f"BOX-SIGNATURE-PRIMARY: {b64(mac('box 1', body + b'2026-07-01T10:00:00Z'))}",
                f"BOX-SIGNATURE-SECONDARY: {b64(mac('box 2', body + b'2026-07-01T10:00:00Z'))}",
                "BOX-DELIVERY-TIMESTAMP: 2026-07-01T10:00:00Z",
            ),
            secret="box 2",
            verified=True,
            says=(r"BOX-SIGNATURE-SECONDARY",),
        ),
        Case(
            name="polar-text-is-the-key",
            source="polar.sh/docs webhooks: the SDK encodes what the library decodes",
            cause="Standard Webhooks headers, but the key is the text of the secret",
            answer="The key is the text of the secret as it is, not decoded from base64.",
            delivery=post(
                body,
                "webhook-id: 5c0c4a04",
                f"webhook-timestamp: {NOW}",
                "webhook-signature: v1," + b64(mac(polar, b"5c0c4a04.%d." % NOW + body)),
            ),
            secret=polar,
            says=(r"text|as it is|not decoded|undecoded|without (being )?decod",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="circleci-carriage-return",
            source="circleci.com/docs/webhooks; a .env file with line ends of Windows",
            cause="the secret ends in a carriage return",
            answer="The secret has white space at its end; without it the signature is right.",
            delivery=post(body, f"circleci-signature: v1={mac('ci-secret', body).hex()}"),
            secret="ci-secret\r",
            says=(r"white ?space|carriage|line end|CR\b",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="greenhouse-invisible-character",
            source="secrets copied from a page or chat carry U+200B",
            cause="a zero-width space was copied with the secret",
            answer="The secret has an invisible character; without it the signature is right.",
            delivery=post(body, f"Signature: sha256 {mac('gh-secret', body).hex()}"),
            secret="\u200bgh-secret",
            says=(r"invisible|zero.width|U\+200B",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="mandrill-test-webhook",
            source="mailchimp.com/developer authenticating webhook requests: key 'test-webhook'",
            cause="the test of the dashboard is signed with the key test-webhook",
            answer="Another secret signed: the body has the length that was sent.",
            delivery=post(
                mandrill_form,
                f"X-Mandrill-Signature: {b64(mac('test-webhook', signed_mandrill, 'sha1'))}",
                kind="application/x-www-form-urlencoded",
            ),
            secret="the real key",
            says=(r"secret", r"test-webhook|secret|URL"),
        ),
        Case(
            name="sendgrid-key-as-pem",
            source="twilio.com/docs/sendgrid event webhook security; sendgrid/sendgrid-python keys",
            cause="the delivery is right; the reporter's library wanted the key without PEM lines",
            answer="Verified.",
            delivery=post(
                body,
                "X-Twilio-Email-Event-Webhook-Signature: "
                + b64(ECDSA.sign(b"%d" % NOW + body, ec.ECDSA(hashes.SHA256()))),
                f"X-Twilio-Email-Event-Webhook-Timestamp: {NOW}",
            ),
            secret=pem.decode(),
            verified=True,
            says=(r"sendgrid",),
        ),
        Case(
            name="discord-bot-token-for-public-key",
            source="discord.com/developers/docs; OxMohsen/validating-data#1 (class)",
            cause="the bot's token was given where the application's public key is needed",
            answer="What was given is no public key: 32 bytes in hex are needed.",
            delivery=post(
                body,
                f"X-Signature-Ed25519: {ED25519.sign(b'%d' % NOW + body).hex()}",
                f"X-Signature-Timestamp: {NOW}",
            ),
            secret="MTA5.made.up-token",
            says=(r"public key",),
            never=(r"body was changed",),
        ),
        Case(
            name="gitlab-token-with-newline",
            source="docs.gitlab.com webhooks secret token; kubectl create secret --from-file",
            cause="the token that is compared ends in a line end",
            answer="The token is right but for the white space at its end.",
            delivery=post(body, "X-Gitlab-Token: glt made up", "X-Gitlab-Event: Push Hook"),
            secret="glt made up\n\n",
            says=(r"white ?space|line end|newline",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="fitbit-ampersand-after-the-secret",
            source="dev.fitbit.com/build/reference/web-api: best practices, signing",
            cause="Fitbit's key is the client secret and then &, as in OAuth 1",
            answer="HMAC-SHA-1 in base64 with & after the secret.",
            delivery=post(fitbit, f"X-Fitbit-Signature: {b64(mac('fb-secret&', fitbit, 'sha1'))}"),
            secret="fb-secret",
            says=(r"&", r"SHA-?1"),
            never=(OTHER_SECRET,),
        ),
    ]


def _headers() -> list[Case]:
    body = compact({"id": 450789469, "email": "bob@example.org", "total_price": "403.00"})
    xero = b64(mac("xero-key", body))
    changed = ("B" if xero[0] != "B" else "C") + xero[1:]
    secret = next(
        f"shpss_{number}"
        for number in range(999)
        if b64(mac(f"shpss_{number}", body)).count("+") == 2
    )
    shopify = b64(mac(secret, body))
    hub = mac("gh", body).hex()
    key = b"a made up key of 24 bytes"
    svix = b64(mac(key, b"msg_1.%d." % NOW + body))
    return [
        Case(
            name="xero-one-character",
            source="XeroAPI/XeroWebhooksReceiver#1: one character of the signature differs",
            cause="the signature was copied with one wrong character",
            answer="One character of the signature differs from the right one.",
            delivery=post(body, f"x-xero-signature: {changed}"),
            secret="xero-key",
            says=(r"character",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="hookdeck-signature-cut-in-database",
            source="hookdeck.com/docs/authentication; a column of 40 characters",
            cause="the header was kept in a column that is too short",
            answer="The signature is cut: its beginning is right.",
            delivery=post(body, f"x-hookdeck-signature: {b64(mac('hd', body))[:40]}"),
            secret="hd",
            says=(r"cut|truncat|too short|shorter|beginning|begins|first",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="shopify-plus-became-space",
            source="shopify.dev webhooks; a header that went through URL decoding",
            cause="+ in base64 became a space by URL decoding",
            answer="The signature has spaces where + was: it was URL-decoded.",
            delivery=post(body, f"X-Shopify-Hmac-Sha256: {shopify.replace('+', ' ')}"),
            secret=secret,
            says=(r"\+|URL-?decod|space",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="line-padding-lost",
            source="developers.line.biz; splitting at = loses base64's padding",
            cause="the header's value was split at =",
            answer="The base64 padding is missing; the signature is right otherwise.",
            delivery=post(body, f"x-line-signature: {b64(mac('line', body)).rstrip('=')}"),
            secret="line",
            says=(r"padding|=",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="linear-header-joined",
            source="RFC 9110, 5.3: a proxy may join equal headers with a comma",
            cause="a proxy doubled the header and joined both",
            answer="Verified: the header has the same signature twice, and each is right.",
            delivery=post(
                body, f"Linear-Signature: {mac('lin', body).hex()}, {mac('lin', body).hex()}"
            ),
            secret="lin",
            verified=True,
            says=(r"twice|two|doubl|joined|several",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="github-header-in-brackets",
            source="Spring: HttpHeaders.get() is a list, whose toString() has brackets",
            cause="the handler takes the text of a list of values",
            answer="Brackets stand around the value; without them all is right.",
            delivery=post(body, f"X-Hub-Signature-256: [sha256={hub}]"),
            secret="gh",
            says=(r"bracket",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="svix-id-dropped",
            source="docs.svix.com; a gateway that passes on listed headers only",
            cause="the gateway dropped svix-id",
            answer="svix-id is missing, and it is signed.",
            delivery=post(body, f"svix-timestamp: {NOW}", f"svix-signature: v1,{svix}"),
            secret=f"whsec_{b64(key)}",
            says=(r"svix-id",),
            never=(OTHER_SECRET, r"its arrival"),
        ),
        Case(
            name="postmark-remapped-authorization",
            source="docs.aws.amazon.com API Gateway: x-amzn-Remapped-Authorization",
            cause="API Gateway renamed Authorization",
            answer="The credentials are in x-amzn-Remapped-Authorization; they are right.",
            delivery=post(body, f"x-amzn-Remapped-Authorization: Basic {b64(b'hook:made up')}"),
            secret="hook:made up",
            options=("--scheme", "postmark"),
            says=(r"x-amzn-remapped-authorization",),
            never=(OTHER_SECRET,),
        ),
    ]


def _urls_and_times() -> list[Case]:
    body = compact({"action": {"type": "updateCard", "id": "51f9424bcd6e040f3c002412"}})
    slash = b64(mac("trello", body + b"https://hooks.example/trello/", "sha1"))
    plain = b64(mac("trello", body + b"https://hooks.example/trello", "sha1"))
    digest = hashlib.sha256(body).hexdigest()
    path = f"/calls?bodySHA256={digest}"
    twilio = b64(mac("tw-token", f"https://hooks.example{path}".encode(), "sha1"))
    late = f"t={NOW},v1={mac('cal', b'%d.' % NOW + body).hex()}"
    return [
        Case(
            name="trello-trailing-slash",
            source="developer.atlassian.com trello webhooks: the callback URL as registered",
            cause="registered with a slash at its end; the router takes it off",
            answer="The URL that was signed has a slash at its end.",
            delivery=post(body, f"X-Trello-Webhook: {slash}", path="/trello"),
            secret="trello",
            says=(r"/trello/|slash",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="trello-internal-url",
            source="developer.atlassian.com trello webhooks; the URL that the handler sees",
            cause="the handler's own URL behind the proxy is verified",
            answer="https://hooks.example/trello was signed, not the URL that was given.",
            delivery=post(body, f"X-Trello-Webhook: {plain}", path="/trello"),
            secret="trello",
            options=("--url", "http://10.0.0.7:3000/trello"),
            says=(r"https://hooks\.example/trello|Host|URL",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="twilio-json-right",
            source="twilio.com/docs/usage/webhooks/webhooks-security: bodySHA256",
            cause="right; the reporter put the JSON's members into what is signed",
            answer="Verified: the URL is signed, and it has the digest of the body.",
            delivery=post(body, f"X-Twilio-Signature: {twilio}", path=path),
            secret="tw-token",
            verified=True,
            says=(r"twilio",),
        ),
        Case(
            name="twilio-json-body-changed",
            source="twilio.com/docs/usage/webhooks/webhooks-security: bodySHA256",
            cause="the body was written again; the signature covers it by bodySHA256 only",
            answer="The URL's signature is right, and the body is not the one of bodySHA256.",
            delivery=post(
                spaced(json.loads(body)),
                f"X-Twilio-Signature: {twilio}",
                path=path,
                length=len(body),
            ),
            secret="tw-token",
            says=(r"bodySHA256|body",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="calendly-queue-of-four-minutes",
            source="developer.calendly.com webhook signatures: 3 minutes",
            cause="deliveries wait in a queue for four minutes before they are verified",
            answer="Too old: 240 s, 180 s are accepted; the signature is right.",
            delivery=post(body, f"Calendly-Webhook-Signature: {late}"),
            secret="cal",
            options=("--at", str(NOW + 240)),
            says=(r"old", r"240|4 min", r"180|3 min"),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="customer-io-clock-behind",
            source="docs.customer.io/journeys/webhooks",
            cause="the receiver's clock is an hour behind (local time taken for UTC)",
            answer="Signed an hour ahead of the receiver's clock; the signature is right.",
            delivery=post(
                body,
                f"X-CIO-Signature: {mac('cio', b'v0:%d:' % NOW + body).hex()}",
                f"X-CIO-Timestamp: {NOW}",
            ),
            secret="cio",
            options=("--at", str(NOW - 3600)),
            says=(r"ahead|future", r"clock"),
            never=(OTHER_SECRET,),
        ),
    ]


def _other_senders() -> list[Case]:
    body = compact({"event": "post.published", "id": 12, "price": "9.50"})
    ms = str(NOW * 1000)
    teams_key = b"a made up key of 32 bytes long.."
    unsorted = {"payment_id": 123, "actually_paid": "0.1", "fee": {"z": 1, "a": 2}}
    in_order = json.dumps(unsorted, separators=(",", ":"), sort_keys=True).encode()
    jwt = ".".join(
        base64.urlsafe_b64encode(part).decode().rstrip("=")
        for part in (b'{"alg":"ES256","kid":"6c5516e1","typ":"JWT"}', b'{"iat":1}', b"s" * 64)
    )
    sns = compact(
        {
            "Type": "Notification",
            "MessageId": "22b80b92",
            "Message": "hello",
            "SignatureVersion": "2",
            "Signature": b64(b"r" * 256),
            "SigningCertURL": "https://sns.us-west-2.amazonaws.com/SimpleNotificationService.pem",
        }
    )
    telnyx = b64(ED25519.sign(f"{NOW}|".encode() + body))
    manifest = f"id:123456;request-id:bb56a2f1;ts:{ms};".encode()
    return [
        Case(
            name="webflow",
            source="developers.webflow.com working with webhooks: validating request signatures",
            cause="right delivery, right secret, of a sender that no scheme describes",
            answer="Signed by this secret: HMAC-SHA-256 of {timestamp}:{body}, in milliseconds.",
            delivery=post(
                body,
                f"x-webflow-timestamp: {ms}",
                f"x-webflow-signature: {mac('wf', f'{ms}:'.encode() + body).hex()}",
            ),
            secret="wf",
            says=(r"x-webflow-signature", r"\{timestamp\}:\{body\}", r"milliseconds"),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="ghost",
            source="docs.ghost.org/webhooks; the time stands behind the body in what is signed",
            cause="right delivery, right secret, of a sender that no scheme describes",
            answer="Signed by this secret: HMAC-SHA-256 of {body}{timestamp}.",
            delivery=post(
                body,
                f"X-Ghost-Signature: sha256={mac('gh', body + ms.encode()).hex()}, t={ms}",
            ),
            secret="gh",
            says=(r"X-Ghost-Signature", r"\{body\}\{timestamp\}"),
            never=(OTHER_SECRET, r"years"),
        ),
        Case(
            name="buildkite",
            source="buildkite.com/docs/apis/webhooks: X-Buildkite-Signature",
            cause="right delivery, right secret, of a sender that no scheme describes",
            answer="Signed by this secret: HMAC-SHA-256 of {timestamp}.{body}.",
            delivery=post(
                body,
                f"X-Buildkite-Signature: timestamp={NOW},"
                f"signature={mac('bk', b'%d.' % NOW + body).hex()}",
            ),
            secret="bk",
            says=(r"X-Buildkite-Signature", r"\{timestamp\}\.\{body\}"),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="cloudinary",
            source="cloudinary.com/documentation/notification_signatures",
            cause="right delivery, right secret: SHA-1 of body, time and then the secret",
            answer="A plain SHA-1 hash of {body}{timestamp} and the secret behind it.",
            delivery=post(
                body,
                f"X-Cld-Timestamp: {NOW}",
                f"X-Cld-Signature: {plain_sha1(body + b'%dcld' % NOW)}",
            ),
            secret="cld",
            says=(r"X-Cld-Signature", r"SHA-?1", r"\{body\}\{timestamp\}"),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="microsoft-teams",
            source="learn.microsoft.com outgoing webhooks: Authorization: HMAC",
            cause="right delivery; the token is decoded from base64 first",
            answer="HMAC-SHA-256 of the body in Authorization, the key decoded from base64.",
            delivery=post(body, f"Authorization: HMAC {b64(mac(teams_key, body))}"),
            secret=b64(teams_key),
            says=(r"Authorization", r"base64"),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="nowpayments",
            source="NOWPayments API, IPN: keys are sorted before they are signed",
            cause="the sender signs JSON with sorted keys and sends another order",
            answer="HMAC-SHA-512 of the JSON with sorted keys.",
            delivery=post(
                compact(unsorted), f"x-nowpayments-sig: {mac('np', in_order, 'sha512').hex()}"
            ),
            secret="np",
            says=(r"sorted", r"SHA-?512"),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="patreon",
            source="docs.patreon.com webhooks: HMAC-MD5",
            cause="right delivery; the handler hashes SHA-256, Patreon uses MD5",
            answer="The header has an HMAC-MD5 of the body.",
            delivery=post(body, f"X-Patreon-Signature: {mac('pt', body, 'md5').hex()}"),
            secret="pt",
            says=(r"MD5|16 bytes",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="segment",
            source="segment.com/docs/connections/destinations/catalog/webhooks: X-Signature, SHA-1",
            cause="right delivery; X-Signature is also the header of senders with SHA-256",
            answer="The header has an HMAC-SHA-1 of the body.",
            delivery=post(body, f"X-Signature: {mac('seg', body, 'sha1').hex()}"),
            secret="seg",
            says=(r"SHA-?1\b",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="plaid-jwt",
            source="plaid.com/docs/api/webhooks/webhook-verification: a JWT, ES256",
            cause="the client's secret is given; the header holds a JWT, signed with a private key",
            answer="Plaid-Verification holds a JSON Web Token; a shared secret cannot verify it.",
            delivery=post(body, f"Plaid-Verification: {jwt}"),
            secret="plaid-secret",
            says=(r"JWT|JWS|JSON Web|ES256", r"Plaid-Verification"),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="amazon-sns",
            source="docs.aws.amazon.com/sns verify signature of message",
            cause="the signature is in the body and made with the key of a certificate",
            answer="The signature is in the body (member Signature), by a certificate's key.",
            delivery=post(sns, "x-amz-sns-message-type: Notification"),
            secret="no secret exists",
            says=(r"in the body|body:Signature|member|SigningCertURL|certificate",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="telnyx",
            source="developers.telnyx.com webhook signature verification",
            cause="right delivery, right public key, of a sender that no scheme describes",
            answer="ed25519 of {timestamp}|{body}, the key in base64.",
            delivery=post(
                body,
                f"telnyx-timestamp: {NOW}",
                f"telnyx-signature-ed25519: {telnyx}",
            ),
            secret=b64(ED25519.public_key().public_bytes_raw()),
            says=(r"ed25519",),
            never=(OTHER_SECRET,),
        ),
        Case(
            name="mercado-pago-manifest",
            source="mercadopago.com/developers webhooks; mercadopago/sdk-java#420",
            cause="what is signed is put together from the query, a header and the time",
            answer="No known way to sign; what was searched is said, and nothing is accused.",
            delivery=post(
                body,
                "x-request-id: bb56a2f1",
                f"x-signature: ts={ms},v1={mac('mp', manifest).hex()}",
                path="/mp?data.id=123456&type=payment",
            ),
            secret="mp",
            says=(r"x-signature|no known|not known|unknown|searched|tried",),
            never=(OTHER_SECRET, r"its arrival"),
        ),
    ]


def _files() -> list[Case]:
    body = compact({"type": "notification_event", "topic": "conversation.user.created"})
    alb = {
        "requestContext": {"elb": {"targetGroupArn": "arn:aws:elasticloadbalancing:x"}},
        "httpMethod": "POST",
        "path": "/hooks",
        "multiValueHeaders": {
            "content-type": ["application/json"],
            "x-hub-signature": [f"sha1={mac('intercom', body, 'sha1').hex()}"],
        },
        "body": body.decode(),
        "isBase64Encoded": False,
    }
    har = {
        "log": {
            "version": "1.2",
            "entries": [
                {
                    "request": {
                        "method": "POST",
                        "url": "https://hooks.example/hooks",
                        "headers": [
                            {"name": "X-Dropbox-Signature", "value": mac("dbx", body).hex()}
                        ],
                        "postData": {"mimeType": "application/json", "text": body.decode()},
                    }
                }
            ],
        }
    }
    item = {
        "amount": {"value": 1130, "currency": "EUR"},
        "pspReference": "7914073381342284",
        "eventCode": "AUTHORISATION",
        "merchantAccountCode": "TestMerchant",
        "merchantReference": "TestPayment-1407325143704",
        "success": "true",
    }
    adyen_key = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"
    joined = "7914073381342284::TestMerchant:TestPayment-1407325143704:1130:EUR:AUTHORISATION:true"
    item["additionalData"] = {"hmacSignature": b64(mac(bytes.fromhex(adyen_key), joined.encode()))}
    adyen = compact({"live": "false", "notificationItems": [{"NotificationRequestItem": item}]})
    return [
        Case(
            name="intercom-load-balancer-event",
            source="docs.aws.amazon.com Lambda targets: multiValueHeaders",
            cause="the event of a load balancer has lists of values; the delivery is right",
            answer="Verified.",
            delivery=json.dumps(alb).encode(),
            secret="intercom",
            verified=True,
            says=(r"intercom",),
        ),
        Case(
            name="dropbox-http-archive",
            source="the export of a browser or proxy (HAR 1.2)",
            cause="right delivery, saved as an HTTP archive",
            answer="Verified.",
            delivery=json.dumps(har).encode(),
            secret="dbx",
            verified=True,
            says=(r"dropbox",),
        ),
        Case(
            name="adyen-notification-items",
            source="docs.adyen.com verify HMAC signatures (key and fields of its example)",
            cause="right; the reporter hashed the body in place of the fields",
            answer="Verified by the member of the body.",
            delivery=post(adyen),
            secret=adyen_key,
            verified=True,
            says=(r"adyen",),
        ),
        Case(
            name="dropbox-challenge",
            source="dropbox.com/developers/reference/webhooks: the verification request",
            cause="the first request is a GET with a challenge, and nothing signs it",
            answer="No signature is in this request.",
            delivery=post(
                b"", path="/hooks?challenge=abc123", method="GET", length=None, kind="text/plain"
            ),
            secret="dbx",
            says=(r"no .*signature|not signed|unsigned|challenge",),
            never=(OTHER_SECRET,),
        ),
    ]


CASES: Final = (
    *_parsed_and_written_again(),
    *_bodies(),
    *_secrets(),
    *_headers(),
    *_urls_and_times(),
    *_other_senders(),
    *_files(),
)
