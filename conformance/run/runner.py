"""Runs all experiments at once, on one event loop in a thread of its own.

The thread opens the venue, tries the keys, gathers the evidence and closes the venue again. The
main thread stays free to judge, and to be interrupted. The run ends when every experiment has, when
the time budget is over, when the target stops answering, or when `stop` is called; what was
gathered by then is kept.
"""

import asyncio
import random
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, InvalidStateError, wait
from contextlib import aclosing, nullcontext, suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Final, Self, cast

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.grading.grader import error_line
from hookproof.conformance.model.evidence import Evidence, NotObserved, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Experiment
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.run.intake import Intake
from hookproof.conformance.target.circuit_breaker import Breaker, RunOver
from hookproof.conformance.target.client import ApiClient
from hookproof.conformance.target.definition import Project, Target
from hookproof.conformance.target.environment import Embedded, Environment, open_environment
from hookproof.conformance.target.hooks.provision import HookFailed
from hookproof.conformance.target.preflight import (
    FIRST_OPERATION,
    check_access,
    out_of_time,
    with_fresh_projects,
)
from hookproof.conformance.target.project_assignment import assign_projects
from hookproof.conformance.target.seeding import Seeding
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.spec.contract.service_contract import Contract
from hookproof.spec.dialect.model import Dialect

CANCELLED_WITHIN_S: Final = 5.0
CLOSED_WITHIN_S: Final = 15.0
AFTERWARDS: Final = "afterwards"
# As many busy experiments keep a target busy; more would only delay the beginning of those that
# wait.
BUSY_AT_ONCE: Final = 4

