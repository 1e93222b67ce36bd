"""The key behind the text of a signing secret (sections 2.3 and 2.4)."""

import base64

from hookproof.spec.dialect.groups.signature_vocabulary import SecretForm
from hookproof.spec.dialect.signature_scheme import Secrets


def secret_key(rules: Secrets, secret: str) -> bytes:
    """Derive the key from a secret's text; raises ValueError, without the text in its message."""
    if not secret.startswith(rules.prefix):
        raise ValueError(f"does not begin with {rules.prefix!r}")
    text = secret.removeprefix(rules.prefix)
    try:
        # Unpadded base64 stands for the same bytes, so it is accepted.
        key = (
            (secret if rules.prefix_in_key and text else text).encode()
            if rules.form is SecretForm.TEXT
            else canonical_base64(text + "=" * (-len(text) % 4))
        )
    except ValueError:
        raise ValueError(f"is not {rules.form}") from None
    if not key:
        raise ValueError("is empty")
    return key


def canonical_base64(text: str) -> bytes:
    """Decode canonical base64; raises ValueError for any other text."""
    decoded = base64.b64decode(text, validate=True)
    if base64.b64encode(decoded).decode("ascii") != text:
        raise ValueError("not canonical")
    return decoded
