"""Why a requirement was not exercised, and what would exercise it: the words for what did not
happen.
"""

from collections.abc import Iterator, Mapping, Sequence

from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.target.definition import Profile
from hookproof.spec.catalogue import Requirement


def hindrances(checks: Sequence[Check], run: Mapping[str, Gathered]) -> tuple[str, ...]:
    """What kept the experiments of these checks from showing what they are there to show.

    `run` holds the experiments of the run by name. An oracle has no experiments of its own: it
    misses only those that were cut.
    """
    named = sorted({name for check in checks for name in check.experiments})
    oracle = any(not check.experiments for check in checks)
    found: list[str] = []
    for name in sorted(run) if oracle else named:
        if name in run:
            found.extend(_of_experiment(run[name], obstacles=name in named))
        else:
            found.append(
                f"The experiment {name} is not part of this run; a heavier --profile includes it."
            )
    return tuple(dict.fromkeys(found))


def silences(
    requirement: Requirement, checks: Sequence[Check], run: Mapping[str, Gathered], profile: Profile
) -> tuple[str, ...]:
    """Which experiments ran unhindered and still showed nothing."""
    if not checks:
        return ("No check is bound to it.",)
    named = sorted({name for check in checks for name in check.experiments})
    quiet = [
        name
        for name in named
        if name in run and not list(_of_experiment(run[name], obstacles=True))
    ]
    more = "" if profile is max(Profile) else "; a heavier --profile tries more"
    found = (
        [f"Nothing that the target did in {', '.join(quiet)} came as far as showing it{more}."]
        if quiet
        else []
    )
    if any(not check.experiments for check in checks):
        found.append(
            f"No exchange with {', '.join(requirement.operations) or 'the target'} showed it."
        )
    return tuple(found)


def sentence(text: str) -> str:
    """A reason as a sentence of its own."""
    text = " ".join(text.split())
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?', '!')) else '.'}"


def _of_experiment(gathered: Gathered, *, obstacles: bool) -> Iterator[str]:
    if gathered.ending is Ending.CUT:
        yield f"The experiment {gathered.experiment} was cut short: {sentence(gathered.reason)}"
    if obstacles:
        yield from (sentence(case.obstacle) for case in gathered.cases if case.obstacle)
