"""Measures how long the diagnosis of a wrong signature takes if it finds no cause.

`make bench-bisect`, part of `make bench`. That is the worst case, in which the search runs to its
end: JSON bodies of 4 kB, under each format of each shipped dialect. Times are processor
milliseconds, the median of the rounds.
"""

import json
import random
import statistics
import time
from dataclasses import replace
from typing import Final

from hookproof.receiver.signatures.diagnosis import diagnose
from hookproof.receiver.vectors.corpus import good_vectors
from hookproof.receiver.vectors.vector import Vector
from hookproof.spec.dialect.reader import load_dialect
from tests.bench.rounds import RoundFigures, keep_rounds

ROUNDS: Final = 15
MOST_MS: Final = 50.0
SIZE: Final = 4096


def body() -> bytes:
    """Return a document of 4 kB with everything that has more than one spelling."""
    items: list[dict[str, object]] = []
    while len(json.dumps({"items": items}, ensure_ascii=False).encode()) < SIZE:
        items.append(
            {"id": len(items), "name": f"Zo\u00eb <{len(items)}> a/b", "price": len(items) * 1.5}
        )
    return json.dumps({"items": items}, ensure_ascii=False).encode()[: SIZE + 64]


def milliseconds(vector: Vector) -> list[float]:
    """Return the processor time of a diagnosis that finds nothing, round by round."""
    dialect = load_dialect(vector.dialect)
    times = []
    for _ in range(ROUNDS):
        began = time.process_time()
        diagnosis = diagnose(
            vector.scheme,
            dialect.signatures.secret,
            vector.secrets,
            vector.headers,
            vector.event_id_header,
            vector.body,
            vector.now,
        )
        times.append((time.process_time() - began) * 1000)
        assert diagnosis is not None
        assert not diagnosis.explained
    return times


def main() -> None:
    random.seed(0)
    altered = [
        replace(vector, body=body())
        for vector in good_vectors()
        if vector.name.endswith("a small object")
    ]
    rows = {vector.name.partition(":")[0]: milliseconds(vector) for vector in altered}
    for name, times_ms in rows.items():
        median_ms = statistics.median(times_ms)
        verdict = "ok" if median_ms < MOST_MS else "OVER"
        print(f"no cause found, {name:28} {median_ms:6.1f} ms  wanted under {MOST_MS:g} {verdict}")
    keep_rounds(
        "bisecting",
        {name: RoundFigures(rounds=times_ms, better="less") for name, times_ms in rows.items()},
    )


if __name__ == "__main__":
    main()
