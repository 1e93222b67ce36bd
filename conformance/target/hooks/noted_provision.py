"""The user's provision hooks in a run: failures are noted, and what needs them is not observed."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from hookproof.conformance.model.evidence import PreconditionFailed
from hookproof.target.hooks.hook_failures import HookFailures
from hookproof.target.hooks.provision import HookFailed, KeyedProject, Provision

Answer = TypeVar("Answer")


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
