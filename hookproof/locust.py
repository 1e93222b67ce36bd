"""Hookproof for users of Locust: users that broadcast, and deliveries in Locust's own figures.

    # locustfile.py
    from hookproof.locust import WebhookUser
    from locust import task

    class Broadcasts(WebhookUser):
        @task
        def send(self):
            self.broadcast()

Importing this module in a locustfile has Locust start a receiver, whose deliveries are requests of
type DELIVERY in its statistics. `HOOKPROOF_PROJECT`, `HOOKPROOF_API_KEY` and `HOOKPROOF_CA_DIR`, or
`HOOKPROOF_TARGET`, a target file, say the rest. An environment that a program makes itself is given
to `attach` after its runner was created; `listener_of` has the figures of its tests.
"""

from locust import events
from locust.env import Environment

from hookproof.load.locust_plugin.attachment import LISTENERS, attach
from hookproof.load.locust_plugin.delivery_listener import DeliveryListener
from hookproof.load.locust_worker.arrival_rate import ConstantArrivalRate, ProfileShape
from hookproof.load.locust_worker.webhook_user import WebhookUser
from hookproof.load.profile.load_profile import LoadEndpointSettings as Endpoints
from hookproof.load.profile.load_profile import load_profile

__all__ = [
    "ConstantArrivalRate",
    "Endpoints",
    "ProfileShape",
    "WebhookUser",
    "attach",
    "listener_of",
    "load_profile",
]


def listener_of(environment: Environment) -> DeliveryListener:
    """What listens to the deliveries of an environment; raises KeyError for that of a worker."""
    return LISTENERS[environment]


events.init.add_listener(attach)  # type: ignore[no-untyped-call]
