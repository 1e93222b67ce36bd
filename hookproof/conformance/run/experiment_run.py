"""One experiment of a run: its context, and its evidence as it comes."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Final, cast

from hookproof.conformance.experiments.backlog import Backlog
from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.support.seeding import Seeding
from hookproof.conformance.generation.generators import RequestGenerators
from hookproof.conformance.model.evidence import Evidence, NotObserved, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Experiment
from hookproof.conformance.run.intake import Intake
from hookproof.conformance.run.plan import RunPlan
from hookproof.conformance.run.target_watch import TargetWatch
from hookproof.conformance.target.client import ApiClient
from hookproof.conformance.target.definition import Project
from hookproof.conformance.target.environment import Environment
from hookproof.process.subprocesses import to_its_end
from hookproof.target.hooks.provision import Provision


class SharedHold:
    """Holds a lock as long as any task of an experiment wants it; one at a time goes on.

    A task that waited among those of other experiments for each of its requests would take many
    times as long as the requests themselves. Belongs to one event loop.
    """

    def __init__(self, lock: asyncio.Lock) -> None:
        self._lock = lock
        self._turn = asyncio.Lock()
        self._wanted_by = 0
        self._is_held = False

    async def __aenter__(self) -> None:
        self._wanted_by += 1
        try:
            await self._turn.acquire()
            try:
                if not self._is_held:
                    await self._lock.acquire()
                    self._is_held = True
            except BaseException:
                self._turn.release()
                raise
        except BaseException:
            self._leave()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._turn.release()
        self._leave()

    def _leave(self) -> None:
        self._wanted_by -= 1
        if self._is_held and not self._wanted_by:
            self._is_held = False
            self._lock.release()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContexts:
    """What the experiments of a run share; `locks` are by project id."""

    plan: RunPlan
    environment: Environment
    provision: Provision
    seeding: Seeding
    backlog: Backlog
    generators: RequestGenerators
    locks: Mapping[str, asyncio.Lock]
    loop: asyncio.AbstractEventLoop

    def of(
        self, name: str, api: ApiClient, projects: tuple[Project, ...], attempt: str = ""
    ) -> ExperimentContext:
        """The context of an experiment; another `attempt` at it draws other random values."""
        plan, target = self.plan, self.environment.target
        return ExperimentContext(
            experiment=name,
            nonce=plan.nonce,
            api=api,
            receiver=self.environment.receiver,
            answering_url=self.environment.answering_url,
            projects=projects,
            dialect=plan.dialect,
            contract=plan.contract,
            profile=plan.profile,
            budgets=target.budgets.over(self.environment.round_trip_s),
            random=random.Random(f"{plan.seed}:{name}{attempt}"),
            clock=time.time,
            loop=self.loop,
            portal_links=SharedHold(self.locks[projects[0].id]),
            provision=self.provision,
            fixtures=target.fixtures,
            capabilities=target.capabilities,
            ends_tls=not target.receiver.http,
            egress_probes=target.egress_probes,
            seeding=self.seeding,
            backlog=self.backlog,
            generators=self.generators,
            round_trip_s=self.environment.round_trip_s,
        )


# In characters. A reason may name what the target showed, such as an identifier of a megabyte.
LONGEST_REASON: Final = 2000

# In bytes of bodies. What is smaller is taken in within a millisecond or two.
LARGE: Final = 4096


class ExperimentRun:
    """What an experiment observes; `observations` grows while it is gathered.

    What is `tentative` is neither written nor judged before `keep`.
    """

    def __init__(
        self, experiment: Experiment, intake: Intake, watch: TargetWatch, *, tentative: bool
    ) -> None:
        self.observations: list[Evidence] = []
        self._experiment = experiment
        self._intake = intake
        self._watch = watch
        self._earlier_outages = len(watch.outages)
        self._tentative = tentative

    async def gather(self, context: ExperimentContext) -> None:
        """Gather until the experiment or the target ends; raises what the experiment raises."""
        try:
            gather = cast("AsyncGenerator[Evidence]", self._experiment.gather(context))
            async with aclosing(gather) as observations:
                async for observation in observations:
                    await self._watch.confirm(observation)
                    if self.outage is not None:
                        return
                    await self._take(observation)
        except PreconditionFailed as failed:
            await self._take(
                NotObserved(
                    experiment=self._experiment.name,
                    name="precondition failed",
                    observation="",
                    reason=str(failed),
                )
            )

    @property
    def outage(self) -> str | None:
        """The first outage of the target since the experiment began, in words."""
        outages = self._watch.outages[self._earlier_outages :]
        return outages[0].words if outages else None

    def keep(self) -> None:
        """Let what was gathered count; this may take seconds."""
        for evidence in self.observations if self._tentative else ():
            self._intake.keep(evidence)
        self._tentative = False

    async def _take(self, evidence: Evidence) -> None:
        """What is large in a thread: a megabyte takes a second, in which nothing else here may be
        late. For what is small a thread takes longer than the work.
        """
        if not isinstance(evidence, (NotObserved, *self._experiment.observes)):
            raise TypeError(f"it does not declare that it observes a {type(evidence).__name__}")
        if isinstance(evidence, NotObserved) and len(evidence.reason) > LONGEST_REASON:
            reason = self._intake.mask.quotation(evidence.reason)  # of which the beginning is kept
            evidence = replace(evidence, reason=f"{reason[:LONGEST_REASON]}...")
        take = self._intake.examined if self._tentative else self._intake.take

        def take_now() -> None:
            self.observations.append(take(evidence))

        if _size(evidence) > LARGE:
            await to_its_end(asyncio.to_thread(take_now))
        else:
            take_now()


def _size(evidence: Evidence) -> int:
    exchanged = (
        len(exchange.request_body or b"") + len(exchange.response_body)
        for exchange in evidence.exchanges
    )
    return sum(exchanged) + sum(len(delivery.body) for delivery in evidence.deliveries)
