"""A duplicate that a service refuses as one leaves what is delivered to be judged."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.support.existing_resources import require_success
from hookproof.conformance.model.evidence import PreconditionFailed
from hookproof.conformance.subjects.idempotency.evidence import DUPLICATE
from hookproof.conformance.subjects.idempotency.experiment import same_key
from tests.conformance.canned_evidence import context_with, exchange


class RefusingScenario:
    """Duplicates are answered with this status."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.trial = SimpleNamespace(exchanges=[])
        self.bodies = SimpleNamespace(word=lambda stem: stem)
        self.dialect = context_with({"idempotency.duplicate_status": 409}).dialect

    async def broadcast(self, name: str, **fields: Any) -> str:
        status = self.status if name == DUPLICATE else 201
        answer = exchange(name, "createBroadcastEvent", status=status, request=fields)
        self.trial.exchanges.append(answer)
        require_success(answer)
        return name

    def new_marker(self) -> str:
        return "marker"

    async def destination(self, name: str) -> str:
        return name

    async def await_arrival(self, *_awaited: str) -> None: ...

    async def await_silence(self) -> None: ...

    async def observe(self, kind: type) -> type:
        return kind


def repeated(status: int) -> Any:
    return asyncio.run(same_key(cast("Scenario", RefusingScenario(status))))


@pytest.mark.parametrize("status", [201, 409])
def test_a_duplicate_may_be_refused_as_the_dialect_says(status: int) -> None:
    assert repeated(status).__name__ == "DuplicateBroadcast"


@pytest.mark.parametrize("status", [400, 429, 500])
def test_what_is_refused_for_another_reason_is_no_duplicate(status: int) -> None:
    with pytest.raises(PreconditionFailed, match=f"createBroadcastEvent was answered {status}"):
        repeated(status)
