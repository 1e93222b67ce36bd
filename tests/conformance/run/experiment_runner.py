"""A runner of a test's own experiments against the target at a URL."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.model.evidence import Evidence, Observation
from hookproof.conformance.model.experiment_registry import Experiment, Gather, Sharing
from hookproof.conformance.model.gathered_evidence import Gathered
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.run.plan import RunPlan
from hookproof.conformance.run.runner import Runner
from hookproof.conformance.target.definition import Budgets, Project, Target
from hookproof.target.hooks.provision import Provision
from hookproof.target.settings import ReceiverSettings
from tests.conformance.canned_evidence import CannedObservation, context, intake
from tests.conformance.scripted_target import empty_page, stand_in

PROJECTS = (Project(id="p1", api_key="k1"), Project(id="p2", api_key="k2"))


@contextmanager
def runner(
    url: str,
    *gathers: Gather,
    sharing: Mapping[str, Sharing] = MappingProxyType({}),
    busy: Sequence[str] = (),
    total_s: float = 120,
    ca: Path | None = None,
    projects: Sequence[Project] = PROJECTS,
    provision: Provision | None = None,
) -> Iterator[Runner]:
    """A runner, not open yet, for experiments that are named as their functions.

    `busy` are names of experiments, `sharing` has those that are not simply beside others, and `ca`
    is the folder of a CA that the target trusts.
    """
    check_context = context()
    receiver = ReceiverSettings()
    if ca is not None:
        receiver = ReceiverSettings(ca=ca / "ca.pem", ca_key=ca / "ca.key")
    target = Target(
        base_url=url,
        projects=tuple(projects),
        provision=provision or Provision(),
        dialect=check_context.dialect,
        receiver=receiver,
        budgets=Budgets(request_s=5, total_s=total_s),
    )
    experiments = [_experiment(gather, sharing=sharing, busy=busy) for gather in gathers]
    plan = RunPlan(
        subject=target,
        experiments=experiments,
        every_experiment=experiments,
        dialect=check_context.dialect,
        contract=check_context.contract,
        profile=Profile.QUICK,
        seed=3,
        nonce="run",
    )
    with Runner(plan) as run:
        yield run


def results(
    *gathers: Gather, **options: Any
) -> tuple[dict[str, Gathered], list[Evidence], str | None]:
    """The evidence of each experiment, all evidence in order of arrival, and why it was cut."""
    arrived: list[Evidence] = []
    with stand_in(empty_page) as url, runner(url, *gathers, **options) as run:
        run.open()
        run.begin(intake(arrived.append))
        return (
            {gather.__name__: run.gathered(gather.__name__) for gather in gathers},
            arrived,
            run.cut,
        )


def named(name: str, work: Callable[[ExperimentContext], Awaitable[None]]) -> Gather:
    """An experiment of this name that does this work before it observes something."""

    async def gather(context: ExperimentContext) -> AsyncIterator[Evidence]:
        await work(context)
        yield context.trial("only").observe(CannedObservation)

    gather.__name__ = name
    return gather


async def lists(context: ExperimentContext) -> AsyncIterator[Evidence]:
    trial = context.trial("list")
    await trial.call("listSources", role="list")
    yield trial.observe(CannedObservation)


def _experiment(
    gather: Gather, *, sharing: Mapping[str, Sharing], busy: Sequence[str]
) -> Experiment:
    name = gather.__name__
    return Experiment(
        name=name,
        gather=gather,
        observes=(Observation,),
        profile=Profile.QUICK,
        busy=name in busy,
        sharing=dict.fromkeys(Profile, sharing.get(name, Sharing.BESIDE)),
    )
