"""`make bench`: the reference server's API against a bare aiohttp application and against Prism,
side by side.

All servers run at once, pinned to one core, and one of them is driven at a time by wrk on the other
core. The rows take turns over several rounds, and each ratio is the median of the ratios of its
rounds, so that a change of the machine's speed during the run meets both sides. The table is
printed and written as JSON.
"""

import argparse
import json
import shutil
import socket
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from tests.bench.machine import (
    Request,
    announced,
    call,
    mock_server,
    rate,
    resident_mb,
    silent_until_ready,
)

KEY: Final = "bench-key"
HEADERS: Final = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
PRISM: Final = ("npx", "--yes", "@stoplight/prism-cli@5.16.0", "mock")
STORED: Final = 100_000

ENDPOINT: Final = json.dumps(
    {
        "name": "Orders",
        "description": "Receives what happens to orders, and is described at some length here. "
        * 4,
        "url": "https://receiver.invalid/orders",
        "owner_id": "owner-of-the-benchmark",
        "is_disabled": True,
        "http_timeout": 10,
        "rate_limit": 50,
        "rate_limit_duration": 60,
        "secret": "a-secret-of-the-benchmark",
        "support_email": "developers@receiver.invalid",
    }
).encode()
BROADCAST: Final = json.dumps(
    {"event_type": "order.paid", "data": {"order": 1, "lines": ["a", "b"] * 20}}
).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table: `subject` over `yardstick`, each in requests a second, and the least
    ratio wanted.
    """

    work: str
    subject: str
    context: str
    least: float


ROWS: Final = (
    Row(work="GET endpoint (about 1.4 kB)", subject="get", context="bare", least=0.60),
    Row(work="POST create endpoint", subject="create", context="bare", least=0.30),
    Row(work="POST broadcast, no endpoints", subject="broadcast", context="bare", least=0.30),
    Row(work="GET list of 20 portal links", subject="list", context="bare", least=0.35),
    Row(work="POST create endpoint, --db", subject="create, file", context="create", least=0.6),
    Row(work="POST broadcast, --db", subject="broadcast, file", context="broadcast", least=0.6),
    Row(work=f"GET endpoint, {STORED} stored", subject="get, full", context="get", least=0.9),
    Row(work=f"GET list, {STORED} stored", subject="list, full", context="list", least=0.9),
)
PRISM_ROWS: Final = (
    Row(work="create, of Prism silent", subject="create", context="prism silent, create", least=2),
    Row(work="list, of Prism silent", subject="list", context="prism silent, list", least=2),
    Row(work="create, of Prism as it comes", subject="create", context="prism, create", least=4),
    Row(work="list, of Prism as it comes", subject="list", context="prism, list", least=4),
)
RSS_LIMIT_MB: Final = 350.0


def works_of(api: str, suffix: str = "") -> dict[str, Request]:
    """The four requests on one server; the endpoint that is fetched is created first."""
    created = json.loads(
        call(Request(url=f"{api}{path('p', 'endpoints')}", headers=HEADERS, body=ENDPOINT))
    )
    return {
        f"get{suffix}": Request(
            url=f"{api}{path('p', 'endpoints')}/{created['data']['uid']}", headers=HEADERS
        ),
        f"create{suffix}": Request(
            url=f"{api}{path('writes', 'endpoints')}", headers=HEADERS, body=ENDPOINT
        ),
        f"broadcast{suffix}": Request(
            url=f"{api}{path('events', 'events/broadcast')}", headers=HEADERS, body=BROADCAST
        ),
        f"list{suffix}": Request(
            url=f"{api}{path('p', 'portal-links')}?perPage=20", headers=HEADERS
        ),
    }


def path(project: str, rest: str) -> str:
    """A path of the API."""
    return f"/api/v1/projects/{project}/{rest}"


def projects() -> list[str]:
    """The options that give the benchmark its projects: read from, written to, and without
    endpoints.
    """
    return [
        option for name in ("p", "writes", "events") for option in ("--project", f"{name}={KEY}")
    ]


def started(stack: ExitStack, *, prism: bool) -> tuple[dict[str, Request], float]:
    """Start every server; the requests by name, and the resident memory of the full server in MB."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    bare, _ = stack.enter_context(announced([sys.executable, "tests/bench/bare.py"]))
    memory, _ = stack.enter_context(mock_server(*projects()))
    file, _ = stack.enter_context(mock_server(*projects(), "--db", str(folder / "bench.db")))
    full, pid = stack.enter_context(mock_server(*projects()))
    requests = {"bare": Request(url=bare["api"], headers={})}
    requests |= (
        works_of(memory["api"]) | works_of(file["api"], ", file") | works_of(full["api"], ", full")
    )
    fill(requests["create, full"])
    if prism:
        requests |= dict(prisms(stack, folder, memory["api"]))
    return requests, resident_mb(pid)


