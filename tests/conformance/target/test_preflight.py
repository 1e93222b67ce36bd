"""A target is refused before the run for what all its answers have in common, and for no less."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.target.circuit_breaker import Breaker
from hookproof.conformance.target.client import ApiClient
from hookproof.conformance.target.definition import Budgets, Project, Target
from hookproof.conformance.target.preflight import check_access, measure_round_trip_s, wait_for_rest
from hookproof.process.exit_codes import CommandError
from tests.conformance.canned_evidence import context, exchange
from tests.conformance.scripted_target import empty_page, response, stand_in

PROJECTS = tuple(Project(id=f"p{number}", api_key=f"key-p{number}") for number in (1, 2))


def refusal(answer: Callable[[bytes], bytes | None]) -> str | None:
    """Why a target that answers so is refused, if it is."""
    try:
        answer_time_s(answer)
    except CommandError as error:
        return str(error)
    return None


def answer_time_s(answer: Callable[[bytes], bytes | None]) -> float:
    """How long a target that answers so is found to take; raises CommandError if it is refused."""

    async def check(url: str) -> float:
        used = context()
        target = Target(base_url=url, projects=PROJECTS, dialect=used.dialect)
        async with ApiClient(
            url, used.contract, used.dialect, timeout_s=5, breaker=Breaker()
        ) as api:
            return await check_access(target, api)

    with stand_in(answer) as url:
        return asyncio.run(check(url))


def test_a_run_has_more_time_where_the_target_answers_slowly_and_none_was_given() -> None:
    def slow(head: bytes) -> bytes:
        time.sleep(0.3)  # how long this target takes
        return empty_page(head)

    answer_s = answer_time_s(slow)
    assert answer_s >= 0.3
    assert Budgets().of_the_run(answer_s) >= Budgets().of_the_run() + 300
    assert Budgets(total_s=7).of_the_run(answer_s) == 7


@pytest.mark.parametrize(
    ("durations", "median_s"), [([0.3, 0.1, 0.2, 0.5, 0.4], 0.3), ([1.5, 1.6], 1.55)]
)
def test_the_round_trip_is_the_median_of_a_few_requests_and_of_fewer_slow_ones(
    durations: list[float], median_s: float
) -> None:
    class Scripted(ApiClient):
        async def call(self, *_: object, **__: object) -> Exchange:
            return replace(exchange(), duration_s=left.pop(0))

    left, used = list(durations), context()
    api = Scripted("http://h", used.contract, used.dialect, timeout_s=1, breaker=Breaker())
    assert asyncio.run(measure_round_trip_s(Project(id="p", api_key="k"), api)) == median_s
    assert left == []


@pytest.mark.parametrize(
    ("first", "later", "waited_s"),
    [
        ([0.02, 0.03, 0.9], [], 0.0),
        ([0.05, 0.4, 2.3], [9.0, 4.0, 1.2, 0.2, 0.1, 0.05], 17.5),
        ([1.5, 1.6], [1.5] * 9, 10.0),
        ([3.5, 4.0], [2.0, 0.1, 0.1, 0.1], 4.3),
        ([0.05, 2.3], [2.3] * 99, 60.0),
        ([0.05, 2.3], [1.5, None], 2.0),
    ],
    ids=["quick", "grows", "slow by itself", "gets quicker", "does not rest", "gone"],
)
def test_a_target_that_is_busy_at_the_start_is_waited_for(
    first: list[float], later: list[float | None], waited_s: float
) -> None:
    now, left = [0.0], list(later)

    class BusyClient(ApiClient):
        async def call(self, *_: object, **__: object) -> Exchange:
            took_s = left.pop(0)
            now[0] += took_s or 0.0
            answer = exchange(status=None) if took_s is None else exchange()
            return replace(answer, duration_s=took_s or 0.0)

    async def sleep(seconds: float) -> None:
        now[0] += seconds

    used = context()
    api = BusyClient("http://h", used.contract, used.dialect, timeout_s=1, breaker=Breaker())
    project = Project(id="p", api_key="k")
    rest = asyncio.run(wait_for_rest(project, api, first, 60.0, lambda: now[0], sleep))
    assert rest.waited_s == pytest.approx(waited_s, abs=2.5)
    if not waited_s:
        assert rest.words == ""
    else:
        assert rest.words.startswith(f"waited {rest.waited_s:.0f} s for the target to come to rest")


def test_deliveries_of_a_target_that_is_far_away_have_more_time() -> None:
    far = Budgets(delivery_s=10, quiet_s=2, request_s=3).over(0.5)
    assert far == Budgets(delivery_s=11.5, quiet_s=3.5, request_s=3)


def test_requests_that_may_not_come_fast_have_more_time() -> None:
    paced = Budgets(requests_per_s=20)
    assert paced.of_the_run(requests=2000) == Budgets().of_the_run(requests=2000) + 100
    assert Budgets(requests_per_s=20, total_s=7).of_the_run(requests=2000) == 7


def but(part: bytes, answer: bytes | None) -> Callable[[bytes], bytes | None]:
    """Empty pages, but this answer to requests whose head has this part."""
    return lambda head: answer if part in head else empty_page(head)


@pytest.mark.parametrize("status", [401, 404, 500, 503, 302])
def test_one_list_that_is_broken_is_for_the_run_to_judge(status: int) -> None:
    assert refusal(but(b"/sources", response(status))) is None
    assert refusal(but(b"/portal-links", response(status))) is None


def test_one_list_without_an_answer_or_an_envelope_is_for_the_run_to_judge() -> None:
    assert refusal(but(b"/sources", None)) is None
    assert refusal(but(b"/sources", response(200, b'{"content":[]}'))) is None
    assert refusal(but(b"/sources", response(200, b"<html></html>"))) is None


def test_a_target_without_lists_is_judged_by_what_it_has() -> None:
    """It says so in `capabilities`, and creates endpoints."""

    def answer(head: bytes) -> bytes:
        if head.startswith(b"POST"):
            return response(422, b'{"status":false,"message":"url is missing"}')
        return response(404, b'{"status":false,"message":"no such path"}')

    assert refusal(answer) is None


def test_lists_that_are_refused_beside_an_operation_that_works_are_for_the_run_to_judge() -> None:
    def answer(head: bytes) -> bytes:
        if head.startswith(b"POST"):
            return response(422, b'{"status":false,"message":"url is missing"}')
        return response(401, b'{"status":false,"message":"not yours"}')

    assert refusal(answer) is None


@pytest.mark.parametrize("status", [401, 403])
def test_the_key_of_another_project_is_refused_by_its_name(status: int) -> None:
    assert str(refusal(but(b"/p2/", response(status)))).startswith(
        f"the target refused the key of project 'p2' with {status}"
    )


def test_a_further_project_whose_first_list_alone_is_refused_is_for_the_run_to_judge() -> None:
    assert refusal(but(b"/p2/sources", response(403))) is None


def test_an_unknown_endpoint_that_is_found_is_only_refused_if_it_is_the_same_page() -> None:
    page = empty_page(b"")
    found = response(200, b'{"status":true,"message":"","data":{"uid":"e1"}}')
    assert refusal(but(b"/endpoints/", found)) is None
    assert "every request is answered alike" in str(refusal(lambda _: page))
