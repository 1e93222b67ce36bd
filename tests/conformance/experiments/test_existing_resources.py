"""What a project holds already: how it is found, why not, and what an update of it names."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.experiments.support import existing_resources
from hookproof.conformance.experiments.support.existing_resources import (
    kept_fields,
    put_back_afterwards,
    why_list_is_empty,
    why_no_uid,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.target.circuit_breaker import RunOver
from hookproof.spec.dialect.reader import load_dialect
from tests.conformance.canned_evidence import exchange


def bodies_requiring(*fields: str) -> RequestBodies:
    dialect = load_dialect("reference")
    requests = replace(dialect.requests, update_portal_link_requires=fields)
    return RequestBodies(
        dialect=replace(dialect, requests=requests), random=random.Random(0), word=str
    )


def test_a_required_field_that_is_false_is_kept() -> None:
    link = {"name": "portal", "can_manage_endpoint": False, "owner_id": "owner"}
    bodies = bodies_requiring("name", "can_manage_endpoint")
    assert kept_fields(bodies, link) == {"name": "portal", "can_manage_endpoint": False}


def test_a_required_field_without_a_value_is_not_kept() -> None:
    assert kept_fields(bodies_requiring("name", "owner_id"), {"name": "", "owner_id": None}) == {}


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (
            exchange("asked", "listPortalLinks", status=401),
            "named under fixtures in target.yaml",
        ),
        (exchange("asked", "listPortalLinks", data=None), "no array data.content"),
        (exchange("asked", "listPortalLinks", data={"content": {}}), "no array data.content"),
        (
            exchange("asked", "listPortalLinks", data={"content": [{"name": "a"}, {"name": "b"}]}),
            "showed no uid in data.content",
        ),
        (exchange("asked", "listPortalLinks", data={"content": []}), "hook create_portal_link"),
        (exchange("asked", "listSources", data={"content": []}), "hook create_source"),
    ],
    ids=["refused", "null", "object", "no uid", "no portal link", "no source"],
)
def test_the_reason_for_finding_nothing_is_what_the_list_answered(
    page: Exchange, reason: str
) -> None:
    found = why_list_is_empty(page)
    assert reason in found
    assert "would help" in found or "target.yaml" in found


def test_the_reason_for_an_unknown_uid_is_the_answer_or_what_it_lacks() -> None:
    refused = exchange("asked", "createEndpoint", status=422)
    assert why_no_uid(refused) == "createEndpoint was answered 422"
    assert "shows no uid" in why_no_uid(exchange("asked", "createEndpoint", status=201, data={}))


async def refuse_to_send(*_: object) -> None:
    raise RunOver


def test_nothing_is_put_back_when_the_run_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(existing_resources, "put_back", refuse_to_send)
    ended: Any = None

    async def links() -> AsyncGenerator[int, None]:
        async with put_back_afterwards(ended, ended, {"uid": "link"}):
            yield 1
            raise RunOver

    async def close_early() -> None:
        async with aclosing(links()) as started:
            async for _ in started:
                break

    asyncio.run(close_early())

    async def go_to_the_end() -> None:
        async for _ in links():
            pass

    with pytest.raises(RunOver):
        asyncio.run(go_to_the_end())