# What is done at the target once all experiments have ended; it is given what makes a bench in a
# project.
Afterwork = Callable[[Callable[[Project], ExperimentContext]], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to run: `experiments` out of `every_experiment` that there is.

    `nonce` goes into names, so that no run meets what an earlier one left behind.
    """

    subject: Target | Embedded
    experiments: Sequence[Experiment]
    every_experiment: Sequence[str]
    dialect: Dialect
    contract: Contract
    profile: Profile
    seed: int
    nonce: str


class Runner:
    """One run's evidence in the making: a context manager, then `open`, `begin`, and `gathered` as
    often as needed.
    """

    def __init__(self, plan: Plan):
        self.cut: str | None = None
        self._plan = plan
        self._environment: Future[Environment] = Future()
        self._intake: Future[Intake] = Future()
        self._held = False
        self._afterwork: Future[Afterwork] = Future()
        self._worked: Future[str | None] = Future()
        self._observations: dict[str, list[Evidence]] = {one.name: [] for one in plan.experiments}
        self._gathered: dict[str, Future[Gathered]] = {
            one.name: Future() for one in plan.experiments
        }
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._main: asyncio.Task[None] | None = None
        self._began = 0.0
        self._thread = threading.Thread(target=self._run, name="experiments", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop("the run was abandoned")
        self._thread.join(CLOSED_WITHIN_S)

    def open(self) -> Environment:
        """Wait until the venue is open and the keys are tried; raises CommandError."""
        return self._environment.result()

    def begin(self, intake: Intake, *, held: bool = False) -> None:
        """Start the experiments; `intake` gets each observation as it comes, in their thread.

        With `held` the venue stays open after them, until `afterwards` or the end of the block.
        """
        self._held = held
        self._intake.set_result(intake)

    def afterwards(self, work: Afterwork) -> str | None:
        """Let the thread of a held run do something more when its experiments have ended, and wait
        for that.

        Nothing is done once the run is over; what is left of the time budget bounds the work. Gives
        what broke, if anything did.
        """
        with suppress(InvalidStateError):  # the run is over
            self._afterwork.set_result(work)
        return self._worked.result()

    def gathered(self, name: str) -> Gathered:
        """Wait for an experiment to end and give what it brought."""
        return self._gathered[name].result()

    def meanwhile(self, name: str) -> Iterator[str]:
        """The other experiments that have ended, each once and as it does, until this one has;
        waits between them.
        """
        told: set[str] = set()
        while not self._gathered[name].done():
            ended = [
                one for one, future in self._gathered.items() if future.done() and one not in told
            ]
            if ended:
                told.add(ended[0])
                yield ended[0]
            else:
                wait(
                    [one for one in self._gathered.values() if not one.done()],
                    return_when=FIRST_COMPLETED,
                )

    def under_way(self) -> tuple[str, ...]:
        """The experiments that have not ended, in their order."""
        return tuple(name for name, future in self._gathered.items() if not future.done())

    def all_gathered(self) -> tuple[Gathered, ...]:
        """Wait for all experiments and give what each brought, in their order."""
        return tuple(map(self.gathered, self._gathered))

    def stop(self, reason: str) -> None:
        """End the run: experiments that have not ended are cut for this reason."""
        try:
            self._loop.call_soon_threadsafe(self._end, reason)
        except RuntimeError:  # the loop is closed: all has ended
            return

    def _end(self, reason: str) -> None:
        self.cut = self.cut or self._masked(reason)
        self._stop.set()
        if self._main is not None and not self._intake.done():
            self._main.cancel()

    def _run(self) -> None:
        failure: BaseException = RuntimeError("the run ended before it began")
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._conduct())
        except BaseException as error:  # noqa: BLE001 whoever waits in the other thread must hear of anything
            failure = error
        if not self._environment.done():
            self._environment.set_exception(failure)
        for name in self._gathered:
            self._settle(name, Ending.CRASHED, error_line(failure), 0.0)
        if not self._worked.done():
            self._worked.set_result(None)

    async def _conduct(self) -> None:
        self._main = asyncio.current_task()
        breaker = Breaker()
        async with open_environment(self._plan.subject) as place:
            plan, target = self._plan, place.target
            async with ApiClient(
                target.base_url,
                plan.contract,
                plan.dialect,
                timeout_s=target.budgets.request_s,
                breaker=breaker,
            ) as api:
                environment = replace(place, target=await self._entered(target, api))
                self._environment.set_result(environment)
                intake = await asyncio.wrap_future(self._intake)
                await self._gather_all(environment, api, breaker, intake)

    async def _entered(self, target: Target, api: ApiClient) -> Target:
        """The target with all its projects, whose keys were tried; raises CommandError. The time budget
        begins here.
        """
        self._began = self._loop.time()
        try:
            async with asyncio.timeout(target.budgets.total_s):
                whole = await with_fresh_projects(target, len(self._plan.experiments))
                await check_access(whole, api)
                return whole
        except TimeoutError:
            raise CommandError(out_of_time(target), ExitCode.UNREACHABLE) from None

    async def _gather_all(
        self,
        environment: Environment,
        api: ApiClient,
        breaker: Breaker,
        intake: Intake,
    ) -> None:
        everything = asyncio.create_task(self._in_order(environment, api, intake))
        watch = asyncio.create_task(self._watch(environment, api, breaker))
        stop = asyncio.create_task(self._stop.wait())
        total_s = max(0.0, environment.target.budgets.total_s - (self._loop.time() - self._began))
        await asyncio.wait({everything, stop}, timeout=total_s, return_when=asyncio.FIRST_COMPLETED)
        if self.under_way():
            self._end(f"the time budget of {environment.target.budgets.total_s:g} s is over")
        breaker.open()
        for task in (everything, watch, stop):
            task.cancel()
        await asyncio.wait({everything, watch, stop}, timeout=CANCELLED_WITHIN_S)
        for name in self._gathered:
            self._settle(name, Ending.CUT, self.cut or "", total_s)

    async def _in_order(self, environment: Environment, api: ApiClient, intake: Intake) -> None:
        """Run all experiments at once; those that want to be alone come last where projects are too
        few for that.
        """
        assignment = assign_projects(environment.target.projects, self._names(environment.target))
        locks = {project.id: asyncio.Lock() for project in environment.target.projects}
        stock = Seeding(environment.target.provision, self._plan.dialect.words, self._plan.nonce)
        contexts = {
            one.name: self._context(
                one.name, environment, api, assignment.projects[one.name], locks, stock
            )
            for one in self._plan.experiments
        }
        last = [one for one in self._plan.experiments if one.alone and assignment.shared]
        rest = [one for one in self._plan.experiments if one not in last]
        few = asyncio.Semaphore(BUSY_AT_ONCE)

        async def in_turn(one: Experiment) -> None:
            async with few if one.busy else nullcontext():
                await self._gather(one, contexts[one.name], intake)

        await asyncio.gather(*map(in_turn, rest))
        for one in last:
            await self._gather(one, contexts[one.name], intake)
        if self._held:
            work = await asyncio.wrap_future(self._afterwork)
            if not self._stop.is_set():
                await self._work(
                    work,
                    lambda project: self._context(
                        AFTERWARDS, environment, api, (project,), locks, stock
                    ),
                )

    async def _work(self, work: Afterwork, context: Callable[[Project], ExperimentContext]) -> None:
        broke: str | None = None
        try:
            await work(context)
        except RunOver:
            pass
        except Exception as error:  # noqa: BLE001 the evidence is there already, and must not be lost
            broke = error_line(error)
        self._worked.set_result(broke)

    def _names(self, target: Target) -> Sequence[str]:
        """The experiments that share out the projects: all there are, unless projects are made for
        those of the run.
        """
        made = target.provision.has("fresh_project")
        return [one.name for one in self._plan.experiments] if made else self._plan.every_experiment

    async def _gather(
        self, experiment: Experiment, context: ExperimentContext, intake: Intake
    ) -> None:
        started = self._loop.time()
        ending, reason = Ending.COMPLETE, ""

        def take(evidence: Evidence) -> None:
            if not isinstance(evidence, (NotObserved, *experiment.observes)):
                raise TypeError(f"it does not say that it observes a {type(evidence).__name__}")
            self._observations[experiment.name].append(intake.take(evidence))

        try:
            gather = cast("AsyncGenerator[Evidence]", experiment.gather(context))
            async with aclosing(gather) as observations:
                async for observation in observations:
                    take(observation)
        except PreconditionFailed as failed:
            take(
                NotObserved(
                    experiment=experiment.name,
                    name="precondition failed",
                    observation="",
                    reason=str(failed),
                )
            )
        except asyncio.CancelledError:
            self._settle(
                experiment.name,
                Ending.CUT,
                self.cut or "the run ended",
                self._loop.time() - started,
            )
            raise
        except RunOver:
            ending, reason = Ending.CUT, self.cut or "the run ended"
        except Exception as error:  # noqa: BLE001 an experiment that breaks is our fault, and must not end the others
            # What breaks while the run is being ended broke because of that.
            why = str(error) if isinstance(error, HookFailed) else error_line(error)
            broke = f"The experiment {experiment.name} broke: {why}"
            ending, reason = (Ending.CUT, self.cut) if self.cut else (Ending.CRASHED, broke)
        self._settle(experiment.name, ending, reason, self._loop.time() - started)

    def _settle(self, name: str, ending: Ending, reason: str, duration_s: float) -> None:
        if not self._gathered[name].done():
            self._gathered[name].set_result(
                Gathered(
                    experiment=name,
                    observations=tuple(self._observations[name]),
                    ending=ending,
                    reason=self._masked(reason),
                    duration_s=round(duration_s, 3),
                )
            )

    def _masked(self, text: str) -> str:
        begun = self._intake.done() and not self._intake.cancelled()
        return self._intake.result().text(text) if begun else text

    async def _watch(self, environment: Environment, api: ApiClient, breaker: Breaker) -> None:
        """Ask the target directly whenever many exchanges in a row went unanswered, and end the run
        if it is silent.
        """
        while True:
            await breaker.suspected.wait()
            exchange = await api.call(
                FIRST_OPERATION, role="watch", project=environment.target.projects[0]
            )
            if exchange.status is None:
                self._end(f"the target stopped answering: {exchange.problem}")
                return

    def _context(
        self,
        name: str,
        environment: Environment,
        api: ApiClient,
        projects: tuple[Project, ...],
        locks: Mapping[str, asyncio.Lock],
        stock: Seeding,
    ) -> ExperimentContext:
        plan = self._plan
        return ExperimentContext(
            experiment=name,
            nonce=plan.nonce,
            api=api,
            receiver=environment.receiver,
            projects=projects,
            dialect=plan.dialect,
            contract=plan.contract,
            profile=plan.profile,
            budgets=environment.target.budgets,
            random=random.Random(f"{plan.seed}:{name}"),
            clock=time.time,
            loop=self._loop,
            portal_links=locks[projects[0].id],
            provision=environment.target.provision,
            fixtures=environment.target.fixtures,
            capabilities=environment.target.capabilities,
            canaries=environment.target.egress_probes,
            stock=stock,
        )
