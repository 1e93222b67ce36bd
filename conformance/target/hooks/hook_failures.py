"""The user's provision hooks in a run: failures are noted, and what needs them is not observed."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from hookproof.conformance.model.evidence import PreconditionFailed
from hookproof.target.hooks.provision import HookFailed, KeyedProject, Provision

Answer = TypeVar("Answer")


class HookFailures:
    """What each hook gave when it failed first, and how often it failed."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._counts: Counter[str] = Counter()

    def note(self, failure: HookFailed) -> None:
        self._first.setdefault(failure.hook, failure.what)
        self._counts[failure.hook] += 1

    def mask(self, mask: Callable[[str], str]) -> None:
        """Mask what the hooks gave so far."""
        self._first = {hook: mask(what) for hook, what in self._first.items()}

    def add(self, others: "HookFailures") -> None:
        """Count the failures that were noted elsewhere, too."""
        self._first = others._first | self._first  # noqa: SLF001 its own class
        self._counts.update(others._counts)  # noqa: SLF001

    @property
    def words(self) -> tuple[str, ...]:
        """A line for each hook that failed: `create_source failed: ...`."""
        return tuple(
            f"{hook} failed: {what}{self._times(hook)}" for hook, what in self._first.items()
        )

    def _times(self, hook: str) -> str:
        count = self._counts[hook]
        return "" if count == 1 else f"; it failed {count} times"


def noted_provision(provision: Provision, failures: HookFailures) -> Provision:
    """The same hooks; that one fails is noted, and raised as PreconditionFailed."""
    return _NotedProvision(hooks=provision.hooks, failures=failures)


@dataclass(frozen=True, slots=True, kw_only=True)
class _NotedProvision(Provision):
    failures: HookFailures

    async def create_portal_link(
        self, project: KeyedProject, fields: Mapping[str, Any]
    ) -> str | None:
        return await self._noted(Provision.create_portal_link(self, project, fields))

    async def create_source(self, project: KeyedProject, fields: Mapping[str, Any]) -> str | None:
        return await self._noted(Provision.create_source(self, project, fields))

    async def after_endpoint_created(
        self, project: KeyedProject, endpoint: Mapping[str, Any]
    ) -> None:
        await self._noted(Provision.after_endpoint_created(self, project, endpoint))

    async def _noted(self, call: Awaitable[Answer]) -> Answer:
        try:
            return await call
        except HookFailed as failure:
            self.failures.note(failure)
            raise PreconditionFailed(str(failure)) from None
