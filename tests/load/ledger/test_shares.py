"""The shares of several workers are added: sums, merged distributions, and lost workers."""

from dataclasses import replace

import msgspec
import pytest

from hookproof.load.distributed.workers import worker_settings
from hookproof.load.latency import OverTime, histogram, note, packed, quantiles, unpacked
from hookproof.load.ledger.draining import Drain, DrainEnd
from hookproof.load.ledger.sending import ACCEPTED, REFUSED, UNSENT, Sending
from hookproof.load.ledger.share import (
    LostWorker,
    RunResult,
    Share,
    arrived_at_all,
    drained_s,
    sent_by_all,
)
from hookproof.load.plan import ReceivingEndpoint
from hookproof.load.profile.load_profile import load_profile
from hookproof.load.run.outcome import compute_outcome
from hookproof.load.sidecar.api import Arrived, ArrivedAt
from hookproof.load.target.hook_calls import HookCalls
from hookproof.load.target.preparation import LoadPreparation, PlacedEndpoint
from hookproof.load.target.settings import target_settings
from hookproof.spec.contract.service_contract import contract_for
from hookproof.target.settings import Flags

A, R, N = ACCEPTED, REFUSED, UNSENT
SETTINGS = replace(
    target_settings(Flags(dialect="reference"), {}),
    base_url="http://127.0.0.1:1",
)
WORKERS = 3
SILENT = Drain(end=DrainEnd.SILENT, waited_s=15.0, arriving_rps=0.0)


def distribution(*seconds: float) -> str:
    latencies = histogram()
    for latency in seconds:
        note(latencies, latency)
    return packed(latencies)


def arrived(
    token: str, successes: list[int], *, last_s: float = 1.0, latency_s: float = 0.1
) -> Arrived:
    series = OverTime(length_s=1.0)
    series.note(0.5, latency_s)
    here = ArrivedAt(
        successes=bytes(successes),
        failures=bytes(len(successes)),
        arrived=sum(successes),
        times=(0.5, last_s),
    )
    return Arrived(
        endpoints={token: here},
        counts={"arrived": sum(successes), "late": 1},
        samples={"late": [f"{token}: {n}" for n in range(4)]},
        latencies=distribution(latency_s),
        over_time=series.packed(),
        last_s=last_s,
    )


def share(
    worker: int, states: list[int], recorded: Arrived, *, answer_s: float = 0.01, cpu: float = 0.1
) -> Share:
    sending = Sending(len(states), step=WORKERS, started_at=100.0 * worker, stretch_s=1.0)
    for place, state in enumerate(states):
        number = place * WORKERS + worker
        if state == ACCEPTED:
            now = sending.started_at + answer_s
            sending.accepted(number, intended_at=sending.started_at, now=now)
        elif state == REFUSED:
            sending.not_accepted(number, certain=True)
            sending.refused(number, "no")
    ended_at = sending.started_at + 0.5
    sent = sending.result(begun=len(states), ended_at=ended_at, cpu_share=cpu, problem=None)
    return Share(worker=worker, sent=sent, arrived=recorded)


def test_every_broadcast_is_at_its_number_again() -> None:
    shares = [
        share(0, [A, A, A], arrived("a", [1] * 8)),
        share(1, [A, R, A], arrived("b", [1] * 8)),
        share(2, [A, A], arrived("c", [1] * 8)),
    ]
    sent = sent_by_all(shares, WORKERS)
    assert list(sent.broadcasts) == [A, A, A, A, R, A, A, A]
    assert (sent.counts["accepted"], sent.counts["refused"], sent.counts["broadcasts"]) == (7, 1, 8)


def test_the_broadcasts_of_a_missing_share_are_unsent() -> None:
    shares = [share(0, [A, A], arrived("a", [1] * 6)), share(2, [A, A], arrived("c", [1] * 6))]
    assert list(sent_by_all(shares, WORKERS).broadcasts) == [A, N, A, A, N, A]


def test_percentiles_are_those_of_all_deliveries_and_not_an_average() -> None:
    fast = share(0, [A], arrived("a", [1], latency_s=0.001))
    slow = share(1, [A], arrived("b", [1], latency_s=1.0))
    total = arrived_at_all([fast, fast, fast, slow])
    assert quantiles(unpacked(total.latencies))["p50"] == pytest.approx(0.001, rel=0.01)
    assert quantiles(unpacked(total.latencies))["max"] == pytest.approx(1.0, rel=0.01)
    [stretch] = total.over_time
    assert stretch.count == 4
    assert quantiles(unpacked(stretch.latencies or "", digits=2))["p95"] == pytest.approx(
        1.0, rel=0.02
    )


def test_times_are_measured_by_each_workers_own_clock() -> None:
    shares = [
        share(0, [A], arrived("a", [1], last_s=0.6)),
        share(1, [A], arrived("b", [1], last_s=2.5)),
    ]
    assert sent_by_all(shares, WORKERS).sending_s == pytest.approx(0.5)
    assert drained_s(shares) == pytest.approx(2.0)
    assert arrived_at_all(shares).last_s == 2.5


def test_the_cpu_share_is_the_busiest_generators_and_samples_stay_few() -> None:
    shares = [share(0, [A], arrived("a", [1]), cpu=0.2), share(1, [A], arrived("b", [1]), cpu=0.95)]
    assert sent_by_all(shares, WORKERS).cpu_share == 0.95
    assert len(arrived_at_all(shares).samples["late"]) == 5


