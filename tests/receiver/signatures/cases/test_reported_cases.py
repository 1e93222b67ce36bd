"""Each reported case is answered with its cause, who made it and what to do about it."""

import base64
import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from click.testing import CliRunner

from hookproof.receiver.cli.verify import verify

REPORTED: Final = Path(__file__).with_name("reported.yaml")
CASES: Final[list[dict[str, Any]]] = yaml.load(
    REPORTED.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader
)
RUNS: Final = [
    pytest.param(case, run, id=f"{case['name']}, {run}")
    for case in CASES
    for run in case["verified"]
]


def written(case: dict[str, Any], folder: Path) -> Path:
    """The file of the delivery."""
    if "file" in case:
        path = folder / "delivery.json"
        path.write_text(case["file"], encoding="utf-8")
        return path
    body = base64.b64decode(case["body_b64"]) if "body_b64" in case else case["body"].encode()
    path = folder / "delivery.http"
    path.write_bytes("\r\n".join([*case["head"], "", ""]).encode("latin-1") + body)
    return path


def options(case: dict[str, Any], run: str, folder: Path) -> list[str]:
    """What is asked: by a dialect, or by nothing but the time."""
    chosen = []
    if "at" in case:
        chosen += ["--at", str(case["at"])]
    if "tolerance" in case:
        chosen += ["--tolerance", str(case["tolerance"])]
    if run == "dialect" and "dialect" in case:
        chosen += ["--dialect", case["dialect"]]
    elif run == "dialect":
        signatures = dict(case["signed_as"])
        dialect = {"extends": "undecided", "name": "theirs", "summary": "How this sender signs."}
        if "delivery" in signatures:
            dialect["delivery"] = signatures.pop("delivery")
        path = folder / "dialect.yaml"
        path.write_text(yaml.safe_dump(dialect | {"signatures": signatures}), encoding="utf-8")
        chosen += ["--dialect", str(path), "--format", "simple"]
    return chosen


def answer(case: dict[str, Any], run: str, folder: Path) -> tuple[int, str]:
    """Exit code and output of the command."""
    arguments = ["--request", str(written(case, folder)), *options(case, run, folder)]
    environment = {"HOOKPROOF_SECRET": f"{case['secret']}\n"}
    result = CliRunner().invoke(verify, arguments, env=environment)
    assert isinstance(result.exception, SystemExit | None), result.exception
    return result.exit_code, result.output


@pytest.mark.parametrize(("case", "run"), RUNS)
def test_a_case_is_answered_with_its_cause(case: dict[str, Any], run: str, tmp_path: Path) -> None:
    code, text = answer(case, run, tmp_path)
    assert code == (0 if case["verified"][run] else 1), text
    missing = [fact for fact in case["says"] if not re.search(_pattern(fact), text)]
    assert not missing, text
    assert [each for each in case.get("never_says", ()) if each in text] == [], text


def _pattern(fact: str) -> str:
    """A fact is a text; alternatives are separated by a bar."""
    return "|".join(re.escape(each) for each in fact.split("|"))


def test_there_are_as_many_cases_as_were_reported() -> None:
    assert len({case["name"] for case in CASES}) == 70
