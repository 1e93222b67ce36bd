"""What single exchanges of Schemathesis, and those with one resource, are found to violate."""

from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.checks import all_checks
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import Kind
from hookproof.conformance.schemathesis_plugin.rules import (
    OF_EVENTS,
    OF_RESOURCES,
    UNKNOWN_IN,
    Rules,
    judged_requirements,
)
from hookproof.conformance.target.definition import Project
from hookproof.spec.dialect.assumptions import wholly_assumed
from hookproof.spec.dialect.reader import load_dialect
from tests.conformance.canned_evidence import NOW, exchange

UID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
PATH = {"endpointID": UID}
SENT = {"name": "orders", "url": "https://receiver.invalid/orders"}
ENDPOINT = {**SENT, "uid": UID}
RENAMED = {**ENDPOINT, "name": "others"}
EVENT = {"uid": UID, "event_type": "order.paid", "is_duplicate_event": False}
# What answers with few fields violate besides is no matter here.
OF_SEVERAL = {"2.8-5", "4.1-4", "4.1-7", "4.2-5", "4.3-11", "4.8-4"}


def reference(assumed: bool = False) -> Rules:
    dialect = load_dialect("reference")
    project = Project(id="p1", api_key="key-of-p1")
    return Rules(wholly_assumed(dialect) if assumed else dialect, project)


def created(shown: dict[str, Any] = ENDPOINT, **options: Any) -> Exchange:
    return exchange(request={**SENT, **options.pop("also", {})}, data=shown, **options)


def fetched(shown: dict[str, Any] = ENDPOINT, **options: Any) -> Exchange:
    return exchange("sweep", "getEndpoint", data=shown, path=PATH, **options)


def rolled(shown: dict[str, Any] = ENDPOINT, **options: Any) -> Exchange:
    return exchange("sweep", "expireEndpointSecret", data=shown, path=PATH, request={}, **options)


def found(rules: Rules, *exchanges: Exchange, invalid: int = -1, lost: int = -1) -> set[str]:
    """What is violated by a sequence of exchanges a second apart, of which one may have been meant
    to be invalid, and one have had no answer.
    """
    violated: set[str] = set()
    for number, each in enumerate(exchanges):
        identifier = f"case {number}"
        if each.operation_id == "expireEndpointSecret":
            rules.histories.begin_change(identifier, UID)
        if number != lost:
            later = replace(each, sent_at=each.sent_at + number)
            violated |= set(rules.violations(identifier, later, is_valid=number != invalid))
    return violated & OF_SEVERAL


def test_each_law_names_a_check_and_requirements_of_it() -> None:
    checks = {check.name: check for check in all_checks()}
    for name, requirements in {**OF_RESOURCES, **OF_EVENTS}.items():
        assert set(requirements or ()) <= set(checks[name].requirements)
    known = {each.id for each in judged_requirements()}
    assert known >= {"4.1-2", "2.1-1", "4.2-5", "4.3-11", "4.6-9", "2.8-4"}


def test_an_oracle_judges_each_exchange() -> None:
    violated = reference().violations("1", exchange(status=200, data=ENDPOINT), is_valid=True)
    (judgement,) = violated["4.1-2"]
    assert (judgement.expected, judgement.actual) == ("201", "200")


def test_what_rests_on_an_assumed_answer_accuses_nobody() -> None:
    wrong = exchange(status=200, data={**ENDPOINT, "url": "http://receiver.invalid/"})
    assert {"4.1-2", "2.3-3"} <= set(reference().violations("1", wrong, is_valid=True))
    violated = reference(assumed=True).violations("1", wrong, is_valid=True)
    assert "4.1-2" not in violated
    assert "2.3-3" in violated


@pytest.mark.parametrize(
    ("exchanges", "violated"),
    [
        ([created(), fetched(), rolled(), fetched()], set()),
        ([created(RENAMED)], {"4.1-4"}),
        ([created({**ENDPOINT, "owner_id": "a"}, also={"owner_id": "b"})], {"4.1-7"}),
        ([created(), fetched(RENAMED)], {"4.2-5"}),
        ([created(), fetched(), rolled(), fetched(RENAMED)], {"4.3-11"}),
        ([created(), rolled(RENAMED), rolled()], {"4.3-11"}),
    ],
)
def test_laws_of_one_resource_are_judged_over_its_exchanges(
    exchanges: list[Exchange], violated: set[str]
) -> None:
    assert found(reference(), *exchanges) == violated