def test_no_share_at_all_is_a_run_without_figures() -> None:
    assert sent_by_all([], WORKERS).broadcasts == b""
    assert quantiles(unpacked(arrived_at_all([]).latencies))["p50"] is None


def preparation() -> LoadPreparation:
    prepared = LoadPreparation(
        settings=SETTINGS,
        contract=contract_for(SETTINGS.dialect),
        receivers=("https://a", "https://b", "https://c"),
        hooks=HookCalls.of(SETTINGS),
    )
    for worker, token in enumerate("abc"):
        receiving = ReceivingEndpoint(
            token=token, url="", secrets=("s",), advanced=False, limited=False
        )
        prepared.endpoints.append(
            PlacedEndpoint(uid=token.upper(), worker=worker, receiving=receiving)
        )
    return prepared


def gathered(shares: list[Share], lost: list[LostWorker]) -> RunResult:
    return RunResult(
        started_at=0.0,
        workers=WORKERS,
        shares=shares,
        lost_workers=lost,
        interrupted=False,
        drain=SILENT,
        table="",
    )


def test_a_lost_workers_part_of_the_ledger_is_unaccounted_and_the_rest_balances() -> None:
    # Three broadcasts each. Worker 1 is lost after two of its were accepted. Of the others' six,
    # one never arrived at endpoint c.
    shares = [
        share(0, [A, A, A], arrived("a", [1] * 9)),
        share(2, [A, A, A], arrived("c", [0] + [1] * 8)),
    ]
    lost = LostWorker(worker=1, name="host", after_s=3.0, accepted=2, refused=1)
    outcome = compute_outcome(preparation(), load_profile("smoke"), gathered(shares, [lost]))
    counted = outcome.figures
    assert (counted["accepted"], counted["refused"], counted["sent"]) == (8, 1, 9)
    assert counted["expected"] == 8 * 3
    assert (counted["delivered"], counted["lost"], counted["explained"]) == (11, 1, 0)
    assert counted["unaccounted"] == 2 * 3 + 6
    assert counted["expected"] == sum(
        counted[name] or 0 for name in ("delivered", "lost", "explained", "unaccounted")
    )
    assert [
        (row["endpoint"], row["expected"], row["unaccounted"]) for row in outcome.endpoints
    ] == [
        ("a", 8, 2),
        ("b", 8, 8),
        ("c", 8, 2),
    ]


def test_a_run_that_lost_no_worker_has_nothing_unaccounted() -> None:
    shares = [share(worker, [A, A], arrived(token, [1] * 6)) for worker, token in enumerate("abc")]
    outcome = compute_outcome(preparation(), load_profile("smoke"), gathered(shares, []))
    assert (
        outcome.figures["expected"],
        outcome.figures["delivered"],
        outcome.figures["unaccounted"],
    ) == (18, 18, 0)


def test_a_slow_service_has_deliveries_pending_and_a_silent_one_has_lost_them() -> None:
    shares = [
        share(0, [A, A], arrived("a", [1] * 6)),
        share(1, [A, A], arrived("b", [1] * 5 + [0])),
        share(2, [A, A], arrived("c", [1] * 6)),
    ]
    silent = gathered(shares, [])
    slow = msgspec.structs.replace(
        silent, drain=Drain(end=DrainEnd.STILL_ARRIVING, waited_s=75.0, arriving_rps=4.0)
    )
    outcomes = [
        compute_outcome(preparation(), load_profile("smoke"), result) for result in (silent, slow)
    ]
    names = ("expected", "delivered", "lost", "pending", "arriving_rps")
    assert [[outcome.figures[name] for name in names] for outcome in outcomes] == [
        [18, 17, 1, 0, None],
        [18, 17, 0, 1, 4.0],
    ]
    assert [dict(outcome.samples).get("pending") for outcome in outcomes] == [None, ["b: 5"]]
    assert [dict(outcome.samples).get("lost") for outcome in outcomes] == [["b: 5"], None]
    assert [row["pending"] for row in outcomes[1].endpoints] == [0, 1, 0]


def test_slots_that_were_held_back_for_the_target_are_not_unsent() -> None:
    shares = [share(worker, [A], arrived(token, [1] * 3)) for worker, token in enumerate("abc")]
    sent = shares[0].sent
    slots = load_profile("smoke").shape.slots
    counts = {**sent.counts, "requests": 3, "held_back": slots - 3, "limited": 2}
    shares[0] = msgspec.structs.replace(
        shares[0], sent=msgspec.structs.replace(sent, counts=counts)
    )
    outcome = compute_outcome(preparation(), load_profile("smoke"), gathered(shares, []))
    assert (outcome.unsent, outcome.figures["limited"]) == (0, 2)
    assert outcome.figures["held_back"] == slots - 3


def test_each_further_receiver_on_a_machine_has_the_next_port() -> None:
    settings = replace(SETTINGS, bind="0.0.0.0:8443", public_url="https://hooks.example.org")
    assert [
        (worker.bind, worker.public_url)
        for worker in (worker_settings(settings, 0), worker_settings(settings, 2))
    ] == [
        ("0.0.0.0:8443", "https://hooks.example.org"),
        ("0.0.0.0:8445", "https://hooks.example.org:445"),
    ]
    assert worker_settings(SETTINGS, 3) == SETTINGS, "any free port stays any free port"
