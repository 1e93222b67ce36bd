"""A mix of operations, while broadcasts are delivered to four endpoints, of which one is limited.

locust -f load/examples/operations.py --headless -u 20 -r 5 -t 30s --host URL
locust -f load/examples/operations.py --headless -u 20 -r 5 -t 30s --host URL --tags events
"""

from locust import tag, task

from hookproof.locust import Endpoints, WebhookUser


class Service(WebhookUser):
    """The operations of the API in the weights of a service in use."""

    endpoints = Endpoints(
        count=4, limited=1, rate_limit=50, rate_limit_duration_s=1, advanced_signatures=True
    )

    @tag("events")
    @task(30)
    def send_event(self) -> None:
        self.broadcast()

    @tag("reads")
    @task(25)
    def read_portal_links(self) -> None:
        for link in self.list_portal_links()[:1]:
            self.call("getPortalLink", portalLinkID=str(link["uid"]))

    @tag("reads")
    @task(8)
    def read_sources(self) -> None:
        self.call("listSources")

    @tag("changes")
    @task(4)
    def add_endpoint(self) -> None:
        endpoint = self.create_endpoint()
        if endpoint is not None:
            self.call("getEndpoint", endpointID=str(endpoint["uid"]))

    @tag("changes")
    @task(1)
    def roll_secret(self) -> None:
        self.roll()
