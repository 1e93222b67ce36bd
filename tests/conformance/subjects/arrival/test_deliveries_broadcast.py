from collections.abc import Sequence
from dataclasses import replace

import pytest

from hookproof.conformance.model.evidence import NotExaminedError, Observation
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.destinations import Destination, Event
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.subjects.arrival.evidence import PayloadBroadcasts
from hookproof.conformance.target.definition import Project
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import (
    EVENT_ID,
    broadcast,
    created,
    destination,
    ending,
    event,
    observed,
    sent,
)
from tests.conformance.canned_evidence import NOW, context, judgements, verdict, verdicts

PASS, FAIL, NOT_APPLICABLE = Verdict.PASS, Verdict.FAIL, Verdict.NOT_APPLICABLE
PLAIN, FIRST, SECOND = destination(), event("first"), event("second")
HASTY = destination("hasty", http_timeout=2)
FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("arrived", "expected"),
    {
        "it arrives": ([sent(event(), PLAIN)], PASS),
        "nothing arrives": ([], FAIL),
        "one of another experiment arrives": ([sent(event("foreign"), PLAIN)], FAIL),
        "its event id alone arrives": ([sent(event(), PLAIN, body=b"{}")], PASS),
    }.values(),
)
def test_a_broadcast_arrives(arrived: Sequence[ReceivedDelivery], expected: Verdict) -> None:
    assert verdict("1-1", observed(PayloadBroadcasts, PLAIN, *arrived)) is expected


@pytest.mark.parametrize(
    ("rest", "asked_for", "passes"),
    [
        ("?a=1&a=2", "?a=1&a=2", True),
        ("?a=1&a=2", "?a=2&b=3&a=1", True),
        ("?a=1&a=2", "?a=2", False),
        ("?a=1&a=2", "", False),
        ("?a=&b", "?a=&b=", True),
        ("?a=&b", "?a=", False),
        ("?a=1+1%20", "?a=1%201+", True),
        ("?a=1+1", "?a=1%2B1", False),
        ("?a=%2F%c3%bc", "?a=/%C3%BC", True),
        ("?a=%2F", "?a=%252F", False),
        ("/a%3Ab/./c//", "/a:b/c/", True),
        ("/a%3Ab", "/a%253Ab", False),
        ("/a/", "/a", False),
        ("/a", "/a/", False),
        ("/A", "/a", False),
        ("/a;v=1", "/a", False),
        ("", "?added=1", None),
    ],
)
def test_a_delivery_is_a_request_for_what_its_url_says(
    rest: str, asked_for: str, *, passes: bool | None
) -> None:
    place = destination(url=f"https://receiver.example/hooks/{PLAIN.token}{rest}")
    arrived = sent(event(), place)
    # A proxy before the receiver takes a part of the path away.
    asked = replace(arrived, path=f"/{PLAIN.token}{asked_for}")
    expected = None if passes is None else PASS if passes else FAIL
    assert verdict("1-26", observed(PayloadBroadcasts, place, asked)) is expected


def test_a_service_that_takes_only_plain_urls_is_not_judged_by_them() -> None:
    place = destination("json, at a plain URL", url=f"https://receiver.example/{PLAIN.token}")
    broadcasts = observed(PayloadBroadcasts, place, sent(event(), place))
    assert verdict("1-26", broadcasts) is NOT_APPLICABLE


@pytest.mark.parametrize(("got", "expected"), [((FIRST, SECOND), PASS), ((SECOND,), FAIL)])
def test_an_endpoint_gets_the_first_event(got: Sequence[Event], expected: Verdict) -> None:
    arrived = [sent(each, PLAIN) for each in got]
    broadcasts = observed(PayloadBroadcasts, PLAIN, *arrived, events=[FIRST, SECOND])
    assert verdict("4.1-17", broadcasts) is expected


def test_the_time_of_an_endpoint_that_gets_nothing_is_not_judged() -> None:
    assert verdict("4.1-17", observed(PayloadBroadcasts, PLAIN)) is None


def test_one_delivery_passes_and_two_fail() -> None:
    once, again = sent(event(), PLAIN), sent(event(), PLAIN, attempt=2)
    assert verdict("4.8-15", observed(PayloadBroadcasts, PLAIN, once)) is PASS
    assert verdict("4.8-15", observed(PayloadBroadcasts, PLAIN, once, again)) is FAIL


def body_verdict(
    data: object,
    body: str,
    *,
    content_type: str | None = None,
    of: str = "6-3 6-12",
) -> dict[str, Verdict]:
    where = destination() if content_type is None else destination(content_type=content_type)
    broadcasts = observed(
        PayloadBroadcasts,
        where,
        sent(event(), where, body=body.encode()),
        exchanges=[broadcast(event(), data=data)],
    )
    return verdicts(of, broadcasts)


