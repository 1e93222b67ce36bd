"""The generator makes the same requests of every kind for the same seed, and they are made harmless
before they are sent.
"""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.generation import generators
from hookproof.conformance.generation.generators import (
    GENERATORS_NICENESS,
    KEPT_IN,
    GeneratedRequest,
    GeneratorFailed,
    RequestGenerators,
)
from hookproof.conformance.subjects.sweep.experiment import HarmlessRequests
from hookproof.process.subprocesses import send_signal
from hookproof.spec.contract.service_contract import OPERATION_IDS
from tests.conformance.canned_evidence import context

pytestmark = pytest.mark.usefixtures("nothing_kept")

Generate = Callable[[RequestGenerators], AsyncGenerator[Any, None]]

EXAMPLES = 4
LEAST_PRIORITY = 19

CONTINUES_AFTER_SIGINT = """
import asyncio, json, signal, sys
from hookproof.conformance.generation.generators import RequestGenerators
signal.signal(signal.SIGINT, lambda *_: None)
async def count():
    number = 0
    async with RequestGenerators() as generators:
        async for _ in generators.requests(json.load(sys.stdin), seed=7, examples=4):
            number += 1
            if number == 1:
                print("first", flush=True)
    print(number)
asyncio.run(count())
"""


def generate(document: dict[str, Any], seed: int = 7) -> list[GeneratedRequest]:
    async def collect() -> list[GeneratedRequest]:
        async with RequestGenerators() as generators:
            requests = generators.requests(document, seed=seed, examples=EXAMPLES)
            return [request async for request in requests]

    return asyncio.run(collect())


@pytest.fixture(scope="module")
def requests() -> list[GeneratedRequest]:
    return generate(context().contract.document)


def preparation(known: dict[str, Sequence[str]], dialect: str = "reference") -> HarmlessRequests:
    counter = iter(range(1_000_000))
    bodies = RequestBodies(
        dialect=context(dialect).dialect,
        random=random.Random(0),
        word=lambda stem: f"{stem}-{next(counter)}",
    )
    return HarmlessRequests(bodies=bodies, known=known, random=random.Random(0))


def create(body: Any) -> GeneratedRequest:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return GeneratedRequest(
        operation_id="createEndpoint",
        path_parameters={},
        query="",
        headers=(),
        content=content,
        phase="fuzzing",
        valid=True,
        aim="",
    )


def small_document() -> dict[str, Any]:
    """The contract with two of its operations, which takes less time."""
    document = context().contract.document
    paths = {
        path: item
        for path, item in document["paths"].items()
        if path.endswith(("broadcast", "{endpointID}"))
    }
    return {**document, "paths": paths}


def test_the_seed_alone_decides_which_requests_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    first = generate(small_document())
    assert generate(small_document()) == first
    monkeypatch.setenv("CI", "true")
    assert generate(small_document()) == first
    assert generate(small_document(), seed=8) != first


def test_the_operation_that_comes_first_gets_the_same_requests_as_elsewhere() -> None:
    async def collect(first: str) -> list[GeneratedRequest]:
        async with RequestGenerators() as generators:
            arguments = {"seed": 7, "examples": EXAMPLES, "first": first}
            return [each async for each in generators.requests(small_document(), **arguments)]

    ordered = asyncio.run(collect("createBroadcastEvent"))
    operations = [request.operation_id for request in ordered]
    assert operations == sorted(operations, key=lambda each: each != "createBroadcastEvent")
    usual = asyncio.run(collect(""))
    assert sorted(usual, key=lambda each: each.operation_id != "createBroadcastEvent") == ordered
    assert usual != ordered


def test_every_operation_gets_requests_of_every_phase(requests: list[GeneratedRequest]) -> None:
    phases = ("examples", "coverage", "fuzzing")
    assert {(request.operation_id, request.phase) for request in requests} == set(
        product(OPERATION_IDS, phases)
    )


def test_valid_and_invalid_requests_are_made(requests: list[GeneratedRequest]) -> None:
    counts = Counter(request.valid for request in requests)
    assert min(counts[True], counts[False]) > len(requests) // 10


