"""The sweep broadcasts first, beside the rest, and what it has sent counts where the run is cut."""

import asyncio
import random
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hookproof.conformance.generation.generators import GeneratedRequest
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.subjects.sweep import experiment as sweep

BROADCASTS, OTHERS = 3, sweep.IN_FLIGHT + 1


def generated(operation_id: str) -> GeneratedRequest:
    return GeneratedRequest(
        operation_id=operation_id,
        path_parameters={},
        query="",
        headers=(),
        content=None,
        phase="fuzzing",
        valid=True,
        aim="",
    )


class Harmless:
    def prepared(self, request: GeneratedRequest) -> GeneratedRequest:
        return request


async def first_kinds(
    monkeypatch: pytest.MonkeyPatch,
    may_broadcast: asyncio.Event,
    count: int,
    *,
    others_receive: bool = False,
) -> list[str | None]:
    """The operations of the first so many requests whose evidence is there; None of one that was
    not sent.
    """

    async def requests(_document: object, **options: Any) -> AsyncGenerator[GeneratedRequest, None]:
        assert options["first"] == sweep.BROADCAST
        for operation_id in [sweep.BROADCAST] * BROADCASTS + ["listSources"] * OTHERS:
            yield generated(operation_id)
        await asyncio.Event().wait()  # more would follow

    async def send_and_observe(_context: Any, _trial: Any, request: GeneratedRequest) -> str:
        if request.operation_id == sweep.BROADCAST:
            await may_broadcast.wait()
        return request.operation_id

    monkeypatch.setattr(sweep, "_send_and_observe", send_and_observe)
    context = SimpleNamespace(
        contract=SimpleNamespace(document={}),
        generators=SimpleNamespace(requests=requests),
        random=random.Random(0),
        profile=Profile.QUICK,
        why_unasked=lambda _operation_id: "",
        trial=lambda _name: None,
        others_receive=lambda: others_receive,
    )
    observed = sweep._send_generated(cast("Any", context), cast("Any", Harmless()))
    kinds = [cast("str | None", await asyncio.wait_for(anext(observed), 60)) for _ in range(count)]
    await observed.aclose()
    return kinds


def test_broadcasts_that_were_sent_count_before_the_sweep_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def sweep_freely() -> list[str | None]:
        may_broadcast = asyncio.Event()
        may_broadcast.set()
        return await first_kinds(monkeypatch, may_broadcast, BROADCASTS + 2)

    assert asyncio.run(sweep_freely()).count(sweep.BROADCAST) == BROADCASTS


def test_broadcasts_that_wait_hold_up_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    async def sweep_while_broadcasts_wait() -> list[str | None]:
        return await first_kinds(monkeypatch, asyncio.Event(), 2)

    assert asyncio.run(sweep_while_broadcasts_wait()) == ["listSources"] * 2


def test_no_broadcast_is_sent_that_endpoints_of_others_would_get(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def sweep_late() -> list[str | None]:
        return await first_kinds(monkeypatch, asyncio.Event(), BROADCASTS + 1, others_receive=True)

    assert set(asyncio.run(sweep_late())) == {None, "listSources"}
