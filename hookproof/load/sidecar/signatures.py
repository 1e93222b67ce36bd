"""Whether one of an endpoint's secrets signs a delivery, judged at the speed of a load run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hookproof.process.encoded_credentials import EncodedCredentials
from hookproof.process.terminal_text import HIDDEN
from hookproof.receiver.inbox.arrival import RawHeaders
from hookproof.receiver.signatures.diagnosis import KnownValues, diagnose
from hookproof.receiver.signatures.fast_path import FastPath
from hookproof.receiver.signatures.verification import Verified, verify
from hookproof.spec.dialect.model import Dialect

# The newest secrets of an endpoint that are kept; no older one can still sign.
MOST_SECRETS: Final = 64


class EndpointSignatures:
    """The secrets of one endpoint, old ones included: they may sign deliveries under way."""

    def __init__(
        self, dialect: Dialect, *, advanced: bool, secrets: Sequence[str], url: str
    ) -> None:
        """Raise ValueError for a secret that is not a key by the dialect's rules."""
        self._dialect = dialect
        scheme = dialect.signatures.scheme(advanced=advanced)
        # A service that signs the URL signs this one.
        self._scheme = replace(scheme, signed=scheme.signed.replace("{url}", url))
        self._secrets: list[str] = []
        self._fast_path = self._fast_path_of(())
        for secret in secrets:
            self.learn(secret)

    def learn(self, secret: str) -> None:
        """Add a secret, before anything can be signed with it."""
        secrets = [*self._secrets[1 - MOST_SECRETS :], secret]
        self._fast_path = self._fast_path_of(secrets)  # raises for a bad secret
        self._secrets = secrets

    def problem(self, headers: RawHeaders, body: bytes, arrived_at: float) -> str | None:
        """Why no known secret explains the signature, or None."""
        if self._fast_path.is_certain(headers, body, arrived_at):
            return None
        rules, id_header = self._dialect.signatures.secret, self._dialect.delivery.event_id_header
        verdict = verify(
            self._scheme, rules, self._secrets, _text(headers), id_header, body, arrived_at
        )
        return None if isinstance(verdict, Verified) else f"{verdict.reason}: {verdict.detail}"

    def cause(
        self, headers: RawHeaders, body: bytes, arrived_at: float, others: Mapping[str, str]
    ) -> str:
        """What the sender of an unverifiable delivery did instead of signing as the dialect says.

        Takes up to about 50 ms. `others` are secrets of other endpoints, by a description.
        """
        diagnosis = diagnose(
            self._scheme,
            self._dialect.signatures.secret,
            self._secrets,
            _text(headers),
            self._dialect.delivery.event_id_header,
            body,
            arrived_at,
            known=KnownValues(secrets=others),
        )
        return (
            "signed with a secret that was set only later" if diagnosis is None else diagnosis.cause
        )

    @property
    def secrets(self) -> Sequence[str]:
        return self._secrets

    @property
    def newest_secret(self) -> str:
        return self._secrets[-1]

    def _fast_path_of(self, secrets: Sequence[str]) -> FastPath:
        rules, id_header = self._dialect.signatures.secret, self._dialect.delivery.event_id_header
        # The newest first: nearly every delivery is signed with it.
        return FastPath(self._scheme, rules, tuple(reversed(secrets)), id_header)


class SecretMask:
    """Hides the secrets of endpoints in what a report quotes, in any encoding where that can be
    nothing else.
    """

    def __init__(self, signatures: Iterable[EndpointSignatures]) -> None:
        secrets = {secret for each in signatures for secret in each.secrets}
        self._secrets = sorted(secrets, key=len, reverse=True)  # one may begin another
        self._encoded = EncodedCredentials()
        self._encoded.add((secret, HIDDEN) for secret in secrets)

    def text(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return self._encoded.text(text)


def _text(headers: RawHeaders) -> tuple[tuple[str, str], ...]:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)
