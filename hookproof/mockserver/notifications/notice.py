"""What contacts are told (section 6, item 4), and its text."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from hookproof.mockserver.delivery.store_port import AttemptOutcome, Failure
from hookproof.spec.dialect.model import Dialect


class NoticeKind(StrEnum):
    """What a notification is about (section 6, item 4)."""

    EXHAUSTED = "exhausted"
    STATE_CHANGE = "state_change"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """An endpoint as a message names it, and its contacts' addresses (section 2.3).

    Anyone who knows the chat URL can post, so it is a secret.
    """

    uid: str
    project: str
    name: str | None
    slack_webhook_url: str | None
    support_email: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """At `at`, in unix seconds, a delivery was given up, and its endpoint possibly disabled.

    `outcome` is that of the last attempt. `held_back` counts the notices of this kind that the rate
    limit held back since `held_since`, not counting this one.
    """

    kind: NoticeKind
    at: float
    contact: Contact
    event_uid: str
    event_type: str
    outcome: AttemptOutcome
    held_back: int = 0
    held_since: float = 0.0


MAX_TEXT_LENGTH: Final = 120
ELLIPSIS: Final = "…"
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

_REASONS: Final[Mapping[Failure, str]] = {
    Failure.TIMEOUT: "got no complete response in time",
    Failure.CONNECTION: "could not connect, or lost the connection",
    Failure.TLS: "could not set up TLS with a trusted certificate",
    Failure.EGRESS: "was not allowed to connect to that address",
    Failure.PROTOCOL: "got a response that is not HTTP",
    Failure.CREDENTIALS: "had no credentials to present",
    Failure.CONFIGURATION: "could not be made with the settings of the endpoint",
    Failure.INTERNAL: "failed because of an internal error of this server",
}


class Wording:
    """Describes notices with the words of a dialect, in lines of plain text.

    The text contains no secret: neither keys nor payloads, and no URL, since even an endpoint's URL
    may carry a token. Names and event types are untrusted, so nothing in them may end a line or
    hide what follows.
    """

    def __init__(self, dialect: Dialect, window_s: float) -> None:
        self._active = dialect.words.endpoint_active.value
        self._disabled = dialect.words.endpoint_disabled.value
        self._in_a_row = dialect.retry.deactivate_after.value
        self._window_s = window_s

    def subject(self, notice: Notice) -> str:
        if notice.kind is NoticeKind.STATE_CHANGE:
            return f"Endpoint {_name(notice)} is now {self._disabled}"
        return f"Deliveries to endpoint {_name(notice)} fail"

    def lines(self, notice: Notice) -> list[str]:
        """Return the message, with a sentence or two in each line."""
        return [self._describe(notice), *self._held_back(notice)]

    def _describe(self, notice: Notice) -> str:
        contact = notice.contact
        given_up = (
            f"the delivery of event {notice.event_uid} ({one_line(notice.event_type)}) was given up"
            f" after {_count(notice.outcome.number or 0, 'attempt')};"
            f" the last one {describe_outcome(notice.outcome)}."
        )
        where = f"Endpoint {_name(notice)} ({contact.uid}) of project {one_line(contact.project)}"
        if notice.kind is NoticeKind.STATE_CHANGE:
            failed = _count(self._in_a_row, "failed delivery", "failed deliveries")
            change = f"went from {self._active} to {self._disabled} at {format_time(notice.at)}"
            return f"{where} {change}, after {failed} in a row: {given_up}"
        return f"{where}: at {format_time(notice.at)} {given_up}"

    def _held_back(self, notice: Notice) -> list[str]:
        if not notice.held_back:
            return []
        more = _count(notice.held_back, "like it was", "like it were")
        return [
            (
                f"{more} held back since {format_time(notice.held_since)}:"
                f" one in {self._window_s:g} s is sent."
            )
        ]


def describe_outcome(outcome: AttemptOutcome) -> str:
    """Describe how an attempt ended; its detail is left out, since it may contain a URL."""
    if outcome.failure is None:
        return f"was answered with status {outcome.status}"
    return _REASONS.get(outcome.failure, "was not made")


def one_line(text: str) -> str:
    """Return an untrusted text as a short line of visible characters."""
    visible = "".join(
        " " if unicodedata.category(char) in _INVISIBLE else char
        for char in text[: MAX_TEXT_LENGTH * 4]
    )
    line = " ".join(visible.split())
    return line if len(line) <= MAX_TEXT_LENGTH else line[: MAX_TEXT_LENGTH - 1] + ELLIPSIS


def format_time(time_s: float) -> str:
    return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _name(notice: Notice) -> str:
    return one_line(notice.contact.name or "") or notice.contact.uid


def _count(number: int, singular: str, plural: str | None = None) -> str:
    return f"{number} {singular if number == 1 else plural or singular + 's'}"
