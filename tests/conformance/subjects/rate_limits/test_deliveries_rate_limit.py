from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.rate_limits.evidence import (
    LIMIT_OF_ONE,
    RateLimitBurst,
)
from tests.conformance.canned_deliveries import (
    broadcast,
    created,
    destination,
    event,
    observed,
    sent,
)
from tests.conformance.canned_evidence import NOW, delivery, judgements, verdict, verdicts

PASS, FAIL = Verdict.PASS, Verdict.FAIL
LIMITED, AS_WELL, UNLIMITED = (
    destination("limited"),
    destination("limited as well"),
    destination("without limit"),
)
ZERO = destination("limit of 0", rate_limit=0)
NO_DURATION = destination("limited without duration", rate_limit=5)
EVENTS = [event(f"burst {number}") for number in range(12)]
SLIDING = [0, 1.2, 1.2, 1.2, 1.2, 2.0, 3.2, 3.2, 3.2, 3.2, 4.0, 5.2]
FIXED = [0, 1.2, 1.2, 1.2, 1.2, 2.0, 2.0, 2.0, 2.0, 2.0, 4.0, 4.0]
AT_ONCE = [0, *[1.2] * 11]
BUCKET = [0, 1.2, 1.2, 1.2, 1.2, 1.6, 2.0, 2.4, 2.8, 3.2, 3.6, 4.0]

DESTINATIONS = (LIMITED, AS_WELL, UNLIMITED, ZERO, NO_DURATION)


def burst(**arrivals: Iterable[float]) -> RateLimitBurst:
    """What arrived when at each endpoint, by its name with underscores for spaces."""
    named = {where.name.replace(" ", "_"): where for where in DESTINATIONS}
    arrived = [
        sent(what, named[name], at=NOW + at)
        for name, times in arrivals.items()
        for what, at in zip(EVENTS, times, strict=False)
    ]
    return observed(
        RateLimitBurst,
        [named[name] for name in arrivals],
        *arrived,
        events=EVENTS,
        exchanges=[
            broadcast(EVENTS[0]),
            *(broadcast(what, sent_at=NOW + 1) for what in EVENTS[1:]),
        ],
        limit=5,
        window_s=2.0,
    )


def with_sentinel(observation: RateLimitBurst) -> RateLimitBurst:
    """The same burst, and a sentinel that arrived at the endpoint without a limit."""
    sentinel = event("sentinel")
    return replace(
        observation,
        events=(*observation.events, sentinel),
        deliveries=(*observation.deliveries, sent(sentinel, UNLIMITED, at=NOW + 20)),
    )


@pytest.mark.parametrize(
    ("times", "stated", "hygiene"),
    [(SLIDING, PASS, PASS), (FIXED, PASS, FAIL), (BUCKET, PASS, FAIL), (AT_ONCE, FAIL, FAIL)],
    ids=["sliding window", "fixed window", "token bucket", "no limit"],
)
def test_the_way_of_counting_decides_which_requirement_holds(
    times: list[float], stated: Verdict, hygiene: Verdict
) -> None:
    assert verdicts("8-1 8-2", burst(limited=times)) == {"8-1": stated, "8-2": hygiene}


def test_arrivals_that_bunch_on_a_busy_machine_pass() -> None:
    late = [0.0, *[1.6] * 4, 2.1, *[3.3] * 4, 4.6, 5.2]
    assert verdicts("8-1 8-2", burst(limited=late)) == {
        "8-1": PASS,
        "8-2": PASS,
    }


def test_a_limit_that_drops_the_excess_passes() -> None:
    assert verdicts("8-1 8-2", burst(limited=SLIDING[:5])) == {"8-1": PASS, "8-2": PASS}


def test_an_endpoint_that_never_met_its_limit_shows_nothing() -> None:
    apart = [3.0 * number for number in range(12)]
    with pytest.raises(NotExaminedError, match="never met"):
        verdicts("8-1 8-2", burst(limited=apart, limited_as_well=SLIDING[:3]))
    said = list(judged_until_not_examined(burst(limited=apart, limited_as_well=SLIDING)))
    assert {judgement.requirement for judgement in said} == {"8-1", "8-2"}
    assert {judgement.deliveries[0].token for judgement in said} == {AS_WELL.token}


def test_what_comes_at_once_shows_nothing_of_the_edge_of_a_window() -> None:
    at_once = burst(limited=[1.2] * 5)
    said = list(judged_until_not_examined(at_once))
    assert [judgement.requirement for judgement in said] == ["8-1"]


