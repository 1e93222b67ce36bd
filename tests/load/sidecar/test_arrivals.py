"""The arrival side of the ledger counts by name what goes wrong with deliveries."""

import hashlib
import hmac

import pytest

from hookproof.load.broadcast_mark import data_with_mark
from hookproof.load.latency import quantiles
from hookproof.load.sidecar.arrivals import SPACE, Arrivals, Endpoint, FreshDelivery, NewRun
from hookproof.load.sidecar.signatures import EndpointSignatures
from hookproof.receiver.clock import Instant
from hookproof.spec.dialect.reader import load_dialect

DIALECT = load_dialect("reference")
SECRET = "s3cret"
BEGAN = 1_700_000_000.0


def signed(body: bytes, secret: str = SECRET) -> tuple[tuple[bytes, bytes], ...]:
    mac = hmac.digest(secret.encode(), body, hashlib.sha256).hex()
    return ((DIALECT.signatures.simple.header.encode(), mac.encode()),)


def new_run(name: str, broadcasts: int = 10, **further: int) -> NewRun:
    return NewRun(
        run=name,
        broadcasts=broadcasts,
        started_at=BEGAN,
        stretch_s=1.0,
        late_after_s=1.0,
        **further,
    )


@pytest.fixture
def arrivals() -> Arrivals:
    recorded = Arrivals(attempts=2)
    signatures = EndpointSignatures(DIALECT, advanced=False, secrets=[SECRET], url="")
    recorded.endpoints["t"] = Endpoint(token="t", signatures=signatures, limited=True)
    recorded.begin(new_run("run"))
    return recorded


def fresh(
    latency_ms: int | None, failure: str | None = None, *, repeated: bool = False
) -> FreshDelivery:
    return FreshDelivery(limited=True, repeated=repeated, failure=failure, latency_ms=latency_ms)


def arrive(
    arrivals: Arrivals, number: int, *, after: float = 0.1, run: str = "run", succeeded: bool = True
) -> None:
    body = data_with_mark(run, number, BEGAN, "")
    arrivals.arrived(
        "t", signed(body), body, Instant(BEGAN + after, 50 + after), succeeded=succeeded
    )


def test_a_delivery_counts_with_its_latency_from_the_intended_time(arrivals: Arrivals) -> None:
    arrive(arrivals, 3, after=0.25)
    assert arrivals.endpoints["t"].successes[3] == 1
    assert quantiles(arrivals.latencies)["p50"] == pytest.approx(0.25, rel=0.001)
    assert arrivals.settled == 1
    assert arrivals.endpoints["t"].times.tolist() == [50.25]
    assert arrivals.since_began(50.25) == pytest.approx(0.25)
    assert arrivals.take_fresh() == {fresh(250): 1}
    assert arrivals.take_fresh() == {}


def test_a_second_arrival_is_a_duplicate_and_has_no_latency(arrivals: Arrivals) -> None:
    arrive(arrivals, 3)
    arrive(arrivals, 3)
    assert arrivals.counts["duplicated"] == 1
    assert arrivals.latencies.get_total_count() == 1
    assert arrivals.samples["duplicated"] == ["t: 3"]


def test_each_delivery_is_shown_with_all_that_is_wrong_with_it(arrivals: Arrivals) -> None:
    altered = data_with_mark("run", 0, BEGAN, "").replace(b'"pad":""', b'"pad":"x"')
    at = Instant(BEGAN + 0.2, 50.2)
    arrivals.arrived("t", signed(altered, "n3w"), altered, at, succeeded=True)
    arrive(arrivals, 1, after=0.25)
    arrive(arrivals, 1)
    arrivals.arrived("t", signed(altered), altered, at, succeeded=True)
    assert arrivals.take_fresh() == {
        fresh(None, "altered, unverifiable"): 1,
        fresh(250): 1,
        fresh(None, "duplicated", repeated=True): 1,
        fresh(None, "duplicated, altered", repeated=True): 1,
    }


