"""Measures the receiver: `python -m tests.bench.receiving` (needs wrk), part of `make bench`.

The baseline is an aiohttp application on uvloop that reads the body of a POST and answers an empty
200. Both are pinned to one core, and wrk on the other core sends each the same signed 400 bytes;
the receiver verifies them with the secret of the token and keeps them. Over HTTPS both have a
certificate of the same authority. They take turns over several rounds, and each ratio is the median
of the ratios of its rounds. Afterwards the receiver holds a million deliveries, and those of single
tokens are requested. The tables are printed and written as JSON.
"""

import argparse
import hmac
import json
import shutil
import socket
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from hookproof.spec.dialect.reader import load_dialect
from tests.bench.machine import (
    RateComparison,
    WrkRequest,
    call,
    compared,
    rates_in_turns,
    resident_mb,
    running_server,
)
from tests.bench.rounds import RoundFigures, keep_rounds

SECRET: Final = "a-secret-of-the-benchmark"
BODY: Final = json.dumps({"event_type": "order.paid", "data": "x" * 400}).encode()[:399] + b"}"
LEAST_RATIO: Final = 0.75
TOKENS, PER_TOKEN = 1000, 1000
LONGEST_QUERY_MS: Final = 50.0
MOST_RESIDENT_MB: Final = 350.0
QUERIES: Final = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """The memory and time of a receiver that holds a million deliveries and returns some."""

    deliveries: int
    filled_at_rate: float
    query_ms: float
    slowest_query_ms: float
    resident_mb: float

    def line(self) -> str:
        holds = self.query_ms < LONGEST_QUERY_MS and self.resident_mb < MOST_RESIDENT_MB
        return (
            f"{self.deliveries} deliveries kept, {PER_TOKEN} of a token found in"
            f" {self.query_ms:.1f} ms (slowest {self.slowest_query_ms:.1f}),"
            f" wanted under {LONGEST_QUERY_MS:g}; {self.resident_mb:.0f} MB resident,"
            f" wanted under {MOST_RESIDENT_MB:g} {'ok' if holds else 'MISSED'}"
        )


def signed_headers() -> dict[str, str]:
    """Return the headers of a delivery of the reference dialect, signed in its advanced format."""
    dialect = load_dialect("reference")
    scheme = dialect.signatures.advanced
    now = str(int(time.time() / scheme.timestamp_unit.in_seconds))
    common = {"timestamp": now, "id": "event", "version": scheme.versions[0]}
    mac = hmac.digest(
        SECRET.encode(),
        fill_template(scheme.signed, common).encode().replace(b"{body}", BODY),
        scheme.hash.value,
    )
    item = fill_template(scheme.item, {**common, "signature": mac.hex()})
    headers = {
        "Content-Type": "application/json",
        dialect.delivery.event_id_header: "event",
        scheme.header: fill_template(scheme.value, {**common, "signatures": item}),
    }
    return headers | ({scheme.timestamp_header: now} if scheme.timestamp_header else {})


