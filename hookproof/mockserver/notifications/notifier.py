"""The notifier: turns deliveries that were given up into notices to the endpoint's contacts.

The delivery engine calls it and never waits for it: notices are sent in separate tasks, with
connections, look-ups and limits of their own. Unsent notices are in memory only and are lost with
the process. `create_notifier` puts it together, at the end.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hookproof.mockserver.delivery.http_client.egress import EgressGuard, Network
from hookproof.mockserver.delivery.http_client.tls import TlsContexts
from hookproof.mockserver.delivery.http_client.transport import Transport
from hookproof.mockserver.delivery.store_port import AttemptOutcome, PendingDelivery
from hookproof.mockserver.notifications.channels import (
    Channel,
    ChatChannel,
    MailChannel,
    MailServer,
    Undelivered,
)
from hookproof.mockserver.notifications.journal import NotificationJournal, NotificationState
from hookproof.mockserver.notifications.notice import Contact, Notice, NoticeKind, Wording
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import BothContacts, Notify


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationLimits:
    """All times are in seconds.

    An endpoint gets one notification of each kind in `window_s`. A notification is tried `attempts`
    times, each for at most `timeout_s`; the wait after the first try is `wait_s` and doubles with
    each further one. At most `max_unsent` notifications wait or are being sent on a channel;
    further ones are dropped. At most `max_windows` windows are open; beyond them nothing is sent.
    """

    window_s: float = 60.0
    attempts: int = 3
    wait_s: float = 2.0
    timeout_s: float = 10.0
    max_unsent: int = 1000
    max_windows: int = 50_000
    chats_at_once: int = 64
    mails_at_once: int = 4


Key = tuple[str, NoticeKind]


@dataclass(slots=True, kw_only=True)
class NotificationWindow:
    """The time after a notice in which no other of its kind is sent, and what it holds back."""

    ends: float
    held_back: int = 0
    first_at: float = 0.0
    latest: Notice | None = None

    def hold(self, notice: Notice) -> None:
        """Hold back a notice; only the latest one is kept, the others are counted."""
        if self.latest is None:
            self.first_at = notice.at
        self.held_back += 1
        self.latest = notice


class NotificationRateLimit:
    """Admits one notice of each kind for each endpoint and window.

    At most `max_windows` windows are open; beyond them nothing is admitted or held back.
    """

    def __init__(self, window_s: float, max_windows: int) -> None:
        self._window_s = window_s
        self._max_windows = max_windows
        # All windows are equally long, so that the first one is the next to end.
        self._windows: OrderedDict[Key, NotificationWindow] = OrderedDict()

    @property
    def next_end(self) -> float | None:
        """The time at which the next window ends, if any is open."""
        return next((window.ends for window in self._windows.values()), None)

    def admit(self, notice: Notice, now: float) -> bool:
        """Open a window and return True if a notice may be sent now; otherwise hold it back."""
        window = self._windows.get(window_key(notice))
        if window is not None:
            window.hold(notice)
            return False
        if len(self._windows) >= self._max_windows:
            return False
        self._windows[window_key(notice)] = NotificationWindow(ends=now + self._window_s)
        return True

    def close_ended(self, now: float) -> list[Notice]:
        """Close the windows that have ended; return what to send now, each in a new window."""
        due = []
        while (end := self.next_end) is not None and end <= now:
            key, window = self._windows.popitem(last=False)
            if window.latest is not None:
                self._windows[key] = NotificationWindow(ends=now + self._window_s)
                due.append(
                    replace(
                        window.latest, held_back=window.held_back - 1, held_since=window.first_at
                    )
                )
        return due

    def clear(self) -> int:
        """Close all windows; return how many notices were held back and will never be sent."""
        held_back = sum(window.held_back for window in self._windows.values())
        self._windows.clear()
        return held_back


def window_key(notice: Notice) -> Key:
    return notice.contact.uid, notice.kind


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


REPORTED_KINDS: Final[Mapping[Notify, frozenset[NoticeKind]]] = {
    Notify.EXHAUSTED: frozenset({NoticeKind.EXHAUSTED}),
    Notify.STATE_CHANGE: frozenset({NoticeKind.STATE_CHANGE}),
    Notify.EXHAUSTED_OR_STATE_CHANGE: frozenset(NoticeKind),
    Notify.NEVER: frozenset(),
}


class Notifier:
    """An `OutcomeObserver`; all methods must be called in the event loop.

    `contact` looks up the contacts of an endpoint.
    """

    def __init__(
        self,
        dialect: Dialect,
        outboxes: Sequence[Outbox],
        *,
        contact: Callable[[str], Contact | None],
        journal: NotificationJournal,
        limits: NotificationLimits,
        log: logging.Logger,
    ) -> None:
        condition = dialect.delivery.notify_on
        # Section 6, item 4 leaves the conditions open; undecided means no notifications.
        self._reported_kinds = (
            REPORTED_KINDS[condition.value] if condition.decided else REPORTED_KINDS[Notify.NEVER]
        )
        self._outboxes = outboxes
        self._chat_alone = dialect.delivery.both_contacts.prefers(BothContacts.CHAT_ALONE)
        self._contact = contact
        self._log = log
        self._rate_limit = NotificationRateLimit(limits.window_s, limits.max_windows)
        self._timer: asyncio.TimerHandle | None = None
        self.journal = journal

    def given_up(
        self, delivery: PendingDelivery, outcome: AttemptOutcome, *, deactivated: bool
    ) -> None:
        """Notify of an exhausted delivery, or of the change of state it caused. Never raises."""
        try:
            self._handle(delivery, outcome, deactivated)
        except Exception as error:  # noqa: BLE001  deliveries continue without the notification
            self._log.error(
                "an endpoint was not notified: internal error of this server: %s",
                type(error).__name__,
            )

    def reset(self) -> None:
        """Discard all that is held back or unsent, and the journal."""
        self._rate_limit.clear()
        for outbox in self._outboxes:
            outbox.cancel()
        self.journal.clear()

    async def stop(self, grace_s: float) -> None:
        """Wait up to `grace_s` for unsent notices; then discard and log the rest."""
        if self._timer is not None:
            self._timer.cancel()
        held_back = self._rate_limit.clear()
        if held_back:
            self._log.warning(
                "the server stops with %d notifications held back by their rate limit", held_back
            )
        await asyncio.gather(*(outbox.stop(grace_s) for outbox in self._outboxes))

    def _handle(
        self, delivery: PendingDelivery, outcome: AttemptOutcome, deactivated: bool
    ) -> None:
        kind = (
            NoticeKind.STATE_CHANGE
            if deactivated and NoticeKind.STATE_CHANGE in self._reported_kinds
            else NoticeKind.EXHAUSTED
        )
        contact = self._contact(delivery.endpoint_uid) if kind in self._reported_kinds else None
        if contact is None or not any(outbox.reaches(contact) for outbox in self._outboxes):
            return
        notice = Notice(
            kind=kind,
            at=outcome.finished_at,
            contact=contact,
            event_uid=delivery.event_uid,
            event_type=delivery.event_type,
            outcome=outcome,
        )
        if self._rate_limit.admit(notice, asyncio.get_running_loop().time()):
            self._send(notice)
        else:
            self.journal.held_back += 1

    def _send(self, notice: Notice) -> None:
        contact = notice.contact
        if self._chat_alone and contact.slack_webhook_url:
            contact = replace(contact, support_email=None)
        for outbox in self._outboxes:
            if outbox.reaches(contact):
                outbox.post(notice)
        if self._timer is None:
            self._schedule()

    def _schedule(self) -> None:
        """Set the timer to the end of the next window."""
        end = self._rate_limit.next_end
        self._timer = (
            None if end is None else asyncio.get_running_loop().call_at(end, self._close_windows)
        )

    def _close_windows(self) -> None:
        self._timer = None
        for notice in self._rate_limit.close_ended(asyncio.get_running_loop().time()):
            self._send(notice)
        if self._timer is None:
            self._schedule()


def create_notifier(
    dialect: Dialect,
    contact: Callable[[str], Contact | None],
    *,
    clock: Callable[[], float],
    trust: TlsContexts,
    egress: Sequence[Network],
    mail_server: MailServer | None,
    limits: NotificationLimits,
) -> Notifier:
    """Create a notifier that looks up endpoints with `contact`.

    Without a `mail_server` it has no e-mail channel. The channels use the same egress rules and
    trusted CA as deliveries but share no connections and no look-up threads with them.
    """
    log = logging.getLogger("hookproof.mockserver.notifications")
    journal = NotificationJournal(clock)
    wording = Wording(dialect, limits.window_s)
    chat = ChatChannel(Transport(EgressGuard(egress), trust), wording, timeout_s=limits.timeout_s)
    outboxes = [Outbox(chat, journal, limits, at_once=limits.chats_at_once, log=log)]
    if mail_server is not None:
        mail = MailChannel(mail_server, trust, wording)
        outboxes.append(Outbox(mail, journal, limits, at_once=limits.mails_at_once, log=log))
    return Notifier(dialect, outboxes, contact=contact, journal=journal, limits=limits, log=log)
