"""The four hooks of a target, in whichever way they are written, and what they are called with.

    provision = Provision(hooks={"create_portal_link": hook})
    if provision.has("create_portal_link"):
        uid = await provision.create_portal_link(project, {"name": "Orders", "owner_id": "owner-1"})

A hook is called with a project and a resource, both JSON objects, and gives back what it made.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

# Takes its arguments by name; raises HookFailed.
Hook = Callable[[Mapping[str, Any]], Awaitable[object]]


class KeyedProject(Protocol):
    """A project and a key that opens it (section 5), as far as a hook is told of it."""

    @property
    def id(self) -> str:
        """Its identifier."""

    @property
    def api_key(self) -> str:
        """A key that opens it."""


class HookFailed(Exception):
    """A hook raised, took too long, or gave back something else than it should; one line says which
    hook and what.
    """

    def __init__(self, hook: str, what: str) -> None:
        super().__init__(f"the provision hook {hook} failed: {' '.join(what.split())}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provision:
    """The hooks of a target by name; a target without any is judged by what it holds already."""

    hooks: Mapping[str, Hook] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Whether the target has this hook."""
        return name in self.hooks

    async def create_portal_link(
        self, project: KeyedProject, fields: Mapping[str, Any]
    ) -> str | None:
        """Make a portal link (section 2.6); its uid, or None if the hook does not tell; raises
        HookFailed.
        """
        return _uid(
            "create_portal_link",
            await self._call("create_portal_link", project, portal_link=fields),
        )

    async def create_source(self, project: KeyedProject, fields: Mapping[str, Any]) -> str | None:
        """Make a source (section 2.7); its uid, or None if the hook does not tell; raises
        HookFailed.
        """
        return _uid("create_source", await self._call("create_source", project, source=fields))

    async def after_endpoint_created(
        self, project: KeyedProject, endpoint: Mapping[str, Any]
    ) -> None:
        """Do what an endpoint needs besides its creation to receive; nothing without the hook;
        raises HookFailed.
        """
        if self.has("after_endpoint_created"):
            await self._call("after_endpoint_created", project, endpoint=endpoint)

    async def fresh_project(self) -> dict[str, str]:
        """The `id` and the `api_key` of a project that nobody else uses; raises HookFailed."""
        made = await self.hooks["fresh_project"]({})
        named = (
            {name: made.get(name) for name in ("id", "api_key")}
            if isinstance(made, Mapping)
            else {}
        )
        texts = {name: value for name, value in named.items() if isinstance(value, str) and value}
        if len(texts) != len(named) or not texts:
            raise HookFailed(
                "fresh_project", "it did not give back an id and an api_key, both of them texts"
            )
        return texts

    async def _call(
        self, name: str, project: KeyedProject, **resource: Mapping[str, Any]
    ) -> object:
        return await self.hooks[name](
            {"project": {"id": project.id, "api_key": project.api_key}, **resource}
        )


def _uid(name: str, made: object) -> str | None:
    """The identifier in what a hook gave back: a text, an object with a uid, or nothing."""
    uid = made.get("uid") if isinstance(made, Mapping) else made
    if uid is None or (isinstance(uid, str) and uid):
        return uid
    raise HookFailed(
        name, f"it gave back {uid!r:.80} where a uid, an object with a uid or nothing was expected"
    )
