"""The default profile for Locust: broadcasts to one endpoint, 50 a second with 20 users.

export HOOKPROOF_PROJECT=... HOOKPROOF_API_KEY=... HOOKPROOF_CA_DIR=ca
locust -f load/locustfile.py --headless -u 20 -r 5 -t 30s --host URL
"""

from locust import tag, task

from hookproof.locust import WebhookUser


class Broadcasts(WebhookUser):
    """Sends broadcasts; each is followed to its arrival."""

    @tag("broadcast")
    @task
    def send(self) -> None:
        self.broadcast()
