"""The notifier: turns deliveries that were given up into notices to the endpoint's contacts.

The delivery engine calls it and never waits for it: notices are sent in separate tasks, with
connections, look-ups and limits of their own. Unsent notices are in memory only and are lost with
the process.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hookproof.mockserver.delivery.store_port import AttemptOutcome, PendingDelivery
from hookproof.mockserver.notifications.journal import NotificationJournal
from hookproof.mockserver.notifications.limits import NotificationLimits
from hookproof.mockserver.notifications.notice import Contact, Notice, NoticeKind
from hookproof.mockserver.notifications.outbox import Outbox
from hookproof.mockserver.notifications.rate_limit import NotificationRateLimit
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import BothContacts, Notify

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
