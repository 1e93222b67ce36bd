"""Which answers kept a requirement from being exercised: refusals where a success was needed, and
successes that showed nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from hookproof.conformance.grading.refused_requests import named, request_in_words, what_was_said
from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.evidence import Exchange, NotObserved
from hookproof.conformance.model.gathered_evidence import Gathered
from hookproof.conformance.observations.answer import (
    LISTS,
    SERVER_ERRORS,
    SHOWS,
    has_value,
    items,
    shown,
    shown_uid,
)
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.observations.empty_list import NOTHING_LISTED
from hookproof.conformance.observations.succeeding_requests import is_to_succeed
from hookproof.conformance.results.documented_fields import (
    PAGINATION,
    FieldCounter,
    documented_fields,
)
from hookproof.spec.catalogue import Requirement

# What has to succeed before anything is delivered.
FOR_DELIVERIES: Final = ("createEndpoint", "createBroadcastEvent")

# Where the identifiers in the path of an operation come from, and of what they are.
FOUND_BY: Final = {
    "getEndpoint": ("createEndpoint", "endpoint"),
    "expireEndpointSecret": ("createEndpoint", "endpoint"),
    "getPortalLink": ("listPortalLinks", "portal link"),
    "updatePortalLink": ("listPortalLinks", "portal link"),
}

# What else would help where an operation shows nothing to go on with.
INSTEAD: Final = {
    "listPortalLinks": " So would portal links named under fixtures in target.yaml.",
}


def reasons_of_all_answers(
    requirement: Requirement, checks: Sequence[Check], run: Iterable[Gathered]
) -> tuple[str, ...]:
    """Why no answer in these experiments could show the requirement; nothing if some could.

    That is so where every operation of it showed nothing; of a requirement about deliveries, where
    there was no endpoint or no event at all. Nothing else would help before that does.
    """
    exchanges = _grouped(_exchanges(run))
    if not requirement.operations or all(map(_judges_deliveries, checks)):
        refused = [
            _never_succeeded(name, exchanges.get(name, ()))
            for name in FOR_DELIVERIES
            if not any(exchange.succeeded for exchange in exchanges.get(name, ()))
        ]
        if any(refused) or not requirement.operations:
            return tuple(filter(None, refused))
    reasons, show_nothing = _poor_answers(requirement.operations, exchanges)
    return tuple(reasons) if show_nothing == set(requirement.operations) else ()


def reasons_of_some_answers(
    requirement: Requirement, checks: Sequence[Check], quiet: Sequence[Gathered]
) -> Iterator[str]:
    """Which requests failed in the observations that these checks judged in vain, and which
    operations showed nothing there.

    Failures of the requirement's own operations come before those of what leads to them.
    """
    judged = [
        (exchange, (observation.experiment, observation.name))
        for gathered in quiet
        for observation in gathered.observations
        if any(not check.is_oracle and check.judges(type(observation)) for check in checks)
        for exchange in observation.exchanges
        if exchange.operation_id is not None
    ]
    own = requirement.operations or FOR_DELIVERIES
    failed = [pair for pair in judged if is_to_succeed(pair[0]) and not pair[0].succeeded]
    of_own = [pair for pair in failed if pair[0].operation_id in own]
    yield from _failures(of_own or failed, [exchange for exchange, _ in judged])
    if not failed:
        unclear = [pair for pair in judged if pair[0].operation_id in own and _is_unclear(pair[0])]
        yield from _unclear_answers(unclear)
    if any(check.is_oracle for check in checks):
        yield from _poor_answers(own, _grouped(_exchanges(quiet)))[0]
        return
    exchanges = _grouped(exchange for exchange, _ in judged)
    poor, _ = _poor_answers(own, exchanges)
    yield from poor or (() if failed else _poor_answers(exchanges, exchanges)[0])


def reason_given_up(evidence: NotObserved, run: Iterable[Gathered]) -> str:
    """Why an observation was given up: in its own words, unless these name an operation that never
    succeeded, which is then the reason wherever it was met. Of a request that was refused they say
    what it carried and what the answer to it said.
    """
    exchanges = _grouped(_exchanges(run))
    refused: dict[str, Exchange] = {}
    for exchange in evidence.exchanges:
        name = exchange.operation_id
        if name is None or name not in evidence.reason or exchange.succeeded:
            continue
        if not any(one.succeeded for one in exchanges.get(name, ())):
            return _never_succeeded(name, exchanges[name]) + INSTEAD.get(name, "")
        refused[name] = exchange
    reason = evidence.reason
    for name, exchange in refused.items():
        outcome = f"was answered {exchange.status}"
        words = request_in_words([exchange], [each for each in exchanges[name] if each.succeeded])
        # An older run file has the role of the request there.
        words_of_reason = rf"\b{name}(?: as '[^']*'| with [\w .]+?)? {outcome}\b"
        told = f"{words} {outcome}{what_was_said([exchange])}"
        reason = re.sub(words_of_reason, told.replace("\\", r"\\"), reason)
    return as_sentence(reason)


def as_sentence(text: str) -> str:
    """A reason as a sentence of its own; the name of an operation at its beginning stays."""
    text = " ".join(text.split())
    first_word = text.partition(" ")[0]
    if first_word == first_word.lower():
        text = text[:1].upper() + text[1:]
    return f"{text}{'' if text.endswith(('.', '?', '!')) else '.'}"


def what_was_answered(
    requirement: Requirement, checks: Sequence[Check], quiet: Sequence[Gathered]
) -> str:
    """What there was in these experiments, where no answer of it is wrong by itself."""
    own = requirement.operations or FOR_DELIVERIES
    judged = _judged(checks, quiet)
    is_of_all = any(check.is_oracle for check in checks)
    places = [] if is_of_all else [gathered.experiment for gathered in quiet]
    where = f"In {named(places)}: " if places else ""
    answered = [
        f"{name} was answered {_times(len(judged[name]))} ({_successes(judged[name])})"
        for name in own
        if name in judged
    ]
    if not answered:
        return f"{where}{named(own)} was never called; a call would help to see: {requirement.text}"
    lacking = what_had_no_value(requirement, checks, quiet)
    helping = f" {' and '.join(lacking)}; one would help." if lacking else ""
    return (
        f"{where}{', '.join(answered)}; none of that shows whether this is so:"
        f" {requirement.text}{helping}"
    )


def what_had_no_value(
    requirement: Requirement, checks: Sequence[Check], run: Sequence[Gathered]
) -> list[str]:
    """Of each operation of a requirement, the fields that it is about and no answer showed."""
    judged = _judged(checks, run)
    return [
        f"{name} showed no value of {named(unseen)}"
        for name in requirement.operations or FOR_DELIVERIES
        if (unseen := fields_without_value(requirement.about.fields, name, judged.get(name, ())))
    ]


def _judged(checks: Sequence[Check], run: Sequence[Gathered]) -> dict[str, list[Exchange]]:
    """The exchanges of the observations that these checks judge, by operation."""
    return _grouped(
        exchange
        for gathered in run
        for observation in gathered.observations
        if any(check.judges(type(observation)) for check in checks)
        for exchange in observation.exchanges
    )


def _successes(answers: Sequence[Exchange]) -> str:
    succeeded = sum(answer.succeeded for answer in answers)
    return f"{succeeded if succeeded < len(answers) else 'always'} with success"


def _judges_deliveries(check: Check) -> bool:
    return not check.is_oracle and all(
        issubclass(kind, DeliveryObservation) for kind in check.evidence
    )


def _poor_answers(
    operations: Iterable[str], exchanges: Mapping[str, Sequence[Exchange]]
) -> tuple[list[str], set[str]]:
    """Why the answers to some of these operations show nothing, and to which of them.

    One that was never called is among them if nothing was known to call it with.
    """
    poor = {name: _why_poor(name, exchanges.get(name, ())) for name in operations}
    reasons = list(dict.fromkeys(filter(None, poor.values())))
    uncalled: dict[str, list[str]] = {}
    for name, reason in poor.items():
        if not reason and name in FOUND_BY and not _was_called(exchanges.get(name, ())):
            finder = FOUND_BY[name][0]
            if unknown := _why_unknown(finder, exchanges.get(finder, ())):
                uncalled.setdefault(unknown, []).append(name)
    for unknown, names in uncalled.items():
        if unknown not in reasons:
            finder, resource = FOUND_BY[names[0]]
            cause = f"{unknown[:1].lower()}{unknown[1:]}{INSTEAD.get(finder, '')}"
            reasons.append(f"No {resource} is known to call {' and '.join(names)} with: {cause}")
    show_nothing = {name for name in poor if poor[name]}
    return reasons, show_nothing.union(*uncalled.values())


def _was_called(answers: Iterable[Exchange]) -> bool:
    return any(answer.succeeded or is_to_succeed(answer) for answer in answers)


def _why_poor(operation_id: str, answers: Sequence[Exchange]) -> str:
    """Why no answer to an operation shows what it is about; empty if one does, or if none is
    known.
    """
    succeeded = [answer for answer in answers if answer.succeeded]
    if not succeeded:
        return _never_succeeded(operation_id, answers)
    if not any(map(shown, succeeded)):
        return (
            f"{operation_id} succeeded, but showed nothing in data; an answer that does would help."
        )
    if operation_id in LISTS and not any(map(items, succeeded)):
        if any(isinstance(shown(answer).get("content"), list) for answer in succeeded):
            return f"{NOTHING_LISTED[operation_id]}."
        return f"{operation_id} succeeded, but showed no array data.content; one would help."
    return ""


def _why_unknown(finder: str, answers: Sequence[Exchange]) -> str:
    """Why an operation that shows identifiers showed none; empty if it did, or was not called."""
    if reason := _why_poor(finder, answers):
        return reason
    succeeded = [answer for answer in answers if answer.succeeded]
    if finder in LISTS:
        uids: list[object] = [item.get("uid") for answer in succeeded for item in items(answer)]
    else:
        uids = [shown_uid(answer) for answer in succeeded]
    if not succeeded or any(map(has_value, uids)):
        return ""
    place = "data.content" if finder in LISTS else "data"
    return f"{finder} succeeded, but showed no uid in {place}; one would help."


def _never_succeeded(operation_id: str, answers: Iterable[Exchange]) -> str:
    """Empty if there was no request that had to succeed."""
    failed = [answer for answer in answers if is_to_succeed(answer)]
    outcomes = Counter(map(_status, failed))
    if not outcomes:
        return ""
    return (
        f"Every {operation_id} that this rests on was answered"
        f" {_either(outcomes)}{what_was_said(failed)}; a success of one would help."
    )


def _failures(
    failed: Sequence[tuple[Exchange, tuple[str, str]]], others: Sequence[Exchange]
) -> Iterator[str]:
    """A sentence for each operation about its requests that failed, and what they have in common
    that those that succeeded have not.
    """
    for name in dict.fromkeys(exchange.operation_id for exchange, _ in failed):
        exchanges = [exchange for exchange, _ in failed if exchange.operation_id == name]
        succeeded = [each for each in others if each.operation_id == name and each.succeeded]
        if not succeeded:
            yield _never_succeeded(name or "", exchanges)
            continue
        places = [place for exchange, place in failed if exchange.operation_id == name]
        yield (
            f"In {_place(places)}, {request_in_words(exchanges, succeeded)} was answered"
            f" {_counted(Counter(map(_status, exchanges)))}{what_was_said(exchanges)};"
            " a success of it would help."
        )


def _unclear_answers(unclear: Sequence[tuple[Exchange, tuple[str, str]]]) -> Iterator[str]:
    for name in dict.fromkeys(exchange.operation_id for exchange, _ in unclear):
        exchanges = [exchange for exchange, _ in unclear if exchange.operation_id == name]
        places = [place for exchange, place in unclear if exchange.operation_id == name]
        yield (
            f"In {_place(places)}, {name} was answered"
            f" {_counted(Counter(map(_status, exchanges)))}, which neither accepts nor refuses it;"
            " an answer that does either would help."
        )


def _is_unclear(exchange: Exchange) -> bool:
    """Whether an answer says nothing about what became of the request."""
    return exchange.status is None or exchange.status in SERVER_ERRORS


def _place(places: Sequence[tuple[str, str]]) -> str:
    """The observation that it was, or the experiments where there were several."""
    if len(set(places)) == 1:
        return ", ".join(places[0])
    return named(experiment for experiment, _ in places)


def _status(exchange: Exchange) -> str:
    return "not at all" if exchange.status is None else str(exchange.status)


def _either(outcomes: Counter[str]) -> str:
    *others, last = [outcome for outcome, _ in outcomes.most_common()]
    return f"{', '.join(others)} or {last}" if others else last


def _counted(outcomes: Counter[str]) -> str:
    if outcomes.total() == 1:
        return next(iter(outcomes))
    return ", ".join(f"{outcome} ({_times(n)})" for outcome, n in outcomes.most_common())


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _exchanges(run: Iterable[Gathered]) -> Iterator[Exchange]:
    for gathered in run:
        for observation in gathered.observations:
            yield from observation.exchanges


def _grouped(exchanges: Iterable[Exchange]) -> dict[str, list[Exchange]]:
    grouped: dict[str, list[Exchange]] = {}
    for exchange in exchanges:
        grouped.setdefault(exchange.operation_id or "", []).append(exchange)
    return grouped


def fields_without_value(
    fields: Iterable[str], operation_id: str, answers: Iterable[Exchange]
) -> list[str]:
    """Of these fields, each by its path in `about`, the documented ones that none of these answers
    to an operation shows with a value; none if no answer shows anything.

    Of a member of a field, the field is named.
    """
    kind = {**SHOWS, **LISTS}[operation_id]
    wanted: set[tuple[str, str]] = set()
    for path in fields:
        first, *inner = path.split(".")
        is_paging = first == PAGINATION.lower() and inner
        holder, name = (PAGINATION, inner[0]) if is_paging else (kind, first)
        if name in documented_fields(holder):
            wanted.add((holder, name))
    if not wanted:
        return []  # without counting, which takes long
    counter = FieldCounter()
    for answer in answers:
        counter.add(answer)
    return [
        name
        for count in counter.counts()
        for holder, name, *inner in [count.name.split(".")]
        if (holder, name) in wanted and not inner and not count.shown
    ]
