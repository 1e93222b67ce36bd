"""The hooks of a target, however they are written, and their arguments.

    provision = Provision(hooks={"create_portal_link": hook})
    if provision.has("create_portal_link"):
        uid = await provision.create_portal_link(project, {"name": "Orders", "owner_id": "owner-1"})

A hook is called with a project and a resource, both JSON objects, and returns what it created.
"""

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

# In characters.
LONGEST_QUOTED: Final = 200

# Called with its arguments by name; raises HookFailed.
Hook = Callable[[Mapping[str, Any]], Awaitable[object]]


class KeyedProject(Protocol):
    """What a hook receives of a project: its id and an API key (section 5)."""

    @property
    def id(self) -> str: ...

    @property
    def api_key(self) -> str: ...


class HookFailed(Exception):
    """A hook raised, timed out, or returned something unexpected; the message is one line.

    It ends with the beginning of what is `quoted`. All of that is kept until it is masked: of a
    credential at the cut, the beginning could not be recognised.
    """

    def __init__(self, hook: str, what: str, quoted: str = "") -> None:
        self.hook = hook
        self._said, self._quoted = what, quoted
        self.what = " ".join(f"{what} {_beginning(quoted)}".split())
        super().__init__(f"the provision hook {hook} failed: {self.what}")

    def masked(self, mask: Callable[[str], str]) -> "HookFailed":
        """The same failure, with what was quoted masked."""
        return HookFailed(self.hook, f"{mask(self._said)} {_beginning(mask(self._quoted))}")


def _beginning(quoted: str) -> str:
    return " ".join(quoted.split())[:LONGEST_QUOTED]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provision:
    """The hooks of a target by name; a target without any is judged with its existing resources."""

    hooks: Mapping[str, Hook] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        return name in self.hooks

    def without(self, *names: str) -> "Provision":
        """The same hooks but these."""
        return Provision(
            hooks={name: hook for name, hook in self.hooks.items() if name not in names}
        )

    async def create_portal_link(
        self, project: KeyedProject, fields: Mapping[str, Any]
    ) -> str | None:
        """Create a portal link (section 2.6); its uid, or None if the hook returns none; raises
        HookFailed.
        """
        return _uid(
            "create_portal_link",
            await self._call("create_portal_link", project, portal_link=fields),
        )

    async def create_source(self, project: KeyedProject, fields: Mapping[str, Any]) -> str | None:
        """Create a source (section 2.7); its uid, or None if the hook returns none; raises
        HookFailed.
        """
        return _uid("create_source", await self._call("create_source", project, source=fields))

    async def after_endpoint_created(
        self, project: KeyedProject, endpoint: Mapping[str, Any]
    ) -> None:
        """Do what an endpoint needs besides its creation to receive deliveries, if there is such a
        hook; raises HookFailed.
        """
        if self.has("after_endpoint_created"):
            await self._call("after_endpoint_created", project, endpoint=endpoint)

    async def remove_endpoint(self, project: KeyedProject, endpoint: Mapping[str, Any]) -> None:
        """Remove an endpoint, as its creation showed it; raises HookFailed."""
        await self._call("remove_endpoint", project, endpoint=endpoint)

    async def after_run(self) -> None:
        """Do what is to be done when a run is over, if there is such a hook; raises HookFailed."""
        if self.has("after_run"):
            await self.hooks["after_run"]({})

    async def fresh_project(self) -> dict[str, str]:
        """The `id` and the `api_key` of a project that is not used otherwise; raises HookFailed."""
        result = await self.hooks["fresh_project"]({})
        named = (
            {name: result.get(name) for name in ("id", "api_key")}
            if isinstance(result, Mapping)
            else {}
        )
        texts = {name: value for name, value in named.items() if isinstance(value, str) and value}
        if len(texts) != len(named) or not texts:
            raise HookFailed(
                "fresh_project", "it did not return an id and an api_key, both of them texts"
            )
        return texts

    async def _call(
        self, name: str, project: KeyedProject, **resource: Mapping[str, Any]
    ) -> object:
        return await self.hooks[name](
            {"project": {"id": project.id, "api_key": project.api_key}, **resource}
        )


def _uid(name: str, result: object) -> str | None:
    """The identifier in what a hook returned: a text, an object with a uid, or nothing."""
    uid = result.get("uid") if isinstance(result, Mapping) else result
    if uid is None or (isinstance(uid, str) and uid):
        return uid
    raise HookFailed(
        name,
        "where a uid, an object with a uid or nothing was expected, it returned",
        _written(uid),
    )


def _written(value: object) -> str:
    """A value as JSON, in which credentials are recognised, if it is such a value."""
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


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
