"""A real master takes stand-ins for workers."""

import asyncio
from pathlib import Path

from hookproof.load.locust_worker.messages import HELLO, SHARE, TALLY
from tests.bench.leading import measured


def test_a_master_leads_stand_ins_to_the_end_of_a_run(tmp_path: Path) -> None:
    figures = asyncio.run(measured(3, tmp_path, seconds=4.0))
    assert figures.workers == 3
    assert figures.message_bytes.keys() >= {HELLO, TALLY, SHARE, "stats", "heartbeat"}
    assert figures.peak_mib >= figures.idle_mib > 0
    assert 0 < figures.gathered_s < 60
