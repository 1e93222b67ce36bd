"""New secrets, in the form that the dialect accepts (sections 4.1 and 4.3)."""

import secrets
from typing import Final

from hookproof.receiver.signatures.base64_text import encode_base64
from hookproof.spec.dialect.groups.signature_vocabulary import SecretForm

SECRET_BYTES: Final = 32


def new_secret(prefix: str, form: str) -> str:
    """A random secret; `form` is a word of `SecretForm`."""
    raw = secrets.token_bytes(SECRET_BYTES)
    return prefix + (raw.hex() if form == SecretForm.TEXT else encode_base64(form, raw))
