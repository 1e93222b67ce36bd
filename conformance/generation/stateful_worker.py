"""The state machine that makes up sequences of operations, run as a process of its own.

    python -m conformance.sequence_generator < order.json > sequences.jsonl

Hypothesis walks through a model of the resources: endpoints that were created so far, the portal
links that there are, two owners, a few idempotency keys. It decides what is done next to what;
nothing is sent here. So the same order gives the same sequences whatever a target answers, and
making them up takes no time from experiments that measure it.

The order is `{"seed": int, "sequences": int, "steps": int, "portal_links": int}`; each line of the
output is one sequence, a list of steps as `hookproof.conformance.generation.operation_sequence`
reads them.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

import hypothesis
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from hookproof.conformance.generation.operation_sequence import LINK_PREFIX, Step

# The operations that change something, each with the fields of its body (sections 4.1, 4.3, 4.6 and
# 4.8).
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "createEndpoint": (
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
    ),
    "expireEndpointSecret": ("expiration", "secret"),
    "updatePortalLink": ("auth_type", "can_manage_endpoint", "name", "owner_id"),
    "createBroadcastEvent": ("acknowledged_at", "custom_headers", "idempotency_key"),
}

LOOKS: Final = ("getEndpoint", "getPortalLink", "listPortalLinks", "listSources")
# Most steps change something, since every sequence ends with a look at everything.
OPERATIONS: Final = (*FIELDS, *FIELDS, *LOOKS)

ON_PORTAL_LINKS: Final = ("getPortalLink", "listPortalLinks", "updatePortalLink")
OWNERS: Final = 2
SUBJECTS: Final = st.integers(0, 7)


class Model(RuleBasedStateMachine):
    """The resources of one sequence, and what can be done next; a subclass says where the sequences
    go.

    There is one rule for all operations: among several Hypothesis would switch some off for the
    whole of a sequence, which takes many more sequences to bring two operations together.
    """

    made: ClassVar[list[list[Step]]]
    portal_links: ClassVar[int]

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self.endpoints = 0

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """No sequence is without two endpoints."""
        for _ in range(2):
            self.take("createEndpoint", data)

    @rule(operation_id=st.sampled_from(OPERATIONS), data=st.data())
    def go_on(self, operation_id: str, data: st.DataObject) -> None:
        """Take one more step; where there are no portal links, none about them."""
        if self.portal_links or operation_id not in ON_PORTAL_LINKS:
            self.take(operation_id, data)

    def take(self, operation_id: str, data: st.DataObject) -> None:
        """Put an operation at the end of the sequence."""
        fields = {}
        if operation_id in FIELDS:
            names = st.sampled_from(FIELDS[operation_id])
            fields = data.draw(st.dictionaries(names, st.integers(0, OWNERS - 1)))
        self.steps.append(
            Step(operation_id=operation_id, subject=self.subject(operation_id, data), fields=fields)
        )

    def subject(self, operation_id: str, data: st.DataObject) -> str | None:
        """The name of what the operation is about."""
        match operation_id:
            case "createEndpoint":
                self.endpoints += 1
                return f"e{self.endpoints - 1}"
            case "getEndpoint" | "expireEndpointSecret":
                return f"e{data.draw(SUBJECTS) % self.endpoints}"
            case "getPortalLink" | "updatePortalLink":
                return f"{LINK_PREFIX}{data.draw(SUBJECTS) % self.portal_links}"
            case _:
                return None

    def teardown(self) -> None:
        """Keep the sequence."""
        self.made.append(self.steps)


def made_up(
    *, seed: int, sequences: int, steps: int, portal_links: int
) -> Iterator[list[dict[str, Any]]]:
    """As many sequences of at most so many steps; the same for the same arguments."""
    everything: list[list[Step]] = []
    model = type("OrderedModel", (Model,), {"made": everything, "portal_links": portal_links})
    settings = hypothesis.settings(
        max_examples=sequences,
        stateful_step_count=steps,
        database=None,
        deadline=None,
        # where hypothesis sees the variables of a CI system, its profile would ignore the seed
        derandomize=False,
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
