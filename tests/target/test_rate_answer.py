"""An answer of a service that limits its API is recognised, and how long it asks to wait."""

import pytest

from hookproof.target.rate_answer import PAUSE_S, ApiPause, requested_pause_s


@pytest.mark.parametrize(
    ("status", "headers", "pause_s"),
    [
        (429, {}, PAUSE_S),
        (429, None, PAUSE_S),
        (429, {"Retry-After": "7"}, 7.0),
        (429, {"Retry-After": "soon"}, PAUSE_S),
        (429, {"Retry-After": "-3"}, 0.0),
        (429, {"Retry-After": "1e999"}, PAUSE_S),
        (503, {"Retry-After": "2"}, 2.0),
        (403, {"Retry-After": "2"}, 2.0),
        (503, {}, None),
        (500, {"Retry-After": "2"}, None),
        (302, {"Retry-After": "2"}, None),
        (201, {"Retry-After": "2"}, None),
        (401, {}, None),
        (0, None, None),
    ],
)
def test_a_limit_is_told_from_an_error(
    status: int, headers: dict[str, str] | None, pause_s: float | None
) -> None:
    assert requested_pause_s(status, headers) == pause_s


def test_a_date_is_read_by_the_targets_own_clock() -> None:
    headers = {
        "Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT",
        "Date": "Sun, 06 Nov 1994 08:49:25 GMT",
    }
    assert requested_pause_s(429, headers) == 12.0
    assert requested_pause_s(429, {"Retry-After": headers["Retry-After"]}) == 0.0, "it has passed"


def test_a_shorter_pause_does_not_end_a_longer_one() -> None:
    pause = ApiPause()
    assert not pause.holds(100.0)
    pause.extend(5.0, 100.0)
    pause.extend(1.0, 101.0)
    assert pause.holds(104.9)
    assert not pause.holds(105.0)
