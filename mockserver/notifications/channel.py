"""What every channel of notifications is: something that can carry one notice, or say why it
cannot.
"""

from typing import Protocol

from hookproof.mockserver.notifications.notice import Contact, Notice


class Undelivered(Exception):
    """A notice did not get through; the message says why in one line that holds no secret and no
    address of a person.

    `final` says that trying again would change nothing.
    """

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


class Channel(Protocol):
    """One way to a contact."""

    @property
    def name(self) -> str:
        """What the journal and the log call it."""

    def reaches(self, contact: Contact) -> bool:
        """Whether the contact can be told by this channel."""

    async def send(self, notice: Notice) -> None:
        """Try once; the caller bounds the time by cancelling. Raises Undelivered."""

    async def close(self) -> None:
        """Let go of connections."""
