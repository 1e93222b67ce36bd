"""The state machine that generates sequences of operations.

Hypothesis explores a model of the resources: the endpoints created so far, the portal links, two
owners, a few idempotency keys. Nothing is sent here. So the same arguments generate the same
sequences whatever a target answers, and generating them takes no time from experiments that measure
time.
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

import hypothesis
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from hookproof.conformance.generation.operation_sequence import LINK_PREFIX, SequenceStep
from hookproof.spec.contract.service_contract import OPERATION_IDS
from hookproof.spec.field_roles import body_fields

# What every request has a value of, objects that a target may lack, and what no broadcast is to
# reach.
LEFT_OUT: Final = frozenset(
    {"url", "event_type", "data", "authentication", "mtls_client_cert", "is_disabled"}
)
# The operations that change something, each with the fields of its body; deprecated ones set what
# others do (section 9).
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    operation_id: tuple(
        name
        for name, schema in body_fields(operation_id).items()
        if name not in LEFT_OUT and "deprecated" not in schema
    )
    for operation_id in OPERATION_IDS
    if body_fields(operation_id)
}

RETRIEVALS: Final = ("getEndpoint", "getPortalLink", "listPortalLinks", "listSources")
# Most steps change something, since the experiment retrieves everything at the end anyway.
OPERATIONS: Final = (*FIELDS, *FIELDS, *RETRIEVALS)

ON_PORTAL_LINKS: Final = ("getPortalLink", "listPortalLinks", "updatePortalLink")
OWNERS: Final = 2
SUBJECTS: Final = st.integers(0, 7)


class SequenceModel(RuleBasedStateMachine):
    """The resources of one sequence and the possible next steps.

    A subclass sets the list that sequences are appended to. There is one rule for all operations:
    of several rules Hypothesis would switch some off for a whole sequence, and many more sequences
    would be needed to combine two operations.
    """

    generated: ClassVar[list[list[SequenceStep]]]
    portal_links: ClassVar[int]

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[SequenceStep] = []
        self.endpoints = 0

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """Begin every sequence with two endpoints."""
        for _ in range(2):
            self.append_step("createEndpoint", data)

    @rule(operation_id=st.sampled_from(OPERATIONS), data=st.data())
    def add_step(self, operation_id: str, data: st.DataObject) -> None:
        """Add a step, unless it is about portal links and there are none."""
        if self.portal_links or operation_id not in ON_PORTAL_LINKS:
            self.append_step(operation_id, data)

    def append_step(self, operation_id: str, data: st.DataObject) -> None:
        fields = {}
        if operation_id in FIELDS:
            names = st.sampled_from(FIELDS[operation_id])
            fields = data.draw(st.dictionaries(names, st.integers(0, OWNERS - 1)))
        self.steps.append(
            SequenceStep(
                operation_id=operation_id, subject=self.subject(operation_id, data), fields=fields
            )
        )

    def subject(self, operation_id: str, data: st.DataObject) -> str | None:
        """The name of the resource that the operation is about."""
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
        self.generated.append(self.steps)


def generate_sequences(
    *, seed: int, sequences: int, steps: int, portal_links: int
) -> Iterator[list[dict[str, Any]]]:
    """Generate sequences of at most `steps` steps, the same for the same arguments; each step is an
    object as `SequenceStep.from_json` reads it.
    """
    generated: list[list[SequenceStep]] = []
    model = type(
        "SequenceModelWithArguments",
        (SequenceModel,),
        {"generated": generated, "portal_links": portal_links},
    )
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
    for sequence in generated:
        yield [step.to_json() for step in sequence]
