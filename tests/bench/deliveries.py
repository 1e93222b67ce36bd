"""Compares the delivery engine with a bare aiohttp client loop, both sending to the same sink.

`python -m tests.bench.deliveries`, part of `make bench`. The sender has one core and the sink the
other; deliveries go over HTTPS on kept connections, at most 64 at once. The workloads take turns
over several rounds, and each result is the median of its rounds. Everything is measured at the
sink, with a clock that all processes share. The table is printed and written as JSON.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tests.bench.accepting import slowdown
from tests.bench.machine import CLIENT_CORE, SERVER_CORE
from tests.bench.rounds import RoundFigures, keep_rounds
from tests.bench.sink import GO, HOLD

# The share of a run that is left out: connections are opened, and the engine widens the queue.
WARM_UP: Final = 0.2

FAN_OUT: Final = 10_000
LATENCY_S: Final = 0.020
LIMIT: Final = 50
PACED_S: Final = 30.0
PACED_LEAST: Final = 0.95 * LIMIT
LEFT: Final = 0.5


class SinkProcess:
    """The process of the sink."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        ready = self._read_json()
        self.options = ["--url", ready["url"], "--ca", ready["ca"]]
        self.url, self.ca = ready["url"], ready["ca"]

    def arrivals(self) -> list[tuple[float, int]]:
        """Return all requests since the last call: second of arrival and number."""
        self._send_command("")
        return [(at, number) for at, number in self._read_json()]

    def hold(self) -> None:
        """Leave every request unanswered."""
        self._send_command(HOLD)

    def go(self) -> None:
        """Answer the held requests and all that follow."""
        self._send_command(GO)

    def _send_command(self, command: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{command}\n")
        self._process.stdin.flush()

    def _read_json(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


@contextmanager
def running_sink(folder: str) -> Iterator[SinkProcess]:
    """Run a sink on the core of the clients."""
    command = ["taskset", "-c", CLIENT_CORE, sys.executable, "-m", "tests.bench.sink", folder]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield SinkProcess(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()


def run_sender(
    sink: SinkProcess, work: str, *options: str
) -> tuple[dict[str, Any], list[tuple[float, int]]]:
    """Run a sender to its end; return its output and what arrived."""
    command = [
        "taskset",
        "-c",
        SERVER_CORE,
        sys.executable,
        "-m",
        "tests.bench.sender",
        work,
        *sink.options,
        *options,
    ]
    output = json.loads(
        subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    )
    return output, sink.arrivals()


def delivery_rate(sink: SinkProcess, work: str, *options: str) -> float:
    """Return the deliveries per second of a workload with a backlog."""
    _, arrivals = run_sender(sink, work, *options)
    counted = [at for at, _ in arrivals[int(len(arrivals) * WARM_UP) :]]
    return (len(counted) - 1) / (counted[-1] - counted[0])


def fan_out_rate(sink: SinkProcess) -> float:
    """Return the deliveries per second of one event, from acceptance to the last arrival."""
    output, arrivals = run_sender(sink, "fan-out", "--count", str(FAN_OUT))
    times = [at for at, number in arrivals if number == 1]
    return len(times) / (times[-1] - output["began"])


def latencies(sink: SinkProcess, deliveries_per_s: float, count: int) -> list[float]:
    """Return the seconds from acceptance to arrival at a steady rate, sorted.

    Without those of the warm-up.
    """
    output, arrivals = run_sender(
        sink, "steady", "--rate", f"{deliveries_per_s:.0f}", "--count", str(count)
    )
    accepted, first = output["accepted"], int(count * WARM_UP)
    return sorted(at - accepted[number] for at, number in arrivals if number >= first)


def measure_rate_limit(sink: SinkProcess) -> tuple[float, int]:
    """Deliver a backlog to an endpoint with a rate limit.

    Returns the arrivals per second, and the most in any sliding second.
    """
    seconds = PACED_S + 2
    _, arrivals = run_sender(
        sink, "paced", "--count", str(int(LIMIT * seconds)), "--seconds", str(seconds)
    )
    times = [at for at, _ in arrivals]
    within = [at for at in times if at < times[0] + PACED_S]
    first = most = 0
    for last, at in enumerate(times):
        while at - times[first] >= 1.0:
            first += 1
        most = max(most, last - first + 1)
    return len(within) / PACED_S, most


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryFigure:
    """One row of the table: what was measured, and whether it is as required."""

    work: str
    shown: str
    wanted: str
    value: float
    holds: bool
    rounds: tuple[float, ...] = ()

    def line(self) -> str:
        verdict = "ok" if self.holds else "MISSED"
        return f"{self.work:52} {self.shown:>32}  wanted {self.wanted:21} {verdict}"


def ratio(
    work: str, rates: Sequence[float], of_rates: Sequence[float], least: float
) -> DeliveryFigure:
    """Compare rates with those of the bare loop, round by round."""
    rounds = tuple(rate / of_rate for rate, of_rate in zip(rates, of_rates, strict=True))
    value = statistics.median(rounds)
    shown = f"{statistics.median(rates):,.0f}/s = {value:.2f} of bare"
    return DeliveryFigure(
        work=work,
        shown=shown,
        wanted=f">= {least:g}",
        value=value,
        holds=value >= least,
        rounds=rounds,
    )


def measure_all(
    sink: SinkProcess, rounds: int, count: int, folder: str
) -> Iterator[DeliveryFigure]:
    bare, backlog, on_file, fan_out = [], [], [], []
    for number in range(rounds):
        bare.append(delivery_rate(sink, "bare", "--count", str(count)))
        backlog.append(delivery_rate(sink, "one", "--count", str(count)))
        fan_out.append(fan_out_rate(sink))
        on_file.append(
            delivery_rate(sink, "one", "--count", str(count), "--db", f"{folder}/{number}.db")
        )
    shown = f"{statistics.median(bare):,.0f}/s"
    yield DeliveryFigure(
        work="bare aiohttp client loop, 64 in flight", shown=shown, wanted="-", value=1, holds=True
    )
    yield ratio("one endpoint with a rate limit, 64 in flight", backlog, bare, 1.0)
    yield ratio(f"one event to {FAN_OUT:,} endpoints with rate limits", fan_out, bare, 1.0)
    yield ratio("one endpoint with a rate limit, --db", on_file, bare, 0.5)
    yield promptness(sink, rounds, statistics.median(backlog) / 2, count)
    yield pace(sink)
    yield acceptance(sink)


def promptness(
    sink: SinkProcess, rounds: int, deliveries_per_s: float, count: int
) -> DeliveryFigure:
    delays = [latencies(sink, deliveries_per_s, count) for _ in range(rounds)]
    p50, p99 = (
        statistics.median(round_[int(len(round_) * share)] for round_ in delays)
        for share in (0.5, 0.99)
    )
    return DeliveryFigure(
        work=f"acceptance to arrival at {deliveries_per_s:,.0f}/s",
        shown=f"p50 {p50 * 1e3:.1f} ms, p99 {p99 * 1e3:.1f} ms",
        wanted=f"p99 < {LATENCY_S * 1e3:.0f} ms",
        value=p99,
        holds=p99 < LATENCY_S,
    )


def pace(sink: SinkProcess) -> DeliveryFigure:
    per_s, most = measure_rate_limit(sink)
    return DeliveryFigure(
        work=f"rate_limit {LIMIT} per second at full backlog, {PACED_S:.0f} s",
        shown=f"{per_s:.1f}/s, {most} in a second at most",
        wanted=f"{PACED_LEAST:g} to {LIMIT}, never more",
        value=per_s,
        holds=PACED_LEAST <= per_s <= LIMIT and most <= LIMIT,
    )


def acceptance(sink: SinkProcess) -> DeliveryFigure:
    pairs = list(slowdown(sink.url, sink.ca, FAN_OUT))
    before, meanwhile = (statistics.median(rates) for rates in zip(*pairs, strict=True))
    rounds = tuple(during / usual for usual, during in pairs)
    value = statistics.median(rounds)
    return DeliveryFigure(
        work="events accepted during a fan-out",
        shown=f"{meanwhile:,.0f}/s = {value:.2f} of {before:,.0f}/s",
        wanted=f"> {LEFT:g}",
        value=value,
        holds=value > LEFT,
        rounds=rounds,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=20_000, help="deliveries of each run")
    parser.add_argument("--out", type=Path, default=Path("hookproof-bench-deliveries.json"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_sink(folder) as sink:
        figures = []
        for figure in measure_all(sink, options.rounds, options.count, folder):
            figures.append(figure)
            print(figure.line(), flush=True)
    options.out.write_text(json.dumps([asdict(figure) for figure in figures], indent=2) + "\n")
    keep_rounds(
        "deliveries",
        {figure.work: RoundFigures(rounds=figure.rounds) for figure in figures if figure.rounds},
    )


if __name__ == "__main__":
    main()
