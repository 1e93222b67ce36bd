"""A runner of a test's own experiments against the target at a URL."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from hookproof.conformance.model.evidence import Observation
from hookproof.conformance.model.experiment_registry import Experiment, Gather, Sharing
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.run.plan import RunPlan
from hookproof.conformance.run.runner import Runner
from hookproof.conformance.target.definition import Budgets, Project, Target
from hookproof.target.settings import ReceiverSettings
from tests.conformance.canned_evidence import context

PROJECTS = (Project(id="p1", api_key="k1"), Project(id="p2", api_key="k2"))


@contextmanager
def runner(
    url: str,
    *gathers: Gather,
    sharing: Mapping[str, Sharing] = MappingProxyType({}),
    busy: Sequence[str] = (),
    total_s: float = 120,
    ca: Path | None = None,
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
        projects=PROJECTS,
        dialect=check_context.dialect,
        receiver=receiver,
        budgets=Budgets(request_s=5, total_s=total_s),
    )
    experiments = [_experiment(gather, sharing=sharing, busy=busy) for gather in gathers]
    plan = RunPlan(
        subject=target,
        experiments=experiments,
        every_experiment=[experiment.name for experiment in experiments],
        dialect=check_context.dialect,
        contract=check_context.contract,
        profile=Profile.QUICK,
        seed=3,
        nonce="run",
    )
    with Runner(plan) as run:
        yield run


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
