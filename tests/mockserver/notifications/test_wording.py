"""What notifications say: in one line, without secrets, and safe in headers and chats."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof.mockserver.delivery.store_port import Failure
from hookproof.mockserver.notifications.channels import parse_mailbox
from hookproof.mockserver.notifications.notice import (
    MAX_TEXT_LENGTH,
    NoticeKind,
    Wording,
    describe_outcome,
    one_line,
)
from tests.mockserver.delivery.engines import dialect
from tests.mockserver.notifications.notices import AT, notice, outcome

WORDING = Wording(dialect(retry={"deactivate_after": 3}), 60.0)


def test_a_message_says_which_delivery_was_given_up_when_and_why() -> None:
    [line] = WORDING.lines(notice())
    assert line == (
        "Endpoint orders (E1) of project p1: at 2027-01-15 08:00:00 UTC the delivery of event V1"
        " (order.paid) was given up after 5 attempts; the last one was answered with status 500."
    )
    assert WORDING.subject(notice()) == "Deliveries to endpoint orders fail"


def test_a_change_of_state_is_reported_in_the_dialect_s_words() -> None:
    contrary = Wording(dialect("contrary"), 60.0)
    assert contrary.subject(notice(kind=NoticeKind.STATE_CHANGE)) == "Endpoint orders is now paused"
    [line] = contrary.lines(notice(kind=NoticeKind.STATE_CHANGE, outcome=outcome(number=1)))
    assert (
        "went from live to paused at 2027-01-15 08:00:00 UTC, after 3 failed deliveries in a row"
        in line
    )
    assert "after 1 attempt;" in line


def test_what_was_held_back_is_reported_in_a_line_of_its_own() -> None:
    lines = WORDING.lines(notice(held_back=2, held_since=AT - 30))
    assert (
        lines[1] == "2 like it were held back since 2027-01-15 07:59:30 UTC: one in 60 s is sent."
    )


def test_an_endpoint_without_a_name_is_called_by_its_uid() -> None:
    for name in (None, "", "\u200b"):
        assert WORDING.subject(notice(name=name)) == "Deliveries to endpoint E1 fail"


@pytest.mark.parametrize("failure", list(Failure))
def test_a_failure_is_reported_without_its_detail(failure: Failure) -> None:
    text = describe_outcome(outcome(status=None, failure=failure))
    assert text
    assert "s3cret" not in text


@given(st.text())
def test_a_line_is_short_and_holds_only_what_can_be_seen(text: str) -> None:
    line = one_line(text)
    assert len(line) <= MAX_TEXT_LENGTH
    assert len(line.splitlines()) <= 1
    assert not [
        char for char in line if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    ]
    assert one_line(line) == line


@given(st.text(min_size=1), st.text(min_size=1))
def test_what_passes_as_an_address_ends_no_header_and_no_command(local: str, domain: str) -> None:
    try:
        address = parse_mailbox(f"{local}@{domain}")
    except ValueError:
        return
    assert not set(" \t\r\n<>,;") & set(address.addr_spec)
    assert str(address).isprintable()


@pytest.mark.parametrize(
    "text",
    ["dev@receiver.invalid", "first.last+tag@a-b.example", "x@localhost", "größe@bücher.invalid"],
)
def test_an_ordinary_address_passes(text: str) -> None:
    assert parse_mailbox(text).username == text.partition("@")[0]
