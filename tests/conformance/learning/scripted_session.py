"""A session of the probes whose target is a function."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.learning.session import ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.target.definition import Project, Target
from hookproof.spec.dialect.reader import load_dialect
from tests.conformance.canned_evidence import exchange


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a probe sends."""

    operation: str
    role: str
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    size: int


# The status and the data of the answer to a call.
Answer = Callable[[Call], tuple[int, Any]]


class ScriptedSession(ProbeSession):
    """Answers each call as the function says, and notes it as a real session does."""

    def __init__(self, answer: Answer) -> None:
        dialect = load_dialect("undecided")
        super().__init__(
            target=Target(
                base_url="http://target.invalid",
                projects=(Project(id="p1", api_key="key"),),
                dialect=dialect,
            ),
            answers=LearnedAnswers("undecided", dialect),
        )
        self.endpoint_fields = ("name",)
        self._answer = answer

    async def call(self, operation_id: str, role: str, **options: Any) -> Exchange:
        raw, query = options.get("raw_body"), options.get("query") or {}
        call = Call(
            operation=operation_id,
            role=role,
            path=options.get("path") or {},
            query=dict(query),
            body=options.get("body"),
            size=len(raw or b""),
        )
        status, data = self._answer(call)
        answered = exchange(role, operation_id, status=status, data=data, request=call.body)
        self.exchanges.append(answered)
        return answered


def listed(*resources: Mapping[str, Any], onward: str = "", per_page: int = 20) -> dict[str, Any]:
    """The data of a page."""
    pagination = {
        "per_page": per_page,
        "has_next_page": bool(onward),
        "has_prev_page": False,
        "next_page_cursor": onward,
        "prev_page_cursor": "",
    }
    return {"content": [*resources], "pagination": pagination}


def reasons(session: ProbeSession, fields: Sequence[str]) -> list[str]:
    return [session.answers.answer(field).reason for field in fields]
