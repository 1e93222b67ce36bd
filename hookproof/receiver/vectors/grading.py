"""Grades somebody's verifier by the vectors: which it gets wrong, and what that means."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, Literal

from hookproof.receiver.vectors.vector import FOLDER, Vector

WrongVerdict = Literal["accepts", "refuses"]

NO_ANSWER: Final = "gives no verdict, since it crashes or hangs"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierAnswer:
    """Whether a verifier accepts a vector, None if it did not say; and what it said besides.

    `may_have_failed` is a refusal by which a program that crashes ends as well.
    """

    accepts: bool | None
    remark: str = ""
    may_have_failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedVector:
    vector: Vector
    answer: VerifierAnswer

    @property
    def right(self) -> bool:
        return self.answer.accepts is (self.vector.reason is None)

    @property
    def meaning(self) -> str:
        """What it means that the answer is wrong."""
        if self.answer.accepts is None:
            return NO_ANSWER
        verdict: WrongVerdict = "accepts" if self.answer.accepts else "refuses"
        return meanings()[verdict, variation(self.vector)]

    def to_json(self) -> dict[str, object]:
        said = {True: "accept", False: "reject", None: None}[self.answer.accepts]
        return {
            "name": self.vector.name,
            "expect": "reject" if self.vector.reason else "accept",
            "answer": said,
            "meaning": self.meaning,
            "why": self.vector.why,
            "remark": self.answer.remark,
            "notes": list(self.vector.notes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierMistake:
    """What is wrong with a verifier, and the vectors that show it."""

    meaning: str
    shown_by: Sequence[GradedVector]


def read_failures(graded: Sequence[GradedVector]) -> list[GradedVector]:
    """The same, where a verifier that refuses others in its own way has failed, not refused."""
    if not any(each.answer.accepts is False and not each.answer.may_have_failed for each in graded):
        return list(graded)
    return [
        replace(each, answer=replace(each.answer, accepts=None))
        if each.answer.may_have_failed
        else each
        for each in graded
    ]


def same_for_all(graded: Sequence[GradedVector]) -> str:
    """What is wrong with a verifier that does not tell good vectors from bad ones; or empty.

    What it has right by that proves nothing of it.
    """
    if len({each.vector.reason is None for each in graded}) == 1:
        return ""
    if not any(each.answer.accepts for each in graded):
        return "It accepts nothing, not even what is validly signed: what it refuses proves nothing"
    if all(each.answer.accepts for each in graded):
        return "It accepts everything, forged deliveries too: what it accepts proves nothing"
    return ""


def mistakes(graded: Sequence[GradedVector]) -> Iterator[VerifierMistake]:
    """What a verifier does wrong, the gravest first."""
    wrong = [each for each in graded if not each.right]
    for meaning in (NO_ANSWER, *dict.fromkeys(meanings().values())):
        if shown_by := [each for each in wrong if each.meaning == meaning]:
            yield VerifierMistake(meaning=meaning, shown_by=shown_by)


def variation(vector: Vector) -> str:
    """The end of a vector's name, which vectors of other dialects share."""
    return vector.name.rpartition(": ")[2]


@cache
def meanings() -> Mapping[tuple[WrongVerdict, str], str]:
    """What a wrong verdict on the vectors of a variation means; the gravest first."""
    content = json.loads((FOLDER / "meanings.json").read_text())
    verdicts: tuple[WrongVerdict, ...] = ("accepts", "refuses")
    return {
        (verdict, name): each["means"]
        for each in content["meanings"]
        for verdict in verdicts
        for name in each.get(verdict, ())
    }
