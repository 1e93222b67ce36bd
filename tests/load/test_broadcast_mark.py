"""A delivery shows by itself which broadcast it is, and whether it was altered."""

import json
from typing import Any

import msgspec
import pytest

from hookproof.load.broadcast_mark import BroadcastMark, data_with_mark, marked_data, read_mark
from tests.bench.loading import plans

SENT = data_with_mark("ab12", 7, 1700000000.25, "xxxx")


def test_a_mark_is_read_as_it_was_written() -> None:
    assert read_mark(SENT) == BroadcastMark(
        run="ab12", number=7, intended_at=1700000000.25, altered=False
    )


def test_another_spelling_of_the_same_data_is_not_altered() -> None:
    respelled = json.dumps(dict(reversed(json.loads(SENT).items())), indent=2).encode()
    assert read_mark(respelled) == read_mark(SENT)


@pytest.mark.parametrize(
    "altered",
    [
        SENT.replace(b"xxxx", b"xxx"),
        SENT.replace(b"1700000000250000", b"1700000000250001"),
        SENT[:-1] + b',"more":1}',
        SENT[:-3],
        SENT.replace(b".7", b".8"),
        b"[" + SENT + b"]",
    ],
    ids=["pad", "time", "more", "cut", "number", "wrapped"],
)
def test_an_altered_body_is_recognised_and_its_time_is_not_trusted(altered: bytes) -> None:
    mark = read_mark(altered)
    assert mark is not None
    assert mark.altered
    assert mark.intended_at is None


@pytest.mark.parametrize(
    "body", [b"", b"{}", b'{"hookproof": 7}', b"\xff\xfe", b'{"hookproof":"A!.1"}']
)
def test_a_body_without_a_mark_has_none(body: bytes) -> None:
    assert read_mark(body) is None


def test_a_time_of_another_clock_is_none() -> None:
    assert read_mark(data_with_mark("ab12", 7, 0.0, "")) == BroadcastMark(
        run="ab12", number=7, intended_at=None, altered=False
    )


OWN = {"order": {"total": 2.0, "paid": True, "lines": [1, 2.5, None, "é"]}, "number": 2**60}


def delivered(**changes: Any) -> BroadcastMark | None:
    """The mark of what arrives for data with members of its own, some of which are changed."""
    sent = json.loads(marked_data(OWN, "ab12", 7, 1700000000.25, ""))
    return read_mark(json.dumps({**sent, **changes}).encode())


@pytest.mark.parametrize(
    ("changes", "altered"),
    [
        ({}, False),
        ({"order": {"paid": True, "total": 2, "lines": [1.0, 2.5, None, "é"]}}, False),
        ({"order": {**OWN["order"], "total": 2.01}}, True),  # type: ignore[dict-item]
        ({"order": {**OWN["order"], "paid": 1}}, True),  # type: ignore[dict-item]
        ({"number": float(2**60)}, True),
        ({"more": 1}, True),
        ({"pad": "x"}, True),
    ],
)
def test_members_of_the_users_own_are_checked_too(changes: dict[str, Any], altered: bool) -> None:
    mark = delivered(**changes)
    assert mark is not None
    assert (mark.number, mark.altered) == (7, altered)


def test_a_member_that_is_missing_is_an_alteration() -> None:
    mark = read_mark(marked_data({}, "ab12", 7, 1700000000.25, ""))
    assert mark == read_mark(data_with_mark("ab12", 7, 1700000000.25, ""))
    sent = json.loads(marked_data(OWN, "ab12", 7, 1700000000.25, ""))
    del sent["order"]
    mark = read_mark(json.dumps(sent).encode())
    assert mark is not None
    assert mark.altered


def test_the_names_of_the_mark_cannot_be_used() -> None:
    with pytest.raises(ValueError, match="the mark's own"):
        marked_data({"pad": 1}, "ab12", 7, 0.0, "")


def test_a_plan_sends_the_payload_that_it_has_with_a_mark() -> None:
    [plan] = plans("http://127.0.0.1:9", 1, 1)
    assert plan.data(7, 1700000000.25) == data_with_mark(plan.run, 7, 1700000000.25, plan.pad)
    payload = {"order": [1, {"total": 12.5}]}
    data = msgspec.structs.replace(plan, payload=payload).data(7, 1700000000.25)
    assert payload.items() <= json.loads(data).items()
    mark = read_mark(data)
    assert mark is not None
    assert (mark.number, mark.altered) == (7, False)