def fill(create: Request) -> None:
    """Store endpoints until the full server holds its number."""
    done = 0.0
    while done < STORED:
        done += rate(create, seconds=2) * 2


def prisms(stack: ExitStack, folder: Path, api: str) -> Iterator[tuple[str, Request]]:
    """Prism on the specialised contract, silent and as it comes."""
    contract = folder / "openapi.yaml"
    contract.write_bytes(call(Request(url=f"{api}/openapi.yaml", headers={})))
    for name, options in (("prism silent", ["-v", "silent"]), ("prism", [])):
        port = free_port()
        base = f"http://127.0.0.1:{port}"
        listing = Request(url=f"{base}{path('p', 'portal-links')}", headers=HEADERS)
        stack.enter_context(
            silent_until_ready([*PRISM, str(contract), "-p", str(port), *options], listing)
        )
        yield f"{name}, list", listing
        yield (
            f"{name}, create",
            Request(url=f"{base}{path('p', 'endpoints')}", headers=HEADERS, body=ENDPOINT),
        )


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def measured(
    requests: Mapping[str, Request], names: Sequence[str], rounds: int, seconds: int
) -> list[dict[str, float]]:
    """Requests a second by name, one mapping a round."""
    for name in names:
        rate(requests[name], seconds=1)
    return [{name: rate(requests[name], seconds=seconds) for name in names} for _ in range(rounds)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A row's result: the medians of both rates and of their ratio."""

    row: Row
    rate: float
    of_rate: float
    ratio: float

    def line(self) -> str:
        """One line of the printed table."""
        verdict = "ok" if self.ratio >= self.row.least else "BELOW"
        left = (
            f"{self.row.work:30} {self.rate:>8.0f}/s {self.ratio:>6.2f} of {self.row.yardstick:20}"
        )
        return f"{left} {self.of_rate:>8.0f}/s  wanted {self.row.least:<4g} {verdict}"


def figures_of(rows: Sequence[Row], rounds: Sequence[Mapping[str, float]]) -> list[Figure]:
    """The result of each row over all rounds."""
    return [
        Figure(
            row=row,
            rate=statistics.median(one[row.subject] for one in rounds),
            of_rate=statistics.median(one[row.context] for one in rounds),
            ratio=statistics.median(one[row.subject] / one[row.context] for one in rounds),
        )
        for row in rows
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument(
        "--without-prism", action="store_true", help="leave Prism out (it needs Node.js and npx)"
    )
    parser.add_argument("--out", type=Path, default=Path("hookproof-bench.json"))
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("the benchmark drives the servers with wrk, which is not installed")
    prism = not options.without_prism and shutil.which("npx") is not None
    rows = ROWS + (PRISM_ROWS if prism else ())
    with ExitStack() as stack:
        requests, resident = started(stack, prism=prism)
        names = sorted({name for row in rows for name in (row.subject, row.context)})
        figures = figures_of(
            rows, measured(requests, names, rounds=options.rounds, seconds=options.seconds)
        )
    print(*(figure.line() for figure in figures), sep="\n")
    print(
        f"resident memory with {STORED} endpoints: {resident:.0f} MB, wanted under {RSS_LIMIT_MB:.0f} MB"
    )
    written = {"rows": [asdict(figure) for figure in figures], "resident_mb": resident}
    options.out.write_text(json.dumps(written, indent=2) + "\n")


if __name__ == "__main__":
    main()