@pytest.mark.parametrize(
    ("exchanges", "options"),
    [
        # a roll of which no answer came may have done anything, and so may one that was invalid
        ([created(), rolled(), fetched(RENAMED)], {"lost": 1}),
        ([created(), rolled(RENAMED), fetched(RENAMED)], {"invalid": 1}),
        # deprecated fields, empty texts and spaces may be shown otherwise
        ([created({**ENDPOINT, "owner_id": "a"}, also={"appID": "a", "owner_id": "b"})], {}),
        ([created({**ENDPOINT, "name": None}, also={"name": ""})], {}),
        ([created({**ENDPOINT, "name": "ab"}, also={"name": "a\u0007b"})], {}),
        ([created(ENDPOINT, also={"name": " orders"})], {}),
        # nothing was stored
        ([created(status=400), fetched(RENAMED)], {}),
        # another one shows another name
        ([created(), fetched({**RENAMED, "uid": "01ARZ3NDEKTSV4RRFFQ69G5FAW"})], {}),
    ],
)
def test_what_is_not_known_of_a_resource_accuses_nobody(
    exchanges: list[Exchange], options: dict[str, int]
) -> None:
    assert found(reference(), *exchanges, **options) == set()


def test_a_refused_roll_leaves_what_is_known() -> None:
    refused = rolled(status=400, body={"status": False, "message": "no"})
    assert found(reference(), created(), refused, fetched(RENAMED)) == {"4.2-5"}


def test_exchanges_at_the_same_time_have_no_order() -> None:
    rules = reference()
    rules.violations("1", created(duration_s=5.0), is_valid=True)
    at_once = fetched(RENAMED, sent_at=NOW + 1)
    assert "4.2-5" not in rules.violations("2", at_once, is_valid=True)


def test_an_event_is_the_one_that_was_sent_unless_it_may_be_an_earlier_one() -> None:
    def broadcast(shown: dict[str, Any], **also: Any) -> Exchange:
        body = {"event_type": "order.sent", "data": {}, **also}
        return exchange("sweep", "createBroadcastEvent", data=shown, request=body)

    assert found(reference(), broadcast(EVENT)) == {"4.8-4"}
    assert found(reference(), broadcast(EVENT, idempotency_key="a")) == set()
    shown = {**EVENT, "event_type": "order.sent", "headers": {"a": ["x"]}}
    assert found(reference(), broadcast(shown, custom_headers={"a": "y"})) == {"2.8-5"}
    assert found(reference(), broadcast(shown, custom_headers={"a": "x", "A": "y"})) == set()
    assert found(reference(), broadcast(shown, custom_headers={"a": " x"})) == set()
    assert found(reference(), broadcast({**EVENT, "is_duplicate_event": True})) == set()


def test_a_credential_is_not_quoted() -> None:
    secret = "a-secret-of-forty-characters-in-all-here"
    wrong = {**ENDPOINT, "description": secret}
    request = created(wrong, also={"secret": secret, "description": "what it is for"})
    violated = reference().violations("1", request, is_valid=True)
    assert violated["4.1-5"]
    assert not any(secret in each.actual for group in violated.values() for each in group)


def test_most_requests_are_about_resources_that_were_shown() -> None:
    rules = reference()
    assert rules.known_identifier(Kind.ENDPOINT, "generated") == "generated"
    rules.violations("1", created(), is_valid=True)
    asked = [rules.known_identifier(Kind.ENDPOINT, "generated") for _ in range(2 * UNKNOWN_IN)]
    assert asked.count("generated") == 2
    assert set(asked) == {"generated", UID}
    assert rules.known_identifier(Kind.ENDPOINT, UID, is_linked=True) == UID
    other = "01ARZ3NDEKTSV4RRFFQ69G5FAW"
    rules.violations("2", created({**ENDPOINT, "uid": other}), is_valid=True)
    in_turn = [rules.known_identifier(Kind.ENDPOINT, UID) for _ in range(UNKNOWN_IN)]
    assert set(in_turn) == {UID, other}
    assert rules.known_identifier(Kind.PORTAL_LINK, "generated") == "generated"
