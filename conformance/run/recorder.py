"""Keeps the evidence of a run such that it can be judged again from the file, with the same
verdicts.

Masking takes keys and credentials out of what is written. Where that makes a check say something
else of a case, as it does of signatures, what it said of the case as it was is written too, and
counts when the run is judged again.
"""

import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from hookproof.conformance.grading.root_cause import cause
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import Case
from hookproof.conformance.model.ledger import Finding
from hookproof.conformance.model.verdict import Judgement, Verdict
from hookproof.conformance.results.defects import proof_size
from hookproof.conformance.results.redaction import Masked, is_altered
from hookproof.conformance.results.run_file import RunWriter


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
                self._altered[id(case)] = Altered(
                    case=case, masked=masked, place=self._count[case.experiment]
                )
            self._count[case.experiment] += 1

    def judge(self, check: Check, case: Case, context: CheckContext) -> Iterable[Judgement]:
        """What the check says of a case that was kept; raises whatever the check raises."""
        said = list(check.judge(case, context))
        altered = self._altered.get(id(case))
        # A credential is a text like any other to an oracle, which has no secret to verify with (a
        # test holds that).
        if altered is not None and (altered.masked.deep or check.experiments):
            said = [_with_cause(one, case, context) for one in said]
            again = _said_of_masked(check, altered.masked.case, context)
            # Words that hold a credential are alike once it is masked; most hold none, and masking
            # them takes long.
            if (
                _essence(said) != again
                and _essence(map(self._writer.mask.judgement, said)) != again
            ):
                self._writer.judgements(
                    case.experiment, altered.place, check.name, said, self._repetition
                )
        return said

    def proof_size(self, finding: Finding) -> tuple[int, int]:
        """How much there is to read in a proof as it is written, so that judging the file again
        chooses the same.
        """
        return proof_size(self._writer.mask.finding(finding))


def _said_of_masked(check: Check, masked: Case, context: CheckContext) -> object:
    try:
        return _essence(_with_cause(one, masked, context) for one in check.judge(masked, context))
    except Exception as error:  # noqa: BLE001 that it breaks is another word than the one that it had before
        return error


def _with_cause(judgement: Judgement, case: Case, context: CheckContext) -> Judgement:
    """A failure with its cause, which masked secrets would hide."""
    failed = judgement.verdict is Verdict.FAIL
    return replace(judgement, cause=cause(judgement, case, context)) if failed else judgement


def _essence(judgements: Iterable[Judgement]) -> list[tuple[str, ...]]:
    return [
        (one.requirement, one.verdict.key, one.cause or "", one.message, one.expected, one.actual)
        for one in judgements
    ]
