"""What a list of the target shows, after a provision hook has filled it (sections 4.4 and 4.7)."""

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any

from hookproof.load.target.client import TargetClient
from hookproof.load.target.hook_calls import HookCalls
from hookproof.target.hooks.provision import HookFailed
from hookproof.target.hooks.wanted_resources import HOOKS


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledList:
    """A list operation at its path, and what may fill it; `left_out` is told if the hook fails."""

    operation_id: str
    path: str
    target: TargetClient
    hooks: HookCalls
    left_out: MutableMapping[str, str]

    async def fetch(self) -> list[Any]:
        """The resources that the list shows, and those whose uid only the hook has shown.

        Raises Unreachable and TargetRefusal.
        """
        listed, hook = await self._listed(), HOOKS[self.operation_id]
        calls = self.hooks.counts[hook]
        try:
            created = await self.hooks.create_missing(self.operation_id, len(listed))
        except HookFailed as failure:
            self.left_out[hook], created = str(failure), []
        if self.hooks.counts[hook] > calls:
            listed = await self._listed()
        uids = [resource.get("uid") for resource in listed if isinstance(resource, dict)]
        return [*listed, *(resource for resource in created if resource["uid"] not in uids)]

    async def _listed(self) -> list[Any]:
        content = (await self.target.call("GET", self.path)).get("content")
        return content if isinstance(content, list) else []
