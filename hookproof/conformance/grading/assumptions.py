"""Which failures stand only by answers of the dialect that are assumed: these accuse nobody.

What fails is judged again by what is known of the dialect. An assumed answer that may stay open
agrees with everything then, and one that must have a value ends the judging where it is read. So
does one by which the target was asked, where a check has to say what its evidence rests on. What
fails alike by every value that the answer can have does not rest on it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hookproof.conformance.grading.assumed_requests import (
    assumed_behind_refusal,
    assumed_behind_settings,
    assumed_behind_silence,
)
from hookproof.conformance.grading.candidate_answers import possible_answers
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import NotExaminedError, Observation
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.observations.signature_reading import SignatureReading
from hookproof.conformance.observations.succeeding_requests import is_to_succeed
from hookproof.receiver.signatures.signature_headers import signature_headers
from hookproof.spec.catalogue import Level, load_catalogue
from hookproof.spec.described_fields import answer_at
from hookproof.spec.dialect.answer import Undecided
from hookproof.spec.dialect.assumptions import assumed_fields, noted_assumptions
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.writer import answer_text, written_dialect

WHAT_TO_DO: Final = "give {} in the dialect, or run `hookproof learn`"
# How many assumed answers a reason names, and how many characters of each.
MOST_NAMED: Final = 2
LONGEST_SHOWN: Final = 40
SIGNATURES: Final = "signatures."
# How often a check is judged to see what fails by every value of the answers that it misses.
MOST_JUDGINGS: Final = 100


@dataclass(slots=True)
class Standing:
    """The judgements that stand; `assumed` has for each other requirement why its do not."""

    judgements: list[Judgement]
    assumed: dict[str, str] = field(default_factory=dict)


def standing(
    check: Check, observation: Observation, judgements: Sequence[Judgement], context: CheckContext
) -> Standing:
    """The judgements of one check on one observation, without failures that rest on assumptions."""
    failed = violated_in(judgements)
    if not failed or context.without_assumed is context:
        return Standing([*judgements])
    assumed = assumed_fields(context.dialect)
    by_known, missed, stopped_by = _judged_by_known(check, observation, context)
    if stopped_by and failed - violated_in(by_known):
        by_known += _failing_anyhow(check, observation, context, stopped_by, [MOST_JUDGINGS])
    behind = {
        _place(each): list(_behind(each, observation, context.dialect, assumed))
        for each in [*by_known, *judgements]
        if each.verdict is Verdict.FAIL
    }
    stands = {place: each for each in by_known if not behind.get(place := _place(each), True)}
    kept = [
        each for each in judgements if each.verdict is not Verdict.FAIL or _place(each) in stands
    ]
    lacking = failed - violated_in(kept)
    kept += [each for each in stands.values() if each.requirement in lacking]
    first = {each.requirement: each for each in reversed(judgements) if _place(each) in behind}
    return Standing(
        kept,
        {
            name: _reason(
                first[name], observation, [*missed, *behind[_place(first[name])]], context
            )
            for name in sorted(failed - violated_in(kept))
        },
    )


def _judged_by_known(
    check: Check, observation: Observation, context: CheckContext
) -> tuple[list[Judgement], list[str], str]:
    """What a check judges by what is known of the dialect, which answers it misses, and which of
    them ended the judging, if one did.
    """
    judgements: list[Judgement] = []
    stopped_by = ""
    with noted_assumptions() as missed:
        try:
            judgements.extend(check.judgements(observation, context.without_assumed))
        except Undecided:  # what it judged until then stands
            stopped_by = next(reversed(missed), "")
        except NotExaminedError:
            pass
        except Exception:  # noqa: BLE001 what cannot be judged without the answers rests on them
            judgements.clear()
    return judgements, list(missed), stopped_by


def _failing_anyhow(
    check: Check, observation: Observation, context: CheckContext, field: str, left: list[int]
) -> list[Judgement]:
    """The failures that a check finds alike by each value that a field can have; `left` is how
    often it may still judge. What the requirement asks is this answer is none of them.
    """
    failing: dict[object, Judgement] | None = None
    for value in possible_answers(field, observation, context):
        left[0] -= 1
        if left[0] < 0:
            return []
        decided = context.with_known(field, value)
        judgements, _, stopped_by = _judged_by_known(check, observation, decided)
        if stopped_by:
            judgements += _failing_anyhow(check, observation, decided, stopped_by, left)
        alike = {
            (*_place(each), each.expected, each.actual): each
            for each in judgements
            if each.verdict is Verdict.FAIL and field not in _asked(each)
        }
        failing = {key: each for key, each in (failing or alike).items() if key in alike}
        if not failing:
            return []
    return list((failing or {}).values())


def _behind(
    judgement: Judgement, observation: Observation, dialect: Dialect, assumed: tuple[str, ...]
) -> Iterator[str]:
    """The assumed answers behind what became of the requests that a judgement rests on.

    A request that was to be refused was so, whatever else is wrong with it, unless its requirement
    asks which of the answers it got.
    """
    requirement = load_catalogue().requirements[judgement.requirement]
    for exchange in judgement.exchanges:
        if requirement.level is Level.OPEN or is_to_succeed(exchange):
            yield from assumed_behind_refusal(exchange, observation, dialect, assumed)
    yield from assumed_behind_settings(judgement, observation, _asked(judgement), dialect, assumed)
    yield from assumed_behind_silence(judgement, observation, dialect, assumed)


def _asked(judgement: Judgement) -> list[str]:
    """The answers that the requirement of a judgement depends on."""
    catalogue = load_catalogue()
    requirement = catalogue.requirements[judgement.requirement]
    return [name for _, names in catalogue.depends_on(requirement) for name in names]


def _place(judgement: Judgement) -> tuple[object, ...]:
    """What tells a judgement from others of the same check on the same observation."""
    return (
        judgement.requirement,
        judgement.message,
        tuple(map(id, judgement.exchanges)),
        tuple(map(id, judgement.deliveries)),
    )


def violated_in(judgements: Iterable[Judgement]) -> frozenset[str]:
    return frozenset(each.requirement for each in judgements if each.verdict is Verdict.FAIL)


def _reason(
    judgement: Judgement, observation: Observation, names: Iterable[str], context: CheckContext
) -> str:
    """Which answers it rests on; those that its question depends on where nothing was missed."""
    assumed = assumed_fields(context.dialect)
    missed = [name for name in dict.fromkeys(names) if name in assumed]
    if not missed:
        missed = [name for name in _asked(judgement) if name in assumed]
    found = [_found_signatures(judgement, observation)] if _is_signature(missed) else []
    return " ".join([_named(missed, context.dialect), *filter(None, found)])


def _named(names: Sequence[str], dialect: Dialect) -> str:
    written = written_dialect(dialect)
    shown = [f"{name} ({_value(written, name)})" for name in names[:MOST_NAMED]]
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    if not shown:
        return f"It rests on answers that are only assumed: {WHAT_TO_DO.format('them')}."
    *others, last = [*shown, *more]
    if others:
        return f"{', '.join(others)} and {last} are assumed: {WHAT_TO_DO.format('them')}."
    return f"{last} is assumed: {WHAT_TO_DO.format('it')}."


def _value(written: Mapping[str, object], name: str) -> str:
    text = answer_text(answer_at(written, name))
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def _is_signature(names: Sequence[str]) -> bool:
    return any(name.startswith(SIGNATURES) for name in names)


def _found_signatures(judgement: Judgement, observation: Observation) -> str:
    """The headers that have the form of a signature, and what was tried to explain them."""
    if not isinstance(observation, DeliveryObservation) or not judgement.deliveries:
        return ""
    reading = _reading(judgement, observation)
    if reading is None or reading.verified:
        return ""
    if reading.wrong_steps:
        return f"As far as was tried, {reading.cause}." if reading.cause else ""
    found = signature_headers((each.headers, each.body) for each in observation.deliveries)
    if not found:
        return "No header of the deliveries has the form of a signature."
    tried = f"; {reading.cause}" if reading.cause else ""
    return f"Found, not explained: {', '.join(map(str, found))}{tried}."


def _reading(judgement: Judgement, observation: DeliveryObservation) -> SignatureReading | None:
    proof = {(each.token, each.sequence) for each in judgement.deliveries}
    return next(
        (each for each in observation.signatures if (each.token, each.sequence) in proof), None
    )
