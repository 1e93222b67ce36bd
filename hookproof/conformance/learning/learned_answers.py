"""What was learned of a target: for each field of a dialect its values, and how sure they are."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.answers import answers_of
from hookproof.spec.dialect.assumptions import adds_nothing
from hookproof.spec.dialect.file_schema import ASSUMED, LABELS, ONE_OF, UNDECIDED
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import EXTENDS, load_dialect_mapping
from hookproof.spec.dialect.writer import written_dialect
from hookproof.spec.strict_yaml.file_problem import FileProblems
from hookproof.spec.strict_yaml.parser import LONGEST_INTEGER
from hookproof.target.shown_number import shown_number

# The name of a learned dialect.
NAME: Final = "learned"


class Certainty(StrEnum):
    """How sure an answer is."""

    SEEN = "seen"
    SEVERAL = "only one of several seen"
    UNSEEN = "could not be seen"
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedAnswer:
    """One field of a dialect. `values` are as a dialect file writes them, none if it is undecided.

    `count` is how often it was seen, `shown_by` one exchange or delivery in words, `operation` that
    of the exchange; `reason` is why it could not be seen, and what would show it.
    """

    field: str
    values: tuple[Any, ...]
    certainty: Certainty
    count: int = 0
    shown_by: str = ""
    reason: str = ""
    operation: str | None = None

    @property
    def written(self) -> Any:
        """The answer as a dialect file writes it."""
        if len(self.values) == 1:
            return self.values[0]
        return {ONE_OF: list(self.values)} if self.values else {UNDECIDED: self.reason}


class LearnedAnswers:
    """The answers learned so far, over those of the dialect that they extend."""

    def __init__(self, extends: str, extended: Dialect) -> None:
        self.extends = extends
        self.extended = extended
        self._inherited = dict(_flat(extended, written_dialect(extended)))
        self._open = {name for name, answer in answers_of(extended) if isinstance(answer, Answer)}
        self._seen: dict[str, LearnedAnswer] = {}
        self._reasons: dict[str, str] = {}
        self._dialect: Dialect | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        """Every field that answers a question, in the order of the classes."""
        return tuple(name for name in self._inherited if name not in LABELS)

    def may_stay_open(self, field: str) -> bool:
        """Whether a dialect may leave this field undecided, or allow several values."""
        return field in self._open

    def see(self, field: str, *values: Any, shown_by: Exchange | str, count: int = 1) -> None:
        """Learn the values of a field that fit what was seen; a later answer replaces it.

        Several values of a field that must have one are no answer, and are kept as the reason.
        """
        if field not in self._inherited:
            return
        place = shown_by if isinstance(shown_by, str) else in_words(shown_by)
        if any(map(_is_beyond_files, values)):
            self.miss(field, f"it is a number with more digits than any has ({place})")
            return
        if len(values) > 1 and not self.may_stay_open(field):
            named = " or ".join(map(str, values))
            self.miss(field, f"it can be {named} by what was seen ({place})")
            return
        self._dialect = None
        self._seen[field] = LearnedAnswer(
            field=field,
            values=values,
            certainty=Certainty.SEEN if len(values) == 1 else Certainty.SEVERAL,
            count=count,
            shown_by=place,
            operation=None if isinstance(shown_by, str) else shown_by.operation_id,
        )

    def assume(self, field: str, value: Any, reason: str) -> None:
        """Choose a value that was not seen, for a field that must have one."""
        self._dialect = None
        self._seen[field] = LearnedAnswer(
            field=field, values=(value,), certainty=Certainty.ASSUMED, reason=reason
        )

    def miss(self, field: str, reason: str) -> None:
        """Note why a field could not be seen, and what would show it."""
        self._reasons[field] = reason

    def has_reason(self, field: str) -> bool:
        """Whether it is known why a field could not be seen."""
        return field in self._reasons

    def forget(self, field: str, reason: str) -> None:
        """Drop what was learned of a field."""
        self._dialect = None
        self._seen.pop(field, None)
        self._reasons[field] = reason

    def seen(self) -> Mapping[str, LearnedAnswer]:
        """What was learned so far, by field; what is assumed, too."""
        return dict(self._seen)

    def is_seen(self, field: str) -> bool:
        """Whether an answer of a field was seen, and not assumed."""
        known = self._seen.get(field)
        return known is not None and known.certainty is not Certainty.ASSUMED

    def is_guessed(self, field: str) -> bool:
        """Whether nothing is known of a field, and it has the value of the extended dialect."""
        inherited = field not in self._seen
        return inherited and self.answer(field).certainty is Certainty.ASSUMED

    def inherited(self, field: str) -> Any:
        """The answer of the extended dialect, as a dialect file writes it."""
        return self._inherited[field]

    def value(self, field: str) -> Any:
        """The learned value of a field, or that of the extended dialect; None if it has several or
        none.
        """
        written = self.answer(field).written
        is_open = isinstance(written, dict) and (ONE_OF in written or UNDECIDED in written)
        return None if is_open and self.may_stay_open(field) else written

    def answer(self, field: str) -> LearnedAnswer:
        """What is known of a field: seen, or the answer of the extended dialect."""
        if field in self._seen:
            return self._seen[field]
        reason = self._reasons.get(field, "nothing that was tried shows it")
        inherited = self._inherited[field]
        if field in self._open and isinstance(inherited, dict) and UNDECIDED in inherited:
            return LearnedAnswer(field=field, values=(), certainty=Certainty.UNSEEN, reason=reason)
        values = (inherited,)
        if field in self._open and isinstance(inherited, dict):
            values = tuple(inherited[ONE_OF])
        return LearnedAnswer(field=field, values=values, certainty=Certainty.ASSUMED, reason=reason)

    def mask(self, text: Callable[[str], str], quotation: Callable[[str], str]) -> None:
        """Change every text that a target may have written, such as a template of its errors, and
        each that may quote it.
        """
        self._dialect = None
        self._reasons = {name: quotation(reason) for name, reason in self._reasons.items()}
        self._seen = {
            name: replace(
                answer,
                values=tuple(_with_texts(value, text) for value in answer.values),
                shown_by=quotation(answer.shown_by),
                reason=quotation(answer.reason),
            )
            for name, answer in self._seen.items()
        }

    def differs(self, answer: LearnedAnswer) -> bool:
        """Whether an answer has to be written: the extended dialect has another one, or assumes
        what was seen.
        """
        known = self.is_seen(answer.field) and answer.field in self.extended.assumed
        differs = answer.written != self._inherited[answer.field]
        return answer.field in self._seen and (known or differs)

    def __iter__(self) -> Iterator[LearnedAnswer]:
        return map(self.answer, self.fields)

    @property
    def assumed(self) -> list[str]:
        """The fields whose answers were not seen, and are acted on nevertheless."""
        return [
            answer.field
            for answer in self
            if answer.certainty is Certainty.ASSUMED
            and not adds_nothing(answer.field, answer.written)
        ]

    def mapping(self) -> dict[str, Any]:
        """The dialect as its file has it: what was seen, over the extended dialect."""
        mapping: dict[str, Any] = {
            EXTENDS: self.extends,
            "name": NAME,
            "summary": "Learned from what the target was seen to do.",
            ASSUMED: self.assumed,
        }
        for answer in filter(self.differs, self._seen.values()):
            group = mapping
            *groups, last = answer.field.split(".")
            for name in groups:
                group = group.setdefault(name, {})
            group[last] = answer.written
        return mapping

    @property
    def dialect(self) -> Dialect:
        """The dialect learned so far; answers that contradict others are forgotten."""
        while self._dialect is None:
            try:
                self._dialect = load_dialect_mapping(self.mapping(), "the learned dialect")
            except FileProblems as problems:
                self._forget_contradictions(problems)
        return self._dialect

    def with_answer(self, field: str, value: Any) -> Dialect | None:
        """The dialect with another answer in one field; None if it contradicts the others."""
        mapping = deepcopy(self.mapping())
        *groups, last = field.split(".")
        group = mapping
        for name in groups:
            group = group.setdefault(name, {})
        group[last] = value
        try:
            return load_dialect_mapping(mapping, "an answer that is tried")
        except FileProblems:
            return None

    def _forget_contradictions(self, problems: FileProblems) -> None:
        """Forget what cannot stand beside the other answers; raises FileProblems if nothing can be
        forgotten.
        """
        wrong = [
            (name, str(problem))
            for problem in problems.problems
            for name in self._seen
            if problem.where == name or problem.where.startswith((f"{name}.", f"{name}["))
        ]
        if not wrong:
            raise problems
        for name, message in wrong:
            self.forget(name, f"what was seen contradicts another answer: {message}")


def in_words(exchange: Exchange) -> str:
    """An exchange in a few words: its request, the role that it had, its status."""
    place = exchange.operation_id or exchange.url.partition("?")[0].split("/", 3)[-1]
    return f"{exchange.method} {place}, {exchange.role}: {exchange.status or exchange.problem}"


def _with_texts(value: Any, text: Callable[[str], str]) -> Any:
    if isinstance(value, Mapping):
        return {text(name): _with_texts(member, text) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_with_texts(item, text) for item in value]
    # The type of an enumeration's member is kept.
    return text(value) if type(value) is str else value


def _flat(record: Any, written: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, _ in answers_of(record):
        value: Any = written
        for part in name.split("."):
            value = value[part]
        yield name, value


def _is_beyond_files(value: object) -> bool:
    """Whether a value, as a target has shown it, is a number that no file of a dialect can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return shown_number(value) is None or abs(value) >= 10**LONGEST_INTEGER
