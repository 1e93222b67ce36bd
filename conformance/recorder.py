"""Keeps the evidence of a run such that it can be judged again from the file, with the same verdicts.

Masking takes keys and credentials out of what is written. Where that makes a check say something else of a case, as it
does of signatures, what it said of the case as it was is written too, and counts when the run is judged again.
"""

import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from conformance.cause import cause
from conformance.checks.registry import Check, Yardstick
from conformance.defects import proof_size
from conformance.evidence import Case
from conformance.ledger import Finding
from conformance.mask import Masked, is_altered
from conformance.run_file import RunWriter
from conformance.verdict import Judgement, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Altered:
    """A case that masking altered, and its place among those of its experiment."""

    case: Case
    masked: Masked
    place: int


class Recorder:
    """Writes the cases of one repetition as they come, and judges with the checks."""

    def __init__(self, writer: RunWriter, repetition: int = 1):
        self._writer = writer
        self._repetition = repetition
        self._count: Counter[str] = Counter()
        self._altered: dict[int, Altered] = {}
        self._lock = threading.Lock()

    def keep(self, case: Case) -> None:
        """Write a case; raises TypeError or ValueError if its facts are no JSON."""
        masked = self._writer.case(case, self._repetition)
        with self._lock:
            if is_altered(case, masked.case):
                self._altered[id(case)] = Altered(case=case, masked=masked, place=self._count[case.experiment])
            self._count[case.experiment] += 1

    def judge(self, check: Check, case: Case, yardstick: Yardstick) -> Iterable[Judgement]:
        """What the check says of a case that was kept; raises whatever the check raises."""
        said = list(check.judge(case, yardstick))
        altered = self._altered.get(id(case))
        # A credential is a text like any other to an oracle, which has no secret to verify with (a test holds that).
        if altered is not None and (altered.masked.deep or check.experiments):
            said = [_with_cause(one, case, yardstick) for one in said]
            again = _said_of_masked(check, altered.masked.case, yardstick)
            # Words that hold a credential are alike once it is masked; most hold none, and masking them takes long.
            if _essence(said) != again and _essence(map(self._writer.mask.judgement, said)) != again:
                self._writer.judgements(case.experiment, altered.place, check.name, said, self._repetition)
        return said

    def proof_size(self, finding: Finding) -> tuple[int, int]:
        """How much there is to read in a proof as it is written, so that judging the file again chooses the same."""
        return proof_size(self._writer.mask.finding(finding))


def _said_of_masked(check: Check, masked: Case, yardstick: Yardstick) -> object:
    try:
        return _essence(_with_cause(one, masked, yardstick) for one in check.judge(masked, yardstick))
    except Exception as error:  # noqa: BLE001 that it breaks is another word than the one that it had before
        return error


def _with_cause(judgement: Judgement, case: Case, yardstick: Yardstick) -> Judgement:
    """A failure with its cause, which masked secrets would hide."""
    failed = judgement.verdict is Verdict.FAIL
    return replace(judgement, cause=cause(judgement, case, yardstick)) if failed else judgement


def _essence(judgements: Iterable[Judgement]) -> list[tuple[str, ...]]:
    return [
        (one.requirement, one.verdict.key, one.cause or "", one.message, one.expected, one.actual) for one in judgements
    ]
