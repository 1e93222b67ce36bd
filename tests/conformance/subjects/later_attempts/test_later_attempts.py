from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.destinations import Destination
from hookproof.conformance.observations.later_attempts import LaterAttempts, LaterSilence
from hookproof.conformance.subjects.credentials.evidence import LaterTokens
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import destination, ending, event, observed, sent
from tests.conformance.canned_evidence import NOW, verdict, verdicts
from tests.conformance.subjects.credentials.canned_oauth2 import (
    authorized,
    masked,
    token_request,
)

PASS, FAIL = Verdict.PASS, Verdict.FAIL
KEYED = destination(
    "api_key",
    authentication={
        "type": "api_key",
        "api_key": {"header_name": "X-Key", "header_value": "key-1"},
    },
)
BASIC = destination(
    "basic_auth",
    authentication={"type": "basic_auth", "basic_auth": {"username": "u", "password": "p"}},
)
PLAIN = destination()
OTHER = event("another event")


def later(where: Destination, *attempts: ReceivedDelivery, **fields: Any) -> LaterAttempts:
    return observed(LaterAttempts, where, *attempts, events=[event(), OTHER], **fields)


def carrying(name: str, *values: str | None, where: Destination) -> LaterAttempts:
    """Attempts at one event, each with a header of this name or, for None, without it."""
    return later(
        where,
        *(
            sent(
                event(),
                where,
                at=NOW + number,
                attempt=number,
                headers=[] if value is None else [(name, value)],
            )
            for number, value in enumerate(values, start=1)
        ),
    )


@pytest.mark.parametrize(
    ("where", "header", "requirement"),
    [(KEYED, "X-Key", "2.5-9"), (BASIC, "Authorization", "2.5-10")],
)
def test_each_attempt_carries_the_credentials_of_the_first(
    where: Destination, header: str, requirement: str
) -> None:
    def judged(*values: str | None) -> Verdict | None:
        return verdict(requirement, carrying(header, *values, where=where))

    assert judged("a", "a", "a") is PASS
    assert judged("a", "a", None) is judged("a", "b") is FAIL
    assert judged(None, "a") is judged("a") is judged() is None


def test_the_next_event_carries_the_credentials_of_the_first_too() -> None:
    first = sent(event(), KEYED, headers=[("X-Key", "key-1")])
    second = replace(sent(OTHER, KEYED, at=NOW + 1), sequence=2)

    assert verdict("2.5-9", later(KEYED, first, second)) is FAIL


def test_each_attempt_presents_the_certificate_of_the_first() -> None:
    where = destination("client certificate", mtls_client_cert={"client_cert": "c"})

    def judged(*certificates: str | None) -> Verdict | None:
        attempts = (
            sent(event(), where, at=NOW + number, attempt=number, client_certificate=certificate)
            for number, certificate in enumerate(certificates, start=1)
        )
        return verdict("2.3-17", later(where, *attempts))

    assert judged("a", "a") is PASS
    assert judged("a", "a", None) is judged("a", "b") is FAIL
    assert judged(None, "a") is None


def attempts(count: int) -> list[ReceivedDelivery]:
    return [sent(event(), PLAIN, at=NOW + number, attempt=number) for number in range(1, count + 1)]


def test_a_delivery_without_its_last_attempt_fails() -> None:
    assert verdicts("1-12 1-13", later(PLAIN, *attempts(5), awaited=5)) == {"1-12": PASS}
    assert verdicts("1-12 1-13", later(PLAIN, *attempts(4), awaited=5)) == {"1-12": FAIL}
    assert verdicts("1-12 1-13", later(PLAIN, *attempts(3), awaited=3)) == {}
    assert verdicts("1-12 1-13", later(PLAIN, *attempts(1))) == {}


def test_an_endpoint_that_was_disabled_lacks_a_last_attempt_at_one_event_only() -> None:
    others = [
        replace(sent(OTHER, PLAIN, at=NOW + number + 0.1, attempt=number), sequence=10 + number)
        for number in range(1, 5)
    ]

    assert verdicts("1-12 1-13", later(PLAIN, *attempts(5), *others, awaited=5)) == {"1-12": PASS}
    assert verdicts("1-12 1-13", later(PLAIN, *attempts(4), *others, awaited=5)) == {"1-12": FAIL}
    assert verdicts("1-12 1-13", later(PLAIN, *attempts(5), *others[:3], awaited=5)) == {
        "1-12": FAIL
    }


def test_a_last_attempt_may_be_missing_where_endpoints_are_disabled() -> None:
    observation = later(PLAIN, *attempts(4), awaited=5)
    assert verdicts("1-12 1-13", observation, {"retry.deactivate_after": 1}) == {}


def test_a_last_attempt_that_may_still_come_is_not_missing() -> None:
    answered = [ending(attempt, completed=0.0) for attempt in attempts(4)]

    def ended(after_s: float, **fields: Any) -> LaterAttempts:
        ended_at = answered[-1].arrived_at + after_s
        return later(PLAIN, *answered, awaited=5, ended_at=ended_at, **fields)

    assert verdicts("1-12 1-13", ended(60.0)) == {"1-12": FAIL}
    for early in (ended(0.5), ended(60.0, backlog_s={PLAIN.token: 60.0})):
        with pytest.raises(NotExaminedError, match="still arriving"):
            verdicts("1-12 1-13", early)


