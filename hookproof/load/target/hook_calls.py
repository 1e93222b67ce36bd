"""The provision hooks of a load run, called at the moments at which `check` calls them."""

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Final, Self

from hookproof.load.target.client import data_of
from hookproof.load.target.settings import TargetSettings
from hookproof.spec.dialect.model import Words
from hookproof.target.hooks.provision import HookFailed, HookFailures, Provision
from hookproof.target.hooks.removable_endpoints import (
    RemovableEndpoint,
    RemovableEndpoints,
    endpoints_of_runs,
)
from hookproof.target.hooks.wanted_resources import HOOKS, wanted_resources
from hookproof.target.masking.quotation_mask import QuotationMask

AFTER_ENDPOINT: Final = "after_endpoint_created"
# Each failure may take as long as a hook has time, and an endpoint may be one of thousands.
MOST_FAILURES: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedProject:
    """The project that a run loads, as the hooks receive it."""

    id: str
    api_key: str = field(repr=False)


@dataclass(slots=True, kw_only=True)
class HookCalls:
    """Calls the hooks, and counts the calls by hook for the report; notes what they are to remove
    after the run, and in `failures` those that fail then. What it says of failures is masked.
    `reached` are the uids of the endpoints of runs that events reached.
    """

    provision: Provision
    project: LoadedProject
    words: Words
    mask: QuotationMask
    counts: Counter[str] = field(default_factory=Counter)
    endpoints: RemovableEndpoints = field(default_factory=RemovableEndpoints)
    failures: HookFailures = field(default_factory=HookFailures)
    reached: set[str] = field(default_factory=set)
    _failures: list[HookFailed] = field(default_factory=list)

    @classmethod
    def of(cls, settings: TargetSettings) -> Self:
        project = LoadedProject(id=settings.project, api_key=settings.api_key)
        return cls(
            provision=settings.provision,
            project=project,
            words=settings.dialect.words,
            mask=QuotationMask([project], settings.dialect, settings.connection.headers),
        )

    def note_created(self, shown: Mapping[str, Any], *, is_disabled: bool) -> None:
        """Note an endpoint as the answer to its creation shows it."""
        self.endpoints.created.append(
            RemovableEndpoint(project=self.project, shown=shown, is_disabled=is_disabled)
        )

    def note_created_by_mix(self, count: int, answers: Iterable[bytes]) -> None:
        """Note so many endpoints that a run has created disabled; `answers` are of some of them."""
        shown = []
        for answer in answers:
            self.mask.learn(answer)
            shown.append(data_of(answer) or {})
        for each in (*shown, *({},) * (count - len(shown))):
            self.note_created(each, is_disabled=True)

    def note_reached(self, answer: bytes) -> None:
        """Note the endpoints that an event reached, by the answer to its broadcast."""
        self.reached.update(uid for uid, _ in endpoints_of_runs(data_of(answer)))

    def cleaned_up(self) -> AbstractAsyncContextManager[None]:
        """Have removed what was created at the end of the block, however it ends."""
        return self.endpoints.cleaned_up(self.provision, self.failures)

    def left_at_target(self) -> dict[str, Any]:
        """What is left there, as report.json has it; `earlier` counts what earlier runs left and
        got the events of this one, too.
        """
        left = [
            {"project": each.project.id, "uid": each.uid, "is_disabled": each.is_disabled}
            for each in self.endpoints.created
        ]
        own = [*self.endpoints.created, *self.endpoints.removed]
        others = self.reached - {each.uid for each in own}
        # One of its own whose uid no answer showed has been reached, too.
        unknown = sum(not each.uid and not each.is_disabled for each in own)
        return {
            "endpoints": left,
            "removed": len(self.endpoints.removed),
            "earlier": max(0, len(others) - unknown),
        }

    def failed_at_end(self) -> list[str]:
        """A line for each hook that failed when the run was over."""
        self.failures.mask(self.mask.quotation)
        return list(self.failures.words)

    async def after_endpoint_created(self, endpoint: Mapping[str, Any]) -> None:
        """Call the hook for an endpoint, if there is one.

        A failure is kept for `check_endpoints`; too many of them raise HookFailed here.
        """
        if not self.provision.has(AFTER_ENDPOINT):
            return
        self.counts[AFTER_ENDPOINT] += 1
        try:
            await self.provision.after_endpoint_created(self.project, endpoint)
        except HookFailed as failure:
            self._failures.append(failure)
        if len(self._failures) >= MOST_FAILURES:
            self.check_endpoints()

    def check_endpoints(self) -> None:
        """Raise HookFailed if the hook failed for an endpoint.

        The endpoint may get nothing then, and all its deliveries would be called lost.
        """
        if self._failures:
            calls = f"{len(self._failures):,} of {self.counts[AFTER_ENDPOINT]:,}"
            what = self._failures[0].masked(self.mask.quotation).what
            raise HookFailed(AFTER_ENDPOINT, f"{what} ({calls} calls of it failed)")

    async def create_missing(self, operation_id: str, present: int) -> list[dict[str, Any]]:
        """Create what a list lacks that shows `present` resources, if there is a hook for it.

        The resources whose uid the hook returned, as they were asked for; raises HookFailed.
        """
        hook, created = HOOKS[operation_id], list[dict[str, Any]]()
        if not self.provision.has(hook):
            return created
        wanted = wanted_resources(operation_id, self.words, secrets.token_hex(4))
        create = getattr(self.provision, hook)
        for fields in wanted[present:]:
            self.counts[hook] += 1
            try:
                uid = await create(self.project, fields)
            except HookFailed as failure:
                raise failure.masked(self.mask.quotation) from None
            if uid is not None:
                created.append({"uid": uid, **fields})
        return created
