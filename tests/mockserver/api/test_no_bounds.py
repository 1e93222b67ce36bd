"""Numbers and pages of any size, where the dialect has no bounds (section 8)."""

from typing import Any

from tests.mockserver.running_server import Server, run_against_server
from tests.spec.dialect_variants import variant


def test_numbers_may_be_large_where_the_dialect_has_no_bounds() -> None:
    async def scenario(server: Server) -> None:
        created = await server.create_endpoint(
            http_timeout=2**30, rate_limit=2**30, rate_limit_duration=2**30
        )
        for expiration in (-1, 2**31 - 1):
            rolled = await server.call(
                "expireEndpointSecret", target=created["uid"], body={"expiration": expiration}
            )
            assert server.is_success("expireEndpointSecret", rolled), rolled

    maxima = ("http_timeout", "rate_limit", "rate_limit_duration", "expiration")
    unbounded: dict[str, Any] = {f"requests.{name}_maximum": None for name in maxima}
    unbounded["requests.expiration_minimum"] = None
    unbounded["rolling.expiration_unit"] = "hours"
    run_against_server("reference", scenario, change=lambda _: variant(unbounded))


def test_a_page_may_be_of_any_size_where_the_dialect_has_no_largest_one() -> None:
    async def scenario(server: Server) -> None:
        for per_page in (101, 2**70):
            response = await server.call("listSources", query={"perPage": str(per_page)})
            assert server.is_success("listSources", response)

    answers = {"paging.maximum_per_page": None, "paging.above_maximum": "clamp"}
    run_against_server("reference", scenario, change=lambda _: variant(answers))
