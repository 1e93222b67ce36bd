"""The state machine that makes up sequences of operations, run as a process of its own.

    python -m conformance.sequence_generator < order.json > sequences.jsonl

Hypothesis walks through a model of the resources: endpoints that were created so far, the portal links that there are,
two owners, a few idempotency keys. It decides what is done next to what; nothing is sent here. So the same order gives
the same sequences whatever a target answers, and making them up takes no time from experiments that measure it.

The order is `{"seed": int, "sequences": int, "steps": int, "portal_links": int}`; each line of the output is one
sequence, a list of steps as `conformance.sequence` reads them.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any, ClassVar, Final

import hypothesis
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from conformance.sequence import LINK_PREFIX, Step

Fields = dict[str, int]

ENDPOINT_FIELDS: Final = (
    "advanced_signatures",
    "content_type",
    "description",
    "http_timeout",
    "name",
    "owner_id",
    "rate_limit",
    "rate_limit_duration",
    "secret",
    "slack_webhook_url",
    "support_email",
)
LINK_FIELDS: Final = ("auth_type", "can_manage_endpoint", "name", "owner_id")
EVENT_FIELDS: Final = ("acknowledged_at", "custom_headers", "idempotency_key")
ROLL_FIELDS: Final = ("expiration", "secret")
OWNERS: Final = 2
LINKS: Final = st.integers(0, 7)


def fields_of(names: tuple[str, ...]) -> st.SearchStrategy[Fields]:
    """Some of the fields, each with a number that tells its values apart."""
    return st.dictionaries(st.sampled_from(names), st.integers(0, OWNERS - 1))


class Model(RuleBasedStateMachine):
    """The resources of one sequence, and what can be done next; a subclass says where the sequences go."""

    made: ClassVar[list[list[Step]]]
    portal_links: ClassVar[int]
    endpoints = Bundle("endpoints")

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self.created = 0

    def do(self, operation_id: str, subject: str | None = None, fields: Fields | None = None) -> None:
        """Put an operation at the end of the sequence."""
        self.steps.append(Step(operation_id=operation_id, subject=subject, fields=fields or {}))

    def has_links(self) -> bool:
        """Whether there are portal links at all."""
        return self.portal_links > 0

    def link(self, number: int) -> str:
        """The name of a portal link."""
        return f"{LINK_PREFIX}{number % self.portal_links}"

    @rule(target=endpoints, fields=fields_of(ENDPOINT_FIELDS))
    def create(self, fields: Fields) -> str:
        """Create an endpoint."""
        name = f"e{self.created}"
        self.created += 1
        self.do("createEndpoint", name, fields)
        return name

    @rule(endpoint=endpoints)
    def fetch(self, endpoint: str) -> None:
        """Fetch an endpoint."""
        self.do("getEndpoint", endpoint)

    @rule(endpoint=endpoints, fields=fields_of(ROLL_FIELDS))
    def roll(self, endpoint: str, fields: Fields) -> None:
        """Roll the secret of an endpoint."""
        self.do("expireEndpointSecret", endpoint, fields)

    @rule(fields=fields_of(EVENT_FIELDS))
    def broadcast(self, fields: Fields) -> None:
        """Broadcast an event."""
        self.do("createBroadcastEvent", fields=fields)

    @rule()
    def list_sources(self) -> None:
        """List the sources."""
        self.do("listSources")

    @precondition(has_links)
    @rule(number=LINKS)
    def retrieve(self, number: int) -> None:
        """Retrieve a portal link."""
        self.do("getPortalLink", self.link(number))

    @precondition(has_links)
    @rule(number=LINKS, fields=fields_of(LINK_FIELDS))
    def update(self, number: int, fields: Fields) -> None:
        """Update a portal link."""
        self.do("updatePortalLink", self.link(number), fields)

    @precondition(has_links)
    @rule()
    def list_links(self) -> None:
        """List the portal links."""
        self.do("listPortalLinks")

    def teardown(self) -> None:
        """Keep the sequence."""
        self.made.append(self.steps)


def made_up(*, seed: int, sequences: int, steps: int, portal_links: int) -> Iterator[list[dict[str, Any]]]:
    """As many sequences of at most so many steps; the same for the same arguments."""
    everything: list[list[Step]] = []
    model = type("OrderedModel", (Model,), {"made": everything, "portal_links": portal_links})
    settings = hypothesis.settings(
        max_examples=sequences,
        stateful_step_count=steps,
        database=None,
        deadline=None,
        derandomize=False,  # where hypothesis sees the variables of a CI system, its profile would ignore the seed
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    run_state_machine_as_test(hypothesis.seed(seed)(model), settings=settings)
    for made in everything:
        yield [step.to_json() for step in made]


def main() -> None:
    """Read one order from standard input and write its sequences to standard output."""
    for steps in made_up(**json.load(sys.stdin)):
        sys.stdout.write(json.dumps(steps) + "\n")


if __name__ == "__main__":
    main()
