"""Runs all experiments concurrently, on one event loop in a separate thread.

The thread opens the environment, checks the API keys, gathers the evidence and closes the
environment. The main thread judges meanwhile and handles interrupts. The run ends when every
experiment has ended, when the time budget is over, when the target stops answering for good, or
when `stop` is called. Evidence gathered before that is kept.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, InvalidStateError, wait
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Final, Self

from hookproof.conformance.checks import all_checks
from hookproof.conformance.experiments.backlog import Backlog
from hookproof.conformance.experiments.context import ExperimentContext, marker_of_run
from hookproof.conformance.experiments.scenario_run import shared_broadcasts
from hookproof.conformance.experiments.support.seeding import Seeding
from hookproof.conformance.generation.generators import RequestGenerators
from hookproof.conformance.grading.doubt import Doubt, accuses_of, doubt_about
from hookproof.conformance.grading.grader import error_line
from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Experiment, Sharing
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.observations.destinations import Destination
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.run.experiment_run import ExperimentRun, RunContexts
from hookproof.conformance.run.intake import Intake
from hookproof.conformance.run.plan import ContextFactory, FollowUp, RunPlan
from hookproof.conformance.run.schedule import (
    ExperimentSchedule,
    Passages,
    gather_in_order,
    schedule_of,
)
from hookproof.conformance.run.target_watch import TargetWatch
from hookproof.conformance.target.circuit_breaker import Breaker, RunOver
from hookproof.conformance.target.client import ApiClient
from hookproof.conformance.target.environment import Environment, Opening, open_environment
from hookproof.conformance.target.hooks.created_endpoints import CreatedEndpoints
from hookproof.conformance.target.hooks.noted_provision import noted_provision
from hookproof.conformance.target.pacing import SLOWER, Pacing
from hookproof.conformance.target.preflight import reach
from hookproof.process.subprocesses import to_its_end
from hookproof.receiver.client.control_api import ReceiverClient
from hookproof.spec.catalogue import Level, load_catalogue
from hookproof.target.hooks.provision import HookFailed, HookFailures
from hookproof.target.hooks.removable_endpoints import CLEANED_WITHIN_S

CANCELLED_WITHIN_S: Final = 5.0
CLOSED_WITHIN_S: Final = 15.0
# How long judging may go on when the time budget is over, in seconds and as a share of it.
JUDGED_WITHIN_S: Final = 10.0
JUDGED_SHARE: Final = 0.5
# The name under which follow-up work gets its context.
FOLLOW_UP: Final = "afterwards"
UNCONFIRMED: Final = (
    "what it saw beside other experiments was to be seen again by itself, and no time was left"
)

# Why the evidence of an experiment, by its name, has to be gathered again, if it has to.
DoubtTest = Callable[[str], Doubt | None]
GatherAgain = Callable[[Experiment, str, DoubtTest], Coroutine[None, None, None]]


class Runner:
    """Gathers the evidence of one run: `open`, `begin`, then `gathered` for each experiment.

    `mask` knows the keys of the target when it is open, and learns the credentials of each exchange
    as soon as that is made.
    """

    def __init__(
        self, plan: RunPlan, opening: Opening = open_environment, mask: Mask | None = None
    ):
        self.mask = mask or Mask((), plan.dialect)
        self._opening = opening
        self.hook_failures = HookFailures()
        self.endpoints = CreatedEndpoints()
        self.pacing = Pacing(plan.subject.budgets.requests_per_s)
        self._plan = plan
        self._ended_by: str | None = None
        self._left_out = ""
        self._watch: TargetWatch | None = None
        self._environment: Future[Environment] = Future()
        self._intake: Future[Intake] = Future()
        self._keeps_open = False
        self._busy_over = threading.Event()
        self._follow_up: Future[FollowUp] = Future()
        self._follow_up_error: Future[str | None] = Future()
        names = [experiment.name for experiment in plan.experiments]
        self._observations: dict[str, list[Evidence]] = {name: [] for name in names}
        # Why what was gathered of an experiment was thrown away, until it is gathered again.
        self._unconfirmed: dict[str, Doubt] = {}
        self._awaited: dict[str, list[tuple[Destination, ...]]] = {}
        self._gathered: dict[str, Future[Gathered]] = {name: Future() for name in names}
        self._started: dict[str, float] = {}
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._backlog = Backlog()
        self._generators = RequestGenerators(at_once=plan.generates)
        self._main: asyncio.Task[None] | None = None
        self._began = self._budget_s = 0.0
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
        self._thread.join(CLOSED_WITHIN_S + CLEANED_WITHIN_S)

    def open(self) -> Environment:
        """Wait until the environment is open and the keys are checked.

        Raises CommandError, and KeyboardInterrupt if the run was stopped before.
        """
        try:
            return self._environment.result()
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None

    def begin(self, intake: Intake, *, keep_open: bool = False) -> None:
        """Start the experiments. `intake` receives each observation, in the experiments' thread.

        With `keep_open` the environment stays open after the experiments, until `run_follow_up`
        has been called or the context ends.
        """
        self._keeps_open = keep_open
        with suppress(InvalidStateError):  # the run was stopped meanwhile
            self._intake.set_result(intake)

    def wait_for_busy_ones(self) -> None:
        """Wait until the experiments that never wait have ended, or the run has.

        What is judged before that delays them: both threads share one interpreter.
        """
        self._busy_over.wait()

    def run_follow_up(self, follow_up: FollowUp) -> str | None:
        """Run more work in the thread once the experiments have ended, and wait for it.

        The run must have begun with `keep_open`. The rest of the time budget limits the work, and
        nothing is done if the run is over. Returns the error of ours that ended the work, if any.
        """
        with suppress(InvalidStateError):  # the run is over
            self._follow_up.set_result(follow_up)
        return self._follow_up_error.result()

    def gathered(self, name: str) -> Gathered:
        """Wait for an experiment to end and return its evidence."""
        return self._gathered[name].result()

    def meanwhile(self, name: str) -> Iterator[str]:
        """Yield the name of each other experiment as it ends, until this one has ended.

        Blocks between them.
        """
        reported: set[str] = set()
        while not self._gathered[name].done():
            ended = next(
                (
                    other
                    for other, future in self._gathered.items()
                    if future.done() and other not in reported
                ),
                None,
            )
            if ended is not None:
                reported.add(ended)
                yield ended
            else:
                pending = [future for future in self._gathered.values() if not future.done()]
                wait(pending, return_when=FIRST_COMPLETED)

    def under_way(self) -> tuple[str, ...]:
        """The names of the experiments that have not ended, in the order of the plan."""
        return tuple(name for name, future in self._gathered.items() if not future.done())

    def all_gathered(self) -> tuple[Gathered, ...]:
        """Wait for all experiments and return their evidence, in the order of the plan."""
        return tuple(map(self.gathered, self._gathered))

    def stop(self, reason: str) -> None:
        """End the run. Experiments that have not ended are cut, with this reason."""
        try:
            self._loop.call_soon_threadsafe(self._cut_run, reason)
        except RuntimeError:  # the loop is closed: all has ended
            return

    @property
    def cut(self) -> str | None:
        """Why the run is not whole: what ended it early, or was in the way of its experiments."""
        if self._ended_by or self._watch is None:
            return self._ended_by and f"{self._ended_by}{self._left_out}"
        outages = (self.mask.text(outage.words) for outage in self._watch.outages)
        return next(outages, None) or self._environment.result().distrust

    def too_late(self) -> str | None:
        """Why nothing more is judged: the time budget, and what judging may take then, are over."""
        more_s = max(JUDGED_WITHIN_S, JUDGED_SHARE * self._budget_s)
        took_s = self._loop.time() - self._began
        if not self._began or took_s < self._budget_s + more_s:
            return None
        return (
            f"the time budget of {self._budget_s:g} s is over,"
            f" and what was gathered could not be judged within {more_s:g} s more"
        )

    def _cut_run(self, reason: str) -> None:
        self._ended_by = self._ended_by or self.mask.text(reason)
        self._stop.set()
        if self._main is not None and not self._intake.done():
            self._main.cancel()

    def _run(self) -> None:
        failure: BaseException = RuntimeError("the run ended before it began")
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._run_on_loop())
        except BaseException as error:  # noqa: BLE001 the other thread waits for a result and must get any error
            failure = error
        if not self._environment.done():
            self._environment.set_exception(failure)
        ending = Ending.CUT if self._ended_by else Ending.CRASHED
        for name in self._gathered:
            self._settle(name, ending, self._ended_by or error_line(failure))
        if not self._follow_up_error.done():
            self._follow_up_error.set_result(None)
        self._busy_over.set()

    async def _run_on_loop(self) -> None:
        self._main = asyncio.current_task()
        if self._ended_by:
            raise asyncio.CancelledError
        breaker = Breaker()
        async with self._generators, self._opening(self._plan.subject) as opened_environment:
            plan, target = self._plan, opened_environment.target
            self.mask.know(target.projects, target.connection.headers)
            async with (
                self.endpoints.cleaned_up(target.provision, self.hook_failures),
                ApiClient(
                    target.base_url,
                    plan.contract,
                    plan.dialect,
                    timeout_s=target.budgets.request_s,
                    breaker=breaker,
                    pacing=self.pacing,
                    endpoints=self.endpoints,
                    connection=target.connection,
                    learn=self.mask.learn,
                ) as api,
            ):
                self._began = self._loop.time()  # the time budget begins here
                reached = await reach(target, len(plan.experiments), api)
                self.mask.know(reached.target.projects)
                budget_s = target.budgets.of_the_run(reached.answer_s, plan.requests)
                if target.budgets.total_s is None:
                    budget_s += reached.waited_s
                self._budget_s = round(budget_s, 1)
                environment = replace(
                    opened_environment,
                    target=reached.target,
                    round_trip_s=reached.round_trip_s,
                    waited=reached.waited,
                )
                self._environment.set_result(environment)
                intake = await asyncio.wrap_future(self._intake)
                await self._gather_all(environment, api, breaker, intake)

    async def _gather_all(
        self,
        environment: Environment,
        api: ApiClient,
        breaker: Breaker,
        intake: Intake,
    ) -> None:
        project = environment.target.projects[0]
        self.pacing.give_up = self._cut_run
        self._watch = TargetWatch(api, project, breaker, give_up=self._cut_run)
        experiments = asyncio.create_task(
            self._run_experiments(environment, api, intake, self._watch)
        )
        watch = asyncio.create_task(self._watch.keep_watching())
        stop = asyncio.create_task(self._stop.wait())
        total_s = max(0.0, self._budget_s - (self._loop.time() - self._began))
        await asyncio.wait(
            {experiments, stop}, timeout=total_s, return_when=asyncio.FIRST_COMPLETED
        )
        is_over = experiments.done() and not experiments.cancelled()
        if is_over and (error := experiments.exception()):
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            self._cut_run(f"gathering broke: {error_line(error)}")
        if self.under_way() and not self._ended_by:
            limit = f"; {self.pacing.words}; {SLOWER}" if self.pacing.put_off else ""
            self._left_out = f"; it leaves out {', '.join(self.under_way())}"
            self._cut_run(f"the time budget of {self._budget_s:g} s is over{limit}")
        breaker.open()
        for task in (experiments, watch, stop):
            task.cancel()
        await asyncio.wait({experiments, watch, stop}, timeout=CANCELLED_WITHIN_S)
        for name in self._gathered:
            self._settle(name, Ending.CUT, self._ended_by or "")

    async def _run_experiments(
        self, environment: Environment, api: ApiClient, intake: Intake, watch: TargetWatch
    ) -> None:
        """Run all experiments as the schedule says."""
        target, provision = environment.target, environment.target.provision
        schedule = schedule_of(self._plan, target.projects, fresh=provision.has("fresh_project"))
        marker = marker_of_run(self._plan.nonce).encode()
        passages = Passages(schedule, target.projects, marker)
        if not environment.embedded:  # that a hook of the embedded server fails is our error
            provision = noted_provision(provision, self.hook_failures, self.mask.quotation)
        contexts = RunContexts(
            plan=self._plan,
            environment=environment,
            provision=provision,
            seeding=Seeding(provision, self._plan.dialect.words, self._plan.nonce),
            backlog=self._backlog,
            generators=self._generators,
            locks={project.id: asyncio.Lock() for project in target.projects},
            loop=self._loop,
        )
        shared = {
            project.id: shared_broadcasts(contexts.of("shared broadcasts", api, (project,)))
            for project in target.projects
        }

        def context(experiment: Experiment, attempt: str) -> ExperimentContext:
            name = experiment.name
            client = api.of_experiment(name, partial(passages.passed, name))
            own = contexts.of(name, client, schedule.projects[name], attempt)
            project = schedule.projects[name][0]
            return replace(
                own,
                shared_broadcasts=shared[project.id] if schedule.shares_project(name) else None,
                let_others_broadcast=partial(passages.release, name),
                others_receive=partial(passages.others_receive, project),
            )

        async def gather(experiment: Experiment, /, *, beside: bool = False) -> None:
            test = self._doubt_about(experiment, schedule, passages) if beside else None
            own = context(experiment, "")
            await self._gather(experiment, own, intake, watch, test)
            await self._tidy(experiment.name, own)

        async def gather_again(
            experiment: Experiment, attempt: str, test: DoubtTest | None = None
        ) -> None:
            await self._note_late_arrivals(experiment.name, environment.receiver)
            own = context(experiment, attempt)
            await self._gather(experiment, own, intake, watch, test)
            await self._tidy(experiment.name, own)

        async with AsyncExitStack() as stack:
            for each in shared.values():
                stack.push_async_callback(each.close)
            await gather_in_order(schedule, passages, gather, self._busy_over.set, self._budget_s)
            await self._gather_unseen(schedule, gather_again)
            for experiment in self._plan.experiments:
                if experiment.name in self._unconfirmed:
                    await gather_again(experiment, "again")
            if self._keeps_open:
                follow_up = await asyncio.wrap_future(self._follow_up)
                if not self._stop.is_set():
                    await self._run_follow_up(
                        follow_up, lambda project: contexts.of(FOLLOW_UP, api, (project,))
                    )

    async def _gather_unseen(self, schedule: ExperimentSchedule, gather_again: GatherAgain) -> None:
        """Gather again what was not seen beside all others, side by side: they are few now.

        What speaks against the target then is left to be gathered by itself.
        """
        judged_by = self._judged_by()

        def accusing(name: str) -> Doubt | None:
            doubt = doubt_about(self._observations[name], all_checks(), judged_by)
            return doubt if doubt is Doubt.ACCUSING else None

        unseen = [
            experiment
            for experiment in self._plan.experiments
            if self._unconfirmed.get(experiment.name) is Doubt.UNSEEN
        ]
        # Broadcasts of others are in the way of the first ones.
        first = [each for each in unseen if schedule.sharing[each.name] is Sharing.FIRST]
        for side_by_side in (first, [each for each in unseen if each not in first]):
            async with asyncio.TaskGroup() as group:
                for experiment in side_by_side:
                    group.create_task(gather_again(experiment, "beside few", accusing))

    def _judged_by(self) -> CheckContext:
        return CheckContext(dialect=self._plan.dialect, contract=self._plan.contract)

    def _doubt_about(
        self, experiment: Experiment, schedule: ExperimentSchedule, passages: Passages
    ) -> DoubtTest | None:
        """What tells of an experiment beside others whether it has to be gathered again."""
        judged_by = self._judged_by()
        requirements = load_catalogue().requirements.values()
        stated = {each.id for each in requirements if each.level is Level.STATED}

        def doubtful(name: str) -> Doubt | None:
            doubt = doubt_about(self._observations[name], all_checks(), judged_by)
            return doubt or (Doubt.UNSEEN if name in passages.interrupted else None)

        def accused(name: str) -> Doubt | None:
            accuses = accuses_of(stated, self._observations[name], all_checks(), judged_by)
            return Doubt.ACCUSING if accuses else None

        if schedule.is_confirmed(experiment):
            return doubtful
        return accused if schedule.is_confirmed_if_stated(experiment) else None

    async def _run_follow_up(self, follow_up: FollowUp, context: ContextFactory) -> None:
        failure: str | None = None
        try:
            await follow_up(context)
        except RunOver:
            pass
        except Exception as error:  # noqa: BLE001 the evidence gathered so far must not be lost
            failure = error_line(error)
        self._follow_up_error.set_result(failure)

    async def _tidy(self, name: str, context: ExperimentContext) -> None:
        """Let others in the project of an experiment that is over broadcast to its endpoints no
        more, where a hook removes them. What arrives late of one that is to be gathered again tells
        how long to wait then.
        """
        if context.shared_broadcasts is not None and name not in self._unconfirmed:
            removing = self.endpoints.remove_active(name, context.provision, self.hook_failures)
            await to_its_end(removing)

    async def _gather(
        self,
        experiment: Experiment,
        context: ExperimentContext,
        intake: Intake,
        watch: TargetWatch,
        doubtful: DoubtTest | None = None,
    ) -> None:
        """Gather its evidence; what is `doubtful` is thrown away, to be gathered again."""
        name = experiment.name
        self._unconfirmed.pop(name, None)
        await watch.answering()
        self._started[name] = self._loop.time()
        running = ExperimentRun(experiment, intake, watch, tentative=doubtful is not None)
        self._observations[name] = running.observations
        ending, reason = Ending.COMPLETE, ""
        try:
            await running.gather(context)
        except asyncio.CancelledError:
            if doubtful is not None and (doubt := doubtful(name)):
                self._discard(name, doubt)
            running.keep()
            self._settle(name, Ending.CUT, self._ended_by or "the run ended")
            raise
        except RunOver:
            ending, reason = Ending.CUT, self._ended_by or "the run ended"
        except Exception as error:  # noqa: BLE001 an error of ours must not end the other experiments
            ending, reason = self._crash(experiment, error)
        if running.outage is not None:
            ending, reason = Ending.CUT, running.outage
        elif doubtful is not None and ending is not Ending.CRASHED and (doubt := doubtful(name)):
            self._discard(name, doubt)
            return
        try:
            await to_its_end(asyncio.to_thread(running.keep))
        finally:
            self._settle(name, ending, reason)

    async def _note_late_arrivals(self, name: str, receiver: ReceiverClient) -> None:
        """Note what arrived after all of what was thrown away: it shows how long to wait now."""
        for destinations in self._awaited.pop(name, ()):
            for destination in destinations:
                arrived = await receiver.deliveries(destination.token, count=0, timeout_s=0)
                self._backlog.longest_waits_s(arrived, destinations)

    def _discard(self, name: str, doubt: Doubt) -> None:
        self._awaited[name] = [
            evidence.destinations
            for evidence in self._observations[name]
            if isinstance(evidence, DeliveryObservation)
        ]
        self._observations[name].clear()
        self._unconfirmed[name] = doubt

    def _crash(self, experiment: Experiment, error: Exception) -> tuple[Ending, str]:
        # An error while the run is being ended is a consequence of that.
        if self._ended_by:
            return Ending.CUT, self._ended_by
        cause = str(error) if isinstance(error, HookFailed) else error_line(error)
        return Ending.CRASHED, f"The experiment {experiment.name} broke: {cause}"

    def _settle(self, name: str, ending: Ending, reason: str) -> None:
        if name in self._unconfirmed:
            reason = f"{reason}; {UNCONFIRMED}"
        now, started = self._loop.time(), self._started.get(name)
        if not self._gathered[name].done():
            self._gathered[name].set_result(
                Gathered(
                    experiment=name,
                    observations=tuple(self._observations[name]),
                    ending=ending,
                    reason=self.mask.text(reason),
                    began_s=None if started is None else round(started - self._began, 3),
                    duration_s=0.0 if started is None else round(now - started, 3),
                )
            )
