"""Runs servers pinned to one core and wrk pinned to the other, and measures memory."""

import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SERVER_CORE, CLIENT_CORE = "0", "1"
START_S = 60.0
# How often a server that does not report that it is ready is asked for an answer.
POLL_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class WrkRequest:
    """One request that wrk repeats; `body` is None for a GET."""

    url: str
    headers: Mapping[str, str]
    body: bytes | None = None


@contextmanager
def running_server(command: Sequence[str]) -> Iterator[tuple[dict[str, Any], int]]:
    """Run a pinned server that prints a JSON line when it is ready.

    Yields that line and the process id.
    """
    process = subprocess.Popen(
        ["taskset", "-c", SERVER_CORE, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        yield json.loads(process.stdout.readline()), process.pid
    finally:
        process.stdin.close()
        wait_for_exit(process)
        process.stdout.close()


@contextmanager
def mock_server(*options: str) -> Iterator[tuple[dict[str, Any], int]]:
    """Run the reference server, pinned; yields its JSON line and the process id."""
    serve = [sys.executable, "-m", "hookproof", "serve", "--port", "0", "--json"]
    with running_server([*serve, "--until-stdin-closes", *options]) as server:
        yield server


@contextmanager
def polled_server(command: Sequence[str], request: WrkRequest) -> Iterator[int]:
    """Run a pinned server that is ready once it answers a request, within START_S.

    Yields the process id.
    """
    process = subprocess.Popen(
        ["taskset", "-c", SERVER_CORE, *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + START_S
        while not is_answered(request):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{command[0]} did not start")
            time.sleep(POLL_S)
        yield process.pid
    finally:
        # The whole process group, because npx runs the server in a child process.
        os.killpg(process.pid, signal.SIGTERM)
        wait_for_exit(process)


def wait_for_exit(process: subprocess.Popen[Any]) -> None:
    """Wait for a process that was asked to exit, and kill it if it does not."""
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def is_answered(request: WrkRequest) -> bool:
    try:
        call(request)
    except (urllib.error.URLError, OSError):
        return False
    return True


def call(request: WrkRequest) -> bytes:
    """Send one request and return the response body; raises URLError unless it is a 2xx."""
    http_request = urllib.request.Request(
        request.url, data=request.body, headers=dict(request.headers)
    )
    with urllib.request.urlopen(http_request, timeout=10) as response:
        return bytes(response.read())


def requests_per_second(request: WrkRequest, *, seconds: int = 4, connections: int = 64) -> float:
    """Measure with wrk; any response that is not a 2xx ends the benchmark."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(lua_script(request))
        script.flush()
        shape = ["-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s"]
        command = ["wrk", *shape, "-s", script.name, request.url]
        output = subprocess.run(
            ["taskset", "-c", CLIENT_CORE, *command], capture_output=True, text=True, check=True
        ).stdout
    if "Non-2xx" in output or "Socket errors" in output:
        raise SystemExit(f"{request.url} did not answer every request:\n{output}")
    match = re.search(r"Requests/sec:\s+([\d.]+)", output)
    assert match is not None, output
    return float(match[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class RateComparison:
    """One row of a table: the rate of a `subject` over that of a `baseline`, in each round.

    Rates are requests per second, here the medians of the rounds; `least` is the ratio required.
    """

    work: str
    baseline: str
    rate: float
    of_rate: float
    ratios: tuple[float, ...]
    least: float

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)

    def line(self) -> str:
        verdict = "ok" if self.ratio >= self.least else "BELOW"
        figures = f"{self.work:34} {self.rate:>8.0f}/s {self.ratio:>6.2f} of {self.baseline:20}"
        return f"{figures} {self.of_rate:>8.0f}/s  wanted {self.least:<4g} {verdict}"

    def written(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio}


def rates_in_turns(
    requests: Mapping[str, WrkRequest], *, rounds: int, seconds: int
) -> list[dict[str, float]]:
    """The requests per second by name, one mapping per round, after a second of warming up."""
    for request in requests.values():
        requests_per_second(request, seconds=1)
    return [
        {name: requests_per_second(request, seconds=seconds) for name, request in requests.items()}
        for _ in range(rounds)
    ]


def compared(
    work: str, subject: str, baseline: str, least: float, rounds: Sequence[Mapping[str, float]]
) -> RateComparison:
    return RateComparison(
        work=work,
        baseline=baseline,
        rate=statistics.median(rates[subject] for rates in rounds),
        of_rate=statistics.median(rates[baseline] for rates in rounds),
        ratios=tuple(rates[subject] / rates[baseline] for rates in rounds),
        least=least,
    )


def lua_script(request: WrkRequest) -> str:
    lines = [
        f"wrk.headers[{json.dumps(name)}] = {json.dumps(value)}"
        for name, value in request.headers.items()
    ]
    if request.body is not None:
        lines += ['wrk.method = "POST"', f"wrk.body = [==[{request.body.decode()}]==]"]
    return "\n".join(lines)


def resident_mb(pid: int) -> float:
    return _memory_mb(pid, "VmRSS")


def peak_mb(pid: int) -> float:
    """Return the peak of the resident memory of a process."""
    return _memory_mb(pid, "VmHWM")


def _memory_mb(pid: int, name: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    match = re.search(rf"{name}:\s+(\d+) kB", status)
    assert match is not None
    return int(match[1]) / 1000
