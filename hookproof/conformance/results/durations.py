"""How long the experiments of an earlier run took, which says how far a new one is."""

import json
from pathlib import Path
from typing import Final

from hookproof.conformance.results.run_file import DAMAGED, NotARun, open_run

EXPERIMENT: Final = '{"event":"experiment"'


def usual_durations(path: Path) -> dict[str, float]:
    """The durations of the experiments of an earlier run, by name, in seconds; empty without a
    readable one.
    """
    try:
        with open_run(path) as lines:
            events = [json.loads(line) for line in lines if line.startswith(EXPERIMENT)]
        return {str(event["name"]): float(event["duration_s"]) for event in events}
    except (OSError, NotARun, *DAMAGED):
        return {}