def fill_template(template: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return template


def send_json(url: str, value: object, method: str = "PUT") -> Any:
    """Send JSON to the control API and return the JSON of the response, if there is any."""
    request = urllib.request.Request(url, data=json.dumps(value).encode(), method=method)
    with urllib.request.urlopen(request, timeout=10) as response:
        body = response.read()
    return json.loads(body) if body else None


def start_receiver(stack: ExitStack, *options: str) -> tuple[dict[str, Any], int]:
    """Start a receiver, pinned; return its JSON line and the process id."""
    command = [sys.executable, "-m", "hookproof", "receive", "--json", "--until-stdin-closes"]
    return stack.enter_context(running_server([*command, *options]))


def new_token_url(ready: Mapping[str, Any]) -> str:
    """Create a token whose deliveries are verified, and return its URL."""
    token = send_json(f"{ready['control']}/tokens", {}, "POST")
    send_json(
        f"{ready['control']}/tokens/{token['token']}/secrets",
        {"secrets": [SECRET], "scheme": "advanced"},
    )
    return str(token["url"])


def compare_with_bare(
    name: str, rounds: int, seconds: int, options: list[str], bare_options: list[str]
) -> RateComparison:
    """Measure the receiver and the baseline in turns."""
    with ExitStack() as stack:
        ready, _ = start_receiver(stack, *options)
        bare, _ = stack.enter_context(
            running_server([sys.executable, "tests/bench/bare.py", *bare_options])
        )
        url, headers = new_token_url(ready), signed_headers()
        requests = {
            "bare": WrkRequest(url=bare["api"], headers=headers, body=BODY),
            "receiver": WrkRequest(url=url, headers=headers, body=BODY),
        }
        figures = rates_in_turns(requests, rounds=rounds, seconds=seconds)
        token = url.rsplit("/", 1)[1]
        tally = json.loads(call(WrkRequest(url=f"{ready['control']}/tokens/{token}", headers={})))
    if tally["unverified"] or tally["verified"] != tally["arrived"]:
        raise SystemExit(f"the receiver did not verify everything: {tally}")
    return compared(name, "receiver", "bare", LEAST_RATIO, figures)


def measure_recall() -> Recall:
    """Send a receiver a million deliveries to a thousand tokens, and request those of some."""
    with ExitStack() as stack:
        ready, pid = start_receiver(stack, "--http")
        began = time.monotonic()
        for _ in range(PER_TOKEN):
            fill(ready["url"])
        filling_s = time.monotonic() - began
        times = [
            query_ms(ready["control"], f"t{number * 37 % TOKENS}") for number in range(QUERIES)
        ]
        return Recall(
            deliveries=TOKENS * PER_TOKEN,
            filled_at_rate=TOKENS * PER_TOKEN / filling_s,
            query_ms=statistics.median(times),
            slowest_query_ms=max(times),
            resident_mb=resident_mb(pid),
        )


def fill(url: str) -> None:
    """Send one delivery to each token, pipelined on one connection."""
    host, _, port = url.removeprefix("http://").partition(":")
    head = (
        "POST /t%d HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        "Content-Length: %d%s\r\n\r\n"
    )
    close = "\r\nConnection: close"
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        for number in range(TOKENS):
            last = close if number == TOKENS - 1 else ""
            connection.sendall((head % (number, len(BODY), last)).encode() + BODY)
        while connection.recv(2**16):
            pass


def query_ms(control: str, token: str) -> float:
    """Request all deliveries of a token; return the milliseconds until the response."""
    began = time.monotonic()
    body = call(
        WrkRequest(url=f"{control}/tokens/{token}/deliveries?count={PER_TOKEN}", headers={})
    )
    seconds = time.monotonic() - began
    answer = json.loads(body)
    assert len(answer["deliveries"]) == PER_TOKEN, len(answer["deliveries"])
    assert answer["dropped"] == 0
    return seconds * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument(
        "--without-recall", action="store_true", help="leave out the million deliveries"
    )
    parser.add_argument("--out", type=Path, default=Path("hookproof-bench-receiving.json"))
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("the benchmark drives the servers with wrk, which is not installed")
    with tempfile.TemporaryDirectory() as ca:
        rows = [
            compare_with_bare(
                "HTTP, verify and record 400 B", options.rounds, options.seconds, ["--http"], []
            ),
            compare_with_bare(
                "HTTPS, verify and record 400 B",
                options.rounds,
                options.seconds,
                ["--ca-dir", ca],
                ["--ca-dir", ca],
            ),
        ]
    print(*(row.line() for row in rows), sep="\n")
    recall = None if options.without_recall else measure_recall()
    if recall:
        print(recall.line())
    written = {
        "rows": [row.written() for row in rows],
        "recall": asdict(recall) if recall else None,
    }
    options.out.write_text(json.dumps(written, indent=2) + "\n")
    keep_rounds("receiving", {row.work: RoundFigures(rounds=row.ratios) for row in rows})


if __name__ == "__main__":
    main()
