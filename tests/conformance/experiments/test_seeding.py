"""Lists are filled by the hooks of a target, as far as these work."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import pytest

from hookproof.conformance.experiments.support.seeding import MOST_FAILURES, Seeding
from hookproof.conformance.target.client import ApiClient
from hookproof.conformance.target.definition import Project
from hookproof.conformance.target.hooks.noted_provision import noted_provision
from hookproof.spec.dialect.reader import load_dialect
from hookproof.target.hooks.provision import HookFailed, HookFailures, Provision
from hookproof.target.hooks.wanted_resources import ENOUGH, wanted_resources
from tests.conformance.canned_evidence import exchange

PROJECT = Project(id="p1", api_key="key")
WORDS = load_dialect("reference").words


class _EmptyList:
    """A client whose lists are empty."""

    async def call(self, operation_id: str, **_options: object) -> object:
        return exchange(operation_id=operation_id, data={"content": []}, status=200)


class _Hook:
    """A hook that fails for some types of sources."""

    def __init__(self, *failing: str) -> None:
        self.called: list[str] = []
        self._failing = failing

    async def __call__(self, given: Mapping[str, Any]) -> object:
        kind = given["source"]["type"]
        self.called.append(kind)
        if kind in self._failing:
            raise HookFailed("create_source", "it was answered 422:", "pub_sub is missing")
        return f"source-{len(self.called)}"


def fill(hook: _Hook) -> tuple[Seeding, HookFailures]:
    failures = HookFailures()
    provision = noted_provision(Provision(hooks={"create_source": hook}), failures, str)
    seeding = Seeding(provision, WORDS, "a1b2")

    async def twice() -> None:
        for _ in range(2):
            await seeding.fill(cast("ApiClient", _EmptyList()), "listSources", PROJECT)

    asyncio.run(twice())
    return seeding, failures


def test_a_list_is_filled_once() -> None:
    hook = _Hook()
    seeding, failures = fill(hook)
    assert len(hook.called) == len(seeding.created("listSources", PROJECT)) == ENOUGH
    assert (seeding.failure("listSources", PROJECT), failures.words) == ("", ())


def test_a_hook_that_fails_for_one_type_creates_the_others() -> None:
    hook = _Hook("pub_sub")
    seeding, failures = fill(hook)
    assert len(seeding.created("listSources", PROJECT)) == hook.called.count("http") == ENOUGH / 2
    assert "pub_sub is missing" in seeding.failure("listSources", PROJECT)
    assert "failed 3 times" in failures.words[0]


def test_a_hook_that_creates_nothing_is_given_up() -> None:
    hook = _Hook("http", "pub_sub")
    seeding, _ = fill(hook)
    assert len(hook.called) == MOST_FAILURES < ENOUGH
    assert seeding.created("listSources", PROJECT) == ()


@pytest.mark.parametrize("operation_id", ["listPortalLinks", "listSources"])
def test_names_are_in_another_order_than_the_times_of_creation(operation_id: str) -> None:
    names = [fields["name"] for fields in wanted_resources(operation_id, WORDS, "a1b2")]
    assert sorted(set(names)) != names
    assert sorted(set(names), reverse=True) != names
    assert len(set(names)) == ENOUGH
