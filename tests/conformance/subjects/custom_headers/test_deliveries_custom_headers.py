from collections.abc import Mapping
from dataclasses import replace

import pytest

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.custom_headers.evidence import (
    ForgedCredentials,
    HostileHeaders,
    SentHeader,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import SIGNATURE, destination, event, observed, sent
from tests.conformance.canned_evidence import exchange, verdict, verdicts

PASS, FAIL = Verdict.PASS, Verdict.FAIL
PLAIN = destination("simple", advanced_signatures=False)
NAME, BREAK = f"reserved: {SIGNATURE}", "line break in a value"
WITH_KEY, KEY_EVENT = destination("api_key"), "reserved: X-Key"


def answered(*arrived: ReceivedDelivery, status: int = 201, name: str = NAME) -> HostileHeaders:
    return observed(
        HostileHeaders,
        PLAIN,
        *arrived,
        events=[*([event(name)] if status < 300 else []), event("sentinel")],
        exchanges=[exchange(name, "createBroadcastEvent", status=status)],
        reserved=(SentHeader(event=NAME, name=SIGNATURE, content="forged"),),
        broken=(SentHeader(event=BREAK, name="X-Broken", content="a\r\nX-Injected: yes"),),
        injected="X-Injected",
    )


SENTINEL = sent(event("sentinel"), PLAIN)
HONEST = sent(event(NAME), PLAIN)
FORGED = sent(event(NAME), PLAIN, headers=[(SIGNATURE, "forged")])
DOUBLED = sent(event(NAME), PLAIN, headers=[(SIGNATURE, "honest"), (SIGNATURE, "forged")])


def test_a_reserved_header_that_is_ignored_passes_where_the_dialect_says_so() -> None:
    assert verdict("6-13", answered(HONEST)) is PASS
    assert verdict("6-13", answered(SENTINEL, status=400)) is FAIL


def test_a_reserved_header_that_is_refused_passes_where_the_dialect_says_so() -> None:
    assert verdict("6-13", answered(SENTINEL, status=422), "contrary") is PASS
    assert verdict("6-13", answered(SENTINEL, status=400), "contrary") is FAIL
    assert verdict("6-13", answered(HONEST), "contrary") is FAIL


def test_a_reserved_header_that_is_sent_fails() -> None:
    assert verdict("6-13", answered(FORGED)) is FAIL


def test_a_signature_that_stays_alone_passes() -> None:
    assert verdict("6-18", answered(HONEST)) is PASS
    refused = answered(SENTINEL, status=400)
    assert verdict("6-18", refused) is PASS


def test_a_signature_that_is_missing_is_neither_replaced_nor_doubled() -> None:
    unsigned = replace(
        HONEST, headers=tuple(pair for pair in HONEST.headers if pair[0] != SIGNATURE)
    )
    assert verdict("6-18", answered(unsigned)) is PASS


@pytest.mark.parametrize(
    ("requirements", "name"),
    [
        ("6-13", NAME),
        ("6-18", NAME),
        ("6-19", BREAK),
    ],
)
def test_without_a_delivery_nothing_is_shown(requirements: str, name: str) -> None:
    assert verdicts(requirements, answered(name=name)) == {}
    assert verdicts(requirements, answered(SENTINEL, name=name)) == {}
    assert verdicts(requirements, answered(name=name, status=400)) == {}
    assert verdicts(requirements, answered(SENTINEL, name=name, status=502)) == {}
    assert verdicts(requirements, answered(SENTINEL, name=name, status=429)) == {}


def test_a_signature_that_is_replaced_or_doubled_fails() -> None:
    assert verdict("6-18", answered(FORGED)) is FAIL
    assert verdict("6-18", answered(DOUBLED)) is FAIL


def with_credentials(*arrived: ReceivedDelivery, status: int = 201) -> ForgedCredentials:
    return observed(
        ForgedCredentials,
        WITH_KEY,
        *arrived,
        events=[*([event(KEY_EVENT)] if status < 300 else []), event("sentinel")],
        exchanges=[exchange(KEY_EVENT, "createBroadcastEvent", status=status)],
        forged={"api_key": SentHeader(event=KEY_EVENT, name="X-Key", content="forged")},
    )


def keyed(name: str, *values: str) -> ReceivedDelivery:
    return sent(event(name), WITH_KEY, headers=[("X-Key", value) for value in values])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["honest"], {"6-18": PASS}),
        (["forged"], {"6-18": FAIL}),
        (["honest", "forged"], {"6-18": FAIL}),
        (["honest, forged"], {"6-18": FAIL}),
        ([], {}),  # for section 2.5
    ],
)
def test_credentials_are_those_of_the_sentinel(
    values: list[str], expected: Mapping[str, Verdict]
) -> None:
    evidence = with_credentials(keyed(KEY_EVENT, *values), keyed("sentinel", "honest"))
    assert verdicts("6-18", evidence) == expected


def test_credentials_that_no_delivery_carries_are_not_replaced() -> None:
    evidence = with_credentials(keyed(KEY_EVENT, "forged"), keyed("sentinel"))
    assert verdict("6-18", evidence) is None
    assert verdict("6-18", with_credentials(keyed(KEY_EVENT, "forged"))) is None


def test_a_broadcast_that_is_refused_for_the_header_of_credentials_replaces_none() -> None:
    for status, expected in ((400, {"6-18": PASS}), (429, {}), (502, {})):
        evidence = with_credentials(keyed("sentinel", "honest"), status=status)
        assert verdicts("6-18", evidence) == expected


def test_a_line_break_that_is_refused_or_harmless_passes() -> None:
    harmless = sent(event(BREAK), PLAIN)
    assert verdict("6-19", answered(SENTINEL, status=400, name=BREAK)) is PASS
    assert verdict("6-19", answered(harmless, name=BREAK)) is PASS


def test_a_line_break_that_adds_a_header_or_a_body_fails() -> None:
    header = sent(event(BREAK), PLAIN, headers=[("X-Injected", "yes")])
    body = sent(event(BREAK), PLAIN, body=b"injected")
    assert verdict("6-19", answered(header, name=BREAK)) is FAIL
    assert verdict("6-19", answered(body, name=BREAK)) is FAIL
