"""What the roll of a secret shows in its answer, and later when the endpoint is fetched (4.3)."""

from dataclasses import dataclass, replace
from typing import Self

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.observations.answer import shown
from hookproof.conformance.observations.resources.round_trip import EndpointCreation
from hookproof.conformance.observations.resources.shown_secret import (
    ShownSecret,
    secret_uids,
    shown_secrets,
)
from hookproof.conformance.observations.succeeding_requests import SucceedingRequests
from hookproof.spec.dialect.model import Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class RollAnswer(EndpointCreation, SucceedingRequests):
    """Rolls of one endpoint, fetched before and after them, while another endpoint stays as it is.

    `given` holds the secrets that the requests set, oldest first, and `shown_secrets` those in
    the answers that show first what the rolls did.
    """

    given: tuple[str, ...]
    shown_secrets: tuple[ShownSecret, ...] = ()

    def examined(self, dialect: Dialect) -> Self:
        """The observation with the form of each secret."""
        rules = dialect.signatures.secret
        answers = map(self.first_showing, self.rolls)
        return replace(self, shown_secrets=shown_secrets(answers, rules))

    @property
    def rolls(self) -> tuple[Exchange, ...]:
        return self.all_exchanges("roll")

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

    @property
    def before(self) -> Exchange | None:
        return self.exchange("fetch before")

    @property
    def secrets_before(self) -> Exchange | None:
        """What shows the secrets before the rolls: a retrieval, or if it shows nothing, the answer
        to the creation.
        """
        fetched = self.before
        return fetched if fetched is not None and shown(fetched) else self.exchange("create")

    @property
    def after(self) -> Exchange | None:
        return self.exchange("fetch")

    @property
    def other_created(self) -> Exchange | None:
        return self.exchange("create other")

    @property
    def other_before(self) -> Exchange | None:
        """The other endpoint before the rolls, as fetched or, if that shows no secret, created.

        What the answers of two operations show differently, no roll has changed.
        """
        fetched = self.exchange("fetch other before")
        return fetched if fetched is not None and secret_uids(fetched) else self.other_created

    @property
    def other_after(self) -> Exchange | None:
        """The other endpoint after the rolls."""
        return self.exchange("fetch other")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredSecret(Observation):
    """An endpoint that is fetched when the secret that was rolled has certainly expired."""

    @property
    def created(self) -> Exchange | None:
        return self.exchange("create")

    @property
    def roll(self) -> Exchange | None:
        return self.exchange("roll")

    @property
    def fetched(self) -> Exchange | None:
        return self.exchange("fetch")
