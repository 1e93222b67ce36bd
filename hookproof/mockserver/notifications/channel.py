"""The interface of a notification channel."""

from typing import Protocol

from hookproof.mockserver.notifications.notice import Contact, Notice


class Undelivered(Exception):
    """A notice was not delivered; the message is one line without secrets and addresses.

    With `final`, another try would fail as well.
    """

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


class Channel(Protocol):
    """One way to reach a contact."""

    @property
    def name(self) -> str:
        """The name of the channel in the journal and the log."""

    def reaches(self, contact: Contact) -> bool:
        """Return whether the contact has an address for this channel."""

    async def send(self, notice: Notice) -> None:
        """Try once; raises Undelivered. The caller limits the time by cancelling."""

    async def close(self) -> None:
        """Close connections."""
