"""Where the processor time of a delivery goes: `python -m tests.bench.engine_profile`.

The sender of the delivery benchmark works off a backlog for one endpoint under cProfile, whose own
cost is part of every figure: the shares say more than the times. What is written in C counts as the
part that calls it, and what the event loop does by itself is the rest.
"""

import argparse
import pstats
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Final

from tests.bench.deliveries import run_sender, running_sink

# The parts by folders of their code, the first that fits.
PARTS: Final = {
    "hookproof/mockserver/delivery/http_client": "HTTP client, TLS included",
    "hookproof/mockserver/delivery/attempt": "body, headers and signatures",
    "hookproof/mockserver/delivery": "queues, rate limits, retries and outcomes",
    "hookproof/mockserver/store": "store, SQLite included",
}
REST: Final = "event loop, and everything else"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--db", action="store_true", help="keep the store in a file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "sender.prof"
        with running_sink(folder) as sink:
            kept = ["--db", str(Path(folder) / "store.db")] if options.db else []
            run_sender(sink, "one", "--count", str(options.count), "--profile", str(profile), *kept)
        spent = seconds_by_part(pstats.Stats(str(profile)))
    total = sum(spent.values())
    for part, seconds in spent.most_common():
        microseconds = seconds / options.count * 1e6
        print(f"{part:<44}{seconds / total:6.0%}{microseconds:8.1f} µs a delivery")


def seconds_by_part(stats: pstats.Stats) -> Counter[str]:
    """The seconds that each part took by itself while deliveries were made."""
    functions: dict[Any, Any] = vars(stats)["stats"]
    spent: Counter[str] = Counter()
    for function, (_, _, own_s, _, callers) in functions.items():
        if part := _part(function):
            spent[part] += own_s
        elif function[0] == "~":
            for caller, (_, _, seconds, _) in callers.items():
                spent[_part(caller) or REST] += seconds
        else:
            spent[REST] += own_s
    return spent


def _part(function: tuple[str, int, str]) -> str | None:
    path = function[0].replace("\\", "/")
    return next((part for folder, part in PARTS.items() if folder in path), None)


if __name__ == "__main__":
    main()