@pytest.mark.parametrize(
    ("data", "body", "expected"),
    {
        "written anew": ({"a": 100000.0, "b": "ü"}, '{ "b": "\\u00fc", "a": 1e5 }', PASS),
        "an integer altered": ({"a": 9007199254740993}, '{"a":9007199254740996}', FAIL),
        "true is not 1": ({"a": True}, '{"a":1}', FAIL),
        "a member missing": ({"a": None}, "{}", FAIL),
        "not JSON": ({"a": 1}, "a=1", FAIL),
    }.values(),
)
def test_json_is_the_data_that_was_sent(data: object, body: str, expected: Verdict) -> None:
    assert body_verdict(data, body) == {"6-3": expected}


def test_a_number_that_was_read_as_a_double_is_the_same_data_with_fewer_digits() -> None:
    for number, as_double in ((9007199254740993, "9007199254740992"), (10**29 + 1, "1e+29")):
        rounded, kept = f'{{"a":{as_double}}}', f'{{"a":{number}}}'
        assert body_verdict({"a": number}, rounded) == {"6-3": PASS}
        assert body_verdict({"a": number}, rounded, of="4.8-19") == {"4.8-19": FAIL}
        assert body_verdict({"a": number}, kept, of="4.8-19") == {"4.8-19": PASS}


def test_numbers_that_a_double_holds_and_other_data_prove_nothing_about_digits() -> None:
    assert body_verdict({"a": 0.1, "b": 9007199254740992}, "{}", of="4.8-19") == {}
    assert body_verdict({"a": 9007199254740993}, '{"a":1}', of="4.8-19") == {}


def test_other_data_is_shown_beside_the_data_that_was_sent_both_as_json() -> None:
    broadcasts = observed(
        PayloadBroadcasts,
        destination(),
        sent(event(), destination(), body=b'{"a":1}'),
        exchanges=[broadcast(event(), data={"a": None, "b": [True, 12.5, 9007199254740993]})],
    )
    (judgement,) = judgements("6-3 6-12", broadcasts)
    assert judgement.expected == '{"a": null, "b": [true, 12.5, 9007199254740993]}'
    assert judgement.actual == '{"a": 1}; from byte 6 of the body on'
    assert judgement.marks.body == (5, 6)


def test_an_endpoint_that_asks_for_a_form_gets_the_members_as_a_form() -> None:
    assert body_verdict({"a": "x y", "b": ""}, "b=&a=x+y", content_type=FORM) == {"6-12": PASS}
    assert body_verdict({"a": "x y"}, '{"a":"x y"}', content_type=FORM) == {"6-12": FAIL}


@pytest.mark.parametrize(
    ("body", "place", "where"),
    [
        ("b=&a=x+z", (3, 8), "from byte 4 of the body on"),
        ("a=x+y&a=x+y", (6, 11), "from byte 7 of the body on"),
        ("a=x+y", (5, 5), "from the end of the body, byte 5 on"),
        ('{"a":"x y"}', (0, 11), "from byte 1 of the body on"),
    ],
)
def test_a_form_with_other_members_says_from_which_byte_on(
    body: str, place: tuple[int, int], where: str
) -> None:
    asking = destination(content_type=FORM)
    broadcasts = observed(
        PayloadBroadcasts,
        asking,
        sent(event(), asking, body=body.encode()),
        exchanges=[broadcast(event(), data={"a": "x y", "b": ""})],
    )
    (judgement,) = judgements("6-3 6-12", broadcasts)
    assert judgement.marks.body == place
    assert judgement.actual.endswith(f"; {where}")


def declared(header: str, **settings: str) -> dict[str, Verdict]:
    where = destination(**settings)
    broadcasts = observed(
        PayloadBroadcasts, where, sent(event(), where, headers=[("Content-Type", header)])
    )
    return verdicts("2.3-6 2.3-7", broadcasts)


def test_an_endpoint_gets_the_content_type_that_it_asked_for_or_json() -> None:
    assert declared("Application/JSON; charset=utf-8") == {"2.3-6": PASS}
    assert declared("text/plain") == {"2.3-6": FAIL}
    assert declared(FORM, content_type=FORM) == {"2.3-7": PASS}
    assert declared("application/json", content_type=FORM) == {"2.3-7": FAIL}


def with_headers(*headers: tuple[str, str]) -> PayloadBroadcasts:
    exchanges = [
        broadcast(event(), custom_headers={"X-Order": "o-1"}),
        broadcast(SECOND, custom_headers={"X-Order": "o-2"}),
    ]
    return observed(
        PayloadBroadcasts,
        PLAIN,
        sent(event(), PLAIN, headers=headers),
        events=[event(), SECOND],
        exchanges=exchanges,
    )


