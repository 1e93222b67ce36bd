"""`make bench`: what the delivery engine sends, against a bare aiohttp client loop, both to the
same sink.

The sender has one core and the sink the other; deliveries go over HTTPS on kept connections, at
most 64 at once. The works take turns over several rounds, and each figure is the median of those of
its rounds. Everything is measured at the sink, by a clock that all processes share. The table is
printed and written as JSON.
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
from tests.bench.sink import GO, HOLD

# The share of a run that is left out: connections are made, and the engine widens the lane.
WARM_UP: Final = 0.2

FAN_OUT: Final = 10_000
LATENCY_S: Final = 0.020
LIMIT: Final = 50
PACED_S: Final = 30.0
PACED_LEAST: Final = 0.95 * LIMIT
LEFT: Final = 0.5


class Sink:
    """The sink's process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        ready = self._line()
        self.options = ["--url", ready["url"], "--ca", ready["ca"]]
        self.url, self.ca = ready["url"], ready["ca"]

    def arrivals(self) -> list[tuple[float, int]]:
        """All requests since the last call: second of arrival and number."""
        self._tell("")
        return [(at, number) for at, number in self._line()]

    def hold(self) -> None:
        """Hang over every request."""
        self._tell(HOLD)

    def go(self) -> None:
        """Answer them."""
        self._tell(GO)

    def _tell(self, order: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{order}\n")
        self._process.stdin.flush()

    def _line(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


@contextmanager
def sinking(folder: str) -> Iterator[Sink]:
    """A sink on its own core."""
    command = ["taskset", "-c", CLIENT_CORE, sys.executable, "-m", "tests.bench.sink", folder]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Sink(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()


def sent(sink: Sink, work: str, *options: str) -> tuple[dict[str, Any], list[tuple[float, int]]]:
    """Run a sender on its core to its end: what it says, and what arrived."""
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
    said = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return said, sink.arrivals()


def rate(sink: Sink, work: str, *options: str) -> float:
    """Deliveries a second of a work with a backlog."""
    _, arrivals = sent(sink, work, *options)
    counted = [at for at, _ in arrivals[int(len(arrivals) * WARM_UP) :]]
    return (len(counted) - 1) / (counted[-1] - counted[0])


def fan_out_rate(sink: Sink) -> float:
    """Deliveries a second of one event, from its acceptance to its last arrival."""
    said, arrivals = sent(sink, "fan-out", "--count", str(FAN_OUT))
    times = [at for at, number in arrivals if number == 1]
    return len(times) / (times[-1] - said["began"])


def latencies(sink: Sink, deliveries_per_s: float, count: int) -> list[float]:
    """Seconds from acceptance to arrival at a steady rate, sorted, without those of the warm-up."""
    said, arrivals = sent(
        sink, "steady", "--rate", f"{deliveries_per_s:.0f}", "--count", str(count)
    )
    accepted, first = said["accepted"], int(count * WARM_UP)
    return sorted(at - accepted[number] for at, number in arrivals if number >= first)


def paced(sink: Sink) -> tuple[float, int]:
    """Arrivals a second of an endpoint with a rate limit and a backlog, and the most in any sliding
    second.
    """
    seconds = PACED_S + 2
    _, arrivals = sent(
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
class Figure:
    """One line of the table: what was measured, and whether it is what was wanted."""

    work: str
    shown: str
    wanted: str
    value: float
    holds: bool

    def line(self) -> str:
        """One line of the printed table."""
        return f"{self.work:52} {self.shown:>32}  wanted {self.wanted:21} {'ok' if self.holds else 'MISSED'}"


def ratio(work: str, rates: Sequence[float], of_rates: Sequence[float], least: float) -> Figure:
    """A rate over the bare loop's."""
    value = statistics.median(one / of for one, of in zip(rates, of_rates, strict=True))
    shown = f"{statistics.median(rates):,.0f}/s = {value:.2f} of bare"
    return Figure(work=work, shown=shown, wanted=f">= {least:g}", value=value, holds=value >= least)


def measured(sink: Sink, rounds: int, count: int, folder: str) -> Iterator[Figure]:
    """All works, the ratios round by round."""
    bare, one, filed, fan = [], [], [], []
    for number in range(rounds):
        bare.append(rate(sink, "bare", "--count", str(count)))
        one.append(rate(sink, "one", "--count", str(count)))
        fan.append(fan_out_rate(sink))
        filed.append(rate(sink, "one", "--count", str(count), "--db", f"{folder}/{number}.db"))
    shown = f"{statistics.median(bare):,.0f}/s"
    yield Figure(
        work="bare aiohttp client loop, 64 in flight", shown=shown, wanted="-", value=1, holds=True
    )
    yield ratio("one endpoint with a rate limit, 64 in flight", one, bare, 1.0)
    yield ratio(f"one event to {FAN_OUT:,} endpoints with rate limits", fan, bare, 1.0)
    yield ratio("one endpoint with a rate limit, --db", filed, bare, 0.5)
    yield promptness(sink, rounds, statistics.median(one) / 2, count)
    yield pace(sink)
    yield acceptance(sink)


def promptness(sink: Sink, rounds: int, deliveries_per_s: float, count: int) -> Figure:
    """From acceptance to arrival, the medians of the rounds."""
    late = [latencies(sink, deliveries_per_s, count) for _ in range(rounds)]
    p50, p99 = (
        statistics.median(one[int(len(one) * share)] for one in late) for share in (0.5, 0.99)
    )
    return Figure(
        work=f"acceptance to arrival at {deliveries_per_s:,.0f}/s",
        shown=f"p50 {p50 * 1e3:.1f} ms, p99 {p99 * 1e3:.1f} ms",
        wanted=f"p99 < {LATENCY_S * 1e3:.0f} ms",
        value=p99,
        holds=p99 < LATENCY_S,
    )


def pace(sink: Sink) -> Figure:
    """What an endpoint with a rate limit gets of it."""
    per_s, most = paced(sink)
    return Figure(
        work=f"rate_limit {LIMIT} per second at full backlog, {PACED_S:.0f} s",
        shown=f"{per_s:.1f}/s, {most} in a second at most",
        wanted=f"{PACED_LEAST:g} to {LIMIT}, never more",
        value=per_s,
        holds=PACED_LEAST <= per_s <= LIMIT and most <= LIMIT,
    )


def acceptance(sink: Sink) -> Figure:
    """What a fan-out leaves of the rate at which events are accepted."""
    pairs = list(slowdown(sink.url, sink.ca, FAN_OUT))
    before, meanwhile = (statistics.median(rates) for rates in zip(*pairs, strict=True))
    value = statistics.median(during / usual for usual, during in pairs)
    return Figure(
        work="events accepted during a fan-out",
        shown=f"{meanwhile:,.0f}/s = {value:.2f} of {before:,.0f}/s",
        wanted=f"> {LEFT:g}",
        value=value,
        holds=value > LEFT,
    )


def main() -> None:
    """Run as a script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=20_000, help="deliveries of each run")
    parser.add_argument("--out", type=Path, default=Path("hookproof-bench-deliveries.json"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sinking(folder) as sink:
        figures = []
        for figure in measured(sink, options.rounds, options.count, folder):
            figures.append(figure)
            print(figure.line(), flush=True)
    options.out.write_text(json.dumps([asdict(figure) for figure in figures], indent=2) + "\n")


if __name__ == "__main__":
    main()
