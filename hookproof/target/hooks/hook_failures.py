"""The failures of the user's provision hooks in a run, in words."""

from collections import Counter
from collections.abc import Callable

from hookproof.target.hooks.provision import HookFailed


class HookFailures:
    """What each hook gave when it failed first, and how often it failed."""

    def __init__(self) -> None:
        self._first: dict[str, HookFailed] = {}
        self._counts: Counter[str] = Counter()

    def note(self, failure: HookFailed) -> None:
        self._first.setdefault(failure.hook, failure)
        self._counts[failure.hook] += 1

    def mask(self, mask: Callable[[str], str]) -> None:
        """Mask what the hooks gave so far."""
        self._first = {hook: failure.masked(mask) for hook, failure in self._first.items()}

    def add(self, others: "HookFailures") -> None:
        """Count the failures that were noted elsewhere, too."""
        self._first = others._first | self._first  # noqa: SLF001 its own class
        self._counts.update(others._counts)  # noqa: SLF001

    @property
    def words(self) -> tuple[str, ...]:
        """A line for each hook that failed: `create_source failed: ...`."""
        return tuple(
            f"{hook} failed: {failure.what}{self._times(hook)}"
            for hook, failure in self._first.items()
        )

    def _times(self, hook: str) -> str:
        count = self._counts[hook]
        return "" if count == 1 else f"; it failed {count} times"
