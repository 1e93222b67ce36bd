"""A shape by which requests arrive at a constant rate, however slow the answers are."""

from typing import ClassVar

from locust import LoadTestShape


class ConstantArrivalRate(LoadTestShape):
    """All users together send `rate` requests a second, for `duration_s` seconds.

    `users` is the most requests that are under way at once: the rate is shared out among them. It
    applies to a `WebhookUser` with no `wait_time` of its own.
    """

    abstract = True

    rate: ClassVar[float] = 50.0
    duration_s: ClassVar[float] = 30.0
    users: ClassVar[int] = 20

    @property
    def rate_of_user(self) -> float:
        """Requests a second of each user."""
        return self.rate / self.users

    def tick(self) -> tuple[int, float] | None:
        """All users at once, until the time is over."""
        over = self.get_run_time() >= self.duration_s  # type: ignore[no-untyped-call]
        return None if over else (self.users, self.users)
