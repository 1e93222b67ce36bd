"""Deliveries of many providers are answered with what was done to them."""

import re
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from hookproof.receiver.cli.verify import verify
from tests.receiver.signatures.cases.provider_cases import CASES, Case


def answer(case: Case, folder: Path) -> tuple[int, str]:
    """Exit code and output of the command."""
    request = folder / "delivery"
    request.write_bytes(case.delivery)
    arguments = ["--request", str(request), "--secret", case.secret, *case.options]
    if case.scheme:
        scheme = folder / "ours.yaml"
        scheme.write_text(yaml.safe_dump(dict(case.scheme)), encoding="utf-8")
        arguments += ["--scheme", str(scheme)]
    result = CliRunner().invoke(verify, arguments)
    assert isinstance(result.exception, SystemExit | None), result.exception
    return result.exit_code, result.output


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_delivery_is_answered_with_what_was_done_to_it(case: Case, tmp_path: Path) -> None:
    code, text = answer(case, tmp_path)
    assert code == (0 if case.verified else 1), text
    flags = re.IGNORECASE | re.DOTALL
    assert [each for each in case.says if not re.search(each, text, flags)] == [], text
    assert [each for each in case.never if re.search(each, text, flags)] == [], text


def test_there_are_seventy_cases() -> None:
    assert len({case.name for case in CASES}) == 70
