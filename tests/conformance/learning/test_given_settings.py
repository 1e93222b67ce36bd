"""Whether settings of an endpoint are kept or dropped is learned beside one that was given none."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.learning.probes.endpoints import probe_given_settings
from hookproof.conformance.learning.session import ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.target.definition import Project, Target
from hookproof.spec.dialect.reader import load_dialect
from tests.conformance.canned_evidence import exchange

Shows = Callable[[Mapping[str, Any]], Mapping[str, Any]]
DEFAULTS = {"http_timeout": 10, "slack_webhook_url": None, "support_email": None}
FIELDS = ("requests.given_http_timeout", "requests.given_contacts")


class CreatingSession(ProbeSession):
    """A target that creates every endpoint, and shows it as `shows` says."""

    shows: Shows

    async def call(
        self, operation_id: str, role: str, *, body: Any = None, **request: Any
    ) -> Exchange:
        return exchange(role, operation_id, data=dict(self.shows(body)), request=body, status=201)


def learned(shows: Shows) -> list[str | None]:
    dialect = load_dialect("undecided")
    project = Project(id="p1", api_key="key")
    target = Target(base_url="http://127.0.0.1:5005", projects=(project,), dialect=dialect)
    session = CreatingSession(target=target, answers=LearnedAnswers("undecided", dialect))
    session.shows = shows
    asyncio.run(probe_given_settings(session))
    answers = session.answers
    return [str(answers.value(field)) if answers.is_seen(field) else None for field in FIELDS]


@pytest.mark.parametrize(
    ("shows", "expected"),
    [
        (lambda body: {**DEFAULTS, **body}, ["kept", "kept"]),
        (lambda body: {**body, **DEFAULTS}, ["dropped", "dropped"]),
        (lambda body: {**DEFAULTS, **body, "http_timeout": 10}, ["dropped", "kept"]),
        (lambda body: {**DEFAULTS, **body, "support_email": None}, ["kept", None]),
        (lambda body: {**DEFAULTS, **body, "http_timeout": len(body)}, [None, "kept"]),
        (lambda _body: {}, [None, None]),
    ],
    ids=["kept", "dropped", "one time-out", "one contact", "another number", "nothing shown"],
)
def test_settings_are_kept_or_dropped_or_not_known(
    shows: Shows, expected: list[str | None]
) -> None:
    assert learned(shows) == expected
