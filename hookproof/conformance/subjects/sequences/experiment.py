"""Sequences: operations in orders that a state machine generates (sections 2 to 4).

After each sequence everything in it is fetched once more. Nothing else changes the portal links
during a sequence, so that they can be compared with a model of the resources. No broadcast reaches
the endpoints, and none is sent any more when it would reach those of other experiments.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.existing_resources import (
    fetch_list,
    find_changeable_links,
    put_back_afterwards,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.generation.operation_sequence import SequenceStep
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.answer import shown_uid
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.subjects.sequences.evidence import OperationSequence
from hookproof.spec.field_roles import body_fields

SEQUENCES: Final = {Profile.QUICK: 10, Profile.STANDARD: 25, Profile.DEEP: 150}
STEPS: Final = {Profile.QUICK: 12, Profile.STANDARD: 20, Profile.DEEP: 50}
PORTAL_LINKS: Final = 3

ROLES: Final = {
    "createEndpoint": "create",
    "getEndpoint": "fetch",
    "expireEndpointSecret": "roll",
    "getPortalLink": "retrieve",
    "updatePortalLink": "update",
    "createBroadcastEvent": "first",
}


@experiment("sequences", observes=(OperationSequence, Preparation), generates=True, broadcasts=10)
async def sequences(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Run one sequence after the other."""
    trial = context.trial("portal links to work with")
    async with context.portal_links:
        links = (await find_changeable_links(context, trial, pages=1)).links[:PORTAL_LINKS]
    yield trial.observe(Preparation)
    generated = context.generators.sequences(
        seed=context.random.getrandbits(32),
        sequences=SEQUENCES[context.profile],
        steps=STEPS[context.profile],
        portal_links=len(links),
    )
    restored, number = context.trial("portal links as they were"), 0
    async with aclosing(generated):
        async for steps in generated:
            number += 1
            # Others can have the portal links between two sequences, and while one is generated.
            changed = _changed_by(steps, links)
            async with context.portal_links, put_back_afterwards(context, restored, *changed):
                yield await run_sequence(context, links, steps, name=f"sequence {number}")
    yield restored.observe(Preparation)


def _changed_by(
    steps: Sequence[SequenceStep], links: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Those of the portal links that the steps update."""
    updated = {step.subject for step in steps if step.operation_id == "updatePortalLink"}
    return [link for number, link in enumerate(links) if _name_of_link(number) in updated]


def _name_of_link(number: int) -> str:
    """The name by which steps call the portal link of this number."""
    return f"l{number}"


async def run_sequence(
    context: ExperimentContext,
    links: Sequence[Mapping[str, Any]],
    steps: Sequence[SequenceStep],
    *,
    name: str,
) -> OperationSequence:
    """Run one sequence, without the steps about something that does not exist."""
    trial = context.trial(name)
    names = {_name_of_link(number): link["uid"] for number, link in enumerate(links)}
    running = _RunningSequence(context, trial, names)
    for step in steps:
        await running.run_step(step)
    await running.fetch_everything()
    return trial.observe(OperationSequence, steps=tuple(steps))


class _RunningSequence:
    """The resources that the steps of one sequence are about, and the values that they share."""

    def __init__(self, context: ExperimentContext, trial: Trial, links: Mapping[str, str]) -> None:
        self._context = context
        self._trial = trial
        self._bodies = RequestBodies.of(context)
        self._links = links
        self._endpoints: dict[str, str] = {}
        self._values: dict[tuple[str, int], Any] = {}
        self._keys: set[Any] = set()

    async def run_step(self, step: SequenceStep) -> None:
        if self._context.why_unasked(step.operation_id):
            return
        if step.operation_id == "createBroadcastEvent" and self._context.others_receive():
            return
        match step.operation_id:
            case "listPortalLinks" | "listSources":
                await fetch_list(self._trial, step.operation_id)
            case "createEndpoint":
                await self._create_endpoint(step)
            case "createBroadcastEvent":
                await self._broadcast(step)
            case "getEndpoint" | "expireEndpointSecret":
                await self._call_on(step, self._endpoints)
            case _:
                await self._call_on(step, self._links)

    async def fetch_everything(self) -> None:
        """Fetch all endpoints and portal links of the sequence, and list the portal links."""
        for name in self._endpoints:
            await self.run_step(SequenceStep(operation_id="getEndpoint", subject=name))
        for name in self._links:
            await self.run_step(SequenceStep(operation_id="getPortalLink", subject=name))
        if self._links:
            await self.run_step(SequenceStep(operation_id="listPortalLinks"))

    async def _create_endpoint(self, step: SequenceStep) -> None:
        body = self._bodies.quiet_endpoint(**self._fields(step, self._bodies.endpoint_value))
        uid = shown_uid(await self._call(step, ROLES[step.operation_id], body=body))
        if uid is not None and step.subject is not None:
            self._endpoints[step.subject] = uid

    async def _broadcast(self, step: SequenceStep) -> None:
        body = self._bodies.broadcast(**self._fields(step, self._bodies.event_value))
        key = body.get("idempotency_key")
        role = "again" if key in self._keys else ROLES[step.operation_id]
        await self._call(step, role, body=body)
        if key is not None:
            self._keys.add(key)

    async def _call_on(self, step: SequenceStep, uids: Mapping[str, str]) -> None:
        """Call the operation on the subject of the step, unless that does not exist."""
        uid = uids.get(step.subject or "")
        if uid is None:
            return
        body: dict[str, Any] | None = None
        if body_fields(step.operation_id):
            fields = self._fields(step, partial(self._bodies.value, step.operation_id))
            body = {**self._bodies.required(step.operation_id), **fields}
        await self._call(step, ROLES[step.operation_id], uid=uid, body=body)

    async def _call(self, step: SequenceStep, role: str, **arguments: Any) -> Exchange:
        return await self._trial.call(step.operation_id, role=role, **arguments)

    def _fields(self, step: SequenceStep, value: Callable[[str], Any]) -> dict[str, Any]:
        """The fields of a step with their values.

        A number stands for the same owner or key in the whole sequence.
        """
        return {
            name: self._value(step, name, number, value) for name, number in step.fields.items()
        }

    def _value(
        self, step: SequenceStep, name: str, number: int, value: Callable[[str], Any]
    ) -> Any:
        if name in {"owner_id", "idempotency_key"}:
            return self._values.setdefault((name, number), value(name))
        new_value = value(name)
        return bool(number) if isinstance(new_value, bool) else new_value
