"""`learn` reads lists by the laws that judge them: what it learns accuses nobody of what it saw."""

import asyncio
from typing import Any

import pytest

from hookproof.conformance.learning.probes.lists import probe_lists
from tests.conformance.learning.scripted_session import Call, ScriptedSession, listed

UIDS = ("s1", "s2", "s3")


def learned(field: str, **answers: tuple[str, ...] | int) -> tuple[Any, str]:
    """What is learned of a field, and why not, from a service that answers a query with one of
    these words by the resources of these uids, or by a status.
    """

    def answer(call: Call) -> tuple[int, Any]:
        words = {*call.query.values(), *call.query} & {*answers}
        shown = answers[words.pop()] if words else UIDS
        if isinstance(shown, int):
            return shown, None
        one = call.query.get("perPage") == "1"
        onward = "on" if one and shown[:1] != UIDS[-1:] else ""
        resources = [{"uid": uid} for uid in (shown[:1] if one else shown)]
        return 200, listed(*resources, onward=onward)

    session = ScriptedSession(answer)
    asyncio.run(probe_lists(session))
    return session.answers.value(field), session.answers.answer(field).reason


@pytest.mark.parametrize(
    ("shown", "value", "reason"),
    [
        (400, "refuse", ""),
        (UIDS, "default", ""),
        (UIDS[::-1], None, "sort=sideways, and other resources than the ordinary page"),
        (500, None, "neither a success nor a refusal"),
    ],
)
def test_a_parameter_is_taken_as_absent_only_where_the_page_is_the_one_without_it(
    shown: tuple[str, ...] | int, value: str | None, reason: str
) -> None:
    others = dict.fromkeys(("many", "up"), UIDS if value != "refuse" else 400)
    actual, why = learned("paging.bad_parameter", sideways=shown, **others)
    assert actual == value
    assert reason in why


@pytest.mark.parametrize(
    ("shown", "value"),
    [
        (UIDS, "first_page"),
        (UIDS[::-1], "last_page"),
        ((), "empty_page"),
        (422, "refused"),
        (UIDS[1:], None),
        (500, None),
    ],
)
def test_the_page_that_comes_back_from_nowhere_is_one_that_a_law_knows(
    shown: tuple[str, ...] | int, value: str | None
) -> None:
    assert learned("paging.prev_without_cursor", prev=shown)[0] == value
