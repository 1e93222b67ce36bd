"""Unusual endpoint URLs: who refuses one for another reason is not accused of it."""

from typing import Any

import pytest

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.questions.evidence import (
    UnansweredVisit,
    UnusualUrlTried,
    UrlKind,
)
from tests.conformance.canned_evidence import exchange, observation
from tests.conformance.checks.api.example import created, refusal
from tests.conformance.checks.api.test_answers_of_other_dialects import judged_under

HOST = "https://host-1.invalid/"
DECIMAL = "https://2130706433/"
UNDECIDED = {"undecided": "nobody asked"}
KINDS = {
    UrlKind.ADDRESS: ("requests.url_addresses", "https://127.0.0.1/"),
    UrlKind.OTHER_PORT: ("requests.url_other_ports", "https://host-1.invalid:20443/"),
    UrlKind.USER_INFORMATION: ("requests.url_user_information", "https://u:p@host-1.invalid/"),
    UrlKind.ODD_HOST: ("requests.url_odd_hosts", DECIMAL),
    UrlKind.FRAGMENT: ("requests.url_fragments", f"{HOST}#part"),
}


def taken(url: str, role: str = "tried") -> Exchange:
    return created({"url": url}, {"url": url}, role=role)


def declined(url: str, role: str = "tried", status: int = 422) -> Exchange:
    return refusal(status, role=role, request={"url": url})


def verdicts(answers: dict[str, Any], kind: UrlKind, *exchanges: Exchange) -> list[Verdict]:
    evidence = observation(
        UnusualUrlTried, *exchanges, operation_id="createEndpoint", field="url", kind=kind
    )
    return judged_under(answers, "8-22 8-23 8-24 8-25 8-26", evidence)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_judged_by_its_own_answer(kind: UrlKind) -> None:
    field, url = KINDS[kind]
    plain = taken(HOST, "tried: plain")
    assert verdicts({field: "taken"}, kind, taken(url), plain) == [Verdict.PASS]
    assert verdicts({field: "taken"}, kind, declined(url), plain) == [Verdict.FAIL]
    assert verdicts({field: "refused"}, kind, taken(url), plain) == [Verdict.FAIL]
    assert verdicts({field: "refused"}, kind, declined(url), plain) == [Verdict.PASS]
    either = {field: {"one_of": ["taken", "refused"]}}
    for answer in (taken(url), declined(url)):
        assert verdicts({field: UNDECIDED}, kind, answer, plain) == []
        assert verdicts(either, kind, answer, plain) == [Verdict.PASS]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("answer", ["taken", "refused"])
def test_a_refusal_shows_nothing_where_the_plain_url_is_refused_too(
    kind: UrlKind, answer: str
) -> None:
    field, url = KINDS[kind]
    assert verdicts({field: answer}, kind, declined(url), declined(HOST, "tried: plain")) == []
    assert verdicts({field: answer}, kind, declined(url)) == []


@pytest.mark.parametrize("status", [500, 503, 429, None])
def test_what_is_neither_taken_nor_refused_shows_nothing(status: int | None) -> None:
    tried = exchange("tried", "createEndpoint", status=status, request={"url": f"{HOST}#part"})
    plain = taken(HOST, "tried: plain")
    for answer in ("taken", "refused"):
        assert verdicts({"requests.url_fragments": answer}, UrlKind.FRAGMENT, tried, plain) == []


def test_a_service_without_ipv6_may_refuse_such_addresses() -> None:
    plain = taken(HOST, "tried: plain")
    for kind, url in (
        (UrlKind.ADDRESS, "https://[::1]/"),
        (UrlKind.ODD_HOST, "https://[::ffff:127.0.0.1]/"),
    ):
        field = KINDS[kind][0]
        assert verdicts({field: "taken"}, kind, declined(url), plain) == []
        assert verdicts({field: "refused"}, kind, declined(url), plain) == [Verdict.PASS]
        assert verdicts({field: "refused"}, kind, taken(url), plain) == [Verdict.FAIL]


@pytest.mark.parametrize(
    ("addresses", "expected"), [("taken", [Verdict.FAIL]), ("refused", []), (UNDECIDED, [])]
)
def test_an_odd_form_may_be_refused_as_the_address_that_it_is(
    addresses: Any, expected: list[Verdict]
) -> None:
    answers = {"requests.url_odd_hosts": "taken", "requests.url_addresses": addresses}
    plain = taken(HOST, "tried: plain")
    assert verdicts(answers, UrlKind.ODD_HOST, declined(DECIMAL), plain) == expected


@pytest.mark.parametrize(
    ("answer", "tried", "answered", "expected"),
    [
        ("refused", declined(HOST), taken(HOST, "answered"), [Verdict.PASS]),
        ("refused", taken(HOST), taken(HOST, "answered"), [Verdict.FAIL]),
        ("taken", taken(HOST), taken(HOST, "answered"), [Verdict.PASS]),
        ("taken", declined(HOST), taken(HOST, "answered"), [Verdict.FAIL]),
        ("refused", declined(HOST), declined(HOST, "answered"), []),
        (UNDECIDED, declined(HOST), taken(HOST, "answered"), []),
    ],
)
def test_a_url_that_answers_no_visit_is_judged_beside_one_that_does(
    answer: Any, tried: Exchange, answered: Exchange, expected: list[Verdict]
) -> None:
    evidence = observation(
        UnansweredVisit, tried, answered, operation_id="createEndpoint", field="url"
    )

    visits = {"delivery.creation_visit": "head", "delivery.failed_visit": answer}
    assert judged_under(visits, "4.1-18", evidence) == expected
    assert judged_under({"delivery.failed_visit": answer}, "4.1-18", evidence) == [
        Verdict.NOT_APPLICABLE
    ]
