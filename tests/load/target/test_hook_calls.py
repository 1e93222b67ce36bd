"""The hooks of a load run: called for each endpoint, and their failures reported once."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from hookproof.load.target.client import TargetClient
from hookproof.load.target.hook_calls import MOST_FAILURES, HookCalls, LoadedProject
from hookproof.load.target.preparation import FilledList
from hookproof.load.target.settings import target_settings
from hookproof.target.hooks.provision import Hook, HookFailed, Provision
from hookproof.target.settings import Flags

SETTINGS = target_settings(Flags(), {})
HOOK = "after_endpoint_created"
PROJECT = LoadedProject(id="p", api_key="k")


def hook_calls(**hooks: Hook) -> HookCalls:
    settings = replace(
        SETTINGS, provision=Provision(hooks=hooks), project=PROJECT.id, api_key=PROJECT.api_key
    )
    return HookCalls.of(settings)


class Recorded:
    """A hook that records its arguments, and fails for these calls, counted from 1."""

    def __init__(self, *failing: int) -> None:
        self.arguments: list[Mapping[str, Any]] = []
        self._failing = failing

    async def __call__(self, arguments: Mapping[str, Any]) -> object:
        self.arguments.append(arguments)
        number = len(self.arguments)
        if number in self._failing:
            raise HookFailed(HOOK, f"number {number}")
        return f"uid-{number}"


async def _call(calls: HookCalls, endpoints: int) -> None:
    for number in range(endpoints):
        await calls.after_endpoint_created({"uid": number})
    calls.check_endpoints()


def test_the_hook_is_called_for_each_endpoint_with_the_project() -> None:
    hook = Recorded()
    calls = hook_calls(after_endpoint_created=hook)
    asyncio.run(_call(calls, 3))
    project = {"id": "p", "api_key": "k"}
    assert hook.arguments == [
        {"project": project, "endpoint": {"uid": number}} for number in range(3)
    ]
    assert calls.counts == {HOOK: 3}


def test_a_target_without_the_hook_needs_none() -> None:
    calls = hook_calls()
    asyncio.run(_call(calls, 3))
    assert not calls.counts


@pytest.mark.parametrize(
    ("failing", "endpoints", "message"),
    [
        ((2,), 4, "number 2 (1 of 4 calls of it failed)"),
        ((2, 4), 4, "number 2 (2 of 4 calls of it failed)"),
        (
            tuple(range(1, 100)),
            10_000,
            f"number 1 ({MOST_FAILURES} of {MOST_FAILURES} calls of it failed)",
        ),
    ],
    ids=["one", "two", "all of very many"],
)
def test_failures_are_one_message_with_their_count(
    failing: tuple[int, ...], endpoints: int, message: str
) -> None:
    calls = hook_calls(after_endpoint_created=Recorded(*failing))
    with pytest.raises(HookFailed) as failed:
        asyncio.run(_call(calls, endpoints))
    assert str(failed.value) == f"the provision hook {HOOK} failed: {message}"


class CannedLists(TargetClient):
    """Answers the list with one page after the other, the last one indefinitely."""

    def __init__(self, *pages: list[object]) -> None:
        super().__init__(SETTINGS, hook_calls().mask)
        self._pages = list(pages)

    async def call(
        self, method: str, path: str, body: object = None, *, needs_data: bool = True
    ) -> Mapping[str, Any]:
        page = self._pages.pop(0) if len(self._pages) > 1 else self._pages[0]
        return {"content": page}


def fetched(calls: HookCalls, *pages: list[object]) -> tuple[list[Any], dict[str, str]]:
    left_out: dict[str, str] = {}
    filled = FilledList(
        operation_id="listPortalLinks",
        path="/links",
        target=CannedLists(*pages),
        hooks=calls,
        left_out=left_out,
    )
    return asyncio.run(filled.fetch()), left_out


def test_a_short_list_is_filled_and_what_it_does_not_show_is_found_by_its_uid() -> None:
    hook = Recorded()
    listed, left_out = fetched(
        hook_calls(create_portal_link=hook), [{"uid": "old"}], [{"uid": "old"}, {"uid": "uid-1"}]
    )
    assert len(hook.arguments) == 5, "a page of six was to be filled"
    assert [link["uid"] for link in listed] == ["old", *(f"uid-{n}" for n in range(1, 6))]
    assert left_out == {}


def test_a_list_that_is_long_enough_is_left_as_it_is() -> None:
    hook = Recorded()
    page: list[object] = [{"uid": str(number)} for number in range(7)]
    assert fetched(hook_calls(create_portal_link=hook), page) == (page, {})
    assert not hook.arguments


def test_a_hook_that_fails_is_left_out_and_the_list_is_used_as_it_is() -> None:
    hook = Recorded(1)
    listed, left_out = fetched(hook_calls(create_portal_link=hook), [{"uid": "old"}])
    assert listed == [{"uid": "old"}]
    assert left_out == {"create_portal_link": f"the provision hook {HOOK} failed: number 1"}
    assert len(hook.arguments) == 1


def reached(*records: dict[str, Any]) -> bytes:
    """The answer to a broadcast whose event reaches these endpoints."""
    return json.dumps({"data": {"uid": "event", "endpoint_metadata": records}}).encode()


LOADED = {"name": "hookproof load 0"}


@pytest.mark.parametrize(
    ("answers", "earlier"),
    [
        ([reached({"uid": "own", **LOADED})], 0),
        ([reached({"uid": "own", **LOADED}, {"uid": "other", **LOADED})], 1),
        ([reached({"uid": "other", **LOADED}), reached({"uid": "other", **LOADED})], 1),
        ([reached({"uid": "theirs", "name": "orders"})], 0),
        ([reached({"uid": "of check", "owner_id": "owner-0123456789abcdef"})], 1),
        ([b"", b"{", b"[]", reached({"name": "hookproof load 0"}, {"uid": 7, **LOADED})], 0),
    ],
)
def test_endpoints_of_earlier_runs_are_those_that_look_like_it_and_are_not_its_own(
    answers: list[bytes], earlier: int
) -> None:
    calls = hook_calls()
    calls.note_created({"uid": "own"}, is_disabled=False)
    calls.note_created({"uid": "spare"}, is_disabled=True)
    for answer in answers:
        calls.note_reached(answer)
    assert calls.left_at_target()["earlier"] == earlier


def test_an_endpoint_whose_creation_shows_no_uid_is_no_earlier_one() -> None:
    calls = hook_calls()
    calls.note_created({}, is_disabled=False)
    calls.note_reached(reached({"uid": "own", **LOADED}, {"uid": "other", **LOADED}))
    assert calls.left_at_target()["earlier"] == 1
