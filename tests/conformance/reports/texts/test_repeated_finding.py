"""The script of a finding, run by a real shell against the server that has the fault."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hookproof.conformance.reports.texts.repeat_script import repeat_script
from hookproof.conformance.results.defects import defects
from hookproof.conformance.results.run_file import read_run
from tests.conformance.command import check
from tests.conformance.reference_server import reference_server
from tests.source_tree import ROOT

MISSING = [name for name in ("curl", "jq") if shutil.which(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"{' and '.join(MISSING)} not installed")


def test_a_script_shows_the_same_wrong_answer_again(tmp_path: Path) -> None:
    options = ("--fault", "description_shown_as_null")
    with reference_server(tmp_path, ROOT, "p1", options=options) as ready:
        words = (ready["api"], "--project", "p1", "--api-key", "key-p1", "--profile", "quick")
        done = check(tmp_path, *words, "--only", "4.2-5")
        assert done.code == 1, done.out
        done_run = read_run(tmp_path / "hookproof-report" / "run.jsonl")
        found = defects(done_run.entries)
        scripts = {repeat_script(defect.lead, done_run.header): defect for defect in found}
        shown = {script: run(script) for script in scripts if ".bin" not in script}
    assert shown
    for script, output in shown.items():
        defect = scripts[script]
        creation, *_, last = defect.lead.finding.exchanges
        answer = json.loads(output.rpartition("\n\n")[2])["data"]
        assert last.operation_id == "getEndpoint"
        assert last.data["description"] is None
        assert answer["description"] is None
        # It fetches the endpoint that it created itself.
        assert answer["name"] == creation.data["name"]
        assert answer["uid"] != creation.data["uid"]


def run(script: str) -> str:
    secrets = dict.fromkeys(re.findall(r"HOOKPROOF_SECRET_\d+", script), "0123456789abcdef" * 4)
    return subprocess.run(
        ["/bin/sh"],
        input=script,
        env={"PATH": os.environ["PATH"], "HOOKPROOF_API_KEY": "key-p1", **secrets},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout.replace("\r\n", "\n")
