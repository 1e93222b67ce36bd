"""Creates the resources that a project needs for its lists to be judged, through the provision
hooks (sections 2.6 and 2.7).
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from hookproof.conformance.experiments.support.existing_resources import content
from hookproof.conformance.model.evidence import PreconditionFailed
from hookproof.conformance.target.client import ApiClient
from hookproof.conformance.target.definition import Project
from hookproof.spec.dialect.model import Words
from hookproof.target.hooks.provision import Provision
from hookproof.target.hooks.wanted_resources import HOOKS, wanted_resources

# A hook that has failed so often, and never created anything, is not called again: it may take its
# whole time each time.
MOST_FAILURES: Final = 2


class Seeding:
    """Fills each list once, however many experiments ask for it."""

    def __init__(self, provision: Provision, words: Words, nonce: str) -> None:
        self._provision = provision
        self._words = words
        self._nonce = nonce
        self._filling: dict[tuple[str, str], asyncio.Lock] = {}
        self._filled: set[tuple[str, str]] = set()
        self._failures: dict[tuple[str, str], str] = {}
        self._created: dict[tuple[str, str], list[str]] = {}

    async def fill(self, api: ApiClient, operation_id: str, project: Project) -> None:
        """Create what a list lacks, once, if there is a hook for it.

        A hook that fails for one kind of resource may create others; one that has created nothing
        is given up. Raises HookFailed for a hook of the embedded server.
        """
        key = (operation_id, project.id)
        if not self._provision.has(HOOKS[operation_id]) or key in self._filled:
            return
        async with self._filling.setdefault(key, asyncio.Lock()):
            if key not in self._filled:
                await self._create_missing(api, operation_id, project)
                self._filled.add(key)

    def failure(self, operation_id: str, project: Project) -> str:
        """How the hook failed that was to fill a list; empty if it did not."""
        return self._failures.get((operation_id, project.id), "")

    def created(self, operation_id: str, project: Project) -> tuple[str, ...]:
        """The identifiers of what was created for a list, as far as the hook returned them."""
        return tuple(self._created.get((operation_id, project.id), ()))

    async def _create_missing(self, api: ApiClient, operation_id: str, project: Project) -> None:
        key = operation_id, project.id
        page = await api.call(operation_id, role="seeding", project=project)
        try:
            # What a list hides, wholly or by showing no uid, is created too: it can be retrieved.
            present = len(content(page))
        except PreconditionFailed as failed:
            self._failures[key] = str(failed)
            return
        created = self._created.setdefault(key, [])
        works, failures = False, 0
        for fields in wanted_resources(operation_id, self._words, self._nonce)[present:]:
            try:
                uid = await self._create(operation_id, project, fields)
            except PreconditionFailed as failed:  # what the list shows can be judged
                self._failures.setdefault(key, str(failed))
                failures += 1
                if failures == MOST_FAILURES and not works:
                    return
                continue
            works = True
            if uid is not None:
                created.append(uid)

    async def _create(
        self, operation_id: str, project: Project, fields: Mapping[str, Any]
    ) -> str | None:
        if operation_id == "listSources":
            return await self._provision.create_source(project, fields)
        return await self._provision.create_portal_link(project, fields)
