"""What `learn` saw of requests that may be ignored, taken or refused accuses nobody afterwards: it
reads answers as the checks do, and of every operation that they ask.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import pytest

from hookproof.conformance.learning.probes.optional_requests import probe_optional_requests
from hookproof.conformance.learning.probes.portal_links import probe_portal_link
from hookproof.conformance.learning.probes.refusals import (
    OF_SERVICE,
    UNKNOWN,
    probe_unlisted_fields,
)
from hookproof.conformance.learning.session import BROADCAST, CREATE, ROLL, UPDATE
from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Observation
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.mistakes import ORDINARY
from hookproof.conformance.subjects.questions.evidence import (
    NullField,
    Question,
    UnknownEndpointListed,
    Unlisted,
    UnlistedInput,
    asked_in,
)
from hookproof.spec.contract.service_contract import contract_for
from tests.conformance.canned_evidence import all_verdicts, exchange, observation
from tests.conformance.learning.scripted_session import Call, ScriptedSession

CREATED: Final = exchange(data={"uid": "e1"})
SHOWN: Final = {"uid": "e1", "status": "active", "events": 0}
# The rows that every service can be asked.
LEARNED: Final = [
    question
    for kind, question in asked_in("refusals", "hostile").items()
    if isinstance(question.says, str)
    if not question.status and kind is not UnknownEndpointListed
]
LINK: Final = {"uid": "l1", "name": "Orders", "owner_id": "owner", "auth_type": "token"}


def answered(call: Call) -> tuple[int, Any]:
    """A service that ignores what it does not know, and shows what it has."""
    body = call.body if isinstance(call.body, dict) else {}
    known = {name: value for name, value in body.items() if name not in (UNKNOWN, *OF_SERVICE)}
    return 201, {**SHOWN, **known}


def keeps(call: Call) -> tuple[int, Any]:
    """Shows whatever it was sent."""
    status, data = answered(call)
    return status, {**data, **call.body}


def learned(answer: Any) -> ScriptedSession:
    session = ScriptedSession(answer)
    asyncio.run(probe_portal_link(session, [LINK], None))
    asyncio.run(probe_unlisted_fields(session, CREATED))
    return session


def judged_by(session: ScriptedSession, evidence: Observation) -> list[Verdict]:
    dialect = session.answers.dialect
    context = CheckContext(dialect=dialect, contract=contract_for(dialect))
    return [*all_verdicts(evidence, context).values()]


@pytest.mark.parametrize(
    ("name", "kind", "field"),
    [
        (UNKNOWN, Unlisted.FIELD, "requests.unknown_fields"),
        ("uid", Unlisted.SERVICE_FIELD, "requests.service_assigned_input"),
    ],
)
@pytest.mark.parametrize("operation", [CREATE, BROADCAST, UPDATE])
def test_a_field_that_comes_back_is_neither_ignored_nor_refused(
    name: str, kind: Unlisted, field: str, operation: str
) -> None:
    session = learned(lambda call: (keeps if call.operation == operation else answered)(call))
    assert session.answers.value(field) is None
    assert "comes back" in session.answers.answer(field).reason
    assert learned(answered).answers.value(field) == "ignored"
    evidence = observation(
        UnlistedInput,
        exchange("tried", operation, data={name: "x"}, request={name: "x"}),
        exchange(ORDINARY, operation, data=SHOWN, request={}),
        kind=kind,
        operation_id=operation,
        field=name,
    )
    assert Verdict.FAIL not in judged_by(session, evidence)


@pytest.mark.parametrize("operation", [CREATE, ROLL, BROADCAST, UPDATE])
def test_every_operation_is_asked_whether_it_refuses_fields_that_it_does_not_know(
    operation: str,
) -> None:
    def answer(call: Call) -> tuple[int, Any]:
        refuses = call.operation == operation and UNKNOWN in call.body
        return (422, None) if refuses else answered(call)

    values = learned(answer).answers.answer("requests.unknown_fields").values
    assert set(values) == {"ignored", "refused"}


def test_null_that_is_taken_otherwise_than_a_field_left_out_is_neither_taken_nor_refused() -> None:
    """As of a service whose default is in force only where a field is not there at all."""

    def answer(call: Call) -> tuple[int, Any]:
        status, data = answered(call)
        return status, {"http_timeout": 30, **data}

    session = ScriptedSession(answer)
    asyncio.run(probe_optional_requests(session, CREATED, []))
    null = session.answers.answer("requests.null_fields")
    assert null.values == ()
    assert "http_timeout null, and 30 where it is left out" in null.reason
    with_null: Mapping[str, Any] = {"http_timeout": None}
    evidence = observation(
        NullField,
        exchange("tried", CREATE, data=SHOWN | with_null, request=with_null),
        exchange(ORDINARY, CREATE, data=SHOWN | {"http_timeout": 30}, request={}),
        operation_id=CREATE,
        field="http_timeout",
    )
    assert Verdict.FAIL not in judged_by(session, evidence)


@pytest.mark.parametrize("refuses", ["nothing", "what is asked", "everything"])
@pytest.mark.parametrize("question", LEARNED, ids=lambda question: question.requirement)
def test_each_row_is_learned_beside_ordinary_requests(question: Question, refuses: str) -> None:
    def answer(call: Call) -> tuple[int, Any]:
        is_ordinary = call.role == "an ordinary request"
        is_taken = refuses == "nothing" or (is_ordinary and refuses == "what is asked")
        return (201, SHOWN) if is_taken else (422, None)

    session = ScriptedSession(answer)
    asyncio.run(probe_optional_requests(session, CREATED, []))
    expected = {"nothing": "taken", "what is asked": "refused", "everything": None}
    assert session.answers.value(str(question.says)) == expected[refuses]
