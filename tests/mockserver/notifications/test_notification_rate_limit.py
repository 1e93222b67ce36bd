"""One notification per endpoint, kind and window; the others are counted with the next one."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hookproof.mockserver.notifications.notice import NoticeKind
from hookproof.mockserver.notifications.notifier import NotificationRateLimit
from tests.mockserver.notifications.notices import notice


def test_the_first_notice_goes_out_at_once_and_the_next_ones_wait_for_the_window_s_end() -> None:
    rate_limit = NotificationRateLimit(60.0, max_windows=10)
    assert rate_limit.next_end is None
    assert rate_limit.admit(notice(at=1.0), now=100.0)
    assert not rate_limit.admit(notice(at=2.0, event_uid="V2"), now=101.0)
    assert not rate_limit.admit(notice(at=3.0, event_uid="V3"), now=159.9)
    assert rate_limit.next_end == 160.0
    assert rate_limit.close_ended(159.99) == []
    [due] = rate_limit.close_ended(160.0)
    assert (due.event_uid, due.held_back, due.held_since) == ("V3", 1, 2.0)


def test_what_was_held_back_opens_a_window_of_its_own() -> None:
    rate_limit = NotificationRateLimit(60.0, max_windows=10)
    rate_limit.admit(notice(), now=0.0)
    rate_limit.admit(notice(), now=1.0)
    assert [due.held_back for due in rate_limit.close_ended(60.0)] == [0]
    assert not rate_limit.admit(notice(), now=61.0)
    assert rate_limit.next_end == 120.0


def test_a_window_without_anything_held_back_is_forgotten() -> None:
    rate_limit = NotificationRateLimit(60.0, max_windows=10)
    rate_limit.admit(notice(), now=0.0)
    assert rate_limit.close_ended(60.0) == []
    assert rate_limit.next_end is None
    assert rate_limit.admit(notice(), now=61.0)


def test_endpoints_and_kinds_have_windows_of_their_own() -> None:
    rate_limit = NotificationRateLimit(60.0, max_windows=10)
    assert rate_limit.admit(notice("E1"), now=0.0)
    assert rate_limit.admit(notice("E2"), now=0.0)
    assert rate_limit.admit(notice("E1", NoticeKind.STATE_CHANGE), now=0.0)


def test_no_more_windows_are_open_than_allowed() -> None:
    rate_limit = NotificationRateLimit(60.0, max_windows=1)
    assert rate_limit.admit(notice("E1"), now=0.0)
    assert not rate_limit.admit(notice("E2"), now=0.0)
    assert rate_limit.close_ended(60.0) == []
    assert rate_limit.admit(notice("E2"), now=60.0)


def test_clearing_returns_how_many_will_never_be_sent() -> None:
    rate_limit = NotificationRateLimit(60.0, max_windows=10)
    for _ in range(4):
        rate_limit.admit(notice(), now=0.0)
    assert rate_limit.clear() == 3
    assert rate_limit.next_end is None


@given(st.lists(st.tuples(st.integers(0, 50), st.sampled_from(["E1", "E2"])), max_size=60))
def test_no_two_notices_of_an_endpoint_are_closer_than_a_window_and_each_is_sent_or_counted(
    steps: list[tuple[int, str]],
) -> None:
    rate_limit, now = NotificationRateLimit(60.0, max_windows=10), 0.0
    sent: dict[str, list[tuple[float, int]]] = {"E1": [], "E2": []}

    def run_to(until: float) -> None:
        while (end := rate_limit.next_end) is not None and end <= until:
            for due in rate_limit.close_ended(end):
                sent[due.contact.uid].append((end, 1 + due.held_back))

    for wait, uid in steps:
        now += wait
        run_to(now)
        if rate_limit.admit(notice(uid), now):
            sent[uid].append((now, 1))
    run_to(now + 1000.0)
    for uid, sent_at in sent.items():
        assert sum(count for _, count in sent_at) == sum(step_uid == uid for _, step_uid in steps)
        assert all(later - earlier >= 60.0 for (earlier, _), (later, _) in pairwise(sent_at))
