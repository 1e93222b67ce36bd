"""Grades somebody's verifier by the vectors: which it gets wrong, and what that means."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from hookproof.receiver.vectors.vector import FOLDER, Vector

WrongVerdict = Literal["accepts", "refuses"]

NO_ANSWER: Final = "gives no verdict, since it crashes or hangs"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierAnswer:
    """Whether a verifier accepts a vector, None if it did not say; and what it said besides."""

    accepts: bool | None
    remark: str = ""


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
