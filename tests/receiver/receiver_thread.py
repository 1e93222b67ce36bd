"""A receiver in a thread of the test, so that its event loop can be blocked and no other."""

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass

from hookproof.receiver.app import ReceiverConfiguration, run_receiver
from hookproof.receiver.http.address import Address

DEADLINE_S = 30
ANY_PORT = Address(host="127.0.0.1", port=0)
HTTP = ReceiverConfiguration(
    bind=ANY_PORT, control=ANY_PORT, tls=False, authority_folder=None, public_url=None
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverThread:
    """Where its control API is, and its loop."""

    control: str
    loop: asyncio.AbstractEventLoop

    def block(self, seconds: float) -> None:
        """Let the receiver do nothing for so long, before it reads what is sent from now on."""
        self.loop.call_soon_threadsafe(time.sleep, seconds)


@contextmanager
def receiver_thread() -> Iterator[ReceiverThread]:
    started: Future[ReceiverThread] = Future()
    ended = asyncio.Event()

    async def run() -> None:
        async with run_receiver(HTTP) as receiver:
            loop = asyncio.get_running_loop()
            started.set_result(ReceiverThread(control=receiver.control, loop=loop))
            await ended.wait()

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    receiver = started.result(timeout=DEADLINE_S)
    try:
        yield receiver
    finally:
        receiver.loop.call_soon_threadsafe(ended.set)
        thread.join(timeout=DEADLINE_S)