def test_the_contract_accepts_every_valid_body(requests: list[GeneratedRequest]) -> None:
    contract = context().contract
    bodies = [
        (request.operation_id, json.loads(request.content))
        for request in requests
        if request.valid and request.content is not None
    ]
    assert bodies
    for operation_id, body in bodies:
        assert contract.request_problems(operation_id, body) == ()


def test_generated_requests_carry_no_key_and_no_header_of_the_generator(
    requests: list[GeneratedRequest],
) -> None:
    names = {name.lower() for request in requests for name, _ in request.headers}
    assert names == {"content-type"}


def test_most_requests_name_existing_resources(requests: list[GeneratedRequest]) -> None:
    known = {"endpointID": ["e1", "e2"], "portalLinkID": ["l1"]}
    uids = [
        value
        for request in map(preparation(known).prepared, requests)
        for name, value in request.path_parameters.items()
        if name in known
    ]
    existing = [uid for uid in uids if uid in {"e1", "e2", "l1"}]
    assert len(uids) / 2 < len(existing) < len(uids)


def test_what_was_generated_is_kept_for_the_same_arguments(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(KEPT_IN, str(tmp_path))
    first = generate(small_document())
    assert len(list(tmp_path.iterdir())) == 1
    monkeypatch.setattr(sys, "executable", "no such program")
    assert generate(small_document()) == first
    with pytest.raises(FileNotFoundError):
        generate(small_document(), seed=8)


def test_nothing_is_kept_of_an_iteration_that_was_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(KEPT_IN, str(tmp_path))
    leave_early()
    assert list(tmp_path.iterdir()) == []


def test_the_iteration_can_be_left_early() -> None:
    assert leave_early() == 1


def test_the_generators_give_way_once_the_first_requests_are_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    priorities = []

    def end(process: asyncio.subprocess.Process, number: int) -> None:
        priorities.append(os.getpriority(os.PRIO_PROCESS, process.pid))
        send_signal(process, number)

    monkeypatch.setattr("hookproof.process.subprocesses.send_signal", end)
    leave_early(small_sequences)
    leave_early(small_requests)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert priorities == [own, min(own + GENERATORS_NICENESS, LEAST_PRIORITY)]


def test_one_process_generates_as_one_for_each_would() -> None:
    async def collect() -> tuple[list[Any], ...]:
        async with RequestGenerators(at_once=True) as generators:

            async def items(generate: Generate) -> list[Any]:
                return [item async for item in generate(generators)]

            kinds = (small_requests, small_links, small_sequences)
            together = await asyncio.gather(*map(items, kinds))
            alone = [await items(generate) for generate in kinds]
        return [*map(len, together)], together, alone

    lengths, together, alone = asyncio.run(collect())
    assert together == alone
    assert min(lengths) > 1
    assert together[0] == generate(small_document())


def test_a_few_sequences_do_not_wait_for_all_requests() -> None:
    async def collect() -> list[str]:
        ended = []

        async def note(name: str, generate: Generate) -> None:
            async for _ in generate(generators):
                pass
            ended.append(name)

        async with RequestGenerators() as generators:
            await asyncio.gather(
                note("requests", small_requests), note("sequences", small_sequences)
            )
        return ended

    assert asyncio.run(collect()) == ["sequences", "requests"]


def test_the_process_begins_before_it_is_needed_if_nothing_may_be_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    begun = []

    @asynccontextmanager
    async def process(*words: str, **_options: Any) -> AsyncIterator[None]:
        begun.append(words[-1])
        raise OSError("is not to begin")
        yield

    async def enter(*, at_once: bool) -> int:
        async with RequestGenerators(at_once=at_once):
            await asyncio.sleep(0)
        return len(begun)

    monkeypatch.setattr(generators, "subprocess_killed_at_end", process)
    assert asyncio.run(enter(at_once=False)) == 0
    assert asyncio.run(enter(at_once=True)) == 1
    monkeypatch.setenv(KEPT_IN, str(tmp_path))
    assert asyncio.run(enter(at_once=True)) == 1


def small_requests(generators: RequestGenerators) -> AsyncGenerator[GeneratedRequest, None]:
    return generators.requests(small_document(), seed=7, examples=EXAMPLES)


def small_links(generators: RequestGenerators) -> AsyncGenerator[Any, None]:
    document = context().contract.document
    return generators.linked(document, seed=7, sequences=6, steps=4)


def small_sequences(generators: RequestGenerators) -> AsyncGenerator[Any, None]:
    return generators.sequences(seed=1, sequences=9, steps=9, portal_links=1)


def leave_early(generate: Generate = small_requests) -> int:
    """Leave the iteration after the first item; the number of tasks afterwards."""

    async def leave() -> int:
        async with RequestGenerators() as generators, aclosing(generate(generators)) as generated:
            async for _ in generated:
                break
        return len(asyncio.all_tasks())

    return asyncio.run(leave())


def test_a_document_that_is_not_openapi_ends_in_a_one_line_error() -> None:
    with pytest.raises(GeneratorFailed, match=r"^a generator failed: .+"):
        generate({"openapi": 3})


def test_what_others_generate_outlives_a_generator_that_fails() -> None:
    async def collect() -> int:
        async with RequestGenerators() as generators:
            with pytest.raises(GeneratorFailed):
                await anext(generators.requests({"openapi": 3}, seed=1, examples=1))
            return len([steps async for steps in small_sequences(generators)])

    assert asyncio.run(collect()) > 1


def test_the_end_of_their_process_is_the_failure_of_all_generators() -> None:
    async def collect() -> list[object]:
        async with RequestGenerators() as generators:
            begun = small_requests(generators)
            await anext(begun)
            process = generators._process
            assert process is not None
            send_signal((await process)._process, signal.SIGKILL)
            rest = [asyncio.create_task(exhaust(each)) for each in (begun, small_links(generators))]
            return await asyncio.gather(*rest, return_exceptions=True)

    async def exhaust(generated: AsyncGenerator[Any, None]) -> None:
        async for _ in generated:
            pass

    for failure in asyncio.run(collect()):
        assert isinstance(failure, GeneratorFailed)
        assert str(failure) == "the generators' process ended with -9: no message"


def test_urls_and_addresses_are_moved_to_reserved_names() -> None:
    body = {
        "url": "https://bank.example/pay?x=1",
        "slack_webhook_url": "http://chat.example",
        "support_email": "a@b.example",
        "authentication": {"oauth2": {"url": "https://[::1"}},
        "is_disabled": True,
    }
    content = preparation({}).prepared(create(body)).content
    assert content is not None
    assert json.loads(content) == {
        "url": "https://host.invalid/bank.example%2Fpay%3Fx%3D1",
        "slack_webhook_url": "http://host.invalid/chat.example",
        "support_email": "a@b.example.invalid",
        "authentication": {"oauth2": {"url": "https://host.invalid/%5B%3A%3A1"}},
        "is_disabled": True,
    }


def test_reserved_names_stay_as_they_are() -> None:
    body = {"url": "https://one.invalid/hook", "support_email": "a@b.invalid", "is_disabled": True}
    assert (
        preparation({}).prepared(create(body)).content
        == json.dumps(body, separators=(",", ":")).encode()
    )


@pytest.mark.parametrize("given", [{}, {"is_disabled": False}])
def test_a_generated_endpoint_is_disabled(given: dict[str, Any]) -> None:
    content = preparation({}).prepared(create(given)).content
    assert json.loads(content or b"") == {"is_disabled": True}


def test_a_wrong_value_stays_wrong() -> None:
    content = preparation({}).prepared(create({"is_disabled": "perhaps"})).content
    assert json.loads(content or b"") == {"is_disabled": "perhaps"}


def test_a_generated_endpoint_stays_enabled_where_disabling_would_not_stop_deliveries() -> None:
    content = preparation({}, "contrary").prepared(create({})).content
    assert json.loads(content or b"") == {}


@pytest.mark.parametrize("content", [b"{", b"[1]", b""])
def test_a_body_that_is_not_an_object_is_sent_unchanged(content: bytes) -> None:
    assert preparation({}).prepared(create(content)).content == content


def test_an_interrupt_from_the_terminal_does_not_reach_the_generating_process() -> None:
    document = small_document()
    with subprocess.Popen(
        [sys.executable, "-c", CONTINUES_AFTER_SIGINT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(document))
        process.stdin.close()
        assert process.stdout.readline() == "first\n"
        # A terminal sends the signal to the whole process group too.
        os.killpg(process.pid, signal.SIGINT)
        assert int(process.stdout.read()) == len(generate(document))
