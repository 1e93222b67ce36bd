"""What an interrupt does to a run: it ends the gathering, and what was gathered is judged."""

from collections.abc import Callable
from typing import Final

INTERRUPTED: Final = "it was interrupted"


class Interruption:
    """Is called by an interrupt; raises KeyboardInterrupt as long as nothing can be gathered."""

    def __init__(self) -> None:
        self.requested = False
        self._stop: Callable[[str], object] | None = None

    def __call__(self) -> None:
        self.requested = True
        if self._stop is None:
            raise KeyboardInterrupt
        self._stop(INTERRUPTED)

    def calls(self, stop: Callable[[str], object]) -> None:
        """Let an interrupt end the gathering by this from now on, with the reason."""
        self._stop = stop
