"""Measures the receiver: `python -m tests.bench.receiving` (needs wrk), or `make bench`.

The yardstick is an aiohttp application on uvloop that reads the body of a POST and answers an empty
200. Both are pinned to one core, and wrk, on the other, sends each the same signed 400 bytes; the
receiver verifies them with the token's secret, and keeps them. Over HTTPS both have a certificate
of one authority. The rows take turns over several rounds, and each ratio is the median of the
ratios of its rounds. Afterwards the receiver holds a million deliveries, and a token's are asked
for. The tables are printed and written as JSON.
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
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from hookproof.spec.dialect.reader import load_dialect
from tests.bench.machine import Request, announced, call, rate, resident_mb

SECRET: Final = "a-secret-of-the-benchmark"
BODY: Final = json.dumps({"event_type": "order.paid", "data": "x" * 400}).encode()[:399] + b"}"
LEAST_RATIO: Final = 0.75
TOKENS, PER_TOKEN = 1000, 1000
LONGEST_QUERY_MS: Final = 50.0
MOST_RESIDENT_MB: Final = 350.0
ASKED: Final = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table: requests a second of the receiver and of the yardstick, medians, and
    their ratio.
    """

    work: str
    rate: float
    of_rate: float
    ratio: float
    least: float

    def line(self) -> str:
        """The line as it is printed."""
        verdict = "ok" if self.ratio >= self.least else "BELOW"
        left = (
            f"{self.work:34} {self.rate:>8.0f}/s {self.ratio:>6.2f} of bare {self.of_rate:>8.0f}/s"
        )
        return f"{left}  wanted {self.least:g} {verdict}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """What it takes to hold a million deliveries, and to find those of a token among them, in
    milliseconds.
    """

    deliveries: int
    filled_at_rate: float
    query_ms: float
    slowest_query_ms: float
    resident_mb: float

    def line(self) -> str:
        """The line as it is printed."""
        fast = self.query_ms < LONGEST_QUERY_MS and self.resident_mb < MOST_RESIDENT_MB
        return (
            f"{self.deliveries} deliveries kept, {PER_TOKEN} of a token found in {self.query_ms:.1f} ms (slowest"
            f" {self.slowest_query_ms:.1f}), wanted under {LONGEST_QUERY_MS:g}; {self.resident_mb:.0f} MB resident,"
            f" wanted under {MOST_RESIDENT_MB:g} {'ok' if fast else 'BELOW'}"
        )


def signed() -> dict[str, str]:
    """The headers of a delivery of the reference dialect, signed now by its advanced format."""
    dialect = load_dialect("reference")
    scheme = dialect.signatures.advanced
    now = str(int(time.time() / scheme.timestamp_unit.in_seconds))
    known = {"timestamp": now, "id": "event", "version": scheme.versions[0]}
    mac = hmac.digest(
        SECRET.encode(),
        filled(scheme.signed, known).encode().replace(b"{body}", BODY),
        scheme.hash.value,
    )
    item = filled(scheme.item, {**known, "signature": mac.hex()})
    headers = {
        "Content-Type": "application/json",
        dialect.delivery.event_id_header: "event",
        scheme.header: filled(scheme.value, {**known, "signatures": item}),
    }
    return headers | ({scheme.timestamp_header: now} if scheme.timestamp_header else {})


def filled(template: str, values: Mapping[str, str]) -> str:
    """A template of a signature scheme with these places filled."""
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return template


def put(url: str, value: object, method: str = "PUT") -> Any:
    """Tell the control API something."""
    import urllib.request

    asked = urllib.request.Request(url, data=json.dumps(value).encode(), method=method)
    with urllib.request.urlopen(asked, timeout=10) as answer:
        told = answer.read()
    return json.loads(told) if told else None


def receiver(stack: ExitStack, *options: str) -> tuple[dict[str, Any], int]:
    """A pinned receiver."""
    command = [sys.executable, "-m", "hookproof", "receive", "--json", "--until-stdin-closes"]
    return stack.enter_context(announced([*command, *options]))


def keyed_token(ready: Mapping[str, Any]) -> str:
    """The URL of a token whose deliveries are verified."""
    token = put(f"{ready['control']}/tokens", {}, "POST")
    put(
        f"{ready['control']}/tokens/{token['token']}/secrets",
        {"secrets": [SECRET], "scheme": "advanced"},
    )
    return str(token["url"])


def measured_pair(
    name: str, rounds: int, seconds: int, options: list[str], bare_options: list[str]
) -> Row:
    """The receiver and the yardstick in turns."""
    with ExitStack() as stack:
        ready, _ = receiver(stack, *options)
        bare, _ = stack.enter_context(
            announced([sys.executable, "tests/bench/bare.py", *bare_options])
        )
        url, headers = keyed_token(ready), signed()
        works = {
            "bare": Request(url=bare["api"], headers=headers, body=BODY),
            "receiver": Request(url=url, headers=headers, body=BODY),
        }
        for work in works.values():
            rate(work, seconds=1)
        figures = [
            {which: rate(work, seconds=seconds) for which, work in works.items()}
            for _ in range(rounds)
        ]
        token = url.rsplit("/", 1)[1]
        tally = json.loads(call(Request(url=f"{ready['control']}/tokens/{token}", headers={})))
    if tally["unverified"] or tally["verified"] != tally["arrived"]:
        raise SystemExit(f"the receiver did not verify everything: {tally}")
    return Row(
        work=name,
        rate=statistics.median(one["receiver"] for one in figures),
        of_rate=statistics.median(one["bare"] for one in figures),
        ratio=statistics.median(one["receiver"] / one["bare"] for one in figures),
        least=LEAST_RATIO,
    )


def recalled() -> Recall:
    """Fill a receiver with a million deliveries to a thousand tokens, in turns, and ask for those
    of some.
    """
    with ExitStack() as stack:
        ready, pid = receiver(stack, "--http")
        began = time.monotonic()
        for _ in range(PER_TOKEN):
            fill(ready["url"])
        took = time.monotonic() - began
        times = [asked_for(ready["control"], f"t{number * 37 % TOKENS}") for number in range(ASKED)]
        return Recall(
            deliveries=TOKENS * PER_TOKEN,
            filled_at_rate=TOKENS * PER_TOKEN / took,
            query_ms=statistics.median(times),
            slowest_query_ms=max(times),
            resident_mb=resident_mb(pid),
        )


def fill(url: str) -> None:
    """One delivery to each token, pipelined on one connection."""
    host, _, port = url.removeprefix("http://").partition(":")
    head = "POST /t%d HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d%s\r\n\r\n"
    close = "\r\nConnection: close"
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        for number in range(TOKENS):
            last = close if number == TOKENS - 1 else ""
            connection.sendall((head % (number, len(BODY), last)).encode() + BODY)
        while connection.recv(2**16):
            pass


def asked_for(control: str, token: str) -> float:
    """How long it takes to be answered with all deliveries of a token, in milliseconds."""
    began = time.monotonic()
    answer = call(Request(url=f"{control}/tokens/{token}/deliveries?count={PER_TOKEN}", headers={}))
    took = time.monotonic() - began
    found = json.loads(answer)
    assert len(found["deliveries"]) == PER_TOKEN, len(found["deliveries"])
    assert found["dropped"] == 0
    return took * 1000


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
            measured_pair(
                "HTTP, verify and record 400 B", options.rounds, options.seconds, ["--http"], []
            ),
            measured_pair(
                "HTTPS, verify and record 400 B",
                options.rounds,
                options.seconds,
                ["--ca-dir", ca],
                ["--ca-dir", ca],
            ),
        ]
    print(*(row.line() for row in rows), sep="\n")
    recall = None if options.without_recall else recalled()
    if recall:
        print(recall.line())
    written = {"rows": [asdict(row) for row in rows], "recall": asdict(recall) if recall else None}
    options.out.write_text(json.dumps(written, indent=2) + "\n")


if __name__ == "__main__":
    main()
