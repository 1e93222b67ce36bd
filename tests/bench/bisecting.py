"""`make bench-bisect`, part of `make bench`: how long the bisection of a signature takes that
nothing explains.

That is its worst case, the whole search spent: bodies of 4 kB in JSON, under each format of each
shipped dialect. Times are those of the processor, in milliseconds; the median of the rounds counts.
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

ROUNDS: Final = 15
MOST_MS: Final = 50.0
SIZE: Final = 4096


def body() -> bytes:
    """A document of 4 kB with everything that can be written in another way."""
    items: list[dict[str, object]] = []
    while len(json.dumps({"items": items}, ensure_ascii=False).encode()) < SIZE:
        items.append(
            {"id": len(items), "name": f"Zo\u00eb <{len(items)}> a/b", "price": len(items) * 1.5}
        )
    return json.dumps({"items": items}, ensure_ascii=False).encode()[: SIZE + 64]


def milliseconds(vector: Vector) -> float:
    """The time of one bisection that finds nothing."""
    dialect = load_dialect(vector.dialect)
    times = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        found = diagnose(
            vector.scheme,
            dialect.signatures.secret,
            vector.secrets,
            vector.headers,
            vector.event_id_header,
            vector.body,
            vector.now,
        )
        times.append((time.process_time() - begun) * 1000)
        assert found is not None
        assert not found.explained
    return statistics.median(times)


def main() -> None:
    """Print the table."""
    random.seed(0)
    altered = [
        replace(one, body=body()) for one in good_vectors() if one.name.endswith("a small object")
    ]
    rows = {vector.name.partition(":")[0]: milliseconds(vector) for vector in altered}
    for name, taken in rows.items():
        verdict = "ok" if taken < MOST_MS else "OVER"
        print(f"no cause found, {name:28} {taken:6.1f} ms  wanted under {MOST_MS:g} {verdict}")


if __name__ == "__main__":
    main()