def judged_until_not_examined(
    evidence: RateLimitBurst, reason: str = "never met"
) -> Iterator[Judgement]:
    """The judgements of a check that says at last that not all could be examined."""
    with pytest.raises(NotExaminedError, match=reason):
        yield from judgements("8-1 8-2", evidence)


def test_what_one_endpoint_got_together_leaves_another_to_be_judged() -> None:
    """The first is a slow service's, that may have sent apart what arrived together."""
    slow = [broadcast(what, sent_at=NOW - 60) for what in EVENTS]
    evidence = burst(limited=AT_ONCE, limited_as_well=SLIDING)
    calls = [each for each in evidence.exchanges if each.operation_id == "createEndpoint"]
    late = replace(evidence, exchanges=(*calls, *slow))
    said = list(judged_until_not_examined(late, "sent apart"))
    assert {judgement.deliveries[0].token for judgement in said} == {AS_WELL.token}


def test_an_endpoint_that_gets_nothing_is_not_judged() -> None:
    assert verdicts("8-1 8-2", burst(limited=[])) == {}


def test_an_endpoint_without_limit_that_gets_everything_at_once_passes() -> None:
    assert verdict("8-3", burst(without_limit=AT_ONCE)) is PASS
    assert verdict("8-3", burst(without_limit=[at + 30 for at in AT_ONCE])) is PASS


def test_an_endpoint_without_limit_that_is_paced_or_loses_an_event_fails() -> None:
    assert verdict("8-3", burst(without_limit=SLIDING)) is FAIL
    assert verdict("8-3", burst(without_limit=SLIDING, limited=SLIDING)) is FAIL
    assert verdict("8-3", burst(without_limit=SLIDING[:5]), "contrary") is FAIL


def test_an_honest_slow_sender_is_not_told_that_a_limit_holds_it_back() -> None:
    assert verdict("8-3", burst(without_limit=[number / 4.5 for number in range(12)])) is PASS
    for per_second in (3.0, 1.5, 0.5):
        slow = burst(without_limit=[1.2 + number / per_second for number in range(12)])
        with pytest.raises(NotExaminedError, match="so slowly by itself"):
            verdict("8-3", slow)


@pytest.mark.parametrize(
    "arrivals",
    [
        {"without_limit": [0, *[3.2] * 4, *[4.5] * 4, *[5.8] * 3]},
        {"without_limit": [0, *[1.2] * 4, *[3.5] * 2, *[5.5] * 2, *[7.5] * 3]},
        {"without_limit": [0, *[1.2] * 4, *[2.5] * 4, *[3.7] * 3], "limited": SLIDING},
    ],
    ids=["begins late", "takes longer than the limit", "is done before those with a limit"],
)
def test_what_a_slow_service_sends_together_is_not_taken_for_the_rest_of_a_limit(
    arrivals: dict[str, list[float]],
) -> None:
    with pytest.raises(NotExaminedError, match="so slowly by itself"):
        verdict("8-3", burst(**arrivals))


def test_events_that_are_lost_or_doubled_say_nothing_about_a_limit() -> None:
    assert verdict("8-3", burst(without_limit=AT_ONCE[:-1])) is PASS
    with pytest.raises(NotExaminedError, match="loses so much"):
        verdict("8-3", burst(without_limit=AT_ONCE[:4]))


def test_a_limit_that_held_back_is_told_with_what_was_counted() -> None:
    (judgement,) = judgements("8-3", burst(without_limit=SLIDING))
    assert judgement.expected == "more than 5 in 1.2 s, or all within 2 s"
    assert judgement.actual.startswith("at most 5 in 1.2 s, 0 of 12 missing")


def test_what_a_slow_service_may_have_sent_apart_is_not_above_the_limit() -> None:
    # The first event, broadcast a second before the others, was on its way for longer than they.
    apart = burst(limited=[1.5, 2.0, 2.0, 2.0, 2.0, 2.2, 4.2, 4.2, 4.2, 4.2, 4.4, 6.2])
    with pytest.raises(NotExaminedError, match="may have been sent apart"):
        verdicts("8-1 8-2", apart)
    together = burst(limited=[1.5, *[2.0] * 6, *[4.2] * 5])
    assert verdict("8-2", together) is FAIL


def test_arrivals_that_a_late_machine_may_have_bunched_are_not_judged() -> None:
    with pytest.raises(NotExaminedError, match="so slowly by itself"):
        verdict("8-3", replace(burst(without_limit=SLIDING), late_s=0.5))
    with pytest.raises(NotExaminedError, match="this machine was late by 1500 ms"):
        verdict("8-3", replace(burst(without_limit=SLIDING), late_s=1.5))


