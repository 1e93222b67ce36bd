"""An outbox: the notices of one channel on their way, each as a task, none waited for by anybody
else.
"""

import asyncio
import logging
from typing import Final

from hookproof.mockserver.notifications.bounds import Bounds
from hookproof.mockserver.notifications.channel import Channel, Undelivered
from hookproof.mockserver.notifications.journal import NotificationJournal, State
from hookproof.mockserver.notifications.notice import Contact, Notice

FULL: Final = "too many notifications are unsent"


class Outbox:
    """Sends notices over a channel, `at_once` of them at a time, each a bounded number of times."""

    def __init__(
        self,
        channel: Channel,
        journal: NotificationJournal,
        bounds: Bounds,
        *,
        at_once: int,
        log: logging.Logger,
    ) -> None:
        self._channel = channel
        self._journal = journal
        self._bounds = bounds
        self._log = log
        self._slots = asyncio.Semaphore(at_once)
        self._tasks: set[asyncio.Task[None]] = set()

    def reaches(self, contact: Contact) -> bool:
        """Whether the contact can be told by this channel."""
        return self._channel.reaches(contact)

    def post(self, notice: Notice) -> None:
        """Send a notice in the background, unless too much waits already."""
        if len(self._tasks) >= self._bounds.unsent:
            self._note(notice, State.DROPPED, attempts=0, detail=FULL)
            return
        task = asyncio.get_running_loop().create_task(self._deliver(notice))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def forget(self) -> None:
        """Give up what is unsent."""
        for task in self._tasks:
            task.cancel()

    async def stop(self, grace_s: float) -> None:
        """Let what is unsent go out for `grace_s`, then give it up, which the log tells."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace_s)
        if self._tasks:
            self._log.warning(
                "the server stops with %d notifications by %s unsent",
                len(self._tasks),
                self._channel.name,
            )
        self.forget()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._channel.close()

    async def _deliver(self, notice: Notice) -> None:
        for attempt in range(1, self._bounds.attempts + 1):
            try:
                await self._attempt(notice)
            except Undelivered as undelivered:
                if undelivered.final or attempt == self._bounds.attempts:
                    self._note(notice, State.FAILED, attempts=attempt, detail=str(undelivered))
                    return
            else:
                self._note(notice, State.SENT, attempts=attempt)
                return
            # Outside of the slot: who waits keeps nobody else waiting.
            await asyncio.sleep(self._bounds.wait_s * 2 ** (attempt - 1))

    async def _attempt(self, notice: Notice) -> None:
        async with self._slots:
            try:
                async with asyncio.timeout(self._bounds.timeout_s):
                    await self._channel.send(notice)
            except TimeoutError:
                raise Undelivered(f"no answer within {self._bounds.timeout_s:g} s") from None
            except Undelivered:
                raise
            except Exception as fault:  # noqa: BLE001  a fault of ours costs this notice alone
                # Only its kind is told: the text of an unforeseen fault may quote a URL.
                raise Undelivered(
                    f"a fault of this server: {type(fault).__name__}", final=True
                ) from None

    def _note(self, notice: Notice, state: State, *, attempts: int, detail: str = "") -> None:
        self._journal.note(notice, self._channel.name, state, attempts=attempts, detail=detail)
        if state is not State.SENT:
            self._log.warning(
                "endpoint %s was not notified by %s (%s, %d attempts): %s",
                notice.contact.uid,
                self._channel.name,
                notice.kind,
                attempts,
                detail,
            )
