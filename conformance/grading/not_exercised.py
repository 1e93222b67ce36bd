"""Why a requirement was not exercised, and what would exercise it."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.evidence import Exchange, NotObserved
from hookproof.conformance.model.experiment_registry import Experiment
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.answer import LISTS, items, shown
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.results.evidence_records import observation_types
from hookproof.spec.catalogue import Requirement
from hookproof.spec.dialect.model import Dialect

# How each reason begins that is a question which the dialect leaves undecided.
DOES_NOT_DECIDE: Final = "The dialect does not decide"
UNDECIDED: Final = f"{DOES_NOT_DECIDE} what it depends on."

# What has to succeed before anything is delivered.
FOR_DELIVERIES: Final = ("createEndpoint", "createBroadcastEvent")

# How many events or endpoints a reason names.
MOST_NAMED: Final = 3


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
    reasons: list[str] = []
    for check in checks:
        for name in needed[check.name]:
            if name in run:
                reasons.extend(_of_experiment(run[name], check))
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


def reasons_nothing_shown(
    requirement: Requirement,
    checks: Sequence[Check],
    needed: Mapping[str, Sequence[str]],
    run: Mapping[str, Gathered],
    dialect: Dialect,
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
    awaited = {name: list(_awaited_in_vain(run[name], checks, dialect)) for name in quiet}
    reasons = [reason for name in quiet for reason in awaited[name]]
    unexplained = [name for name in quiet if not awaited[name]]
    if unexplained:
        reasons.append(
            f"Nothing that the target did in {', '.join(unexplained)} came as far as showing it."
        )
    if quiet:
        reasons.extend(_what_was_missing([run[name] for name in quiet], requirement))
    if any(check.is_oracle for check in checks):
        operations = requirement.operations
        reasons.append(f"No exchange with {', '.join(operations) or 'the target'} showed it.")
        reasons.extend(_poor_answers(run.values(), operations))
    return tuple(dict.fromkeys(reasons))


def _awaited_in_vain(
    gathered: Gathered, checks: Sequence[Check], dialect: Dialect
) -> Iterator[str]:
    """Which events these checks would have judged had they arrived, and how long they had; and
    which endpoints and broadcasts had they been accepted.
    """
    for evidence in gathered.observations:
        if isinstance(evidence, DeliveryObservation) and any(
            check.judges(type(evidence)) for check in checks
        ):
            yield from _not_arrived(evidence, dialect)
            yield from _not_accepted(evidence)


def _not_arrived(observation: DeliveryObservation, dialect: Dialect) -> Iterator[str]:
    """A sentence about the events that arrived at no endpoint of an observation."""
    missing = [
        (event, broadcast)
        for event in observation.events
        if not observation.attempts_anywhere(dialect, event)
        and (broadcast := observation.exchange(event.name)) is not None
    ]
    if missing and observation.destinations and observation.ended_at is not None:
        events = _some([repr(event.name) for event, _ in missing])
        places = _some([repr(destination.name) for destination in observation.destinations])
        waited_s = observation.ended_at - max(broadcast.sent_at for _, broadcast in missing)
        yield (
            f"In {observation.experiment}, {observation.name}, nothing arrived of {events} at"
            f" {places} within {waited_s:.0f} s of the broadcast; a delivery of it would help."
        )


def _not_accepted(observation: DeliveryObservation) -> Iterator[str]:
    """A sentence about each endpoint and broadcast that was refused while others were not."""
    for exchange in observation.exchanges:
        if exchange.operation_id in FOR_DELIVERIES and not exchange.succeeded:
            yield (
                f"In {observation.experiment}, {observation.name}, {exchange.operation_id} as"
                f" {exchange.role!r} was answered {exchange.problem or exchange.status}; a success"
                " of it would help."
            )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


def _what_was_missing(gathered: Sequence[Gathered], requirement: Requirement) -> Iterator[str]:
    """What the evidence of these experiments lacks as a whole, and so what would help."""
    yield from _poor_answers(gathered, requirement.operations or FOR_DELIVERIES)
    delivered = any(evidence.deliveries for each in gathered for evidence in each.observations)
    if not requirement.operations and not delivered:
        yield "No delivery arrived in them; see whether `hookproof doctor` receives one."


def _poor_answers(gathered: Iterable[Gathered], operations: Collection[str]) -> Iterator[str]:
    """Of operations that were called: that all answers lack what most requirements rest on."""
    exchanges: dict[str, list[Exchange]] = {name: [] for name in operations}
    for each in gathered:
        for evidence in each.observations:
            for exchange in evidence.exchanges:
                if exchange.operation_id in exchanges:
                    exchanges[exchange.operation_id].append(exchange)
    for name, answers in exchanges.items():
        succeeded = [answer for answer in answers if answer.succeeded]
        if answers and not succeeded:
            counts = Counter(str(answer.status or "no answer") for answer in answers).most_common()
            counted = ", ".join(f"{status} ({_times(count)})" for status, count in counts)
            yield f"{name} never succeeded: {counted}; a success of it would help."
        elif answers and not any(map(shown, succeeded)):
            yield f"{name} succeeded, but showed nothing in data; an answer that does would help."
        elif answers and name in LISTS and not any(map(items, succeeded)):
            yield f"{name} succeeded, but showed no item in data.content; one would help."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def as_sentence(text: str) -> str:
    """A reason as a sentence of its own; the name of an operation at its beginning stays."""
    text = " ".join(text.split())
    first_word = text.partition(" ")[0]
    if first_word == first_word.lower():
        text = text[:1].upper() + text[1:]
    return f"{text}{'' if text.endswith(('.', '?', '!')) else '.'}"


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