@pytest.mark.parametrize(
    ("headers", "of", "expected"),
    {
        "arrives": ([("x-order", "o-1")], "6-4", PASS),
        "is missing": ([], "6-4", FAIL),
        "is altered": ([("X-Order", "O-1")], "6-4", FAIL),
        "is doubled": ([("X-Order", "o-1"), ("X-Order", "o-1")], "6-4", FAIL),
        "comes alone": ([("x-order", "o-1")], "6-5", PASS),
        "comes beside another event's": ([("X-Order", "o-1"), ("X-Other", "o-2")], "6-5", FAIL),
    }.values(),
)
def test_the_custom_header_of_an_event_is_in_its_delivery(
    headers: Sequence[tuple[str, str]], of: str, expected: Verdict
) -> None:
    assert verdict(of, with_headers(*headers)) is expected


def test_a_delivery_that_names_its_event_passes() -> None:
    actual = verdicts("4.8-16 4.8-17", observed(PayloadBroadcasts, PLAIN, sent(event(), PLAIN)))
    assert actual == {"4.8-16": PASS, "4.8-17": NOT_APPLICABLE}


def test_a_delivery_with_another_id_fails() -> None:
    broadcasts = observed(
        PayloadBroadcasts, PLAIN, sent(event(), PLAIN, headers=[(EVENT_ID, "delivery-7")])
    )
    assert verdict("4.8-16", broadcasts) is FAIL


def test_no_event_is_named_where_the_dialect_has_no_header_for_it() -> None:
    broadcasts = observed(PayloadBroadcasts, PLAIN, sent(event(), PLAIN))
    silent = {"delivery.event_id_header": None}
    assert verdict("4.8-16", broadcasts, silent) is NOT_APPLICABLE


def test_the_event_type_is_judged_where_the_dialect_has_a_header_for_it() -> None:
    named = [("Hook-Event", "uid-event"), ("Hook-Event-Type", "order.paid")]
    good, bad = (
        observed(PayloadBroadcasts, PLAIN, sent(event(), PLAIN, headers=headers))
        for headers in (named, named[:1])
    )
    assert verdicts("4.8-16 4.8-17", good, "contrary") == {
        "4.8-16": PASS,
        "4.8-17": PASS,
    }
    assert verdicts("4.8-16 4.8-17", bad, "contrary") == {"4.8-16": PASS, "4.8-17": FAIL}


def with_key_masked(delivery: ReceivedDelivery) -> Observation:
    """The delivery in an observation whose API key is masked, as it is stored."""
    mask = Mask([Project(id="p1", api_key="key-one")], context().dialect)
    broadcasts = mask.evidence(observed(PayloadBroadcasts, PLAIN, delivery))
    assert isinstance(broadcasts, Observation)
    return broadcasts


def test_a_delivery_without_the_api_key_passes_and_one_with_it_fails() -> None:
    assert verdict("5-16", with_key_masked(sent(event(), PLAIN))) is PASS
    for name, value in (("Authorization", "Bearer key-one"), ("X-Key", "key-one")):
        leaking = sent(event(), PLAIN, headers=[(name, value)])
        assert verdict("5-16", with_key_masked(leaking)) is FAIL


def leaking(where: Destination = PLAIN) -> PayloadBroadcasts:
    """Two events, the second of which is delivered with the custom header of the first."""
    leaked = sent(SECOND, where, headers=[("X-Marker", FIRST.marker)])
    return observed(PayloadBroadcasts, where, sent(FIRST, where), leaked, events=[FIRST, SECOND])


def test_an_event_is_not_blamed_for_its_header_in_the_delivery_of_another() -> None:
    assert verdict("4.8-15", leaking()) is PASS
    assert verdicts("6-3 6-12", leaking()) == {"6-3": PASS}


def test_an_event_has_not_arrived_because_another_carries_its_header() -> None:
    leaked = sent(SECOND, PLAIN, headers=[("X-Marker", FIRST.marker)])
    broadcasts = observed(PayloadBroadcasts, PLAIN, leaked, events=[FIRST, SECOND])
    assert verdict("1-1", broadcasts) is FAIL


def test_the_event_of_another_experiment_is_known_by_its_body() -> None:
    foreign = sent(event("foreign"), PLAIN, attempt=2, headers=[("X-Marker", FIRST.marker)])
    broadcasts = observed(PayloadBroadcasts, PLAIN, sent(FIRST, PLAIN), foreign, events=[FIRST])
    assert verdicts("6-3 6-12", broadcasts) == {"6-3": PASS}


