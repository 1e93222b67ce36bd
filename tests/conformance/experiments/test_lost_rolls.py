"""A service that loses some of its rolls: they are repeated in place, and the finding counts."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.secrets import experiment as roll_answers
from hookproof.conformance.subjects.secrets.experiment import (
    PAIRS,
    REPEATED,
    _roll_and_fetch,
    _roll_at_once,
)
from hookproof.conformance.subjects.secrets.laws import RACE
from hookproof.spec.dialect.reader import load_dialect
from tests.conformance.canned_evidence import exchange, judgements

Gather = Callable[[ExperimentContext, RequestBodies], Awaitable[Evidence]]


class LosingService:
    """Answers each roll rightly, and stores it unless `loses` says otherwise of its number."""

    def __init__(self, loses: Mapping[int, bool]) -> None:
        self._loses = loses
        self.rolls = 0
        self._secrets: dict[str, list[dict[str, Any]]] = {}

    async def call(
        self, operation_id: str, *, role: str, body: Any, path: Mapping[str, str], **_more: Any
    ) -> Exchange:
        uid = path.get("endpointID") or f"e{len(self._secrets) + 1}"
        known = self._secrets.setdefault(uid, [])
        if operation_id == "createEndpoint":
            known.append({"uid": f"first of {uid}", "value": body["secret"]})
        answered = list(known)
        if operation_id == "expireEndpointSecret":
            self.rolls += 1
            ended = [{**each, "expires_at": "2026-01-01T00:00:00Z"} for each in known]
            answered = [*ended, {"uid": f"s{self.rolls}", "value": body["secret"]}]
            if not self._loses.get(self.rolls, False):
                self._secrets[uid] = answered
        data = {"uid": uid, "secrets": answered}
        return exchange(role, operation_id, data=data, request=body, path=path)


def observed(service: LosingService, gather: Gather) -> Any:
    """What part of the experiment observes of the service."""

    async def observe() -> Any:
        loop, dialect = asyncio.get_running_loop(), load_dialect("reference")
        words = (f"word-{number}" for number in range(1000))

        def trial(name: str) -> Trial:
            nothing = cast("Any", None)
            project = cast("Any", SimpleNamespace(id="p1"))
            return Trial(
                experiment="any",
                name=name,
                api=cast("Any", service),
                receiver=nothing,
                project=project,
            )

        fake = cast(
            "ExperimentContext",
            SimpleNamespace(
                dialect=dialect,
                random=random.Random(0),
                word=lambda _stem: next(words),
                answering_url="",
                lacking_fields=frozenset,
                lacking_mechanisms=frozenset,
                loop=loop,
                trial=trial,
            ),
        )
        return await gather(fake, RequestBodies.of(fake))

    return asyncio.run(observe())


def judged(service: LosingService) -> Judgement:
    """What the check says of one roll, as the experiment makes it."""

    async def roll_once(fake: ExperimentContext, bodies: RequestBodies) -> Evidence:
        roll = {"secret": bodies.secret(), "expiration": bodies.lasting_expiration()}
        return await _roll_and_fetch(fake, bodies, "everything given", [roll])

    (judgement,) = judgements("4.3-13", observed(service, roll_once))
    return judgement


def test_a_roll_that_shows_is_not_repeated() -> None:
    service = LosingService({})
    assert judged(service).verdict is Verdict.PASS
    assert service.rolls == 1


@pytest.mark.parametrize(
    ("loses", "message", "words"),
    [
        ({1: True}, RACE, f"lost once in {REPEATED + 1} rolls; a race"),
        ({1: True, 5: True}, RACE, f"lost 2 times in {REPEATED + 1} rolls; a race"),
        (
            dict.fromkeys(range(100), True),
            "A roll does not show when the endpoint is fetched",
            f"lost {REPEATED + 1} times in {REPEATED + 1} rolls",
        ),
    ],
    ids=["once", "twice", "always"],
)
def test_a_roll_that_is_lost_is_repeated_and_counted(
    loses: Mapping[int, bool], message: str, words: str
) -> None:
    lost = judged(LosingService(loses))
    assert (lost.verdict, lost.message) == (Verdict.FAIL, message)
    assert words in lost.actual


@pytest.mark.parametrize(
    ("loses", "rolls", "words"),
    [
        ({}, 2 + 2 * PAIRS, ""),
        ({3: True, 8: True}, 2 + 2 * PAIRS, f"lost in 2 of {PAIRS} pairs of rolls; a race"),
        (dict.fromkeys(range(3, 100, 2), True), 2 + 2 * PAIRS, f"lost in {PAIRS} of {PAIRS} pairs"),
        # Two rolls in turn show nothing of both secrets, so that no others are sent.
        ({1: True}, 2, None),
    ],
)
def test_pairs_of_rolls_at_the_same_time_are_counted(
    loses: Mapping[int, bool], rolls: int, words: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roll_answers, "LATER_S", 0.0)
    service = LosingService(loses)
    evidence = observed(service, _roll_at_once)
    said = list(judgements("4.3-13", evidence))
    assert service.rolls == rolls
    assert len(said) == (words is not None)
    assert all((words or "") in each.actual for each in said)
    assert all((each.verdict is Verdict.FAIL) == bool(words) for each in said)
