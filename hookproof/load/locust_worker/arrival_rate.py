"""Shapes by which requests arrive at a rate of their own, however slow the answers are."""

from abc import abstractmethod
from functools import cached_property
from typing import ClassVar

from locust import LoadTestShape

from hookproof.load.profile.load_profile import LoadProfile
from hookproof.load.profile.schedule import RateCurve


class ArrivalShape(LoadTestShape):
    """All users together send along a curve; each sends its part, and none thinks in between.

    It applies to a `WebhookUser` with no `wait_time` of its own.
    """

    abstract = True

    users: ClassVar[int] = 20

    @property
    @abstractmethod
    def curve(self) -> RateCurve:
        """The requests a second of all users together."""

    def slot_after(self, slot_s: float, share: float = 1.0) -> float:
        """When a user's next request is due after one at `slot_s`, both in seconds since it began;
        a `share` of the usual requests sooner. `inf` if the rate stays 0.
        """
        return self.curve.time_after(slot_s, share * self.users)

    def tick(self) -> tuple[int, float] | None:
        """All users at once, until the time is over."""
        over = self.get_run_time() >= self.curve.duration_s  # type: ignore[no-untyped-call]
        return None if over else (self.users, self.users)


class ConstantArrivalRate(ArrivalShape):
    """All users together send `rate` requests a second, for `duration_s` seconds.

    `users` is the most requests that are under way at once: the rate is shared out among them.
    """

    abstract = True

    rate: ClassVar[float] = 50.0
    duration_s: ClassVar[float] = 30.0

    @cached_property
    def curve(self) -> RateCurve:  # read for each request
        return RateCurve.steady(self.rate, self.duration_s)


class ProfileShape(ArrivalShape):
    """All users together send at the rate of a load profile, with its ramps and spikes.

    class Spike(ProfileShape):
        profile = load_profile("spike")
        users = profile.users
    """

    abstract = True

    profile: ClassVar[LoadProfile]

    @property
    def curve(self) -> RateCurve:
        return self.profile.shape
