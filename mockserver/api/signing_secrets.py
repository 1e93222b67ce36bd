"""Signing secrets (sections 2.3 and 4.3): generates strong ones and checks given ones."""

import base64
import binascii
from dataclasses import dataclass

from hookproof.mockserver.store.identifiers import Entropy
from hookproof.spec.dialect.groups.signature_vocabulary import SecretForm
from hookproof.spec.dialect.signature_scheme import Secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretSource:
    rules: Secrets
    entropy: Entropy

    def choose(self, given: str | None) -> str:
        """Return the given secret if it has the dialect's form, else a new one.

        Where the dialect refuses other forms, the contract has refused them before.
        """
        return given if given and self.accepts(given) else self.generate()

    def generate(self) -> str:
        key = self.entropy(self.rules.generated_bytes)
        text = base64.b64encode(key).decode() if self.rules.form is SecretForm.BASE64 else key.hex()
        return self.rules.prefix + text

    def accepts(self, given: str) -> bool:
        rest = given.removeprefix(self.rules.prefix)
        if not given.startswith(self.rules.prefix) or not rest:
            return False
        if self.rules.form is SecretForm.TEXT:
            return True
        try:
            return bool(base64.b64decode(rest, validate=True))
        except (binascii.Error, ValueError):
            return False
