"""Why a requirement was not exercised, and what would exercise it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from hookproof.conformance.grading.answers_in_the_way import (
    as_sentence,
    reason_given_up,
    reasons_of_all_answers,
    reasons_of_some_answers,
    what_had_no_value,
    what_was_answered,
)
from hookproof.conformance.grading.refused_requests import named
from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.evidence import NotObserved
from hookproof.conformance.model.experiment_registry import Experiment
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations import observation_types
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.spec.catalogue import Requirement
from hookproof.spec.contract.service_contract import OPERATION_IDS
from hookproof.spec.dialect.model import Dialect

# How each reason begins that is a question which the dialect leaves undecided.
DOES_NOT_DECIDE: Final = "The dialect does not decide"
UNDECIDED: Final = f"{DOES_NOT_DECIDE} what it depends on."

# In seconds. An observation that ended sooner after a broadcast did not wait for its deliveries.
SHORTEST_WAIT_S: Final = 0.5


def reasons_not_observed(
    checks: Sequence[Check],
    needed: Mapping[str, Sequence[str]],
    run: Mapping[str, Gathered],
    missing: Mapping[str, str],
) -> tuple[str, ...]:
    """What kept experiments from observing what these checks judge.

    `needed` holds the experiments of each check by its name, `run` those of the run by theirs, and
    `missing` the reason why others are not part of it. An oracle judges whatever exchanges there
    are, so it misses only experiments that were cut.
    """
    reasons = list(_of_cut(_needed_of_run(checks, needed, run).values()))
    for check in checks:
        for name in needed[check.name]:
            if name in run:
                given_up = _given_up(run[name], check)
                reasons.extend(as_sentence(evidence.reason) for evidence in given_up)
            elif not check.is_oracle:
                reasons.append(missing[name])
    return tuple(dict.fromkeys(reasons))


def reasons_not_run(experiments: Iterable[Experiment], profile: Profile) -> dict[str, str]:
    """Why an experiment is not part of a run of this profile, by its name."""
    return {
        each.name: f"The experiment {each.name} is not part of this run;"
        + (
            f" --profile {each.profile.key} includes it."
            if each.profile > profile
            else " a new run includes it."
        )
        for each in experiments
    }


def reasons_not_exercised(
    requirement: Requirement,
    checks: Sequence[Check],
    needed: Mapping[str, Sequence[str]],
    run: Mapping[str, Gathered],
    missing: Mapping[str, str],
    dialect: Dialect,
) -> tuple[str, ...]:
    """Everything that kept these checks from judging the requirement, and what would help.

    What the target answered comes first. Where all of its answers leave the requirement aside,
    nothing else would help; where some of them do, no heavier profile would.
    """
    if not checks:
        return ("No check is bound to it.",)
    gathered = _needed_of_run(checks, needed, run)
    cut = list(_of_cut(gathered.values()))
    if of_all := reasons_of_all_answers(requirement, checks, gathered.values()):
        return tuple(dict.fromkeys([*cut, *of_all]))
    given_up = [
        evidence
        for check in checks
        for name in needed[check.name]
        if name in run
        for evidence in _given_up(run[name], check)
    ]
    given_up = [each for each in given_up if _concerns(each, requirement)] or given_up
    quiet = [
        each
        for name, each in gathered.items()
        if each.ending is not Ending.CUT and not _is_given_up(name, checks, needed, run)
    ]
    of_target = [
        *cut,
        *(
            reason_given_up(evidence, gathered.values())
            for evidence in given_up
            if evidence.exchanges
        ),
        *_shown_in_vain(requirement, checks, quiet, dialect),
    ]
    of_setup = [as_sentence(evidence.reason) for evidence in given_up if not evidence.exchanges]
    not_run = [
        missing[name]
        for check in checks
        if not check.is_oracle
        for name in needed[check.name]
        if name not in run
    ]
    if of_target or _is_any_judged(checks, quiet):
        not_run = []
    everything = [each for each in gathered.values() if each.ending is not Ending.CUT]
    if not of_target and what_had_no_value(requirement, checks, everything):
        return (what_was_answered(requirement, checks, everything),)
    reasons = [*of_target, *of_setup, *not_run]
    return tuple(dict.fromkeys(reasons or [what_was_answered(requirement, checks, quiet)]))


def _needed_of_run(
    checks: Sequence[Check], needed: Mapping[str, Sequence[str]], run: Mapping[str, Gathered]
) -> dict[str, Gathered]:
    return {name: run[name] for check in checks for name in needed[check.name] if name in run}


def _is_any_judged(checks: Sequence[Check], quiet: Sequence[Gathered]) -> bool:
    """Whether any of these experiments has an observation that the checks judged in vain."""
    return any(
        check.judges(type(observation))
        for check in checks
        for gathered in quiet
        for observation in gathered.observations
    )


def _is_given_up(
    experiment: str,
    checks: Sequence[Check],
    needed: Mapping[str, Sequence[str]],
    run: Mapping[str, Gathered],
) -> bool:
    """Whether an observation that some of these checks need from an experiment was given up."""
    return any(
        True
        for check in checks
        if experiment in needed[check.name]
        for _ in _given_up(run[experiment], check)
    )


def _shown_in_vain(
    requirement: Requirement,
    checks: Sequence[Check],
    quiet: Sequence[Gathered],
    dialect: Dialect,
) -> Iterator[str]:
    """What was missing in experiments that observed all that they are about."""
    answers = list(reasons_of_some_answers(requirement, checks, quiet))
    if requirement.operations and answers:
        yield from answers
        return
    for gathered in quiet:
        yield from _awaited_in_vain(gathered, checks, dialect)
    yield from answers
    delivered = any(evidence.deliveries for each in quiet for evidence in each.observations)
    if quiet and not requirement.operations and not delivered:
        yield "No delivery arrived in them; see whether `hookproof doctor` receives one."


def _awaited_in_vain(
    gathered: Gathered, checks: Sequence[Check], dialect: Dialect
) -> Iterator[str]:
    """Which events these checks would have judged had they arrived, and how long they had."""
    for evidence in gathered.observations:
        if isinstance(evidence, DeliveryObservation) and any(
            not check.is_oracle and check.judges(type(evidence)) for check in checks
        ):
            yield from _not_arrived(evidence, dialect)
            yield from _under_way(evidence, dialect)


def _under_way(observation: DeliveryObservation, dialect: Dialect) -> Iterator[str]:
    """A sentence about events that arrived at some endpoints and may yet have come to others."""
    pending = observation.pending_events(dialect)
    late = [event for event in observation.events if event in pending]
    missed_by = [
        destination
        for destination in observation.destinations
        if any(not observation.attempts(destination, event, dialect) for event in late)
    ]
    if missed_by and any(observation.attempts_anywhere(dialect, event) for event in late):
        events = named([repr(event.name) for event in late])
        places = named([repr(destination.name) for destination in missed_by])
        yield (
            f"In {observation.experiment}, {observation.name}, deliveries of {events} may still"
            f" have been under way to {places} at the end, behind others; a longer"
            " budgets.delivery_s in target.yaml would help, or a target with less to do."
        )


def _not_arrived(observation: DeliveryObservation, dialect: Dialect) -> Iterator[str]:
    """A sentence about the events that arrived at no endpoint of an observation."""
    missing = [
        (event, broadcast)
        for event in observation.events
        if not observation.attempts_anywhere(dialect, event)
        and (broadcast := observation.exchange(event.name)) is not None
    ]
    if missing and observation.destinations and observation.ended_at is not None:
        events = named([repr(event.name) for event, _ in missing])
        places = named([repr(destination.name) for destination in observation.destinations])
        waited_s = observation.ended_at - max(broadcast.sent_at for _, broadcast in missing)
        if waited_s < SHORTEST_WAIT_S:
            return
        yield (
            f"In {observation.experiment}, {observation.name}, nothing arrived of {events} at"
            f" {places} within {waited_s:.0f} s of the broadcast; a delivery of it would help."
        )


def _concerns(evidence: NotObserved, requirement: Requirement) -> bool:
    """Whether what was given up is named after no other operation than those of a requirement."""
    named_after = {name for name in OPERATION_IDS if name in evidence.name}
    own = set(requirement.operations)
    return not named_after or not own or not named_after.isdisjoint(own)


def _of_cut(gathered: Iterable[Gathered]) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for each in gathered:
        if each.ending is Ending.CUT:
            by_reason.setdefault(as_sentence(each.reason), []).append(each.experiment)
    for reason, names in by_reason.items():
        were = "experiments" if len(names) > 1 else "experiment"
        was = "were" if len(names) > 1 else "was"
        yield f"The {were} {named(names)} {was} cut short: {reason}"


def _given_up(gathered: Gathered, check: Check) -> Iterator[NotObserved]:
    """The observations that a check would have judged, had they been made; none for an oracle."""
    for evidence in gathered.observations:
        if not check.is_oracle and isinstance(evidence, NotObserved):
            kind = observation_types().get(evidence.observation)
            if kind is None or check.judges(kind):
                yield evidence
