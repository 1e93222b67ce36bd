"""Answers of dialects that no shipped dialect has."""

from typing import Any

from tests.mockserver.running_server import Server, run_against_server
from tests.spec.dialect_variants import variant


def under(scenario: Any, answers: dict[str, Any]) -> None:
    run_against_server("reference", scenario, change=lambda _: variant(answers))


def test_a_duplicate_may_show_the_first_event_flagged() -> None:
    async def scenario(server: Server) -> None:
        body = {"event_type": "a", "data": {}, "idempotency_key": "k"}
        first = await server.call("createBroadcastEvent", body=body)
        again = await server.call("createBroadcastEvent", body=body)
        assert again.data == {**first.data, "is_duplicate_event": True}

    under(scenario, {"idempotency.duplicate": "flagged_first_event"})


def test_a_cursor_may_be_refused_where_other_parameters_fall_back() -> None:
    async def scenario(server: Server) -> None:
        sorted_oddly = await server.call("listSources", query={"sort": "SIDEWAYS"})
        assert server.is_success("listSources", sorted_oddly)
        cursor = {"direction": "next", "next_page_cursor": "no-such-cursor"}
        refused = await server.call("listSources", query=cursor)
        assert server.is_refusal(refused, server.dialect.errors.invalid_value.value)

    under(scenario, {"paging.bad_parameter": "default", "paging.bad_cursor": "refuse"})


def test_a_code_in_an_error_body_may_vary() -> None:
    async def scenario(server: Server) -> None:
        codes = set()
        for target, body in (("unknown", None), ("unknown", {"expiration": "no"})):
            operation = "getEndpoint" if body is None else "expireEndpointSecret"
            response = await server.call(operation, target=target, body=body)
            codes.add(response.body["code"])
        assert len(codes) == 2

    under(scenario, {"errors.body": {"code": "{any}", "text": "{message}"}})
