import pytest

from hookproof.conformance.experiments.backlog import Backlog
from hookproof.conformance.observations.destinations import Destination
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import destination, event, sent

HERE, THERE = destination("here"), destination("there")
MARKERS = {name: f"event-{number:016x}" for number, name in enumerate(("first", "second"))}


def arrived(name: str, *, at: float, where: Destination = HERE) -> ReceivedDelivery:
    return sent(event(name), where, at=at, body=b'{"marker":"%b"}' % MARKERS[name].encode())


@pytest.fixture
def backlog() -> Backlog:
    backlog = Backlog()
    for at, name in enumerate(MARKERS):
        backlog.note(MARKERS[name], 100.0 + at)
    return backlog


def test_nothing_that_arrived_makes_no_wait(backlog: Backlog) -> None:
    assert backlog.longest_waits_s([], [HERE]) == {}


def test_the_longest_wait_of_any_event_counts(backlog: Backlog) -> None:
    deliveries = [arrived("first", at=102.0), arrived("second", at=108.0)]
    assert backlog.longest_waits_s(deliveries, [HERE, THERE]) == {HERE.token: pytest.approx(7.0)}


def test_an_attempt_after_the_first_is_no_wait(backlog: Backlog) -> None:
    deliveries = [arrived("first", at=102.0), arrived("first", at=130.0)]
    assert backlog.longest_waits_s(deliveries, [HERE, THERE]) == {HERE.token: pytest.approx(2.0)}


def test_each_destination_has_a_wait_of_its_own(backlog: Backlog) -> None:
    deliveries = [arrived("first", at=102.0), arrived("first", at=105.0, where=THERE)]
    assert backlog.longest_waits_s(deliveries, [HERE, THERE]) == {
        HERE.token: pytest.approx(2.0),
        THERE.token: pytest.approx(5.0),
    }


def test_what_this_run_did_not_send_has_no_wait() -> None:
    assert Backlog().longest_waits_s([arrived("first", at=102.0)], [HERE]) == {}


def test_a_service_that_is_far_behind_is_so_everywhere_from_then_on(backlog: Backlog) -> None:
    late = [arrived("first", at=130.0)]
    behind = {HERE.token: pytest.approx(30.0), THERE.token: pytest.approx(30.0)}
    assert backlog.longest_waits_s(late, [HERE, THERE]) == behind
    assert backlog.longest_waits_s([], [THERE]) == {THERE.token: pytest.approx(30.0)}


def test_what_a_rate_limit_holds_back_tells_nothing_of_other_endpoints(backlog: Backlog) -> None:
    limited = destination("limited", rate_limit=1)
    late = [arrived("first", at=130.0, where=limited), arrived("first", at=102.0)]
    own = {limited.token: pytest.approx(30.0), HERE.token: pytest.approx(2.0)}
    assert backlog.longest_waits_s(late, [HERE, limited]) == own
    assert backlog.longest_waits_s([], [THERE]) == {}