@pytest.mark.parametrize(
    ("own_lateness_s", "over"), [(0.0, [2, 4]), (0.2, [2]), (0.6, [])], ids=str
)
def test_deliveries_over_the_limit_are_those_that_no_lateness_of_ours_explains(
    arrivals: Arrivals, own_lateness_s: float, over: list[int]
) -> None:
    arrivals.own_lateness_since = lambda _: own_lateness_s
    arrivals.begin(new_run("limit", rate_limit=2, rate_limit_s=1))
    for number, after in enumerate((0.0, 0.4, 0.5, 1.45, 1.46)):
        arrive(arrivals, number, run="limit", after=after)
    assert arrivals.counts["over_limit"] == len(over)
    shown = {delivery.failure for delivery in arrivals.take_fresh()}
    assert shown == ({None, "over the limit"} if over else {None})


def test_a_broadcast_far_beyond_those_before_has_space(arrivals: Arrivals) -> None:
    arrivals.begin(new_run("long", 10 * SPACE))
    arrive(arrivals, 7 * SPACE, run="long")
    arrive(arrivals, 7 * SPACE, run="long", succeeded=False)
    endpoint = arrivals.endpoints["t"]
    assert (endpoint.successes[7 * SPACE], endpoint.failures[7 * SPACE]) == (1, 1)


def test_a_repeat_after_a_failed_attempt_is_not_a_duplicate(arrivals: Arrivals) -> None:
    arrive(arrivals, 3, succeeded=False)
    arrive(arrivals, 3)
    assert arrivals.counts["duplicated"] == 0
    assert arrivals.endpoints["t"].failures[3] == 1
    assert arrivals.settled == 1


def test_a_delivery_whose_attempts_are_used_up_is_settled_once(arrivals: Arrivals) -> None:
    arrive(arrivals, 3, succeeded=False)
    arrive(arrivals, 3, succeeded=False)
    assert arrivals.settled == 1
    arrive(arrivals, 3)
    assert arrivals.settled == 1


def test_an_arrival_after_one_of_a_later_broadcast_is_out_of_order(arrivals: Arrivals) -> None:
    for number in (0, 2, 1, 3):
        arrive(arrivals, number)
    assert arrivals.counts["out_of_order"] == 1


def test_what_another_worker_sent_counts_without_a_latency_since_its_clock_is_another(
    arrivals: Arrivals,
) -> None:
    arrivals.begin(new_run("run", worker=1, workers=2))
    arrive(arrivals, 2, after=5.0)
    arrive(arrivals, 3, after=0.25)
    assert (arrivals.counts["arrived"], arrivals.settled, arrivals.counts["late"]) == (2, 2, 0)
    assert quantiles(arrivals.latencies)["max"] == pytest.approx(0.25, rel=0.001)
    assert arrivals.take_fresh() == {fresh(250): 1, fresh(None): 1}


def test_the_broadcasts_of_two_workers_have_no_order_among_each_other(arrivals: Arrivals) -> None:
    arrivals.begin(new_run("run", worker=0, workers=2))
    for number in (3, 0, 5, 2, 1):
        arrive(arrivals, number)
    assert arrivals.counts["out_of_order"] == 1, (
        "of 1 alone, which came after 3 and 5 of the same worker"
    )


def test_an_arrival_after_the_profiles_time_is_late(arrivals: Arrivals) -> None:
    arrive(arrivals, 0, after=1.5)
    arrive(arrivals, 1, after=0.5)
    assert arrivals.counts["late"] == 1


def test_a_signature_by_an_unknown_secret_is_unverifiable_until_that_is_known(
    arrivals: Arrivals,
) -> None:
    body = data_with_mark("run", 0, BEGAN, "")
    for _ in range(2):
        arrivals.arrived("t", signed(body, "n3w"), body, Instant(BEGAN, 50), succeeded=True)
        arrivals.endpoints["t"].signatures.learn("n3w")
    assert arrivals.counts["unverifiable"] == 1
    assert "no signature matches" in arrivals.samples["unverifiable"][0]


def test_an_altered_body_counts_as_altered_and_as_arrived(arrivals: Arrivals) -> None:
    body = data_with_mark("run", 0, BEGAN, "").replace(b'"pad":""', b'"pad":"x"')
    arrivals.arrived("t", signed(body), body, Instant(BEGAN, 50), succeeded=True)
    assert (arrivals.counts["altered"], arrivals.counts["unverifiable"]) == (1, 0)
    assert arrivals.endpoints["t"].successes[0] == 1


