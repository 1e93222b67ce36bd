"""The signing secrets that answers show, and whether a service of the dialect can have generated
them.

Sections 2.3 and 2.4. The form of a secret is examined while it is in clear; stored evidence shows
only which secrets are equal.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hookproof.conformance.model.evidence import NOT_JSON, Exchange
from hookproof.conformance.observations.answer import shown
from hookproof.process.encoded_credentials import is_distinctive, is_unmistakable
from hookproof.receiver.signatures.bytes_as_text import from_text
from hookproof.spec.dialect.signature_scheme import Secrets
from hookproof.spec.dialect.vocabulary import SecretForm
from hookproof.target.masking.credential_names import Credentials, is_name
from hookproof.target.masking.known_credentials import KnownCredentials

# The name of the credential that is looked for.
FOUND: Final = "secret#0"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSecret:
    """A secret in clear, in an answer.

    `is_generated` is whether it has the prefix, the form and the length of the secrets that a
    service of the dialect generates; `length` counts its characters.
    """

    secret: str
    has_prefix: bool
    is_generated: bool
    length: int


def shown_secrets(exchanges: Iterable[Exchange], rules: Secrets) -> tuple[ShownSecret, ...]:
    """The different secrets that these answers show, in order."""
    values = dict.fromkeys(value for exchange in exchanges for value in secret_values(exchange))
    return tuple(
        ShownSecret(
            secret=value,
            has_prefix=value.startswith(rules.prefix),
            is_generated=is_generated(value, rules),
            length=len(value),
        )
        for value in values
    )


def is_generated(value: str, rules: Secrets) -> bool:
    """Whether a service of this dialect can have generated the secret.

    As text it needs a character for each byte.
    """
    if not value.startswith(rules.prefix):
        return False
    rest = value.removeprefix(rules.prefix)
    if rules.form is SecretForm.TEXT:
        return len(rest) >= rules.generated_bytes
    try:
        return len(from_text(rules.form, rest)) == rules.generated_bytes
    except ValueError:
        return False


def secrets_in(exchange: Exchange) -> list[Mapping[str, Any]]:
    """The secrets of an endpoint, as far as they are objects."""
    secrets = shown(exchange).get("secrets")
    if not isinstance(secrets, list):
        return []
    return [secret for secret in secrets if isinstance(secret, dict)]


def secret_values(exchange: Exchange) -> list[str]:
    """The values of an endpoint's secrets, in order, as far as they are shown as texts."""
    return _texts(exchange, "value")


def secret_uids(exchange: Exchange) -> list[str]:
    """The identifiers of an endpoint's secrets, in order."""
    return _texts(exchange, "uid")


def shows_credential(exchange: Exchange, credential: str) -> bool:
    """Whether an answer shows the credential where one belongs, or, if it can be nothing else,
    anywhere and in any encoding.
    """
    if exchange.json is NOT_JSON:
        return False
    if is_name(credential):  # in evidence that was stored; secret#12 does not contain secret#1
        return re.search(rf"{credential}(?![0-9])".encode(), exchange.response_body) is not None
    names, known = Credentials(), KnownCredentials()
    names.give(credential, FOUND)
    if is_unmistakable(credential) or is_distinctive(credential):
        known.add([(credential, FOUND)])
    return FOUND.encode() in known.content(names.content(exchange.response_body))


def _texts(exchange: Exchange, member: str) -> list[str]:
    values = [secret.get(member) for secret in secrets_in(exchange)]
    return [value for value in values if isinstance(value, str) and value]
