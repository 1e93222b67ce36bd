"""Answers that another dialect than the shipped ones allows: no failure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.extremes import ExtremePageSize
from hookproof.conformance.observations.portal_link import ParallelUpdates
from hookproof.conformance.observations.succeeding_requests import SucceedingRequests
from hookproof.conformance.subjects.events.evidence import RepeatedKey
from hookproof.conformance.subjects.keys.evidence import CallWithKey, KeyKind
from hookproof.conformance.subjects.lists.evidence import UnreadableParameter
from hookproof.conformance.subjects.questions.evidence import (
    Mistake,
    RollWithoutBody,
    UnknownIdentifier,
)
from hookproof.conformance.target.client import Key
from tests.conformance.canned_evidence import (
    Judged,
    all_verdicts,
    context_with,
    exchange,
    judgements,
    observation,
)
from tests.conformance.checks.api.example import event, page, refusal, request_tried, retrieved
from tests.conformance.subjects.events.examples import FIRST, KEYED, again
from tests.conformance.subjects.lists.examples import list_request
from tests.conformance.subjects.numbers.examples import updated
from tests.conformance.subjects.questions.examples import UNKNOWN

CONFLICT = {"idempotency.duplicate_status": 409, "idempotency.duplicate": "first_event"}


def judged_under(answers: Mapping[str, Any], requirements: str, evidence: Judged) -> list[Verdict]:
    """The verdicts on these requirements under the reference dialect with these answers."""
    return [said.verdict for said in judgements(requirements, evidence, answers)]


def refused_duplicate(**fields: object) -> RepeatedKey:
    return observation(RepeatedKey, FIRST, again(409, **fields))


def test_a_duplicate_may_be_refused_with_the_first_event() -> None:
    assert judged_under(CONFLICT, "4.8-8", refused_duplicate()) == [Verdict.PASS]
    another = refused_duplicate(uid="another")
    assert judged_under(CONFLICT, "4.8-8", another) == [Verdict.FAIL]


def test_the_answer_to_a_refused_duplicate_has_no_error_body() -> None:
    assert judged_under(CONFLICT, "7-1", again(409)) == []
    assert judged_under({}, "7-1", again(409)) == [Verdict.FAIL]
    unkeyed = replace(event({"event_type": "a", "data": {}}, "again"), status=409)
    assert judged_under(CONFLICT, "7-1", unkeyed) == [Verdict.FAIL]


BODIES: dict[str, Any] = {
    "errors.bodies": {"method_not_allowed": None, "unknown_resource": {"what": "{message}"}}
}


@pytest.mark.parametrize(
    ("status", "body", "verdict"),
    [
        (405, b"", Verdict.PASS),
        (405, {"status": False, "message": "no"}, Verdict.FAIL),
        (404, {"what": "no endpoint"}, Verdict.PASS),
        (404, {"status": False, "message": "no path"}, Verdict.PASS),  # of an unknown path
        (404, {"why": "no endpoint"}, Verdict.FAIL),
        (400, {"what": "no endpoint"}, Verdict.FAIL),
        (400, b"", Verdict.FAIL),
        (400, {"status": False, "message": "no"}, Verdict.PASS),
    ],
)
def test_single_refusals_may_have_another_body_or_none(
    status: int, body: object, verdict: Verdict
) -> None:
    evidence = exchange("tried", "getEndpoint", status=status, body=body)
    assert judged_under(BODIES, "7-1", evidence) == [verdict]


@pytest.mark.parametrize(
    ("status", "body", "verdict"),
    [
        (401, {"denied": "no key"}, Verdict.PASS),
        (401, {"status": False, "message": "no"}, Verdict.FAIL),
        (403, b"", Verdict.PASS),
        (403, {"denied": "no key"}, Verdict.FAIL),
        (400, {"denied": "no key"}, Verdict.FAIL),
        (400, {"status": False, "message": "no"}, Verdict.PASS),
    ],
)
def test_keys_may_be_refused_with_another_body_or_none(
    status: int, body: object, verdict: Verdict
) -> None:
    answers: dict[str, Any] = {
        "authentication.missing_key_status": 401,
        "authentication.wrong_key_status": 403,
        "authentication.foreign_key_status": 403,
        "errors.unknown_project": 404,
        "errors.bodies": {
            "missing_key": {"denied": "{message}"},
            "wrong_key": None,
            "foreign_key": None,
        },
    }
    evidence = exchange("tried", "getEndpoint", status=status, body=body)
    assert judged_under(answers, "7-1", evidence) == [verdict]


@pytest.mark.parametrize(
    ("operation_id", "status", "verdict"),
    [
        ("expireEndpointSecret", 400, Verdict.PASS),
        ("expireEndpointSecret", 404, Verdict.FAIL),
        ("getEndpoint", 404, Verdict.PASS),
        ("getEndpoint", 400, Verdict.FAIL),
    ],
)
def test_an_operation_may_have_a_status_of_its_own(
    operation_id: str, status: int, verdict: Verdict
) -> None:
    answers = {"errors.by_operation": {"expireEndpointSecret": {"unknown_resource": 400}}}
    tried = exchange("tried", operation_id, status=status, body={})
    evidence = request_tried(UnknownIdentifier, tried)
    assert judged_under(answers, UNKNOWN[operation_id], evidence) == [verdict]


@pytest.mark.parametrize(("status", "verdicts"), [(409, []), (400, [Verdict.FAIL])])
def test_a_broadcast_with_a_key_may_be_refused_as_a_duplicate(
    status: int, verdicts: list[Verdict]
) -> None:
    refused = exchange("again", "createBroadcastEvent", status=status, request=KEYED, data=None)
    evidence = observation(SucceedingRequests, refused)
    assert judged_under(CONFLICT, "4.8-1", evidence) == verdicts


@pytest.mark.parametrize(
    ("kept", "verdict"),
    [
        ("owner_id", [Verdict.FAIL]),
        ("name", []),
        ("auth_type", []),
        ("can_manage_endpoint", []),
    ],
)
def test_what_is_cleared_may_show_the_default_that_it_had(
    kept: str, verdict: list[Verdict]
) -> None:
    cleared = {"name": "", "owner_id": None, "auth_type": None, "can_manage_endpoint": False}
    del cleared[kept]
    evidence = updated({"endpoints": []}, **cleared)
    found = judged_under({"requests.update_left_out": "cleared"}, "4.6-15", evidence)
    assert [each for each in found if each is Verdict.FAIL] == verdict
    assert Verdict.PASS in found


def test_a_dialect_without_limits_is_not_asked_about_them() -> None:
    unlimited: dict[str, Any] = {"requests.size_limit": None, "paging.maximum_per_page": None}
    body = {"status": False, "message": "no"}
    answer = exchange("tried", "createEndpoint", status=400, body=body)
    mistake = request_tried(Mistake.NOT_JSON, answer)
    assert all_verdicts(mistake, unlimited) == {
        "8-14": Verdict.NOT_APPLICABLE,
        "8-28": Verdict.NOT_APPLICABLE,
        "7-2": Verdict.PASS,
    }
    page = observation(
        ExtremePageSize,
        exchange("tried", "listSources", data={"content": [], "pagination": {"per_page": 9999}}),
        operation_id="listSources",
        query={"perPage": "9999"},
    )
    assert judged_under(unlimited, "8-13", page) == [Verdict.NOT_APPLICABLE]
    assert judged_under(unlimited, "8-20", page) == [Verdict.NOT_APPLICABLE]


DECIDES: dict[str, Any] = {"authentication.key_scope": "key_decides"}
UNSAID: dict[str, Any] = {"authentication.key_scope": {"undecided": "not asked"}}


@pytest.mark.parametrize(
    ("operation_id", "status", "verdict"),
    [
        ("listSources", 200, Verdict.PASS),
        ("listSources", 401, Verdict.FAIL),
        ("getEndpoint", 404, Verdict.PASS),
        ("getEndpoint", 401, Verdict.FAIL),
        ("getEndpoint", 200, Verdict.FAIL),
    ],
)
def test_a_key_that_decides_finds_its_own_project_and_nothing_of_another(
    operation_id: str, status: int, verdict: Verdict
) -> None:
    body = {"message": "", "status": status == 200, "data": {}}
    evidence = observation(
        CallWithKey,
        exchange("authorized", operation_id, data={}),
        exchange("refused", operation_id, status=status, body=body, key=Key.FOREIGN),
        kind=KeyKind.FOREIGN,
        operation_id=operation_id,
    )

    assert judged_under(DECIDES, "5-12", evidence) == [verdict]


def test_where_a_key_decides_the_path_may_name_any_project() -> None:
    shown = {"uid": "e1", "project_id": "p2", "app_id": "p2"}
    event = exchange("refused", "createBroadcastEvent", data=shown, key=Key.FOREIGN)
    for requirement in ("1-3", "2.8-13"):
        for answers in (DECIDES, UNSAID):
            assert judged_under(answers, requirement, event) == []
            assert judged_under(answers, requirement, replace(event, key=Key.OWN)) == [Verdict.FAIL]
        assert judged_under({}, requirement, event) == [Verdict.FAIL]
    unknown = observation(
        CallWithKey,
        exchange("authorized", "listSources", data={}),
        exchange("refused", "listSources", data={}, key=Key.FOREIGN),
        kind=KeyKind.UNKNOWN_PROJECT,
        operation_id="listSources",
    )
    assert judged_under(DECIDES, "4-1", unknown) == [Verdict.NOT_APPLICABLE]
    assert judged_under(UNSAID, "4-1", unknown) == []
    assert judged_under({}, "4-1", unknown) == [Verdict.FAIL]


@pytest.mark.parametrize(
    ("uid", "flag", "verdict"),
    [
        ("first", True, Verdict.PASS),
        ("first", False, Verdict.FAIL),
        ("another", True, Verdict.FAIL),
    ],
)
def test_a_duplicate_may_show_the_first_event_flagged(
    uid: str, flag: bool, verdict: Verdict
) -> None:
    first = exchange("first", "createBroadcastEvent", request=KEYED, data={"uid": "first"})
    shown = {"uid": uid, "is_duplicate_event": flag}
    again = exchange("again", "createBroadcastEvent", request=KEYED, data=shown)
    answers = {"idempotency.duplicate": "flagged_first_event"}

    assert judged_under(answers, "4.8-8", observation(RepeatedKey, first, again)) == [verdict]


@pytest.mark.parametrize(
    ("parameter", "status", "verdict"),
    [
        ("next_page_cursor", 400, Verdict.PASS),
        ("next_page_cursor", 200, Verdict.FAIL),
        ("sort", 200, Verdict.PASS),
        ("sort", 400, Verdict.FAIL),
    ],
)
def test_a_cursor_may_be_refused_where_other_parameters_fall_back(
    parameter: str, status: int, verdict: Verdict
) -> None:
    answers = {"paging.bad_parameter": "default", "paging.bad_cursor": "refuse"}
    tried = page("listSources", [{"uid": "a"}], "tried")
    if status != 200:
        tried = refusal(status, "listSources")
    evidence = list_request(UnreadableParameter, tried, **{parameter: "?"})

    assert judged_under(answers, "4.7-15", evidence) == [verdict]


@pytest.mark.parametrize(("alone", "verdicts"), [("owner-2", [Verdict.FAIL]), ("owner-1", [])])
def test_what_is_not_even_stored_alone_is_no_lost_update(
    alone: str, verdicts: list[Verdict]
) -> None:
    def call(role: str, owner: str) -> Exchange:
        return retrieved(role, "updatePortalLink", {"owner_id": "owner-2"}, owner_id=owner)

    evidence = observation(
        ParallelUpdates,
        retrieved("before", owner_id="owner-1"),
        call("owner_id at once", "owner-2"),
        retrieved("after", owner_id="owner-1"),
        call("owner_id alone", "owner-2"),
        retrieved("after owner_id alone", owner_id=alone),
        fields=("owner_id",),
    )
    assert judged_under({}, "4.6-15", evidence) == verdicts
    cleared = {"requests.update_left_out": "cleared"}
    assert judged_under(cleared, "4.6-15", evidence) == []


def test_a_roll_that_requires_fields_is_not_asked_whether_it_needs_a_body() -> None:
    refused = exchange("tried", "expireEndpointSecret", status=400, body={"message": "no"})
    evidence = request_tried(RollWithoutBody, refused)

    requiring = {"requests.expire_endpoint_secret_requires": ["secret"]}
    assert judged_under(requiring, "4.3-21", evidence) == [Verdict.NOT_APPLICABLE]
    assert judged_under({}, "4.3-21", evidence) == [Verdict.FAIL]
    undecided = {"requests.roll_without_body": {"undecided": "nobody asked"}}
    assert judged_under(undecided, "4.3-21", evidence) == []


def test_single_fields_without_value_may_be_shown_otherwise() -> None:
    answers: dict[str, Any] = {
        "representation.no_value": "absent",
        "representation.no_value_of": {
            "string": "empty",
            "deleted_at": "absent",
            "Endpoint.owner_id": "null",
        },
    }

    def wrong(**fields: Any) -> set[str]:
        fetched = exchange("fetch", "getEndpoint", data={"uid": "e1", **fields})
        said = judgements("2.9-3", fetched, context_with(answers))
        failed = [each for each in said if each.verdict is Verdict.FAIL]
        return {each.message.rpartition(".")[2] for each in failed}

    assert wrong(owner_id=None) & {"name", "owner_id", "deleted_at", "secrets"} == {"name"}
    assert wrong(deleted_at=None, secrets=None, name="") >= {"owner_id", "deleted_at", "secrets"}
    assert "name" not in wrong(name="")


@pytest.mark.parametrize(
    ("duplicate", "empty"), [("flagged_event", {"acknowledged_at"}), ("flagged_first_event", set())]
)
def test_an_event_may_be_that_of_an_earlier_broadcast(duplicate: str, empty: set[str]) -> None:
    """Which was sent an empty text, and shows it."""
    answers = {"representation.no_value": "absent", "idempotency.duplicate": duplicate}
    answered = exchange(
        "sweep",
        "createBroadcastEvent",
        data={"uid": "e1", "acknowledged_at": ""},
        request={"idempotency_key": "used"},
    )
    said = judgements("2.9-3", answered, context_with(answers))
    failed = [each for each in said if each.verdict is Verdict.FAIL]
    assert {each.message.rpartition(".")[2] for each in failed} == empty
