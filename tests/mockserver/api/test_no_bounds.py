"""Numbers and pages of any size, where the dialect has no bounds (section 8)."""

from typing import Any

from tests.mockserver.running_server import run_server
from tests.spec.dialect_variants import variant


async def test_numbers_may_be_large_where_the_dialect_has_no_bounds() -> None:
    maxima = ("http_timeout", "rate_limit", "rate_limit_duration", "expiration")
    unbounded: dict[str, Any] = {f"requests.{name}_maximum": None for name in maxima}
    unbounded["requests.expiration_minimum"] = None
    unbounded["rolling.expiration_unit"] = "hours"
    async with run_server("reference", change=lambda _: variant(unbounded)) as server:
        created = await server.create_endpoint(
            http_timeout=2**30, rate_limit=2**30, rate_limit_duration=2**30
        )
        for expiration in (-1, 2**31 - 1):
            rolled = await server.call(
                "expireEndpointSecret", target=created["uid"], body={"expiration": expiration}
            )
            assert server.is_success("expireEndpointSecret", rolled), rolled


async def test_a_page_may_be_of_any_size_where_the_dialect_has_no_largest_one() -> None:
    answers = {"paging.maximum_per_page": None, "paging.above_maximum": "clamp"}
    async with run_server("reference", change=lambda _: variant(answers)) as server:
        for per_page in (101, 2**70):
            response = await server.call("listSources", query={"perPage": str(per_page)})
            assert server.is_success("listSources", response)
