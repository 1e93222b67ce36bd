"""ctrf.json against the schema that the makers of the format publish."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from hookproof.conformance.reports.ci.ctrf import ctrf_text
from tests.clients.tools import ADVICE, PACKAGES
from tests.conformance.canned_run import finished_run, passed
from tests.conformance.golden_run import golden_run


def test_a_ctrf_report_follows_the_published_schema(tmp_path: Path) -> None:
    try:
        (path,) = (PACKAGES / "ctrf" / "dist").glob("ctrf-schema-*.json")
    except ValueError:
        pytest.skip(f"the package ctrf is not installed: {ADVICE}")
    validator = Draft7Validator(json.loads(path.read_text("utf-8")))
    for run in (golden_run(tmp_path), finished_run(tmp_path, passed())):
        report = json.loads(ctrf_text(run))
        validator.validate(report)
        report["results"]["summary"]["state"] = 1
        assert not validator.is_valid(report)
