"""The steps of a sequence: a broadcast is left out once endpoints of others would get it."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from hookproof.conformance.generation.operation_sequence import SequenceStep
from hookproof.conformance.subjects.sequences import experiment as sequences


@pytest.mark.parametrize("others_receive", [False, True])
async def test_no_broadcast_of_a_sequence_reaches_others(
    monkeypatch: pytest.MonkeyPatch, *, others_receive: bool
) -> None:
    called: list[str] = []

    async def call(operation_id: str, **_given: object) -> None:
        called.append(operation_id)

    async def fetch_list(_trial: object, operation_id: str) -> None:
        called.append(operation_id)

    monkeypatch.setattr(sequences, "fetch_list", fetch_list)
    bodies = SimpleNamespace(of=lambda _context: SimpleNamespace(broadcast=dict, event_value=str))
    monkeypatch.setattr(sequences, "RequestBodies", bodies)
    context = SimpleNamespace(
        why_unasked=lambda _operation_id: "", others_receive=lambda: others_receive
    )
    running = sequences._RunningSequence(
        cast("Any", context), cast("Any", SimpleNamespace(call=call)), {}
    )
    for operation_id in ("createBroadcastEvent", "listSources"):
        await running.run_step(SequenceStep(operation_id=operation_id))
    broadcasts = [] if others_receive else ["createBroadcastEvent"]
    assert called == [*broadcasts, "listSources"]
