"""`hookproof.schemathesis.schema`: a target's contract in tests with pytest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookproof.conformance.schemathesis_plugin.target_schema import schema
from tests.conformance.schemathesis_plugin.stock_run import served

TESTS = """\
import hypothesis
import hookproof.schemathesis

schema = hookproof.schemathesis.schema("target.yaml").include(method="GET")
schema.config.phases.coverage.enabled = False


@schema.parametrize()
@hypothesis.settings(max_examples=3, derandomize=True)
def test_api(case):
    case.call_and_validate()
"""
TARGET = """\
base_url: {url}
projects: [{{id: p1, api_key: "${{KEY}}"}}]
dialect: contrary
"""


@pytest.mark.parametrize(
    ("options", "code"), [((), 0), (("--fault", "server_error:status=500"), 1)]
)
def test_a_target_is_tested_by_its_own_dialect(
    tmp_path: Path, options: tuple[str, ...], code: int
) -> None:
    (tmp_path / "test_target.py").write_text(TESTS)
    with served(tmp_path, "contrary", *options) as url:
        (tmp_path / "target.yaml").write_text(TARGET.format(url=url))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_target.py"],
            cwd=tmp_path,
            env={**os.environ, "KEY": "key-p1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == code, done.stdout + done.stderr
    assert ("hookproof_7_8" in done.stdout) is bool(code)
    assert ("4 passed" in done.stdout) is not bool(code)


@pytest.mark.parametrize(
    ("target", "problem"),
    [("nosuch.yaml", "nosuch.yaml"), ("http://127.0.0.1:5005", "the target has no project")],
)
def test_what_is_wrong_in_a_target_is_said(
    target: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("HOOKPROOF_PROJECT", "HOOKPROOF_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match=problem):
        schema(target)