def test_a_last_attempt_that_is_missing_on_a_late_machine_shows_nothing() -> None:
    observation = replace(later(PLAIN, *attempts(4), awaited=5), late_s=1.2)
    with pytest.raises(NotExaminedError, match="this machine was late"):
        verdicts("1-12 1-13", observation)


def test_the_time_of_the_event_before_is_not_that_of_a_delivery() -> None:
    where = destination("advanced", advanced_signatures=True)
    first = sent(event(), where)

    for signed_at, expected in ((NOW + 9, PASS), (NOW, FAIL)):
        second = replace(sent(OTHER, where, at=NOW + 9, signed_at=signed_at), sequence=2)
        assert verdict("6-11", later(where, first, second)) is expected


def tokens(carried: Sequence[tuple[float, str]], *, issued_at: Sequence[float]) -> Any:
    """Attempts with such an Authorization so many seconds after the first, and tokens issued."""
    where = authorized()
    arrived = (
        sent(event(), where, at=NOW + at, attempt=number, headers=[("Authorization", value)])
        for number, (at, value) in enumerate(carried, start=1)
    )
    requests = (
        replace(token_request(at=NOW + at), sequence=number)
        for number, at in enumerate(issued_at, start=1)
    )
    return masked(
        observed(
            LaterTokens,
            where,
            *arrived,
            *requests,
            issued=("issued-a", "issued-b", "issued-c"),
            token_server="token server",
            life_s=0.5,
        )
    )


def judged_tokens(carried: Sequence[tuple[float, str]]) -> dict[str, Verdict]:
    observation = tokens([(0.0, "Bearer issued-a"), *carried], issued_at=(-0.1, 4.9))
    return verdicts("2.5-3 2.5-6 2.5-7 2.5-17", observation)


def test_each_attempt_needs_a_token_that_is_valid() -> None:
    assert judged_tokens([(5.0, "Bearer issued-b")]) == {"2.5-3": PASS, "2.5-7": PASS}
    assert judged_tokens([(5.0, "Bearer issued-a")]) == {"2.5-3": PASS, "2.5-7": FAIL}
    assert judged_tokens([(5.0, "Bearer anything")]) == {"2.5-3": FAIL, "2.5-7": PASS}


def test_an_endpoint_whose_attempts_carry_no_token_at_all_is_judged_elsewhere() -> None:
    none = tokens([(0.0, "none"), (5.0, "none")], issued_at=(-0.1,))
    assert verdicts("2.5-3 2.5-6", none) == {}


def test_the_last_token_is_as_old_as_its_latest_request() -> None:
    last = "Bearer issued-c"
    for issued_at, expected in (((-9, -8, -0.1, 4.9), PASS), ((-9, -8, -0.1), FAIL)):
        observation = tokens([(0.0, last), (5.0, last)], issued_at=issued_at)
        actual = verdicts("2.5-3 2.5-6 2.5-7 2.5-17", observation)
        assert actual == {"2.5-3": PASS, "2.5-7": expected}


def test_a_token_may_take_a_moment_to_arrive() -> None:
    assert judged_tokens([(1.8, "Bearer issued-a")])["2.5-7"] is PASS


def test_a_service_that_is_behind_requested_the_token_long_before() -> None:
    observation = tokens([(5.0, "Bearer issued-a")], issued_at=(-0.1,))
    assert verdicts("2.5-7 2.5-17", observation) == {"2.5-7": FAIL}
    behind = replace(observation, backlog_s={authorized().token: 5.0})
    assert verdicts("2.5-7 2.5-17", behind) == {"2.5-7": PASS}


def silence(*closed: float | None, number: int) -> LaterSilence:
    """Attempts that were given up so many seconds after they arrived."""
    where = destination("silent", http_timeout=1)
    arrived = (
        ending(sent(event(), where, at=NOW + 10 * place, attempt=place), closed=closed_s)
        for place, closed_s in enumerate(closed, start=1)
    )
    return observed(LaterSilence, where, *arrived, timeout_s=1.0, silent_at={"silent": number})


def test_a_further_attempt_is_given_up_in_time() -> None:
    assert verdicts("8-7 8-9 8-19", silence(0.0, 1.1, number=2)) == {"8-7": PASS}
    assert verdicts("8-7 8-9 8-19", silence(0.0, None, number=2)) == {"8-7": FAIL}
    assert verdicts("8-7 8-9 8-19", silence(0.0, 0.0, 9.0, number=3)) == {"8-7": FAIL}
    assert verdicts("8-7 8-9 8-19", silence(0.0, number=2)) == {}


def test_an_attempt_that_came_at_the_end_of_the_observation_shows_nothing() -> None:
    observation = silence(0.0, None, number=2)
    arrived_at = observation.deliveries[-1].arrived_at
    with pytest.raises(NotExaminedError, match="before it had to be given up"):
        verdicts("8-7 8-9 8-19", replace(observation, ended_at=arrived_at + 4.0))
    assert verdicts("8-7 8-9 8-19", replace(observation, ended_at=arrived_at + 5.0)) == {
        "8-7": FAIL
    }
