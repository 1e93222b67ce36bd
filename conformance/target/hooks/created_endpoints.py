"""The endpoints that were created at the target, and what becomes of them after a run.

The document has no operation that removes or disables one, so that they stay, unless a hook of the
user removes them. Their URLs lead nowhere once the receiver has ended.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.ledger import LeftBehind, LeftEndpoint
from hookproof.conformance.target.definition import Project
from hookproof.conformance.target.hooks.hook_failures import HookFailures
from hookproof.target.hooks.provision import HookFailed, Provision

REMOVE: Final = "remove_endpoint"
AFTER_RUN: Final = "after_run"
# How many endpoints are removed at once, and how long all of it may take, in seconds.
REMOVED_AT_ONCE: Final = 8
CLEANED_WITHIN_S: Final = 60.0
# After so many failures the hook is not called any more.
MOST_FAILURES: Final = 3
# In bytes; an answer that is longer is not kept. Nor is more of a uid, in characters.
LONGEST_KEPT: Final = 65536
LONGEST_UID: Final = 200
# The owners and names that runs give their endpoints: `check` and `learn`, the doctor, `load`.
OWNER: Final = re.compile(r"owner-(?:[0-9a-f]{15,16}|doctor[0-9a-f]{8})")
NAME: Final = re.compile(r"endpoint-(?:[0-9a-f]{15,16}|doctor[0-9a-f]{8})|hookproof load .*")


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovableEndpoint:
    project: Project
    shown: Mapping[str, Any]
    is_disabled: bool

    @property
    def uid(self) -> str:
        """As the answer to the creation shows it; empty if it does not."""
        uid = self.shown.get("uid")
        return uid[:LONGEST_UID] if isinstance(uid, str) else ""

    @property
    def owner(self) -> str:
        """As the answer to the creation shows it; empty if it does not, or shows no text."""
        owner = self.shown.get("owner_id")
        return owner if isinstance(owner, str) else ""


@dataclass(slots=True)
class CreatedEndpoints:
    """Notes what is created, and the endpoints of earlier runs that broadcasts reach; shared by all
    that call the target in a run.
    """

    created: list[RemovableEndpoint] = field(default_factory=list)
    removed: list[RemovableEndpoint] = field(default_factory=list)
    # Of runs of Hookproof, as broadcasts showed them: the owners by uid.
    _reached: dict[str, object] = field(default_factory=dict)

    def note(self, project: Project, exchange: Exchange) -> None:
        """Note what an exchange shows."""
        if not exchange.succeeded:
            return
        if exchange.operation_id == "createEndpoint":
            sent = exchange.request_json
            is_disabled = isinstance(sent, dict) and bool(sent.get("is_disabled"))
            is_kept = (
                isinstance(exchange.data, dict) and len(exchange.response_body) <= LONGEST_KEPT
            )
            shown = exchange.data if is_kept else {}
            self.created.append(
                RemovableEndpoint(project=project, shown=shown, is_disabled=is_disabled)
            )
        elif exchange.operation_id == "createBroadcastEvent":
            self._reached |= dict(_of_runs(exchange.data))

    def add(self, others: "CreatedEndpoints") -> None:
        """Note what others have noted, too."""
        self.created += others.created
        self.removed += others.removed
        self._reached |= others._reached  # noqa: SLF001 its own class

    def left_behind(self) -> LeftBehind:
        """What is left at the target."""
        own = [*self.created, *self.removed]
        uids = {endpoint.uid for endpoint in own}
        owners = {endpoint.owner for endpoint in own if endpoint.owner}
        earlier = [
            uid for uid, owner in self._reached.items() if uid not in uids and owner not in owners
        ]
        return LeftBehind(
            endpoints=tuple(
                LeftEndpoint(project=each.project.id, uid=each.uid, is_disabled=each.is_disabled)
                for each in self.created
            ),
            removed=len(self.removed),
            earlier=len(earlier),
        )

    async def clean_up(self, provision: Provision, failures: HookFailures) -> None:
        """Call the hooks that remove what was created, and the one that ends a run.

        What is removed is no longer among `created`.
        """
        try:
            async with asyncio.timeout(CLEANED_WITHIN_S):
                if provision.has(REMOVE):
                    await self._remove_all(provision, failures)
                await provision.after_run()
        except TimeoutError:
            failures.note(HookFailed(AFTER_RUN, f"it was not over within {CLEANED_WITHIN_S:g} s"))
        except HookFailed as failure:
            failures.note(failure)

    @asynccontextmanager
    async def cleaned_up(self, provision: Provision, failures: HookFailures) -> AsyncIterator[None]:
        """Clean up at the end of the block, however it ends."""
        try:
            yield
        finally:
            await self.clean_up(provision, failures)

    async def _remove_all(self, provision: Provision, failures: HookFailures) -> None:
        left, failed = list(self.created), list[HookFailed]()

        async def remove_some() -> None:
            while left and len(failed) < MOST_FAILURES:
                endpoint = left.pop()
                try:
                    await provision.remove_endpoint(endpoint.project, endpoint.shown)
                except HookFailed as failure:
                    failed.append(failure)
                    failures.note(failure)
                else:
                    self.created.remove(endpoint)
                    self.removed.append(endpoint)

        await asyncio.gather(*(remove_some() for _ in range(REMOVED_AT_ONCE)))


def _of_runs(event: object) -> Iterator[tuple[str, object]]:
    """The uid and the owner of each endpoint of a run that an event reached, as far as shown."""
    records = event.get("endpoint_metadata") if isinstance(event, dict) else None
    for record in records if isinstance(records, list) else ():
        if isinstance(record, dict) and isinstance(uid := record.get("uid"), str):
            owner, name = (str(record.get(field) or "") for field in ("owner_id", "name"))
            if OWNER.fullmatch(owner) or NAME.fullmatch(name):
                yield uid, owner
