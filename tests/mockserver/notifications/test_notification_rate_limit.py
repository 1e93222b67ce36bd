from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hookproof.mockserver.notifications.notice import Kind
from hookproof.mockserver.notifications.rate_limit import Pacing
from tests.mockserver.notifications.notices import notice


def test_the_first_notice_goes_out_at_once_and_the_next_ones_wait_for_the_window_s_end() -> None:
    pacing = Pacing(60.0, most=10)
    assert pacing.next_end is None
    assert pacing.admits(notice(at=1.0), now=100.0)
    assert not pacing.admits(notice(at=2.0, event_uid="V2"), now=101.0)
    assert not pacing.admits(notice(at=3.0, event_uid="V3"), now=159.9)
    assert pacing.next_end == 160.0
    assert pacing.ended(159.99) == []
    [due] = pacing.ended(160.0)
    assert (due.event_uid, due.held_back, due.held_since) == ("V3", 1, 2.0)


def test_what_was_held_back_opens_a_window_of_its_own() -> None:
    pacing = Pacing(60.0, most=10)
    pacing.admits(notice(), now=0.0)
    pacing.admits(notice(), now=1.0)
    assert [one.held_back for one in pacing.ended(60.0)] == [0]
    assert not pacing.admits(notice(), now=61.0)
    assert pacing.next_end == 120.0


def test_a_window_without_anything_held_back_is_forgotten() -> None:
    pacing = Pacing(60.0, most=10)
    pacing.admits(notice(), now=0.0)
    assert pacing.ended(60.0) == []
    assert pacing.next_end is None
    assert pacing.admits(notice(), now=61.0)


def test_endpoints_and_kinds_have_windows_of_their_own() -> None:
    pacing = Pacing(60.0, most=10)
    assert pacing.admits(notice("E1"), now=0.0)
    assert pacing.admits(notice("E2"), now=0.0)
    assert pacing.admits(notice("E1", Kind.STATE_CHANGE), now=0.0)


def test_no_more_windows_are_open_than_allowed() -> None:
    pacing = Pacing(60.0, most=1)
    assert pacing.admits(notice("E1"), now=0.0)
    assert not pacing.admits(notice("E2"), now=0.0)
    assert pacing.ended(60.0) == []
    assert pacing.admits(notice("E2"), now=60.0)


def test_clearing_says_how_many_will_never_be_told() -> None:
    pacing = Pacing(60.0, most=10)
    for _ in range(4):
        pacing.admits(notice(), now=0.0)
    assert pacing.clear() == 3
    assert pacing.next_end is None


@given(st.lists(st.tuples(st.integers(0, 50), st.sampled_from(["E1", "E2"])), max_size=60))
def test_no_two_notices_of_an_endpoint_are_closer_than_a_window_and_each_is_told_or_counted(
    steps: list[tuple[int, str]],
) -> None:
    pacing, now = Pacing(60.0, most=10), 0.0
    told: dict[str, list[tuple[float, int]]] = {"E1": [], "E2": []}

    def run_to(until: float) -> None:
        while (end := pacing.next_end) is not None and end <= until:
            for due in pacing.ended(end):
                told[due.contact.uid].append((end, 1 + due.held_back))

    for wait, uid in steps:
        now += wait
        run_to(now)
        if pacing.admits(notice(uid), now):
            told[uid].append((now, 1))
    run_to(now + 1000.0)
    for uid, found in told.items():
        assert sum(count for _, count in found) == sum(one == uid for _, one in steps)
        assert all(later - earlier >= 60.0 for (earlier, _), (later, _) in pairwise(found))
