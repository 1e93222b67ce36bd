"""What a generator does with a call to its sidecar that is under way when the run ends."""

import json
import subprocess
import sys

import msgspec

from tests.bench.loading import plans

# A process of its own, as only Locust's import gevent.
PROGRAM = """
import locust, gevent, json, sys
import msgspec
from gevent.event import Event
from locust.env import Environment
from hookproof.load.locust_worker import sidecar_link
from hookproof.load.locust_worker.generator import Generator
from hookproof.load.locust_worker.progress import Interrupts
from hookproof.load.plan import LoadPlan
from hookproof.load.sidecar.api import Arrived
from hookproof.load.sidecar.arrivals import FreshDelivery
from hookproof.target.connection import ApiConnection

asked, answers = Event(), Event()

class SlowSidecar:
    settled = 0
    fresh_deliveries = [FreshDelivery(False, False, None, 5)]

    def __init__(self, control_url): ...
    def register(self, endpoints): ...
    def begin(self, new): ...
    def close(self): ...

    def fresh(self):
        deliveries, self.fresh_deliveries = self.fresh_deliveries, []
        asked.set()
        answers.wait()
        return [(delivery, 1) for delivery in deliveries]

    def arrivals(self):
        return Arrived.nothing()

sidecar_link.SidecarClient = SlowSidecar
environment = Environment()
generator = Generator(
    msgspec.json.decode(sys.argv[1], type=LoadPlan), key="", connection=ApiConnection(),
    control_url="", environment=environment, interrupts=Interrupts(),
)
generator.begin()
asked.wait()
concluding = gevent.spawn(generator.conclude)
gevent.sleep(0)  # it begins
answers.set()
concluding.get()
entry = environment.stats.get(sidecar_link.NAME, sidecar_link.REQUEST_TYPE)
json.dump(entry.num_requests, sys.stdout)
"""


def test_deliveries_of_a_call_under_way_at_the_end_are_counted() -> None:
    plan = msgspec.json.encode(plans("http://127.0.0.1:9", 1, 1)[0])
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, plan],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.stderr == ""
    assert json.loads(ended.stdout) == 1
