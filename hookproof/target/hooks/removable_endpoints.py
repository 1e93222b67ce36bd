"""The endpoints that a run has created at the target, and what becomes of them afterwards.

The document has no operation that removes or disables one, so that they stay, unless a hook of the
user removes them. Their URLs lead nowhere once the receiver has ended.
"""

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from hookproof.process.subprocesses import to_its_end
from hookproof.target.hooks.provision import HookFailed, HookFailures, KeyedProject, Provision

REMOVE: Final = "remove_endpoint"
AFTER_RUN: Final = "after_run"
# How many endpoints are removed at once, and how long all of it may take, in seconds.
REMOVED_AT_ONCE: Final = 8
CLEANED_WITHIN_S: Final = 60.0
# After so many failures the hook is not called any more.
MOST_FAILURES: Final = 3
# More of a uid is not kept, in characters.
LONGEST_UID: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovableEndpoint:
    """An endpoint as the answer to its creation shows it; `shown` is empty if it shows nothing.

    `creator` is the experiment that created it, if one did.
    """

    project: KeyedProject
    shown: Mapping[str, Any]
    is_disabled: bool
    creator: str = ""

    @property
    def uid(self) -> str:
        """Empty if it is not shown."""
        uid = self.shown.get("uid")
        return uid[:LONGEST_UID] if isinstance(uid, str) else ""

    @property
    def owner(self) -> str:
        """Empty if it is not shown or is not a string."""
        owner = self.shown.get("owner_id")
        return owner if isinstance(owner, str) else ""


@dataclass(slots=True)
class RemovableEndpoints:
    """What a run has created and is still there, and what a hook has removed of it."""

    created: list[RemovableEndpoint] = field(default_factory=list)
    removed: list[RemovableEndpoint] = field(default_factory=list)
    _failures: int = 0

    async def remove_active(
        self, creator: str, provision: Provision, failures: HookFailures
    ) -> None:
        """Remove what an experiment has created that gets broadcasts, if a hook removes endpoints:
        else the events of all others would be delivered there too.
        """
        if provision.has(REMOVE):
            active = [
                each for each in self.created if each.creator == creator and not each.is_disabled
            ]
            await self._remove(active, provision, failures)

    async def clean_up(self, provision: Provision, failures: HookFailures) -> None:
        """Call the hooks that remove what was created, and the one that ends a run.

        What is removed is no longer among `created`.
        """
        try:
            async with asyncio.timeout(CLEANED_WITHIN_S):
                if provision.has(REMOVE):
                    await self._remove(self.created, provision, failures)
                await provision.after_run()
        except TimeoutError:
            failures.note(HookFailed(AFTER_RUN, f"it was not over within {CLEANED_WITHIN_S:g} s"))
        except HookFailed as failure:
            failures.note(failure)

    @asynccontextmanager
    async def cleaned_up(self, provision: Provision, failures: HookFailures) -> AsyncIterator[None]:
        """Clean up at the end of the block, however it ends; an interrupt does not cut that."""
        try:
            yield
        finally:
            await to_its_end(self.clean_up(provision, failures))

    async def _remove(
        self,
        endpoints: Iterable[RemovableEndpoint],
        provision: Provision,
        failures: HookFailures,
    ) -> None:
        left = deque(endpoints)

        async def remove_some() -> None:
            while left and self._failures < MOST_FAILURES:
                endpoint = left.popleft()  # the first is found at once among `created`
                try:
                    await provision.remove_endpoint(endpoint.project, endpoint.shown)
                except HookFailed as failure:
                    self._failures += 1
                    failures.note(failure)
                else:
                    self.created.remove(endpoint)
                    self.removed.append(endpoint)

        await asyncio.gather(*(remove_some() for _ in range(REMOVED_AT_ONCE)))


# The owners and names that runs give their endpoints: `check` and `learn`, the doctor, `load`.
OWNER: Final = re.compile(r"owner-(?:[0-9a-f]{15,16}|doctor[0-9a-f]{8})")
NAME: Final = re.compile(r"endpoint-(?:[0-9a-f]{15,16}|doctor[0-9a-f]{8})|hookproof load .*")


def endpoints_of_runs(event: object) -> Iterator[tuple[str, str]]:
    """The uid and the owner of each endpoint of a run, as far as the answer to a broadcast shows
    them. What a run creates stays at the target, and gets the events of every later one.
    """
    records = event.get("endpoint_metadata") if isinstance(event, dict) else None
    for record in records if isinstance(records, list) else ():
        if isinstance(record, dict) and isinstance(uid := record.get("uid"), str):
            owner, name = (str(record.get(field) or "") for field in ("owner_id", "name"))
            if OWNER.fullmatch(owner) or NAME.fullmatch(name):
                yield uid[:LONGEST_UID], owner


def slowing_words(count: int) -> str:
    """A sentence that says that endpoints of earlier runs slow this one; empty without any."""
    if not count:
        return ""
    get = "endpoint that earlier runs left gets"
    if count > 1:
        get = "endpoints that earlier runs left get"
    return (
        f"{count:,} {get} each event of this one too, which slows its deliveries: remove"
        f" {'them' if count > 1 else 'it'}, or use other projects"
    )