def test_the_uid_tells_whose_delivery_it_is_where_two_markers_stand_in_headers() -> None:
    both = [("X-Marker", FIRST.marker), ("X-Marker", SECOND.marker)]
    broadcasts = observed(
        PayloadBroadcasts,
        PLAIN,
        sent(SECOND, PLAIN, body=b"{}", headers=both),
        events=[FIRST, SECOND],
    )
    assert verdict("1-1", broadcasts) is FAIL
    only = broadcasts.attempts(PLAIN, SECOND, context().dialect)
    assert len(only) == 1
    assert broadcasts.attempts(PLAIN, FIRST, context().dialect) == ()


@pytest.mark.parametrize("late_s", [0.0, 0.5])
def test_an_attempt_after_the_time_out_of_the_target_is_no_double(late_s: float) -> None:
    again = sent(event(), HASTY, at=NOW + 3, attempt=2)
    for first in (
        ending(sent(event(), HASTY)),
        ending(sent(event(), HASTY), closed=2.0),
        ending(sent(event(), HASTY), completed=2.1),
    ):
        assert verdict("4.8-15", observed(PayloadBroadcasts, HASTY, first, again)) is None
    prompt = ending(sent(event(), HASTY), completed=1.7)
    doubled = observed(PayloadBroadcasts, HASTY, prompt, again)
    expected = {"4.8-15": FAIL} if not late_s else {}
    assert verdicts("4.8-15", replace(doubled, late_s=late_s)) == expected


def backlog(*, waited_s: float) -> PayloadBroadcasts:
    """Two events, the first of which took 4 seconds; the second has not arrived by then."""
    arrived = sent(FIRST, PLAIN, at=NOW + 4)
    broadcasts = observed(PayloadBroadcasts, PLAIN, arrived, events=[FIRST, SECOND])
    return replace(broadcasts, ended_at=NOW + waited_s)


def sent_together(*, arrived_s: float, ended_s: float) -> PayloadBroadcasts:
    """Two events at one time, of which one arrived so much later."""
    events = [event("arrived"), event("missing")]
    return observed(
        PayloadBroadcasts,
        PLAIN,
        sent(events[0], PLAIN, at=NOW + arrived_s),
        events=events,
        ended_at=NOW + ended_s,
    )


def test_what_was_sent_as_early_as_what_just_arrived_is_not_missing() -> None:
    with pytest.raises(NotExaminedError, match="still arriving"):
        verdict("1-1", sent_together(arrived_s=61, ended_s=62))
    ended = sent_together(arrived_s=1, ended_s=62)
    assert verdict("1-1", ended) is FAIL
    later, earlier = ended.events[0], event("missing earlier")
    calls = [created(PLAIN), broadcast(later, sent_at=NOW + 50), broadcast(earlier)]
    passed_over = replace(
        ended,
        events=(later, earlier),
        exchanges=tuple(calls),
        deliveries=(sent(later, PLAIN, at=NOW + 61),),
    )
    assert verdict("1-1", passed_over) is FAIL


def test_nothing_is_missing_while_connections_end_without_a_request() -> None:
    ended = sent_together(arrived_s=1, ended_s=62)
    with pytest.raises(NotExaminedError, match="still arriving"):
        verdict("1-1", replace(ended, unused_s=1.0))
    assert verdict("1-1", replace(ended, unused_s=20.0)) is FAIL


def test_what_may_still_come_after_a_backlog_is_not_missing() -> None:
    with pytest.raises(NotExaminedError, match="still arriving"):
        verdict("1-1", backlog(waited_s=5))
    late = replace(backlog(waited_s=14), late_s=9.0)
    with pytest.raises(NotExaminedError, match="still arriving"):
        verdict("1-1", late)
    assert verdict("1-1", backlog(waited_s=14)) is FAIL


def test_while_only_others_of_our_broadcasts_arrive_nothing_is_missing() -> None:
    foreign = sent(event("foreign"), PLAIN, at=NOW + 9)
    broadcasts = observed(PayloadBroadcasts, PLAIN, foreign)
    with pytest.raises(NotExaminedError, match="still arriving"):
        verdict("1-1", replace(broadcasts, ended_at=NOW + 10))
    behind = replace(broadcasts, ended_at=NOW + 12, backlog_s={PLAIN.token: 9.0})
    with pytest.raises(NotExaminedError, match="still arriving"):
        verdict("1-1", behind)
    quiet = replace(broadcasts, ended_at=NOW + 12)
    assert verdict("1-1", quiet) is FAIL


def test_an_event_without_a_uid_is_not_compared_with_one() -> None:
    unnamed = replace(event(), uid=None)
    broadcasts = observed(PayloadBroadcasts, PLAIN, sent(unnamed, PLAIN), events=[unnamed])
    assert verdict("4.8-16", broadcasts) is None
