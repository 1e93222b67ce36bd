"""Measures what observing a load run costs and how exact its latencies are.

`python -m tests.bench.witnessing`, part of `make bench`:

- The cost of polling the sidecar: the generator's CPU time per broadcast with the usual two polls
  per second, and with none, while the reference server delivers every broadcast to the sidecar. The
  two take turns; the median is printed.
- The error of delivery latencies: a bare sender over TLS marks each delivery with the time just
  before it writes to its socket. On one machine the receiving socket has the bytes when that write
  returns, so any latency that the sidecar reports is its own delay.
"""

import argparse
import asyncio
import hashlib
import hmac
import http.client
import json
import random
import ssl
import statistics
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from hookproof.load.broadcast_mark import data_with_mark
from hookproof.load.latency import quantiles, unpacked
from hookproof.load.plan import LoadPlan, ReceivingEndpoint
from hookproof.load.profile.load_profile import load_profile
from hookproof.load.sidecar.api import Arrived
from hookproof.load.sidecar.arrivals import NewRun
from hookproof.load.target.hook_calls import HookCalls
from hookproof.load.target.preparation import prepare
from hookproof.load.target.settings import KEY_VARIABLE, target_settings
from hookproof.spec.dialect.reader import load_dialect
from hookproof.target.settings import Flags
from tests.bench.generator_process import generated
from tests.bench.machine import CLIENT_CORE, mock_server, running_server
from tests.bench.rounds import RoundFigures, keep_rounds

PINNED: Final = ("taskset", "-c", CLIENT_CORE, sys.executable, "-c")
GENERATOR: Final = (
    "from hookproof.load.locust_worker import head_process, sidecar_link;"
    " sidecar_link.POLL_S = {every}; head_process.main()"
)
NEVER_S: Final = 3600.0
USUAL_S: Final = 0.5
MOST_SHARE: Final = 0.10
MOST_ERROR_S: Final = 0.002
SECRET: Final = "s3cret"


def cpu_of_a_broadcast(plan: LoadPlan, control: str, key: str, every_s: float) -> float:
    """Return the generator's CPU seconds per broadcast, if it polls every `every_s` seconds."""
    command = [*PINNED, GENERATOR.format(every=every_s)]
    variables = {"PYTHONPATH": str(Path(__file__).parents[2]), KEY_VARIABLE: key}
    [share] = generated(plan, control, command, variables).shares
    return share.sent.cpu_share * share.sent.sending_s / share.sent.counts["accepted"]


def polling_shares(folder: Path, rounds: int, rate: float, duration_s: float) -> list[float]:
    """Return what polling adds to the generator's CPU time, as a share of that without it, round
    by round.
    """
    with ExitStack() as stack:
        sidecar, _ = stack.enter_context(running_server(sidecar_command(folder)))
        server, _ = stack.enter_context(mock_server("--project", "p=k", "--ca", sidecar["ca"]))
        settings = target_settings(Flags(url=server["api"], api_key="k", project="p"), {})
        profile = replace(
            load_profile("ingest").overridden(rate=rate, duration_s=duration_s), drain_s=0.0
        )
        hooks = HookCalls.of(settings)
        preparation = asyncio.run(prepare(settings, profile, [sidecar["url"]], hooks))

        def measure(every_s: float) -> float:
            [plan] = preparation.plans(profile, f"{random.randrange(16**8):08x}")
            return cpu_of_a_broadcast(plan, sidecar["control"], "k", every_s)

        pairs = [(measure(NEVER_S), measure(USUAL_S)) for _ in range(rounds)]
    return [usual / never - 1 for never, usual in pairs]


def latency_error_s(folder: Path, deliveries: int, rate: float) -> float:
    """Return the 99th percentile of the latencies reported for deliveries that take no time."""
    dialect, run = load_dialect("reference"), f"{random.randrange(16**8):08x}"
    with running_server(sidecar_command(folder)) as (sidecar, _):
        receiving = ReceivingEndpoint(
            token="t", url="", secrets=(SECRET,), advanced=False, limited=False
        )
        post_json(f"{sidecar['control']}/endpoints", {"endpoints": [receiving]})
        new = NewRun(
            run=run, broadcasts=deliveries, started_at=time.time(), stretch_s=60.0, late_after_s=1.0
        )
        post_json(f"{sidecar['control']}/runs", new)
        host, port = sidecar["url"].removeprefix("https://").rsplit(":", 1)
        context = ssl.create_default_context(cafile=sidecar["ca"])
        connection = http.client.HTTPSConnection(host, int(port), context=context)
        began = time.time()
        for number in range(deliveries):
            time.sleep(max(0.0, began + number / rate - time.time()))  # paces the load
            body = data_with_mark(run, number, time.time(), "x" * 290)
            signature = hmac.digest(SECRET.encode(), body, hashlib.sha256).hex()
            headers = {
                dialect.signatures.simple.header: signature,
                "Content-Type": "application/json",
            }
            connection.request("POST", "/t", body=body, headers=headers)
            connection.getresponse().read()
        connection.close()
        with urllib.request.urlopen(f"{sidecar['control']}/arrivals", timeout=10) as response:
            arrived = msgspec.json.decode(response.read(), type=Arrived)
    if arrived.counts != {"arrived": deliveries}:
        raise SystemExit(f"the sidecar counted {arrived.counts} of {deliveries}")
    return quantiles(unpacked(arrived.latencies))["p99"] or 0.0


def sidecar_command(folder: Path) -> list[str]:
    """Return the command that starts the receiver of a load run."""
    return [
        sys.executable,
        "-m",
        "hookproof.load.sidecar.process",
        "--ca-dir",
        str(folder / "ca"),
        "--dialect",
        "reference",
    ]


def post_json(url: str, content: object) -> None:
    with urllib.request.urlopen(
        urllib.request.Request(url, data=msgspec.json.encode(content)), timeout=10
    ):
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=float, default=1000.0)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--out", type=Path, default=Path("hookproof-bench-witnessing.json"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        error_s = latency_error_s(Path(folder), int(options.rate * options.seconds), options.rate)
        print(
            f"error of delivery latencies, p99  {error_s * 1000:.2f} ms "
            f" at most {MOST_ERROR_S * 1000:g} ms {verdict(error_s, MOST_ERROR_S)}",
            flush=True,
        )
        shares = polling_shares(Path(folder), options.rounds, options.rate, options.seconds)
        share = statistics.median(shares)
        print(
            f"polling adds to the generator's CPU time  {share:.1%} "
            f" at most {MOST_SHARE:.0%} {verdict(share, MOST_SHARE)}",
            flush=True,
        )
    options.out.write_text(
        json.dumps({"latency_error_s": error_s, "witness_share": share}, indent=2) + "\n"
    )
    # Of what it takes with polling: a share near 0 has no ratio to another.
    taken = RoundFigures(rounds=[1 + each for each in shares], better="less")
    keep_rounds("witnessing", {"CPU time with polling, of that without": taken})


def verdict(value: float, most: float) -> str:
    return "ok" if value <= most else "ABOVE"


if __name__ == "__main__":
    main()
