"""How long the experiments of an earlier run took, which says how far a new one is."""

import json
from pathlib import Path
from typing import Final

EXPERIMENT: Final = '{"event":"experiment"'


def usual_durations(path: Path) -> dict[str, float]:
    """The durations of the experiments of an earlier run, by name, in seconds; empty without a
    readable one.
    """
    try:
        with path.open(encoding="utf-8") as stream:
            events = [json.loads(line) for line in stream if line.startswith(EXPERIMENT)]
        return {str(event["name"]): float(event["duration_s"]) for event in events}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