@pytest.mark.parametrize(
    "body", [b"{}", data_with_mark("other", 0, BEGAN, ""), data_with_mark("run", 10, BEGAN, "")]
)
def test_what_nobody_broadcast_is_unexpected(arrivals: Arrivals, body: bytes) -> None:
    arrivals.arrived("t", signed(body), body, Instant(BEGAN, 50), succeeded=True)
    assert (arrivals.counts["unexpected"], arrivals.counts["arrived"]) == (1, 0)


def test_what_still_arrives_of_an_earlier_run_is_ignored(arrivals: Arrivals) -> None:
    arrivals.begin(new_run("next"))
    arrive(arrivals, 3)
    assert not any(arrivals.endpoints["t"].successes)
    assert not arrivals.counts


def test_a_new_run_begins_with_nothing(arrivals: Arrivals) -> None:
    arrive(arrivals, 3)
    arrivals.begin(new_run("next", 5))
    assert arrivals.endpoints["t"].successes == bytearray(5)
    assert (arrivals.settled, arrivals.latencies.get_total_count(), arrivals.take_fresh()) == (
        0,
        0,
        {},
    )


def test_many_wrong_deliveries_leave_few_samples(arrivals: Arrivals) -> None:
    for _ in range(20):
        arrive(arrivals, 3)
    assert arrivals.counts["duplicated"] == 19
    assert len(arrivals.samples["duplicated"]) == 5


def test_the_sample_of_an_unverifiable_delivery_says_what_was_signed(arrivals: Arrivals) -> None:
    compact = data_with_mark("run", 3, BEGAN, "")
    spaced = compact.replace(b":", b": ").replace(b",", b", ")
    arrivals.arrived("t", signed(compact), spaced, Instant(BEGAN, 50), succeeded=True)
    [sample] = arrivals.diagnosed_samples()["unverifiable"]
    assert sample.startswith("t: 3: no signature matches")
    assert "signed the compact form of the body" in sample


def test_the_sample_of_a_delivery_with_a_neighbours_secret_names_the_neighbour(
    arrivals: Arrivals,
) -> None:
    other = EndpointSignatures(DIALECT, advanced=False, secrets=["other"], url="")
    arrivals.endpoints["u"] = Endpoint(token="u", signatures=other, limited=False)
    arrivals.begin(new_run("run"))
    body = data_with_mark("run", 3, BEGAN, "")
    arrivals.arrived("t", signed(body, "other"), body, Instant(BEGAN, 50), succeeded=True)
    [sample] = arrivals.diagnosed_samples()["unverifiable"]
    assert "the secret of the endpoint u" in sample


def test_further_copies_are_no_progress_and_attempts_that_are_left_are(arrivals: Arrivals) -> None:
    for succeeded, progressed in ((False, 1), (False, 2), (False, 2), (True, 3), (True, 3)):
        arrive(arrivals, 3, succeeded=succeeded)
        assert arrivals.progressed == progressed


@pytest.mark.parametrize(
    ("own_lateness_s", "timeout_s", "kind"),
    [
        (0.1, 5, "duplicated"),
        (2.4, 5, "duplicated"),
        (2.5, 5, "duplicated_by_receiver"),
        (60.0, 5, "duplicated_by_receiver"),
        (60.0, 0, "duplicated"),  # how long the target waits is not known
    ],
)
def test_a_repeat_after_an_answer_that_was_late_is_not_the_target_s(
    arrivals: Arrivals, own_lateness_s: float, timeout_s: int, kind: str
) -> None:
    asked = list[float]()

    def own_lateness_since(since: float) -> float:
        asked.append(since)
        return own_lateness_s

    arrivals.own_lateness_since = own_lateness_since
    arrivals.begin(new_run("late", timeout_s=timeout_s))
    for after in (0.1, 7.0):
        arrive(arrivals, 3, run="late", after=after)
    assert arrivals.counts[kind] == 1
    assert arrivals.samples[kind] == ["t: 3"]
    # Since the broadcast was to be sent: what was late before it has nothing to do with it.
    assert asked == [pytest.approx(50.0)] * bool(timeout_s)
