"""Requirements of consumers, and what was found out about each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final, Literal

from hookproof.process.exit_codes import ExitCode
from hookproof.receiver.sending.tables import Probe, read_table

REQUIREMENTS: Final = "requirements.yaml"


class Requirement(Probe, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a good consumer does; requirements.yaml explains the fields."""

    text: str
    mend: str
    effect: Literal["as_taken", "any"] = "as_taken"
    needs_effect: bool = False
    decides: bool = True

    @property
    def is_refusal(self) -> bool:
        return self.answers == ("4xx",)


class Verdict(StrEnum):
    """What is known of a requirement; the words of `hookproof check`."""

    PASS = "pass"  # noqa: S105
    FAIL = "fail"
    NOT_EXERCISED = "not_exercised"
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found out; `proof` is what was sent and answered, or why nothing could be known."""

    id: str
    requirement: Requirement
    verdict: Verdict
    proof: str

    def to_json(self) -> dict[str, object]:
        failed = self.verdict is Verdict.FAIL
        return {
            "id": self.id,
            "text": self.requirement.text,
            "verdict": self.verdict.value,
            "proof": self.proof,
            "mend": self.requirement.mend if failed else None,
        }


# Of a run as a whole, by its exit code: how it is written in JSON, and its headline.
VERDICTS: Final[Mapping[ExitCode, tuple[str, str]]] = {
    ExitCode.CONFORMS: ("conforms", "CONFORMS"),
    ExitCode.DOES_NOT_CONFORM: ("does_not_conform", "DOES NOT CONFORM"),
    ExitCode.INCOMPLETE: ("incomplete", "INCOMPLETE"),
}


def exit_code(findings: Sequence[Finding]) -> ExitCode:
    """1 if anything failed; 3 if something that decides was not exercised, or nothing at all."""
    verdicts = {each.verdict for each in findings}
    if Verdict.FAIL in verdicts:
        return ExitCode.DOES_NOT_CONFORM
    missing = any(
        each.verdict is Verdict.NOT_EXERCISED and each.requirement.decides for each in findings
    )
    return ExitCode.INCOMPLETE if missing or Verdict.PASS not in verdicts else ExitCode.CONFORMS


@cache
def requirements() -> dict[str, Requirement]:
    return read_table(__package__, REQUIREMENTS, Requirement)
