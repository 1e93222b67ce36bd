"""Runs of Locust's own command against a reference server, for tests."""

import csv
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.free_ports import free_port
from tests.load.embedded import ENDS_WITHIN_S, serving

# When a test has stopped, the ledger is complete.
LOCUSTFILE: Final = """
import json
import pathlib
import time

from locust import events, task
from hookproof.locust import ConstantArrivalRate, Endpoints, WebhookUser, listener_of

class Steady(ConstantArrivalRate):
    rate, duration_s, users = 70, 1, 7

class Broadcasts(WebhookUser):
    drain_s = 1
    endpoints = {endpoints}

    @task
    def send(self):
        time.sleep({slow_s})
        self.broadcast()

@events.test_stop.add_listener
def write(environment, **_):
    if environment.runner.__class__.__name__ != "WorkerRunner":
        figures = json.dumps(listener_of(environment).figures)
        pathlib.Path("ledger.json").write_text(figures)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocustRun:
    """A run that has ended: its exit code, its output, and what Locust and the ledger say.

    `requests` and `failures` count by type and name, `slowest_ms` has the longest response time;
    `errors` counts by type, name and message.
    """

    exit_code: int
    output: str
    requests: Mapping[tuple[str, str], int]
    failures: Mapping[tuple[str, str], int]
    slowest_ms: Mapping[tuple[str, str], float]
    errors: Mapping[tuple[str, str, str], int]
    ledger: Mapping[str, int]

    @property
    def accepted(self) -> int:
        return self.requests["POST", "createBroadcastEvent"]


@contextmanager
def service(folder: Path, *options: str) -> Iterator[dict[str, str]]:
    """A reference server with these options; the environment of a Locust that loads it."""
    with serving(folder, *options) as target:
        said = dict(zip(target[::2], target[1::2], strict=True))
        yield {
            "LOCUST_HOST": said["--url"],
            "HOOKPROOF_API_KEY": said["--api-key"],
            "HOOKPROOF_PROJECT": said["--project"],
            "HOOKPROOF_CA_DIR": said["--ca-dir"],
        }


def locustfile(folder: Path, endpoints: str = "Endpoints()", *, slow_s: float = 0) -> Path:
    """A locustfile that sends 70 broadcasts a second, unless its users are slow."""
    path = folder / "locustfile.py"
    text = LOCUSTFILE.replace("{endpoints}", endpoints).replace("{slow_s}", f"{slow_s}")
    path.write_text(text)
    return path


def run_locust(
    folder: Path, file: Path | str, variables: Mapping[str, str], *options: str, workers: int = 0
) -> LocustRun:
    """Run Locust headless to its end, with a master and this many workers if there are any."""
    csv_prefix = folder / "figures"
    arguments = ["--headless", "--only-summary", "--csv", str(csv_prefix), *options]
    with ExitStack() as stack:
        if workers:
            port = f"{free_port()}"
            arguments += ["--master", "--master-bind-host", "127.0.0.1"]
            arguments += ["--master-bind-port", port, "--expect-workers", f"{workers}"]
            for _ in range(workers):
                worker = locust(folder, file, variables, "--worker", "--master-port", port)
                stack.enter_context(ended(worker))
        process = locust(folder, file, variables, *arguments)
        stack.enter_context(ended(process))
        output, _ = process.communicate(timeout=ENDS_WITHIN_S)
    rows = table(Path(f"{csv_prefix}_stats.csv"))
    ledger = folder / "ledger.json"
    return LocustRun(
        exit_code=process.returncode,
        output=output,
        requests={(row["Type"], row["Name"]): int(row["Request Count"]) for row in rows},
        failures={(row["Type"], row["Name"]): int(row["Failure Count"]) for row in rows},
        slowest_ms={(row["Type"], row["Name"]): float(row["Max Response Time"]) for row in rows},
        errors={
            (row["Method"], row["Name"], row["Error"]): int(row["Occurrences"])
            for row in table(Path(f"{csv_prefix}_failures.csv"))
        },
        ledger=json.loads(ledger.read_text()) if ledger.exists() else {},
    )


def locust(
    folder: Path, file: Path | str, variables: Mapping[str, str], *options: str
) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "locust", "-f", str(file), *options],
        cwd=folder,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@contextmanager
def ended(process: "subprocess.Popen[str]") -> Iterator[None]:
    """Wait at the end for a process that ends by itself, and kill it if it does not."""
    with process:
        try:
            yield
            process.communicate(timeout=ENDS_WITHIN_S)
        finally:
            process.kill()


def table(path: Path) -> list[dict[str, Any]]:
    """The rows of a file that Locust wrote; none if it wrote none."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [*csv.DictReader(file)]
