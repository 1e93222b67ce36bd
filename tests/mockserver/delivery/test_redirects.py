"""Redirects that are followed, where the dialect says so."""

import pytest

from hookproof.mockserver.delivery.store_port import DeliveryState
from tests.mockserver.delivery.endpoints import (
    LoopbackAuthority,
    answering,
    reply,
)
from tests.mockserver.delivery.engines import PROMPT, dialect
from tests.mockserver.delivery.memory_store import settings
from tests.mockserver.delivery.scenario import running


@pytest.mark.parametrize(("status", "method"), [(302, "GET"), (307, "POST")])
async def test_a_redirect_is_followed_where_the_dialect_says_so(
    authority: LoopbackAuthority, status: int, method: str
) -> None:
    redirect = reply(status, "Location: /elsewhere")
    answers = dialect(retry={**PROMPT, "redirect": "followed"})
    async with running(authority, answering(redirect, reply(200)), answers) as (store, endpoint):
        store.endpoints["e"] = settings("e", f"{endpoint.url}/e")
        delivery = store.accept("e")
        await store.until_final()
        assert store.states[delivery] is DeliveryState.DELIVERED
        first, second = endpoint.arrived
        assert (second.target, second.method) == ("/elsewhere", method)
        assert second.body == (first.body if method == "POST" else b"")


@pytest.mark.parametrize("location", ["/e", "http://127.0.0.1:9/", "", "https://["])
async def test_a_redirect_that_leads_nowhere_is_a_failure(
    authority: LoopbackAuthority, location: str
) -> None:
    redirect = reply(302, f"Location: {location}")
    answers = dialect(retry={**PROMPT, "attempts": 1, "redirect": "followed"})
    async with running(authority, answering(redirect), answers) as (store, endpoint):
        store.endpoints["e"] = settings("e", f"{endpoint.url}/e")
        delivery = store.accept("e")
        await store.until_final()
        assert store.states[delivery] is DeliveryState.EXHAUSTED
        assert len(endpoint.arrived) <= 6
