"""The ledger balances, and names what does not."""

from load.ledger import Ledger, quantiles


def ledger_of(*accepted: str) -> Ledger:
    ledger = Ledger()
    for marker in accepted:
        ledger.sent(marker, intended_at=100.0, sent_at=100.0)
        ledger.answered(marker, accepted=True)
    return ledger


def test_an_accepted_broadcast_that_arrived_is_delivered() -> None:
    ledger = ledger_of("a")
    assert ledger.arrived("a", at=100.25) == 0.25
    assert (ledger.delivered, ledger.pending, ledger.duplicated, ledger.unexpected) == (1, (), 0, 0)


def test_an_accepted_broadcast_that_never_arrived_is_lost_by_name() -> None:
    summary = ledger_of("a", "b").summary()
    assert summary["lost"] == 2
    assert summary["lost_samples"] == ["a", "b"]


def test_a_second_arrival_is_a_duplicate_and_no_second_latency() -> None:
    ledger = ledger_of("a")
    ledger.arrived("a", at=101.0)
    assert ledger.arrived("a", at=102.0) is None
    assert ledger.duplicated == 1
    assert ledger.latencies == [1.0]


def test_an_arrival_that_nobody_sent_is_unexpected() -> None:
    ledger = ledger_of("a")
    assert ledger.arrived("stranger", at=101.0) is None
    assert (ledger.unexpected, ledger.duplicated) == (1, 0)


def test_a_refused_broadcast_that_arrives_all_the_same_is_unexpected() -> None:
    ledger = Ledger()
    ledger.sent("a", intended_at=100.0, sent_at=100.0)
    ledger.answered("a", accepted=False)
    ledger.arrived("a", at=101.0)
    assert (ledger.refused, ledger.unexpected, ledger.delivered) == (1, 1, 0)


def test_an_arrival_before_the_answer_counts_once_the_answer_is_there() -> None:
    ledger = Ledger()
    ledger.sent("a", intended_at=100.0, sent_at=100.0)
    assert ledger.arrived("a", at=100.5) == 0.5
    ledger.answered("a", accepted=True)
    assert ledger.delivered == 1


def test_latency_counts_from_the_intended_time_and_lateness_is_the_generators() -> None:
    ledger = Ledger()
    ledger.sent("a", intended_at=100.0, sent_at=103.0)
    assert ledger.arrived("a", at=104.0) == 4.0
    assert ledger.lateness == [3.0]


def test_percentiles_are_values_that_were_seen() -> None:
    assert quantiles([float(n) for n in range(1, 101)]) == {"p50": 51.0, "p95": 96.0, "p99": 100.0, "max": 100.0}
    assert quantiles([]) is None
