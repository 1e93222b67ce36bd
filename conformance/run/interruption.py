"""What an interrupt does to a run: it ends the gathering, and what was gathered is judged."""

from typing import Final

from hookproof.conformance.run.runner import Runner

INTERRUPTED: Final = "it was interrupted"


class Interruption:
    """Is called by an interrupt; raises KeyboardInterrupt as long as nothing can be gathered."""

    def __init__(self) -> None:
        self.requested = False
        self._runner: Runner | None = None

    def __call__(self) -> None:
        self.requested = True
        if self._runner is None:
            raise KeyboardInterrupt
        self._runner.stop(INTERRUPTED)

    def ends(self, runner: Runner) -> None:
        """Let an interrupt end this runner from now on; one that has ended is left alone."""
        self._runner = runner
