"""What becomes of null in a request, and what headers of an event hold, is learned from answers."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.learning.probes.broadcasts import probe_broadcasts
from hookproof.conformance.learning.probes.optional_requests import probe_optional_requests
from hookproof.conformance.learning.probes.portal_links import probe_portal_link
from hookproof.conformance.learning.session import BROADCAST, CREATE, ROLL, UPDATE, ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.subjects.questions.evidence import SENT_AS_NULL
from hookproof.conformance.target.definition import Project, Target
from hookproof.spec.dialect.reader import load_dialect
from tests.conformance.canned_evidence import exchange
from tests.conformance.checks.api.example import endpoint

NULL: Final = "requests.null_fields"
VALUES: Final = "representation.event_header_values"
EVENT: Final = {"uid": "1", "status": "Processing", "event_type": "order.paid"}

# Whether an operation takes a body; None for a server error.
Takes = Callable[[str, Mapping[str, Any]], bool | None]


class AnsweredSession(ProbeSession):
    """A session with a target whose answers are known beforehand."""

    takes: Takes
    headers: Any = None

    async def call(self, operation_id: str, role: str, **given: Any) -> Exchange:
        body = given.get("body") or {}
        takes = self.takes(operation_id, body)
        if takes:
            data = endpoint() if operation_id == CREATE else {**EVENT, "headers": self.headers}
            answer = exchange(role, operation_id, data=data, request=body)
        else:
            status, refusal = (500 if takes is None else 400), {"status": False, "message": "no"}
            answer = exchange(role, operation_id, status=status, body=refusal, request=body)
        self.exchanges.append(answer)
        return answer


def a_session(takes: Takes, headers: Any = None) -> AnsweredSession:
    dialect = load_dialect("undecided")
    target = Target(
        base_url="http://127.0.0.1:5005",
        projects=(Project(id="p1", api_key="key"),),
        dialect=dialect,
    )
    session = AnsweredSession(target=target, answers=LearnedAnswers("undecided", dialect))
    session.takes, session.headers = takes, headers
    return session


def takes_null_in(*fields: tuple[str, str]) -> Takes:
    return lambda operation, body: all(
        (operation, name) in fields for name, value in body.items() if value is None
    )


EVERY: Final = [
    (operation_id, name) for operation_id, names in SENT_AS_NULL.items() for name in names
]
LINK: Final = {
    "uid": "2",
    "name": "n",
    "owner_id": "o",
    "can_manage_endpoint": True,
    "auth_type": "static_token",
}


async def probe(session: ProbeSession) -> None:
    created = exchange("created", CREATE, data=endpoint())
    updates = await probe_portal_link(session, [LINK], created=None)
    await probe_optional_requests(session, created, updates)


def learned_of_null(takes: Takes) -> tuple[Any, str]:
    session = a_session(takes)
    asyncio.run(probe(session))
    answer = session.answers.answer(NULL)
    return session.answers.value(NULL), answer.reason


@pytest.mark.parametrize(("names", "expected"), [(EVERY, "taken"), ([], "refused")])
def test_null_is_taken_or_refused(names: list[tuple[str, str]], expected: str) -> None:
    assert learned_of_null(takes_null_in(*names)) == (expected, "")


@pytest.mark.parametrize("field", EVERY)
def test_null_that_is_refused_in_one_field_alone_is_neither(field: tuple[str, str]) -> None:
    others = [other for other in EVERY if other != field]
    value, reason = learned_of_null(takes_null_in(*others))
    assert (value, "others refused" in reason) == (None, True)


def test_null_that_breaks_a_server_teaches_nothing() -> None:
    value, reason = learned_of_null(
        lambda _operation, body: None if body.get("http_timeout", 0) is None else True
    )
    assert (value, "neither a success nor a refusal" in reason) == (None, True)


def test_null_teaches_nothing_where_the_request_is_refused_without_it() -> None:
    value, reason = learned_of_null(lambda *_request: False)
    assert (value, "no request is taken" in reason) == (None, True)


def test_an_operation_that_refuses_everything_leaves_null_to_the_others() -> None:
    for operation_id in (CREATE, BROADCAST, ROLL, UPDATE):
        value, _ = learned_of_null(
            lambda operation, _body, served=operation_id: operation == served  # type: ignore[misc]
        )
        assert value == "taken"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"X-Order": "1"}, "text"),
        ({"X-Order": ["1"]}, "list"),
        ({"X-Order": "1", "X-Shop": ["2"]}, None),
        ({"X-Order": 1}, None),
        ({}, None),
        (None, None),
        (["X-Order: 1"], None),
    ],
)
def test_headers_of_an_event_hold_texts_or_lists(headers: Any, expected: str | None) -> None:
    session = a_session(lambda *_request: True, headers)
    asyncio.run(probe_broadcasts(session))
    assert session.answers.value(VALUES) == expected
    assert session.answers.has_reason(VALUES) is (expected is None)
