"""Benchmarks start a load generator as it is."""

import subprocess
import sys
from pathlib import Path

import pytest

from hookproof.load.single_process import MODULE
from tests.bench.generator_process import generated
from tests.bench.loading import plans, rate_of
from tests.bench.machine import running_server
from tests.source_tree import ROOT

RUNNER = (*MODULE, "hookproof.load.locust_worker.head_process")
SENT = 20


def test_a_generator_carries_out_a_plan_and_replies(tmp_path: Path) -> None:
    options = ["--ca-dir", str(tmp_path), "--dialect", "reference"]
    sidecar = [sys.executable, "-m", "hookproof.load.sidecar.process", *options]
    bare = [sys.executable, str(ROOT / "tests/bench/bare.py")]
    with (
        running_server(sidecar) as (receiver, _),
        running_server(bare) as (sink, _),
    ):
        [plan] = plans(sink["api"], SENT, 1)
        gathered = generated(plan, receiver["control"], RUNNER)
    assert rate_of(gathered, SENT) > 0


def test_one_that_fails_is_no_result() -> None:
    [plan] = plans("http://127.0.0.1:9", SENT, 1)
    with pytest.raises(subprocess.CalledProcessError):
        generated(plan, "http://127.0.0.1:9", [*RUNNER, "--unknown"])
