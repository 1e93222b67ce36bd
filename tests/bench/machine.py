"""The two cores of a benchmark: servers are pinned to one, wrk to the other."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SERVER_CORE, CLIENT_CORE = "0", "1"
START_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request that wrk repeats; `body` is None for a GET."""

    url: str
    headers: Mapping[str, str]
    body: bytes | None = None


@contextmanager
def announced(command: Sequence[str]) -> Iterator[tuple[dict[str, Any], int]]:
    """A pinned server that prints a JSON line when it is ready; yields that line and the process
    id.
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
        ended(process)
        process.stdout.close()


@contextmanager
def mock_server(*options: str) -> Iterator[tuple[dict[str, Any], int]]:
    """The project's reference server, pinned."""
    serve = [
        sys.executable,
        "-m",
        "hookproof",
        "serve",
        "--port",
        "0",
        "--json",
        "--until-stdin-closes",
    ]
    with announced([*serve, *options]) as server:
        yield server


@contextmanager
def silent_until_ready(command: Sequence[str], request: Request) -> Iterator[int]:
    """A pinned server that is ready when it answers the request; yields the process id."""
    process = subprocess.Popen(
        ["taskset", "-c", SERVER_CORE, *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + START_S
        while not answers(request):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{command[0]} did not start")
            time.sleep(0.2)
        yield process.pid
    finally:
        os.killpg(process.pid, signal.SIGTERM)  # npx starts a process of its own for what it runs
        ended(process)


def ended(process: subprocess.Popen[Any]) -> None:
    """Wait for the end of a process that was told to end; kill it if it does not."""
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def answers(request: Request) -> bool:
    """Whether the request gets a 2xx."""
    try:
        call(request)
    except (urllib.error.URLError, OSError):
        return False
    return True


def call(request: Request) -> bytes:
    """The body of the answer to one request; raises URLError for anything but a 2xx."""
    asked = urllib.request.Request(request.url, data=request.body, headers=dict(request.headers))
    with urllib.request.urlopen(asked, timeout=10) as answer:
        return bytes(answer.read())


def rate(request: Request, *, seconds: int = 4, connections: int = 64) -> float:
    """Requests a second that wrk gets answered with a 2xx; any other answer ends the benchmark."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(lua(request))
        script.flush()
        shape = ["-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s"]
        command = ["wrk", *shape, "-s", script.name, request.url]
        shown = subprocess.run(
            ["taskset", "-c", CLIENT_CORE, *command], capture_output=True, text=True, check=True
        ).stdout
    if "Non-2xx" in shown or "Socket errors" in shown:
        raise SystemExit(f"{request.url} did not answer every request:\n{shown}")
    found = re.search(r"Requests/sec:\s+([\d.]+)", shown)
    assert found is not None, shown
    return float(found[1])


def lua(request: Request) -> str:
    """The wrk script of a request."""
    lines = [
        f"wrk.headers[{json.dumps(name)}] = {json.dumps(value)}"
        for name, value in request.headers.items()
    ]
    if request.body is not None:
        lines += ['wrk.method = "POST"', f"wrk.body = [==[{request.body.decode()}]==]"]
    return "\n".join(lines)


def resident_mb(pid: int) -> float:
    """The resident memory of a process, in MB."""
    return _memory_mb(pid, "VmRSS")


def peak_mb(pid: int) -> float:
    """The most resident memory that a process ever had, in MB."""
    return _memory_mb(pid, "VmHWM")


def _memory_mb(pid: int, name: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"{name}:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1000
