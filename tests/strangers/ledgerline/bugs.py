"""The bugs that are switched on."""

import os
from typing import Final

ON: Final = frozenset(os.environ.get("BUGS", "").split(","))


def bug(name: str) -> bool:
    return name in ON
