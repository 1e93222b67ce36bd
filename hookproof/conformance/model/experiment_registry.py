"""The registry of experiments: which there are, and what each observes.

@experiment("rate_limit", observes=(RateLimitBurst,))
async def rate_limit(context: ExperimentContext) -> AsyncIterator[Evidence]: ...
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.evidence import Evidence, Observation
from hookproof.conformance.model.profile import Profile

Gather = Callable[[Any], AsyncIterator[Evidence]]
_Gather = TypeVar("_Gather", bound=Gather)


class Sharing(StrEnum):
    """How an experiment shares a project where the target has fewer than there are experiments.

    A broadcast reaches every active endpoint of its project, also those of other experiments. So
    the busy ones that may broadcast go before all others of their project, which create endpoints:
    what is delivered otherwise is no evidence, and costs the target most. Scripted replies and the
    markers of events keep most of the rest apart.

    BESIDE: others disturb it as little as it disturbs them. What shows that the document's own word
    is broken is gathered again all the same when all others have ended.
    CONFIRMED: others may delay what it measures. So it runs beside them, but what speaks against
    the target, or could not be seen, is gathered again when all others have ended.
    FIRST: like CONFIRMED, and broadcasts of others would be in its way. They wait until it has
    ended, or has said that they no longer matter; until then the others do not begin, but for the
    busy, quiet and early ones.
    EARLY: like CONFIRMED, and what follows its first broadcasts takes longest, or there are many of
    them. So all but the busy and the quiet ones begin when these are out, as it says; of several
    such ones, those with the fewest endpoints for their broadcasts come before the others.
    LATE: like CONFIRMED, and it begins when the busy ones of all projects have ended, however long
    that takes, since broadcasts that reach its endpoints are costly.
    ALONE: it runs when all others have ended: it would delay them, or they would hide what is
    wrong.
    QUIET: it never broadcasts, so that it runs while broadcasts of others wait.
    """

    BESIDE = "beside"
    CONFIRMED = "confirmed"
    FIRST = "first"
    EARLY = "early"
    LATE = "late"
    ALONE = "alone"
    QUIET = "quiet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One experiment, the classes that it observes, and the lightest profile that runs it.

    An experiment that is `busy` never waits, so that it may as well run later. One that `generates`
    needs the process of the generators. `sharing` tells, by profile, what else may go on in its
    project. `endpoints` and `broadcasts` are about how many active endpoints it creates, and how
    many broadcasts it sends; of those that go before most endpoints a fifth part counts.
    """

    name: str
    gather: Gather
    observes: tuple[type[Observation], ...]
    profile: Profile
    busy: bool
    generates: bool = False
    sharing: Mapping[Profile, Sharing]
    endpoints: int = 0
    broadcasts: int = 0


_experiments: dict[str, Experiment] = {}


def experiment(
    name: str,
    *,
    observes: Sequence[type[Observation]] = (),
    profile: Profile = Profile.QUICK,
    busy: bool = False,
    generates: bool = False,
    sharing: Sharing = Sharing.BESIDE,
    sharing_in: Mapping[Profile, Sharing] | None = None,
    endpoints: int = 0,
    broadcasts: int = 0,
) -> Callable[[_Gather], _Gather]:
    """Register an async generator function as the experiment of this name.

    Without `observes` it only gathers exchanges, for the oracles. `sharing_in` are the profiles in
    which it shares its project in another way.
    """

    def register(gather: _Gather) -> _Gather:
        if name in _experiments:
            raise ValueError(f"two experiments are named {name}")
        _experiments[name] = Experiment(
            name=name,
            gather=gather,
            observes=tuple(observes),
            profile=profile,
            busy=busy,
            generates=generates,
            sharing=dict.fromkeys(Profile, sharing) | dict(sharing_in or {}),
            endpoints=endpoints,
            broadcasts=broadcasts,
        )
        return gather

    return register


def registered_experiments() -> tuple[Experiment, ...]:
    """The experiments of all modules that were imported, in order of name."""
    return tuple(_experiments[name] for name in sorted(_experiments))


def experiments_of(check: Check, experiments: Sequence[Experiment]) -> tuple[str, ...]:
    """The names of the experiments whose observations a check judges."""
    if check.is_oracle:
        return tuple(experiment.name for experiment in experiments)
    return tuple(
        experiment.name
        for experiment in experiments
        if any(issubclass(observed, check.evidence) for observed in experiment.observes)
    )
