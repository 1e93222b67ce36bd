"""Why a requirement was not exercised, and what would exercise it."""

from collections.abc import Iterator, Mapping, Sequence

from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.evidence import NotObserved
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.results.evidence_records import observation_types
from hookproof.spec.catalogue import Requirement


def reasons_not_observed(
    checks: Sequence[Check], needed: Mapping[str, Sequence[str]], run: Mapping[str, Gathered]
) -> tuple[str, ...]:
    """What kept experiments from observing what these checks judge.

    `needed` holds the experiments of each check by its name, `run` those of the run by theirs. An
    oracle judges whatever exchanges there are, so it misses only experiments that were cut.
    """
    reasons: list[str] = []
    for check in checks:
        for name in needed[check.name]:
            if name in run:
                reasons.extend(_of_experiment(run[name], check))
            elif not check.is_oracle:
                reasons.append(
                    f"The experiment {name} is not part of this run; a heavier --profile"
                    " includes it."
                )
    return tuple(dict.fromkeys(reasons))


def reasons_nothing_shown(
    requirement: Requirement,
    checks: Sequence[Check],
    needed: Mapping[str, Sequence[str]],
    run: Mapping[str, Gathered],
    profile: Profile,
) -> tuple[str, ...]:
    """Which experiments ended without showing anything, although all of them were observed."""
    if not checks:
        return ("No check is bound to it.",)
    quiet = sorted(
        {
            name
            for check in checks
            for name in needed[check.name]
            if not check.is_oracle and name in run and not list(_of_experiment(run[name], check))
        }
    )
    more = "" if profile is max(Profile) else "; a heavier --profile tries more"
    reasons = []
    if quiet:
        reasons.append(
            f"Nothing that the target did in {', '.join(quiet)} came as far as showing it{more}."
        )
    if any(check.is_oracle for check in checks):
        reasons.append(
            f"No exchange with {', '.join(requirement.operations) or 'the target'} showed it."
        )
    return tuple(reasons)


def as_sentence(text: str) -> str:
    """A reason as a sentence of its own."""
    text = " ".join(text.split())
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?', '!')) else '.'}"


def _of_experiment(gathered: Gathered, check: Check) -> Iterator[str]:
    if gathered.ending is Ending.CUT:
        yield f"The experiment {gathered.experiment} was cut short: {as_sentence(gathered.reason)}"
    if check.is_oracle:
        return
    for evidence in gathered.observations:
        if isinstance(evidence, NotObserved) and _concerns(evidence, check):
            yield as_sentence(evidence.reason)


def _concerns(missing: NotObserved, check: Check) -> bool:
    kind = observation_types().get(missing.observation)
    return kind is None or check.judges(kind)
