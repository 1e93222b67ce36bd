"""What was created is removed by a hook, which is not called on and on if it fails."""

import asyncio
from collections.abc import Mapping
from typing import Any

from hookproof.conformance.target.definition import Project
from hookproof.conformance.target.hooks.created_endpoints import CreatedEndpoints
from hookproof.target.hooks.provision import HookFailed, HookFailures, Provision
from hookproof.target.hooks.removable_endpoints import MOST_FAILURES, REMOVED_AT_ONCE
from tests.conformance.canned_evidence import exchange

PROJECT = Project(id="p1", api_key="k")
MANY = 100


def created(count: int) -> CreatedEndpoints:
    endpoints = CreatedEndpoints()
    for number in range(count):
        answer = exchange(request={"is_disabled": number % 2 == 0}, data={"uid": f"e{number}"})
        endpoints.note(PROJECT, answer)
    return endpoints


def test_a_hook_that_fails_is_given_up_and_the_last_hook_is_called_all_the_same() -> None:
    calls: list[str] = []

    async def fails(arguments: Mapping[str, Any]) -> object:
        calls.append("remove")
        raise HookFailed("remove_endpoint", "it is forbidden")

    async def after_run(arguments: Mapping[str, Any]) -> object:
        calls.append("over")
        return None

    endpoints, failures = created(MANY), HookFailures()
    hooks = Provision(hooks={"remove_endpoint": fails, "after_run": after_run})
    asyncio.run(endpoints.clean_up(hooks, failures))
    assert calls[-1] == "over"
    assert MOST_FAILURES <= len(calls) - 1 <= MOST_FAILURES + REMOVED_AT_ONCE
    (words,) = failures.words
    assert words.startswith("remove_endpoint failed: it is forbidden; it failed ")
    left = endpoints.left_behind()
    assert (len(left.endpoints), left.active, left.removed) == (MANY, MANY // 2, 0)


def test_what_an_experiment_made_that_gets_broadcasts_is_removed_before_all_others() -> None:
    removed: list[Any] = []

    async def remove(arguments: Mapping[str, Any]) -> object:
        removed.append(arguments["endpoint"]["uid"])
        return None

    endpoints = CreatedEndpoints()
    for name, experiment, disabled in (("a", "roll", False), ("b", "roll", True), ("c", "", False)):
        answer = exchange(request={"is_disabled": disabled}, data={"uid": name})
        endpoints.note(PROJECT, answer, experiment)
    hooks, failures = Provision(hooks={"remove_endpoint": remove}), HookFailures()
    asyncio.run(endpoints.remove_active("roll", Provision(), failures))
    assert not removed
    asyncio.run(endpoints.remove_active("roll", hooks, failures))
    assert removed == ["a"]
    assert [each.uid for each in endpoints.left_behind().endpoints] == ["b", "c"]
    asyncio.run(endpoints.clean_up(hooks, failures))
    assert sorted(removed) == ["a", "b", "c"]


def test_answers_without_end_are_not_kept() -> None:
    endpoints = CreatedEndpoints()
    for uid in ("u" * 300, "u" * 100_000):
        endpoints.note(PROJECT, exchange(data={"uid": uid}))
    assert [each.uid for each in endpoints.left_behind().endpoints] == ["u" * 200, ""]


def test_of_a_long_answer_is_kept_what_tells_the_endpoint_apart() -> None:
    endpoints = CreatedEndpoints()
    endpoints.note(PROJECT, exchange(data={"uid": "u1", "owner_id": "o", "name": "x" * 100_000}))
    assert [each.shown for each in endpoints.created] == [{"uid": "u1", "owner_id": "o"}]


def test_an_owner_that_is_no_text_is_none() -> None:
    endpoints = CreatedEndpoints()
    for owner in ({"id": 1}, [1], 7, None):
        endpoints.note(PROJECT, exchange(data={"uid": f"{owner}", "owner_id": owner}))
    assert len(endpoints.left_behind().endpoints) == 4


def test_owners_and_names_of_runs_tell_the_endpoints_that_they_left() -> None:
    records = [
        {"uid": "a", "owner_id": "owner-0123456789abcdef"},
        {"uid": "b", "owner_id": "owner-doctor01234567"},
        {"uid": "c", "owner_id": "", "name": "hookproof load 7"},
        {"uid": "f", "name": "endpoint-0123456789abcde"},
        {"uid": "d", "owner_id": "owner-of-a-shop", "name": "mine"},
        {"uid": "e0", "owner_id": "owner-0123456789abcdee"},
    ]
    endpoints = created(1)
    endpoints.note(
        PROJECT,
        exchange("event", "createBroadcastEvent", data={"endpoint_metadata": records}),
    )
    assert endpoints.left_behind().earlier == 4, "neither a stranger's nor the run's own"
