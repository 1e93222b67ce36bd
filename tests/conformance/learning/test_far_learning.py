"""`hookproof learn` of a target that is far away learns nothing that a near one does not teach."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hookproof.conformance.learning.deliveries.gathering import gather_deliveries
from hookproof.conformance.learning.deliveries.listener import DeliverySession
from hookproof.conformance.learning.deliveries.readings import read_deliveries
from hookproof.conformance.learning.gathering import evidence_runner
from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.learning.learner import IN_TURN, MOST_S, time_for
from hookproof.conformance.learning.probes.rolls import probe_default_expiration, shown_window_s
from hookproof.conformance.learning.probing import approach
from hookproof.conformance.learning.session import ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.target.definition import Target
from hookproof.conformance.target.environment import open_environment
from hookproof.conformance.target.file import target_from
from hookproof.spec.dialect.reader import load_dialect
from hookproof.target.settings import Flags
from tests.conformance.canned_evidence import NOW, exchange
from tests.conformance.learning_score import Outcome, scores
from tests.conformance.reference_server import reference_server
from tests.conformance.run.test_far_targets import unused_port
from tests.relays import long_way
from tests.source_tree import ROOT

DIALECT = "contrary"
ONE_WAY_S = 0.1
WAITED_S = 20.0
TRIES = 3
SEEN = {
    "delivery.excess",
    "delivery.rate_limit_unit",
    "delivery.creation_visit",
    "retry.attempts",
    "retry.success",
    "signatures.simple.header",
    "signatures.advanced.header",
}


@contextmanager
def far_target(folder: Path, *, one_way_s: float) -> Iterator[Target]:
    """A reference server that is so far away, for its API and for its deliveries."""
    with (
        reference_server(folder, ROOT, "p1", options=("--dialect", DIALECT)) as server,
        unused_port() as port,
        long_way(server["api"], one_way_s=one_way_s) as api,
        long_way(f"https://127.0.0.1:{port}", one_way_s=one_way_s) as deliveries,
    ):
        flags = Flags(
            url=api.url,
            project="p1",
            api_key="key-p1",
            dialect=DIALECT,
            ca_dir=folder / "ca",
            receiver_bind=f"127.0.0.1:{port}",
            receiver_url=deliveries.url,
        )
        yield target_from(flags, {})


def test_deliveries_of_a_far_target_teach_nothing_wrong(tmp_path: Path) -> None:
    """On a busy machine events come too slowly for a rate limit to show; it is tried again then."""
    with far_target(tmp_path, one_way_s=ONE_WAY_S) as target:
        for _ in range(TRIES):
            answers = LearnedAnswers(DIALECT, load_dialect(DIALECT))
            round_trip_s = asyncio.run(learn_of_deliveries(target, answers))
            assert 2 * ONE_WAY_S <= round_trip_s < 1.0
            found = scores(answers, load_dialect(DIALECT))
            assert [score.field for score in found if score.outcome is Outcome.WRONG] == []
            seen = {score.field for score in found if score.outcome is Outcome.RIGHT}
            if seen >= SEEN:
                break
    assert seen >= SEEN


async def learn_of_deliveries(target: Target, answers: LearnedAnswers) -> float:
    """Returns how long a round trip takes, in seconds."""
    session = ProbeSession(target=target, answers=answers)
    async with open_environment(target) as environment:
        session.answering_url = environment.answering_url
        await approach(session)
        delivery = DeliverySession(session=session, receiver=environment.receiver)
        gathered = await gather_deliveries(delivery, quick=False, most_s=WAITED_S)
        await session.close()
    read_deliveries(answers, gathered, quick=False)
    return gathered.round_trip_s


def test_experiments_share_the_receiver_that_the_target_reaches(tmp_path: Path) -> None:
    async def receivers(target: Target) -> tuple[str, str]:
        answers = LearnedAnswers(DIALECT, target.dialect)
        async with open_environment(target) as opened:
            with evidence_runner(target, answers, Profile.STANDARD, opened) as runner:
                beside = await asyncio.to_thread(runner.open)
                return opened.receiver.control_url, beside.receiver.control_url

    with far_target(tmp_path, one_way_s=0.0) as target:
        own, shared = asyncio.run(receivers(target))
    assert own == shared


@pytest.mark.parametrize(
    ("round_trip_s", "longer_s"), [(0.0, 0.0), (0.5, 0.5 * IN_TURN), (7.0, IN_TURN)]
)
def test_a_far_target_is_asked_for_longer(round_trip_s: float, longer_s: float) -> None:
    target = Target(base_url="http://target.invalid", projects=(), dialect=load_dialect(DIALECT))
    session = ProbeSession(
        target=target,
        answers=LearnedAnswers(DIALECT, target.dialect),
        round_trip_s=round_trip_s,
    )
    for profile in Profile:
        assert time_for(session, profile, 0) == MOST_S[profile] + longer_s


def roll_of_far_target(**created: float) -> Exchange:
    """A roll that was answered after 1.5 s, whose old secret expires a minute after its middle."""
    secrets = [{"expires_at": _at(60.75)}, {name: _at(at) for name, at in created.items()}]
    return exchange(data={"secrets": secrets}, status=200, sent_at=NOW, duration_s=1.5)


def _at(seconds: float) -> str:
    return str(round(1000 * (NOW + seconds)))


def test_a_window_is_as_exactly_known_as_when_it_began() -> None:
    assert shown_window_s(roll_of_far_target(created_at=0.75)) == pytest.approx((60, 60))
    assert shown_window_s(roll_of_far_target()) == pytest.approx((59.25, 60.75))


@pytest.mark.parametrize(("created", "learned"), [({"created_at": 0.75}, True), ({}, False)])
def test_a_default_expiration_is_learned_exactly_or_not_at_all(
    created: dict[str, float], learned: bool
) -> None:
    answers = LearnedAnswers("undecided", load_dialect("undecided"))

    async def call(*_words: object, **_further: object) -> Exchange:
        return roll_of_far_target(**created)

    session: Any = SimpleNamespace(
        answers=answers, call=call, bodies=SimpleNamespace(secret=lambda: "secret")
    )
    asyncio.run(probe_default_expiration(session, "uid"))
    field = "rolling.default_expiration"
    assert answers.is_seen(field) is learned
    assert not learned or answers.value(field) == 60
