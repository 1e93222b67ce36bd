from collections.abc import Mapping
from dataclasses import replace

import pytest

from hookproof.conformance.checks.deliveries.security.custom_headers import (
    a_line_break_in_a_custom_header_adds_nothing,
    a_reserved_header_is_ignored_or_refused_as_the_dialect_says,
    no_custom_header_replaces_or_doubles_credentials,
    no_custom_header_replaces_or_doubles_the_signature,
)
from hookproof.conformance.model.check_registry import Judge
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.delivery.security.custom_headers import (
    ForgedCredentials,
    HostileHeaders,
    SentHeader,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import SIGNATURE, destination, event, observed, sent
from tests.conformance.canned_evidence import exchange, verdicts

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
    check = a_reserved_header_is_ignored_or_refused_as_the_dialect_says
    assert verdicts(check, answered(HONEST)) == {"6-13": PASS}
    assert verdicts(check, answered(SENTINEL, status=400)) == {"6-13": FAIL}


def test_a_reserved_header_that_is_refused_passes_where_the_dialect_says_so() -> None:
    check = a_reserved_header_is_ignored_or_refused_as_the_dialect_says
    assert verdicts(check, answered(SENTINEL, status=422), "contrary") == {"6-13": PASS}
    assert verdicts(check, answered(SENTINEL, status=400), "contrary") == {"6-13": FAIL}
    assert verdicts(check, answered(HONEST), "contrary") == {"6-13": FAIL}


def test_a_reserved_header_that_is_sent_fails() -> None:
    assert verdicts(
        a_reserved_header_is_ignored_or_refused_as_the_dialect_says, answered(FORGED)
    ) == {"6-13": FAIL}


def test_a_signature_that_stays_alone_passes() -> None:
    assert verdicts(no_custom_header_replaces_or_doubles_the_signature, answered(HONEST)) == {
        "6-18": PASS
    }
    refused = answered(SENTINEL, status=400)
    assert verdicts(no_custom_header_replaces_or_doubles_the_signature, refused) == {"6-18": PASS}


def test_a_signature_that_is_missing_is_neither_replaced_nor_doubled() -> None:
    unsigned = replace(
        HONEST, headers=tuple(pair for pair in HONEST.headers if pair[0] != SIGNATURE)
    )
    assert verdicts(no_custom_header_replaces_or_doubles_the_signature, answered(unsigned)) == {
        "6-18": PASS
    }


@pytest.mark.parametrize(
    ("check", "name"),
    [
        (a_reserved_header_is_ignored_or_refused_as_the_dialect_says, NAME),
        (no_custom_header_replaces_or_doubles_the_signature, NAME),
        (a_line_break_in_a_custom_header_adds_nothing, BREAK),
    ],
)
def test_without_a_delivery_nothing_is_shown(check: Judge, name: str) -> None:
    assert verdicts(check, answered(name=name)) == {}
    assert verdicts(check, answered(SENTINEL, name=name)) == {}
    assert verdicts(check, answered(name=name, status=400)) == {}
    assert verdicts(check, answered(SENTINEL, name=name, status=502)) == {}
    assert verdicts(check, answered(SENTINEL, name=name, status=429)) == {}


def test_a_signature_that_is_replaced_or_doubled_fails() -> None:
    assert verdicts(no_custom_header_replaces_or_doubles_the_signature, answered(FORGED)) == {
        "6-18": FAIL
    }
    assert verdicts(no_custom_header_replaces_or_doubles_the_signature, answered(DOUBLED)) == {
        "6-18": FAIL
    }


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
    check = no_custom_header_replaces_or_doubles_credentials
    evidence = with_credentials(keyed(KEY_EVENT, *values), keyed("sentinel", "honest"))
    assert verdicts(check, evidence) == expected


def test_credentials_that_no_delivery_carries_are_not_replaced() -> None:
    check = no_custom_header_replaces_or_doubles_credentials
    evidence = with_credentials(keyed(KEY_EVENT, "forged"), keyed("sentinel"))
    assert verdicts(check, evidence) == {}
    assert verdicts(check, with_credentials(keyed(KEY_EVENT, "forged"))) == {}


def test_a_broadcast_that_is_refused_for_the_header_of_credentials_replaces_none() -> None:
    check = no_custom_header_replaces_or_doubles_credentials
    for status, expected in ((400, {"6-18": PASS}), (429, {}), (502, {})):
        evidence = with_credentials(keyed("sentinel", "honest"), status=status)
        assert verdicts(check, evidence) == expected


def test_a_line_break_that_is_refused_or_harmless_passes() -> None:
    check, harmless = a_line_break_in_a_custom_header_adds_nothing, sent(event(BREAK), PLAIN)
    assert verdicts(check, answered(SENTINEL, status=400, name=BREAK)) == {"6-19": PASS}
    assert verdicts(check, answered(harmless, name=BREAK)) == {"6-19": PASS}


def test_a_line_break_that_adds_a_header_or_a_body_fails() -> None:
    check = a_line_break_in_a_custom_header_adds_nothing
    header = sent(event(BREAK), PLAIN, headers=[("X-Injected", "yes")])
    body = sent(event(BREAK), PLAIN, body=b"injected")
    assert verdicts(check, answered(header, name=BREAK)) == {"6-19": FAIL}
    assert verdicts(check, answered(body, name=BREAK)) == {"6-19": FAIL}
