"""The key behind the text of a signing secret (sections 2.3 and 2.4)."""

from hookproof.receiver.signatures.base64_text import decode_base64
from hookproof.spec.dialect.groups.signature_vocabulary import SecretForm
from hookproof.spec.dialect.signature_scheme import Secrets


def secret_key(rules: Secrets, secret: str) -> bytes:
    """Derive the key from a secret's text; raises ValueError, without the text in its message."""
    if not secret.startswith(rules.prefix):
        raise ValueError(f"does not begin with {rules.prefix!r}")
    text = secret.removeprefix(rules.prefix)
    try:
        # Base64 with padding and without stands for the same bytes, so both are accepted.
        key = (
            (secret if rules.prefix_in_key and text else text).encode()
            if rules.form is SecretForm.TEXT
            else decode_base64(rules.form, text, any_padding=True)
        )
    except ValueError:
        raise ValueError(f"is not {rules.form}") from None
    if not key:
        raise ValueError("is empty")
    return key