def test_a_late_machine_does_not_keep_what_holds_from_passing() -> None:
    late = replace(burst(limited=SLIDING, without_limit=AT_ONCE), late_s=30.0)
    assert verdicts("8-1 8-2", late) == {"8-1": PASS, "8-2": PASS}
    assert verdict("8-3", late) is PASS
    over = replace(burst(limited=AT_ONCE), late_s=1.5)
    with pytest.raises(NotExaminedError, match="this machine was late by 1500 ms"):
        verdicts("8-1 8-2", over)


def test_a_further_attempt_may_have_been_sent_before_a_late_machine_noticed_the_first() -> None:
    first = [1.2] * 5 + [2.5]
    again = [
        sent(what, LIMITED, at=NOW + at, attempt=2)
        for what, at in zip(EVENTS, [3.1] * 5 + [3.15], strict=False)
    ]
    once = burst(limited=first)
    repeated = replace(once, deliveries=(*once.deliveries, *again))

    assert verdicts("8-1 8-2", repeated) == {"8-1": PASS, "8-2": FAIL}
    with pytest.raises(NotExaminedError, match="may have been sent apart"):
        verdicts("8-1 8-2", replace(repeated, late_s=0.3))


def test_an_endpoint_with_a_limit_of_one_is_judged_by_its_own() -> None:
    one = destination(LIMIT_OF_ONE)

    for second, expected in ((0.7, FAIL), (2.0, PASS)):
        arrived = [sent(EVENTS[0], one), sent(EVENTS[1], one, at=NOW + second)]
        observation = replace(burst(), destinations=(one,), deliveries=tuple(arrived))
        assert verdicts("8-1 8-2", observation) == {"8-1": PASS, "8-2": expected}


def test_two_endpoints_with_limits_of_their_own_pass() -> None:
    assert verdict("8-3", burst(limited=SLIDING, limited_as_well=SLIDING)) is PASS
    assert verdict("8-3", burst(limited=BUCKET, limited_as_well=BUCKET)) is PASS


def test_two_endpoints_that_share_one_limit_fail() -> None:
    turns = [0.8 * number for number in range(12)]
    shared = {"limited": turns, "limited_as_well": [at + 0.4 for at in turns]}
    assert verdict("8-3", burst(**shared, without_limit=AT_ONCE)) is FAIL


def test_two_endpoints_of_a_slow_sender_are_not_compared() -> None:
    turns = [0.8 * number for number in range(12)]
    shared = {"limited": turns, "limited_as_well": [at + 0.4 for at in turns]}
    with pytest.raises(NotExaminedError, match="so slowly by itself"):
        verdict("8-3", burst(**shared, without_limit=turns))


def test_arrivals_that_a_late_machine_may_have_spread_are_not_judged() -> None:
    # What was sent within a second may come in over two where this machine was late by one.
    shared = {"limited": [1.3, 1.3, 2.6, 2.6, 3.2], "limited_as_well": [1.3, 1.4, 2.7, 2.8, 3.3]}
    pair = replace(burst(**shared, without_limit=AT_ONCE), late_s=0.9)
    with pytest.raises(NotExaminedError, match="this machine was late by 900 ms"):
        list(judgements("8-3", pair))
    held_back = replace(burst(without_limit=[1, 1, 1, 1, 2, 2.2, 2.9, 3, 3, 3]), late_s=0.3)
    with pytest.raises(NotExaminedError, match="this machine was late by 300 ms"):
        verdict("8-3", held_back)


def test_what_a_limit_holds_back_is_no_backlog_of_an_endpoint_without_one() -> None:
    starved = with_sentinel(burst(limit_of_0=[0], without_limit=AT_ONCE, limited=SLIDING))
    behind = replace(starved, ended_at=NOW + 25, backlog_s={LIMITED.token: 30.0})
    assert verdict("8-5", behind) is FAIL
    assert verdict("8-5", replace(behind, backlog_s={UNLIMITED.token: 30.0})) is None


def test_two_endpoints_that_lose_their_excess_are_compared_by_what_arrived() -> None:
    each = burst(limited=SLIDING[:5], limited_as_well=SLIDING[:5])
    assert verdict("8-3", each) is PASS
    late = burst(
        limited=[0.8 * number for number in range(7)],
        limited_as_well=[0.8 * number + 0.4 for number in range(7)],
        without_limit=AT_ONCE,
    )
    assert verdict("8-3", late) is FAIL


