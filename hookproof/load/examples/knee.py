"""Searches for the knee: the highest rate at which nothing fails and deliveries come in time.

    locust -f load/examples/knee.py --headless --host URL

The number of users is doubled until a trial fails, then the interval is halved; both ends are tried
twice. The last line of the log says which rate it is.
"""

import logging
import math

from locust import LoadTestShape, task
from locust.stats import calculate_response_time_percentile, diff_response_time_dicts

from hookproof.load.profile.load_profile import Search
from hookproof.load.run.knee_search import Knee
from hookproof.locust import WebhookUser, listener_of

LOG = logging.getLogger("knee")


class Broadcasts(WebhookUser):
    """Sends broadcasts at a rate of its own: twice as many users send twice as many."""

    rate = 10.0

    @task
    def send(self) -> None:
        self.broadcast()


class KneeSearch(LoadTestShape):
    """Trials of `trial_s` seconds; 95 % of their deliveries have to arrive within `within_ms`.

    Between two trials nobody sends until the backlog is gone, for at most `rest_s`.
    """

    first_users = 5
    most_users = 200
    trial_s = 10.0
    rest_s = 10.0
    within_ms = 500

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        search = Search(most=self.most_users, within=0.2)
        self.knee = Knee(search=search, first=self.first_users)
        self.trial: float | None = None  # the users of the trial that is running
        self.until_s = 0.0
        self.failures = 0
        self.times: dict[int, int] = {}

    def tick(self) -> tuple[int, float] | None:
        """The users that are to run, a second at a time; None when the knee is known."""
        now_s = self.get_run_time()  # type: ignore[no-untyped-call]
        assert self.runner is not None
        if self.trial is not None:
            if now_s < self.until_s:
                return math.ceil(self.trial), self.most_users
            backlog = listener_of(self.runner.environment).backlog
            # What was sent in the last second is known a second later.
            rest_s = self.rest_s if backlog else 2.0
            if now_s < self.until_s + rest_s:
                return 0, self.most_users
            passed = not backlog and self.has_passed()
            self.knee.note(self.trial, passed=passed)
            LOG.info("%d users: %s", math.ceil(self.trial), "passed" if passed else "failed")
        self.trial = self.knee.next_rate()
        if self.trial is None:
            users = math.ceil(self.knee.good or 0)
            rate = users * Broadcasts.rate
            LOG.info("The knee is at %d users, %.0f requests a second", users, rate)
            return None
        self.until_s = now_s + self.trial_s
        self.note_figures()
        return math.ceil(self.trial), self.most_users

    def note_figures(self) -> None:
        """Remember Locust's figures, so that what is added belongs to the next trial."""
        assert self.runner is not None
        stats = self.runner.stats
        self.failures = stats.num_failures
        self.times = dict(stats.get("endpoints", "DELIVERY").response_times)

    def has_passed(self) -> bool:
        """Whether nothing failed in the trial, and its deliveries arrived in time."""
        assert self.runner is not None
        stats = self.runner.stats
        times = diff_response_time_dicts(
            stats.get("endpoints", "DELIVERY").response_times, self.times
        )
        arrived = sum(times.values())
        late_ms = calculate_response_time_percentile(times, arrived, 0.95)
        return arrived > 0 and stats.num_failures == self.failures and late_ms <= self.within_ms
