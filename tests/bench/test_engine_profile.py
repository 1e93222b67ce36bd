"""What a profile says is attributed to the parts of the engine."""

import pstats
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.bench.engine_profile import PARTS, REST, seconds_by_part

CLIENT, STORE = (
    next((folder, part) for folder, part in PARTS.items() if word in folder)
    for word in ("http_client", "store")
)


def test_what_is_written_in_c_counts_for_the_part_that_calls_it() -> None:
    send = (f"/somewhere/{CLIENT[0]}/http1.py", 1, "send")
    save = (f"/somewhere/{STORE[0]}/deliveries.py", 2, "save")
    other = ("/usr/lib/json/encoder.py", 3, "encode")
    functions: dict[Any, Any] = {
        send: (1, 1, 0.5, 9.0, {}),
        save: (1, 1, 0.25, 9.0, {}),
        other: (1, 1, 2.0, 9.0, {}),
        ("~", 0, "<execute>"): (3, 3, 4.0, 4.0, {save: (2, 2, 3.0, 3.0), other: (1, 1, 1.0, 1.0)}),
    }
    spent = seconds_by_part(cast("pstats.Stats", SimpleNamespace(stats=functions)))
    assert spent == pytest.approx({CLIENT[1]: 0.5, STORE[1]: 3.25, REST: 3.0})
