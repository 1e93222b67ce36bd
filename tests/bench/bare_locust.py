"""The baseline of the load generator: a bare FastHttpUser that posts the same bytes repeatedly.

`python -m tests.bench.bare_locust URL USERS REQUESTS BODY_FILE BEGIN_AT` begins at BEGIN_AT in unix
seconds, or at once if that has passed, and prints how many seconds it took.
"""

import locust  # first, because it patches modules that the other imports load

# isort: split
import sys
import time
from pathlib import Path

import gevent
from gevent.event import Event
from locust import FastHttpUser, task
from locust.env import Environment
from locust.exception import StopUser

# A run takes some seconds; one that hangs is not waited for any longer.
ENDS_WITHIN_S = 600.0


class Poster(FastHttpUser):
    """A user; all of them share the number of requests that are left, and of those answered."""

    left = 0
    unanswered = 0
    all_answered = Event()
    body = b""

    @task
    def post(self) -> None:
        if Poster.left == 0:
            raise StopUser
        Poster.left -= 1
        self.client.post(
            "/", data=self.body, headers={"Content-Type": "application/json"}, name="post"
        )
        Poster.unanswered -= 1
        if Poster.unanswered == 0:
            Poster.all_answered.set()


def main() -> None:
    url, users, requests, body_file, begin_at = sys.argv[1:]
    Poster.left = Poster.unanswered = int(requests)
    Poster.body = Path(body_file).read_bytes()
    environment = Environment(user_classes=[Poster], host=url, events=locust.events)
    runner = environment.create_local_runner()
    gevent.sleep(max(0.0, float(begin_at) - time.time()))  # paces: two processes begin together
    began = time.time()
    runner.start(int(users), spawn_rate=int(users))
    if not Poster.all_answered.wait(timeout=ENDS_WITHIN_S):
        sys.exit(f"{Poster.unanswered} requests are unanswered after {ENDS_WITHIN_S:.0f} s")
    print(time.time() - began)
    runner.user_greenlets.join(timeout=ENDS_WITHIN_S)  # each ends by itself
    runner.quit()


if __name__ == "__main__":
    main()
