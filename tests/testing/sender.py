"""A sender of webhooks, which trusts one CA."""

import hashlib
import hmac
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

SECRET = "a secret of the tests"


def signature(body: bytes, secret: str = SECRET) -> dict[str, str]:
    """The header of the simple format of the reference dialect."""
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {"X-Webhook-Signature": digest}


def post(url: str, ca_file: Path, body: bytes = b"{}", headers: Mapping[str, str] = {}) -> int:
    """Send a body, and return the status of the answer."""
    request = urllib.request.Request(url, data=body, headers=dict(headers), method="POST")
    context = ssl.create_default_context(cafile=str(ca_file))
    try:
        with urllib.request.urlopen(request, context=context, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code
