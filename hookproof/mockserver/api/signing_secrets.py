"""Signing secrets (sections 2.3 and 4.3): generates strong ones and checks given ones."""

from dataclasses import dataclass

from hookproof.mockserver.delivery.attempt.signing import ENCODE_BASE64, decode_key
from hookproof.mockserver.store.identifiers import Entropy
from hookproof.spec.dialect.signature_scheme import Secrets
from hookproof.spec.dialect.vocabulary import BASE64_VARIANTS, SecretForm


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretSource:
    """`key_size` is in bytes; None if a key may have any number of them."""

    rules: Secrets
    entropy: Entropy
    key_size: int | None = None

    def choose(self, given: str | None) -> str:
        """Return the given secret if it has the dialect's form, else a new one.

        Where the dialect refuses other forms, the contract has refused them before.
        """
        return given if given and self.accepts(given) else self.generate()

    def generate(self) -> str:
        key = self.entropy(self.rules.generated_bytes)
        return self.rules.prefix + ENCODE_BASE64.get(self.rules.form, bytes.hex)(key)

    def accepts(self, given: str) -> bool:
        rest = given.removeprefix(self.rules.prefix)
        if not given.startswith(self.rules.prefix) or not rest:
            return False
        if self.rules.form is SecretForm.TEXT:
            return True
        try:
            key = decode_key(self.rules.form, rest)
        except ValueError:
            return False
        if self.key_size not in (None, len(key)):
            return False
        if self.rules.form is SecretForm.HEX:
            return True
        padded = BASE64_VARIANTS[self.rules.form].padded
        return bool(key) and (len(rest) % 4 == 0 if padded else "=" not in rest)
