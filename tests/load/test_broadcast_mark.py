"""A delivery shows by itself which broadcast it is, and whether it was altered."""

import json

import pytest

from hookproof.load.broadcast_mark import BroadcastMark, data_with_mark, read_mark

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
