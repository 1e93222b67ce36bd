"""Compares the API of the reference server with a bare aiohttp application and with Prism.

`python -m tests.bench.api` (needs wrk), part of `make bench`. All servers run at once, pinned to
one core; wrk on the other core sends requests to one of them at a time. The rows take turns over
several rounds, and each ratio is the median of the ratios of its rounds, so that a change in the
machine's speed affects both sides. The table is printed and written as JSON.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from tests.bench.machine import (
    WrkRequest,
    call,
    compared,
    mock_server,
    polled_server,
    rates_in_turns,
    requests_per_second,
    resident_mb,
    running_server,
)
from tests.bench.rounds import RoundFigures, keep_rounds
from tests.free_ports import free_port

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


# The work, the requests whose rates are compared, and the ratio required.
ROWS: Final = (
    ("GET endpoint (about 1.4 kB)", "get", "bare", 0.60),
    ("POST create endpoint", "create", "bare", 0.30),
    ("POST broadcast, no endpoints", "broadcast", "bare", 0.30),
    ("GET list of 20 portal links", "list", "bare", 0.35),
    ("POST create endpoint, --db", "create, file", "create", 0.6),
    ("POST broadcast, --db", "broadcast, file", "broadcast", 0.6),
    (f"GET endpoint, {STORED} stored", "get, full", "get", 0.9),
    (f"GET list, {STORED} stored", "list, full", "list", 0.9),
)
PRISM_ROWS: Final = (
    ("create, of Prism silent", "create", "prism silent, create", 2),
    ("list, of Prism silent", "list", "prism silent, list", 2),
    ("create, of Prism by default", "create", "prism, create", 4),
    ("list, of Prism by default", "list", "prism, list", 4),
)
RSS_LIMIT_MB: Final = 350.0


def requests_of(api: str, suffix: str = "") -> dict[str, WrkRequest]:
    """Return the four requests to one server; creates the endpoint that is fetched."""
    created = json.loads(
        call(WrkRequest(url=f"{api}{path('p', 'endpoints')}", headers=HEADERS, body=ENDPOINT))
    )
    return {
        f"get{suffix}": WrkRequest(
            url=f"{api}{path('p', 'endpoints')}/{created['data']['uid']}", headers=HEADERS
        ),
        f"create{suffix}": WrkRequest(
            url=f"{api}{path('writes', 'endpoints')}", headers=HEADERS, body=ENDPOINT
        ),
        f"broadcast{suffix}": WrkRequest(
            url=f"{api}{path('events', 'events/broadcast')}", headers=HEADERS, body=BROADCAST
        ),
        f"list{suffix}": WrkRequest(
            url=f"{api}{path('p', 'portal-links')}?perPage=20", headers=HEADERS
        ),
    }


def path(project: str, rest: str) -> str:
    return f"/api/v1/projects/{project}/{rest}"


def projects() -> list[str]:
    """Return options for three projects: for reading, for writing, and without endpoints."""
    return [
        option for name in ("p", "writes", "events") for option in ("--project", f"{name}={KEY}")
    ]


def start_servers(stack: ExitStack, *, prism: bool) -> tuple[dict[str, WrkRequest], float]:
    """Start the servers; return the requests by name and the full server's memory in MB."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    bare, _ = stack.enter_context(running_server([sys.executable, "tests/bench/bare.py"]))
    memory, _ = stack.enter_context(mock_server(*projects()))
    file, _ = stack.enter_context(mock_server(*projects(), "--db", str(folder / "bench.db")))
    full, pid = stack.enter_context(mock_server(*projects()))
    requests = {"bare": WrkRequest(url=bare["api"], headers={})}
    requests |= (
        requests_of(memory["api"])
        | requests_of(file["api"], ", file")
        | requests_of(full["api"], ", full")
    )
    fill_server(requests["create, full"])
    if prism:
        requests |= dict(start_prisms(stack, folder, memory["api"]))
    return requests, resident_mb(pid)


def fill_server(create: WrkRequest) -> None:
    """Create endpoints until the server holds STORED of them."""
    created, seconds = 0.0, 2
    while created < STORED:
        created += requests_per_second(create, seconds=seconds) * seconds


def start_prisms(stack: ExitStack, folder: Path, api: str) -> Iterator[tuple[str, WrkRequest]]:
    """Start Prism on the contract of the dialect, silent and with its default log level."""
    contract = folder / "openapi.yaml"
    contract.write_bytes(call(WrkRequest(url=f"{api}/openapi.yaml", headers={})))
    for name, options in (("prism silent", ["-v", "silent"]), ("prism", [])):
        port = free_port()
        base = f"http://127.0.0.1:{port}"
        listing = WrkRequest(url=f"{base}{path('p', 'portal-links')}", headers=HEADERS)
        stack.enter_context(
            polled_server([*PRISM, str(contract), "-p", str(port), *options], listing)
        )
        yield f"{name}, list", listing
        yield (
            f"{name}, create",
            WrkRequest(url=f"{base}{path('p', 'endpoints')}", headers=HEADERS, body=ENDPOINT),
        )


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
        requests, resident = start_servers(stack, prism=prism)
        names = sorted({name for _, *pair, _ in rows for name in pair})
        rounds = rates_in_turns(
            {name: requests[name] for name in names},
            rounds=options.rounds,
            seconds=options.seconds,
        )
    results = [compared(*row, rounds) for row in rows]
    print(*(result.line() for result in results), sep="\n")
    print(
        f"resident memory with {STORED} endpoints: {resident:.0f} MB,"
        f" wanted under {RSS_LIMIT_MB:.0f} MB"
    )
    written = {"rows": [result.written() for result in results], "resident_mb": resident}
    options.out.write_text(json.dumps(written, indent=2) + "\n")
    keep_rounds("api", {result.work: RoundFigures(rounds=result.ratios) for result in results})


if __name__ == "__main__":
    main()
