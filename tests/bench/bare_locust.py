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
from locust import FastHttpUser, task
from locust.env import Environment
from locust.exception import StopUser


class Poster(FastHttpUser):
    left = 0
    done = 0
    body = b""

    @task
    def post(self) -> None:
        if Poster.left == 0:
            raise StopUser
        Poster.left -= 1
        self.client.post(
            "/", data=self.body, headers={"Content-Type": "application/json"}, name="post"
        )
        Poster.done += 1


def main() -> None:
    url, users, requests, body = (
        sys.argv[1],
        int(sys.argv[2]),
        int(sys.argv[3]),
        Path(sys.argv[4]).read_bytes(),
    )
    Poster.left, Poster.body = requests, body
    environment = Environment(user_classes=[Poster], host=url, events=locust.events)
    runner = environment.create_local_runner()
    gevent.sleep(max(0.0, float(sys.argv[5]) - time.time()))
    began = time.time()
    runner.start(users, spawn_rate=users)
    while Poster.done < requests:
        gevent.sleep(0.02)
    print(time.time() - began)
    runner.quit()


if __name__ == "__main__":
    main()
