"""What becomes of two updates at the same time."""

import asyncio
from typing import Any, Final

import pytest

from hookproof.mockserver.faults.operators.generation import find_generated_fault
from hookproof.spec.dialect.reader import load_dialect
from tests.mockserver.running_server import run_server

REFERENCE: Final = load_dialect("reference")
# Two updates at the same time, and what is left of the first one.
FIRST: Final = {
    "owner_id": "new owner",
    "auth_type": REFERENCE.words.portal_auth_types[1],
    "can_manage_endpoint": True,
}


@pytest.mark.parametrize("field", ["", *FIRST])
def test_an_update_is_lost_to_another_at_the_same_time(field: str) -> None:
    name = f"update_lost@updatePortalLink.taken.{field}"
    faults = [find_generated_fault(name, REFERENCE).fault()] if field else []

    async def run() -> tuple[dict[str, Any], dict[str, Any]]:
        async with run_server(faults=faults) as server:
            link = await server.create_portal_link(name="before", owner_id="owner")

            async def update(**fields: Any) -> Any:
                body = {"name": "after", **fields}
                return await server.call("updatePortalLink", target=link["uid"], body=body)

            await asyncio.gather(update(**FIRST), update())
            at_once = (await server.call("getPortalLink", target=link["uid"])).data
            await update(**FIRST)
            await update()
            return at_once, (await server.call("getPortalLink", target=link["uid"])).data

    at_once, in_turn = asyncio.run(run())
    assert {name for name, value in FIRST.items() if at_once[name] != value} <= {field}
    assert {name: in_turn[name] for name in FIRST} == FIRST
    if field:
        assert at_once[field] != FIRST[field]


def test_an_update_cannot_lose_what_the_dialect_has_not() -> None:
    for dialect_name, field in (("reference", "name"), ("contrary", "endpoints")):
        name = f"update_lost@updatePortalLink.taken.{field}"
        assert find_generated_fault(name, load_dialect(dialect_name)).defect.equivalent
