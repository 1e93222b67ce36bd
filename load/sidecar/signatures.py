"""Whether a delivery is signed by one of an endpoint's secrets, judged at the speed of a load run."""

from collections.abc import Sequence
from typing import Final

from hookproof.receiver.inbox.arrival import RawHeaders
from hookproof.receiver.signatures.fast_path import FastPath
from hookproof.receiver.signatures.verification import Verified, verify
from hookproof.spec.dialect.model import Dialect

# How many of an endpoint's secrets are known, the newest ones; rolls come no faster than they could
# matter.
MOST_SECRETS: Final = 64


class Signatures:
    """The secrets of one endpoint: all that it ever had, since what is under way may be signed with
    an old one.
    """

    def __init__(self, dialect: Dialect, *, advanced: bool, secrets: Sequence[str]) -> None:
        """Raise ValueError for a secret that the dialect's rules make no key of."""
        self._dialect = dialect
        self._scheme = dialect.signatures.scheme(advanced=advanced)
        self._secrets: list[str] = []
        self._quick = self._made(())
        for secret in secrets:
            self.learn(secret)

    def learn(self, secret: str) -> None:
        """Know a further secret, before anything can be signed with it."""
        quick = self._made((*self._secrets[1 - MOST_SECRETS :], secret))
        self._secrets = [*self._secrets[1 - MOST_SECRETS :], secret]
        self._quick = quick

    def problem(self, headers: RawHeaders, body: bytes, arrived_at: float) -> str | None:
        """Why no known secret explains the signature, or None where one does."""
        if self._quick.is_certain(headers, body, arrived_at):
            return None
        text = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)
        rules, id_header = self._dialect.signatures.secret, self._dialect.delivery.event_id_header
        verdict = verify(self._scheme, rules, self._secrets, text, id_header, body, arrived_at)
        return None if isinstance(verdict, Verified) else f"{verdict.reason}: {verdict.detail}"

    def _made(self, secrets: Sequence[str]) -> FastPath:
        rules, id_header = self._dialect.signatures.secret, self._dialect.delivery.event_id_header
        # The newest first: nearly every delivery is signed with it.
        return FastPath(self._scheme, rules, tuple(reversed(secrets)), id_header)
