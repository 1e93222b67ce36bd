"""What the roll of a secret shows in its answer, and later when the endpoint is fetched (4.3)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, Self

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.observations.answer import has_value, sent, shown, was_accepted
from hookproof.conformance.observations.roles import AllExchanges, OneExchange
from hookproof.conformance.observations.round_trip import EndpointCreation
from hookproof.conformance.observations.shown_secret import (
    ShownSecret,
    secret_uids,
    secret_values,
    secrets_in,
    shown_secrets,
)
from hookproof.conformance.observations.succeeding_requests import SucceedingRequests
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import SecretDisplay

# The roles of a roll that is repeated, and of the retrieval after it.
ROLL_AGAIN: Final = "roll again"
FETCH_AGAIN: Final = "fetch after rolling again"
# The role of a roll at the same time as another one, which may be refused for that.
AT_ONCE: Final = "tried: at the same time"


@dataclass(frozen=True, slots=True, kw_only=True)
class RollAnswer(EndpointCreation, SucceedingRequests):
    """Rolls of one endpoint, fetched before and after them, while another endpoint stays as it is.

    `given` holds the secrets that the requests set, oldest first, and `shown_secrets` those in
    the answers that show first what the rolls did. Where a retrieval did not show the last roll,
    the rolls were repeated, each time with a retrieval.
    """

    given: tuple[str, ...]
    shown_secrets: tuple[ShownSecret, ...] = ()

    def examined(self, dialect: Dialect) -> Self:
        """The observation with the form of each secret."""
        rules = dialect.signatures.secret
        answers = map(self.first_showing, self.rolls)
        return replace(self, shown_secrets=shown_secrets(answers, rules))

    rolls = AllExchanges("roll")

    @property
    def successful_rolls(self) -> tuple[Exchange, ...]:
        """The rolls that were answered with an endpoint."""
        return tuple(roll for roll in self.rolls if shown(roll))

    def first_showing(self, roll: Exchange) -> Exchange:
        """The answer that shows first what a roll did: its own, or if that shows no endpoint, the
        retrieval afterwards, unless it shows what another roll did too.
        """
        *earlier, last = self.rolls
        if shown(roll) or not roll.succeeded or roll is not last or not all(map(shown, earlier)):
            return roll
        return self.after or roll

    before = OneExchange("fetch before")

    @property
    def secrets_before(self) -> Exchange | None:
        """What shows the secrets before the rolls: a retrieval, or if it shows nothing, the answer
        to the creation.
        """
        fetched = self.before
        return fetched if fetched is not None and shown(fetched) else self.exchange("create")

    after = OneExchange("fetch")

    def shown_rolls(self, dialect: Dialect) -> Iterator[tuple[bool, Exchange, Exchange]]:
        """Whether a retrieval shows the roll before it, for the rolls and each time that they were
        repeated, as far as anything tells: by value too where the dialect always shows them.
        """
        by_value = shows_values(dialect)
        if not self.rolls or self.after is None:
            return
        before = self.secrets_before or self.rolls[0]
        again = zip(self.all_exchanges(ROLL_AGAIN), self.all_exchanges(FETCH_AGAIN), strict=False)
        for roll, fetched in ((self.rolls[-1], self.after), *again):
            is_shown = shows_roll(before, roll, fetched, by_value=by_value)
            if is_shown is not None:
                yield is_shown, roll, fetched
            before = fetched

    other_created = OneExchange("create other")

    @property
    def other_before(self) -> Exchange | None:
        """The other endpoint before the rolls, as fetched or, if that shows no secret, created.

        What the answers of two operations show differently, no roll has changed.
        """
        fetched = self.exchange("fetch other before")
        return fetched if fetched is not None and secret_uids(fetched) else self.other_created

    # The other endpoint after the rolls.
    other_after = OneExchange("fetch other")


def shows_values(dialect: Dialect) -> bool:
    """Whether retrievals are sure to show secrets by value."""
    return dialect.representation.secrets_shown.allowed == (SecretDisplay.ALWAYS,)


def shows_roll(
    before: Exchange, roll: Exchange, fetched: Exchange, *, by_value: bool
) -> bool | None:
    """Whether a retrieval shows the secrets that a roll brought in, by identifier, and on request
    by value; None if nothing tells.

    After an answer that shows no endpoint it is the secret that the roll was sent.
    """
    if not roll.succeeded or not shown(fetched):
        return None
    if not shown(roll):
        if not by_value or "secret" not in sent(roll):
            return None
        return sent(roll)["secret"] in secret_values(fetched)
    current = [secret for secret in secrets_in(roll) if not has_value(secret.get("expires_at"))]
    uids = {str(secret["uid"]) for secret in current if has_value(secret.get("uid"))}
    newest = (uids or set(secret_uids(roll))).difference(secret_uids(before))
    values = {str(secret.get("value")) for secret in current}
    return newest <= set(secret_uids(fetched)) and (
        not by_value or values <= set(secret_values(fetched))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledTwice:
    """Two rolls of one endpoint, which was fetched before and, perhaps repeatedly, after them."""

    before: Exchange
    rolls: tuple[Exchange, ...]
    fetched: tuple[Exchange, ...]

    def are_shown(self, *, by_value: bool) -> bool | None:
        """Whether a retrieval shows both new secrets; None if nothing tells.

        Without the values it is by the number of new identifiers. One that is not shown has neither
        expired nor been dropped as one too many where an older secret is still there, which was
        replaced as soon, and for as long.
        """
        if len(self.rolls) != 2 or not all(map(was_accepted, self.rolls)):  # noqa: PLR2004
            return None
        retrievals = [each for each in self.fetched if secrets_in(each)]
        if any(self._shows(each, by_value=by_value) for each in retrievals):
            return True
        old = set(secret_uids(self.before))
        return False if retrievals and old & set(secret_uids(retrievals[-1])) else None

    def _shows(self, fetched: Exchange, *, by_value: bool) -> bool:
        if by_value:
            given = {str(sent(roll).get("secret")) for roll in self.rolls}
            return given <= set(secret_values(fetched))
        return len(set(secret_uids(fetched)) - set(secret_uids(self.before))) >= len(self.rolls)


@dataclass(frozen=True, slots=True, kw_only=True)
class RollsAtOnce(Observation):
    """Pairs of rolls of one endpoint, the first in turn, all others at the same time."""

    @property
    def pairs(self) -> tuple[RolledTwice, ...]:
        """Each with what was fetched before and after it."""
        steps = [
            (operation_id, tuple(exchanges))
            for operation_id, exchanges in groupby(self.exchanges, lambda each: each.operation_id)
        ]
        return tuple(
            RolledTwice(before=before[-1], rolls=rolls, fetched=fetched)
            for (_, before), (operation_id, rolls), (_, fetched) in zip(
                steps, steps[1:], steps[2:], strict=False
            )
            if operation_id == "expireEndpointSecret"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredSecret(Observation):
    """An endpoint that is fetched when the secret that was rolled has certainly expired."""

    created = OneExchange("create")
    roll = OneExchange("roll")
    fetched = OneExchange("fetch")
