"""What follows an attempt, by its answer or its silence."""

import asyncio
import random
from typing import Any, Final, cast

import pytest

from hookproof.mockserver.delivery.attempt.sender import AttemptResult
from hookproof.mockserver.delivery.scheduling.outcomes import Outcomes
from hookproof.mockserver.delivery.scheduling.retry import RetryRules
from hookproof.mockserver.delivery.store_port import (
    DeliveryState,
    DeliveryStore,
    Failure,
    PendingDelivery,
)
from hookproof.mockserver.faults.operators.generation import find_generated_fault
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect
from tests.mockserver.delivery.endpoints import OK, EndpointRequest, LoopbackAuthority, reply
from tests.mockserver.delivery.engines import dialect
from tests.mockserver.delivery.memory_store import MemoryStore
from tests.mockserver.faults.operators.delivery_scenario import (
    ScenarioContext,
    generated,
    run_scenario,
)

REFERENCE: Final = load_dialect("reference")
CONTRARY: Final = load_dialect("contrary")
PENDING, DELIVERED, EXHAUSTED = (
    DeliveryState.PENDING,
    DeliveryState.DELIVERED,
    DeliveryState.EXHAUSTED,
)
RESULTS: Final = {
    "timeout": AttemptResult(failure=Failure.TIMEOUT),
    "reset": AttemptResult(failure=Failure.CONNECTION, detail="the connection broke"),
    "refused": AttemptResult(failure=Failure.CONNECTION, detail="no connection to it"),
    "tls": AttemptResult(failure=Failure.TLS),
    "protocol": AttemptResult(failure=Failure.PROTOCOL),
    **{str(status): AttemptResult(status=status) for status in (200, 204, 302, 404, 429, 503)},
}


def delivery(attempts: int) -> PendingDelivery:
    return PendingDelivery(
        id=1,
        event_uid="event",
        event_type="a",
        endpoint_uid="e",
        body=b"{}",
        custom_headers={},
        attempts=attempts,
        due_at=0.0,
    )


def states(part: type[Outcomes], attempts: int) -> dict[str, DeliveryState]:
    """What becomes of a delivery after an attempt with each result, after so many others."""
    rules = RetryRules(REFERENCE.retry, lambda: 0.0, random.Random(1))
    outcomes = part(cast("DeliveryStore", MemoryStore()), rules, REFERENCE, lambda: 0.0)
    return {
        name: outcomes.record_attempt(delivery(attempts), result, 0.0).state
        for name, result in RESULTS.items()
    }


def part_of(name: str) -> Any:
    return find_generated_fault(name, REFERENCE).defect.part()


@pytest.mark.parametrize(
    ("answer", "final"),
    [
        *((name, {name}) for name in RESULTS if name not in ("200", "204")),
        ("3xx", {"302"}),
        ("4xx", {"404", "429"}),
        ("5xx", {"503"}),
    ],
)
def test_an_attempt_that_ends_so_is_the_last_one(answer: str, final: set[str]) -> None:
    clean, faulty = (
        states(Outcomes, 0),
        states(part_of(f"final_answer@delivery.answered.{answer}"), 0),
    )
    assert {name for name in RESULTS if clean[name] is not faulty[name]} == final
    assert all(faulty[name] is EXHAUSTED for name in final)


@pytest.mark.parametrize(("when", "earlier"), [("first", 0), ("retry", 1)])
def test_a_success_is_repeated_once(when: str, earlier: int) -> None:
    part = part_of(f"success_repeated@delivery.answered.204:when={when}")
    for attempts in range(3):
        clean, faulty = states(Outcomes, attempts), states(part, attempts)
        changed = {name for name in RESULTS if clean[name] is not faulty[name]}
        assert changed == ({"204"} if attempts == earlier else set())
        assert faulty["204"] is (PENDING if attempts == earlier else DELIVERED)


@pytest.mark.parametrize(
    ("name", "anyway", "otherwise", "reason"),
    [
        ("final_answer@delivery.answered.302", CONTRARY, REFERENCE, "count as a success"),
        ("final_answer@delivery.answered.204", REFERENCE, CONTRARY, "count as a success"),
        (
            "success_repeated@delivery.answered.204:when=first",
            CONTRARY,
            REFERENCE,
            "count as a failure",
        ),
    ],
)
def test_what_the_dialect_does_anyway_is_equivalent(
    name: str, anyway: Dialect, otherwise: Dialect, reason: str
) -> None:
    assert reason in find_generated_fault(name, anyway).defect.equivalent
    assert find_generated_fault(name, otherwise).is_fault


@pytest.mark.parametrize(
    "name",
    ["final_answer@delivery.answered.302", "success_repeated@delivery.answered.302:when=first"],
)
def test_where_the_dialect_allows_both_neither_is_a_fault(name: str) -> None:
    either = dialect(retry={"redirect": {"one_of": ["failure", "success"]}})
    assert find_generated_fault(name, either).defect.equivalent


def test_redirects_with_one_status_are_followed(authority: LoopbackAuthority) -> None:
    async def answer(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
        _, status, *end = request.target.split("/")
        host = request.header("Host")
        location = f"Location: https://{host}/{status}/end"
        writer.write(OK if end else reply(int(status), location))

    async def scenario(context: ScenarioContext) -> None:
        for status in (301, 307, 308):
            await context.create(f"/{status}")
        await context.broadcast("one")
        await context.endpoint.wait_for_requests(12)

    fault = generated("redirect_followed@delivery.answered.307")
    arrived = run_scenario(authority, scenario, *fault, responder=answer)
    assert {one.target for one in arrived} == {"/301", "/307", "/307/end", "/308"}
