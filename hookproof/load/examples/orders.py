"""Users of a service with events of its own: their types, their data and their headers.

    locust -f load/examples/orders.py --headless -u 20 -r 5 -t 30s --host URL

The payload that arrives has a few members more, by which Hookproof recognises the delivery:
`{"order": {...}, "hookproof": "...", "intended_us": ..., "pad": "", "check": ...}`. If any member
differs from what was sent, the delivery is altered.
"""

import random
from itertools import count

from locust import between, task

from hookproof.locust import WebhookUser


class OrderUser(WebhookUser):
    """What is the same for all users of this service; its subclasses have tasks."""

    abstract = True
    numbers = count(1)

    def report_order(self, status: str) -> bool:
        """Broadcast what has become of an order, and return whether that was accepted."""
        order = {"number": next(self.numbers), "status": status, "total": random.randint(1, 99)}
        return self.broadcast(
            {"order": order},
            event_type=f"order.{status}",
            custom_headers={"X-Shop": "example"},
        )


class Shop(OrderUser):
    """Sends an order and its payment at once, and then nothing for a while."""

    wait_time = between(0.5, 1.5)  # instead of a rate

    @task
    def sell(self) -> None:
        if self.report_order("created"):
            self.report_order("paid")
