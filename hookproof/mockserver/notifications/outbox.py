"""An outbox: sends the notices of one channel in background tasks."""

import asyncio
import logging
from typing import Final

from hookproof.mockserver.notifications.channel import Channel, Undelivered
from hookproof.mockserver.notifications.journal import NotificationJournal, NotificationState
from hookproof.mockserver.notifications.limits import NotificationLimits
from hookproof.mockserver.notifications.notice import Contact, Notice

TOO_MANY_UNSENT: Final = "too many notifications are unsent"


class Outbox:
    """Sends notices over a channel, `at_once` at a time, each with a limited number of tries."""

    def __init__(
        self,
        channel: Channel,
        journal: NotificationJournal,
        limits: NotificationLimits,
        *,
        at_once: int,
        log: logging.Logger,
    ) -> None:
        self._channel = channel
        self._journal = journal
        self._limits = limits
        self._log = log
        self._slots = asyncio.Semaphore(at_once)
        self._tasks: set[asyncio.Task[None]] = set()

    def reaches(self, contact: Contact) -> bool:
        return self._channel.reaches(contact)

    def post(self, notice: Notice) -> None:
        """Send a notice in the background, or drop it if too many are unsent."""
        if len(self._tasks) >= self._limits.max_unsent:
            self._record(notice, NotificationState.DROPPED, attempts=0, detail=TOO_MANY_UNSENT)
            return
        task = asyncio.get_running_loop().create_task(self._deliver(notice))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel(self) -> None:
        """Discard what is unsent."""
        for task in self._tasks:
            task.cancel()

    async def stop(self, grace_s: float) -> None:
        """Wait up to `grace_s` for unsent notices, then discard and log the rest."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace_s)
        if self._tasks:
            self._log.warning(
                "the server stops with %d notifications by %s unsent",
                len(self._tasks),
                self._channel.name,
            )
        self.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._channel.close()

    async def _deliver(self, notice: Notice) -> None:
        for attempt in range(1, self._limits.attempts + 1):
            try:
                await self._attempt(notice)
            except Undelivered as undelivered:
                if undelivered.final or attempt == self._limits.attempts:
                    self._record(
                        notice, NotificationState.FAILED, attempts=attempt, detail=str(undelivered)
                    )
                    return
            else:
                self._record(notice, NotificationState.SENT, attempts=attempt)
                return
            # The pause before the next try, outside of the semaphore: it must not block others.
            await asyncio.sleep(self._limits.wait_s * 2 ** (attempt - 1))

    async def _attempt(self, notice: Notice) -> None:
        async with self._slots:
            try:
                async with asyncio.timeout(self._limits.timeout_s):
                    await self._channel.send(notice)
            except TimeoutError:
                raise Undelivered(f"no answer within {self._limits.timeout_s:g} s") from None
            except Undelivered:
                raise
            except Exception as error:  # noqa: BLE001  an internal error costs only this notice
                # Only the type is reported: the message of an unexpected error may quote a URL.
                raise Undelivered(
                    f"internal error of this server: {type(error).__name__}", final=True
                ) from None

    def _record(
        self, notice: Notice, state: NotificationState, *, attempts: int, detail: str = ""
    ) -> None:
        self._journal.record(notice, self._channel.name, state, attempts=attempts, detail=detail)
        if state is not NotificationState.SENT:
            self._log.warning(
                "endpoint %s was not notified by %s (%s, %d attempts): %s",
                notice.contact.uid,
                self._channel.name,
                notice.kind,
                attempts,
                detail,
            )
