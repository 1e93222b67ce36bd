"""Ports for programs that have to be told one, since they cannot say which one they got."""

import random
import socket
from contextlib import ExitStack
from typing import Final

# Below those that Linux gives to whoever asks for any port and to connections going out, which
# other tests do all the time: a port from there may be taken before its program starts.
PORTS: Final = range(15_000, 32_000)
# Not the generator that pytest-randomly and the like seed alike in each worker.
CHANCE: Final = random.SystemRandom()


def free_port(*, in_a_row: int = 1) -> int:
    """Return a port that was free just now, as were those that follow it."""
    while True:
        first = CHANCE.choice(PORTS)
        with ExitStack() as sockets:
            try:
                for port in range(first, first + in_a_row):
                    sockets.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                continue
        return first
