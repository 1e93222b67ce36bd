"""What stands in an observation under a role, as an attribute of it.

class Roll(Observation):
    created = OneExchange("create")  # an Exchange, or None
    rolls = AllExchanges("roll")  # a tuple of them
"""

from hookproof.conformance.model.evidence import Exchange, Observation


class OneExchange:
    """The first exchange with a role; None if there is none."""

    def __init__(self, role: str) -> None:
        self._role = role

    def __get__(self, observation: Observation, _kind: type) -> Exchange | None:
        return observation.exchange(self._role)


class AllExchanges:
    """Every exchange with a role, in order."""

    def __init__(self, role: str) -> None:
        self._role = role

    def __get__(self, observation: Observation, _kind: type) -> tuple[Exchange, ...]:
        return observation.all_exchanges(self._role)
