"""The texts of signing secrets: making strong ones, and judging given ones (sections 2.3 and 4.3)."""

import base64
import binascii
from dataclasses import dataclass

from hookproof.mockserver.store.identifiers import Entropy
from hookproof.spec.dialect.model import Secrets
from hookproof.spec.dialect.vocabulary import SecretForm


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningSecrets:
    """Chooses the secret of an endpoint."""

    rules: Secrets
    entropy: Entropy

    def choose(self, given: str | None) -> str:
        """The given secret, or a new one where none is given or the given one is not in the
        dialect's form.

        Where the dialect refuses other forms, the contract has refused them before.
        """
        return given if given and self.accepts(given) else self.generate()

    def generate(self) -> str:
        """A new secret in the dialect's form."""
        key = self.entropy(self.rules.generated_bytes)
        text = base64.b64encode(key).decode() if self.rules.form is SecretForm.BASE64 else key.hex()
        return self.rules.prefix + text

    def accepts(self, given: str) -> bool:
        """Whether a secret has the dialect's prefix and form."""
        rest = given.removeprefix(self.rules.prefix)
        if not given.startswith(self.rules.prefix) or not rest:
            return False
        if self.rules.form is SecretForm.TEXT:
            return True
        try:
            return bool(base64.b64decode(rest, validate=True))
        except (binascii.Error, ValueError):
            return False
