"""What `hookproof vectors --against` prints of a verifier that was graded."""

from collections.abc import Iterator, Sequence
from typing import Final

from hookproof.process.terminal_text import printable
from hookproof.receiver.vectors.grading import GradedVector, mistakes, same_for_all

# The most characters shown of what a verifier says.
LONGEST_REMARK: Final = 200


def grading_lines(graded: Sequence[GradedVector]) -> Iterator[str]:
    """Each mistake with the vectors that show it, and the counts at the end."""
    for mistake in mistakes(graded):
        yield f"It {mistake.meaning}:"
        for each in mistake.shown_by:
            yield from _lines(each)
        yield ""
    right = sum(each.right for each in graded)
    if words := same_for_all(graded):
        yield f"{words}."
        yield f"vectors: {len(graded)}, shown to be right: 0"
    else:
        yield f"vectors: {len(graded)}, right: {right}, wrong: {len(graded) - right}"


def _lines(graded: GradedVector) -> Iterator[str]:
    vector = graded.vector
    verdict = f"refused ({vector.reason})" if vector.reason else "accepted"
    yield f"  {vector.name}"
    yield f"    should be {verdict}: {vector.why}"
    if graded.answer.remark:
        yield f"    it said: {printable(graded.answer.remark[:LONGEST_REMARK])}"
    for note in vector.notes:
        yield f"    note: {note}"


def grading_json(graded: Sequence[GradedVector]) -> dict[str, object]:
    wrong = [each for each in graded if not each.right]
    return {
        "vectors": len(graded),
        "right": len(graded) - len(wrong),
        "same_for_all": same_for_all(graded),
        "wrong": [each.to_json() for each in wrong],
    }
