"""What the users of a process share in a test."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

from locust.env import Environment
from locust.exception import StopUser

from hookproof.load.locust_worker.users import ApiAccess, RequestFailure
from hookproof.load.plan import LoadPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class TestWork:
    """What the users of a process need in one test.

    `shares_clock` if the receiver reads the same clock, so that times can be compared.
    """

    plan: LoadPlan
    access: ApiAccess
    shares_clock: bool = True


class Sender(ABC):
    """The sending side of a test in one process: numbers, and what became of each broadcast.

    One event loop has all users, so nothing is locked. When it has `ceased`, no more is to be sent.
    """

    def __init__(self) -> None:
        self.ceased = True
        self._under_way = 0
        self._users = 0
        self._rolls = 0

    @abstractmethod
    def wait_for_work(self) -> TestWork:
        """What the test is about, as soon as it is known."""

    def next_user(self) -> int:
        """The number of a new user, counted from 0."""
        self._users += 1
        return self._users - 1

    def next_roll(self) -> int:
        """The number of a roll in this process, counted from 0."""
        self._rolls += 1
        return self._rolls - 1

    def begin_request(self) -> None:
        """Count a request as under way; raises StopUser if no more are to be sent."""
        if self.ceased:
            raise StopUser
        self._under_way += 1

    def end_request(self) -> None:
        self._under_way -= 1

    @abstractmethod
    def next_number(self) -> int:
        """The number of the next broadcast, which no other process uses."""

    @abstractmethod
    def note_lateness(self, late_s: float) -> None:
        """Note by how much a request is sent too late, though a user was free."""

    @abstractmethod
    def note_answer(
        self, number: int, failure: RequestFailure | None, *, intended_at: float
    ) -> None:
        """Note what became of a broadcast that was due then, in Unix seconds."""

    @abstractmethod
    def announce_secret(self, token: str, secret: str) -> None:
        """Return when the receiver knows a secret; raises what shows that it cannot."""


SENDERS: Final[dict[Environment, Sender]] = {}