def test_events_of_others_count_where_two_endpoints_are_compared() -> None:
    few = burst(
        limited=[0.8 * number for number in range(7)],
        limited_as_well=[0.8 * number + 0.4 for number in range(7)],
        without_limit=AT_ONCE,
    )
    others = [
        delivery(where.token, body=f"{number}".encode(), arrived_at=NOW + 0.8)
        for where in (LIMITED, AS_WELL)
        for number in range(2)
    ]
    beside_others = replace(few, deliveries=(*few.deliveries, *others))
    assert verdict("8-3", beside_others) is PASS
    doubles = [delivery(LIMITED.token, body=b"1", arrived_at=NOW + 0.8) for _ in range(4)]
    doubled = replace(few, deliveries=(*few.deliveries, *doubles))
    assert verdict("8-3", doubled) is FAIL


def test_two_endpoints_that_got_no_more_than_one_limit_are_not_compared() -> None:
    observation = burst(limited=SLIDING[:3], limited_as_well=SLIDING[:2])
    assert verdict("8-3", observation) is None


def test_an_endpoint_that_got_nothing_shares_no_limit() -> None:
    observation = burst(limited=SLIDING, limited_as_well=[])
    assert verdict("8-3", observation) is None


def test_excess_that_waits_is_judged_by_the_dialect() -> None:
    waits = burst(limited=SLIDING, without_limit=AT_ONCE)
    drops = burst(limited=SLIDING[:5], without_limit=AT_ONCE)
    assert verdict("8-4", waits) is PASS
    assert verdict("8-4", drops) is FAIL
    assert verdict("8-4", waits, "contrary") is FAIL
    assert verdict("8-4", drops, "contrary") is PASS


def test_what_is_lost_without_a_limit_too_was_not_dropped_for_the_limit() -> None:
    lossy = burst(limited=SLIDING[:10], without_limit=AT_ONCE[:10])
    assert verdict("8-4", lossy) is None
    assert verdict("8-4", lossy, "contrary") is None


def test_what_a_slow_sender_never_sent_above_the_limit_need_not_be_dropped() -> None:
    slow = burst(
        limited=[number / 2 for number in range(12)],
        without_limit=[number / 2 for number in range(12)],
    )
    assert verdict("8-4", slow, "contrary") is None


def test_a_limit_of_0_limits_nothing_where_the_dialect_says_so() -> None:
    assert verdict("8-5", burst(limit_of_0=AT_ONCE)) is PASS
    nothing = burst(limit_of_0=[], without_limit=AT_ONCE)
    assert verdict("8-5", with_sentinel(nothing)) is FAIL
    assert verdict("8-5", burst(limit_of_0=[])) is None
    assert verdict("8-5", burst(limit_of_0=[]), "contrary") is None


def test_a_limit_without_duration_limits_nothing_where_the_default_is_0() -> None:
    none = {"delivery.default_rate_limit_duration": 0}
    everything = burst(limited_without_duration=AT_ONCE, without_limit=AT_ONCE)
    assert verdict("8-6", with_sentinel(everything), none) is PASS
    some = burst(limited_without_duration=AT_ONCE[:6], without_limit=AT_ONCE)
    assert verdict("8-6", with_sentinel(some), none) is FAIL
    assert verdict("8-6", some, none) is None
    assert verdict("8-6", with_sentinel(some)) is None


def test_what_a_limit_holds_back_does_not_excuse_what_a_limit_of_0_loses() -> None:
    late = [at + 18 for at in SLIDING]
    nothing = with_sentinel(burst(limit_of_0=[], without_limit=AT_ONCE, limited=late))
    ended = replace(nothing, ended_at=NOW + 25)
    assert verdict("8-5", ended) is FAIL
    slow = burst(limit_of_0=AT_ONCE[:4], without_limit=[at + 18 for at in AT_ONCE])
    pending = replace(with_sentinel(slow), ended_at=NOW + 25)
    assert verdict("8-5", pending) is None


def test_a_target_that_died_meanwhile_is_not_accused_for_a_limit_of_0() -> None:
    assert verdict("8-5", burst(limit_of_0=AT_ONCE[:4], without_limit=AT_ONCE)) is None
    lossy = burst(limit_of_0=AT_ONCE[:4], without_limit=AT_ONCE[:9])
    assert verdict("8-5", with_sentinel(lossy)) is None


def shown(**data: object) -> RateLimitBurst:
    """A burst to an endpoint without duration whose creation shows these fields."""
    where = destination("limited without duration", rate_limit=5)
    return replace(burst(), destinations=(where,), exchanges=(created(where, **data),))


def test_the_default_duration_shows() -> None:
    assert verdict("8-6", shown(rate_limit_duration=1)) is PASS
    assert verdict("8-6", shown(rate_limit_duration=60)) is FAIL
    assert verdict("8-6", shown()) is None
