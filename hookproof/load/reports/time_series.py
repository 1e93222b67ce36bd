"""The CSV of a run: a row for each stretch of time, to be read into a spreadsheet."""

import csv
import io
from collections.abc import Mapping
from typing import Any, Final

COLUMNS: Final = (
    "at_s",
    *("accepted", "ingest_p50_s", "ingest_p95_s", "ingest_p99_s", "ingest_max_s"),
    *("delivered", "delivery_p50_s", "delivery_p95_s", "delivery_p99_s", "delivery_max_s"),
    "backlog",
)


def series_csv(report: Mapping[str, Any]) -> str:
    """Counts of each stretch, percentiles in seconds, and the backlog at the end of the stretch."""
    written = io.StringIO()
    writer = csv.DictWriter(written, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(report))
    return written.getvalue()


def rows(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows by column, up to the last stretch in which anything happened."""
    length = report["stretch_s"]
    accepted, delivered = (
        {round(stretch["at_s"] / length): stretch for stretch in report["over_time"][side]}
        for side in ("accepted", "delivered")
    )
    each, backlog, table = len(report["endpoints"]), 0, []
    for stretch in range(max((*accepted, *delivered), default=-1) + 1):
        sent, arrived = accepted.get(stretch, {}), delivered.get(stretch, {})
        backlog += sent.get("count", 0) * each - arrived.get("count", 0)
        table.append(
            {
                "at_s": stretch * length,
                "accepted": sent.get("count", 0),
                "delivered": arrived.get("count", 0),
                **{f"ingest_{name}_s": sent.get(name) for name in ("p50", "p95", "p99", "max")},
                **{
                    f"delivery_{name}_s": arrived.get(name) for name in ("p50", "p95", "p99", "max")
                },
                "backlog": max(0, backlog),
            }
        )
    return table
