"""The user's provision hooks in a run: failures are noted, and what needs them is not observed."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from hookproof.conformance.model.evidence import PreconditionFailed
from hookproof.target.hooks.provision import HookFailed, HookFailures, KeyedProject, Provision

Answer = TypeVar("Answer")


def noted_provision(
    provision: Provision, failures: HookFailures, mask: Callable[[str], str]
) -> Provision:
    """The same hooks; that one fails is noted, and raised as PreconditionFailed, masked.

    `mask` is called in another thread, since it waits for its turn.
    """
    return _NotedProvision(hooks=provision.hooks, failures=failures, mask=mask)


@dataclass(frozen=True, slots=True, kw_only=True)
class _NotedProvision(Provision):
    failures: HookFailures
    mask: Callable[[str], str]

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
            masked = await asyncio.to_thread(failure.masked, self.mask)
            raise PreconditionFailed(str(masked)) from None
