"""The notifier: hears of deliveries that were given up, and tells the endpoint's contacts as the
dialect says.

The delivery engine calls it and never waits for it: what goes out does so in tasks of its own, with
connections, look-ups and bounds of its own. Unsent notifications live in memory and end with the
process; nothing hangs on them.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from hookproof.mockserver.delivery.store_port import AttemptOutcome, PendingDelivery
from hookproof.mockserver.notifications.bounds import Bounds
from hookproof.mockserver.notifications.journal import NotificationJournal
from hookproof.mockserver.notifications.notice import Contact, Kind, Notice
from hookproof.mockserver.notifications.outbox import Outbox
from hookproof.mockserver.notifications.rate_limit import Pacing
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Notify

TOLD_OF: Final[Mapping[Notify, frozenset[Kind]]] = {
    Notify.EXHAUSTED: frozenset({Kind.EXHAUSTED}),
    Notify.STATE_CHANGE: frozenset({Kind.STATE_CHANGE}),
    Notify.EXHAUSTED_OR_STATE_CHANGE: frozenset(Kind),
    Notify.NEVER: frozenset(),
}


class Notifier:
    """An `OutcomeObserver`. `contact` looks an endpoint up; all methods belong in the event loop."""

    def __init__(
        self,
        dialect: Dialect,
        outboxes: Sequence[Outbox],
        *,
        contact: Callable[[str], Contact | None],
        journal: NotificationJournal,
        bounds: Bounds,
        log: logging.Logger,
    ) -> None:
        condition = dialect.delivery.notify_on
        # A dialect that has not decided is kept by silence (section 6, item 4 leaves the conditions
        # open).
        self._told_of = TOLD_OF[condition.value] if condition.decided else TOLD_OF[Notify.NEVER]
        self._outboxes = outboxes
        self._contact = contact
        self._log = log
        self._pacing = Pacing(bounds.window_s, bounds.windows)
        self._timer: asyncio.TimerHandle | None = None
        self.journal = journal

    def given_up(
        self, delivery: PendingDelivery, outcome: AttemptOutcome, *, deactivated: bool
    ) -> None:
        """A delivery was exhausted; the change of state that came of it is told in place of it.
        Never raises.
        """
        try:
            self._consider(delivery, outcome, deactivated)
        except Exception as fault:  # noqa: BLE001  the deliveries go on without the notification
            self._log.error(
                "an endpoint was not notified: a fault of this server: %s", type(fault).__name__
            )

    def reset(self) -> None:
        """Forget everything that is held back or unsent, and the journal."""
        self._pacing.clear()
        for outbox in self._outboxes:
            outbox.forget()
        self.journal.clear()

    async def stop(self, grace_s: float) -> None:
        """Let what is unsent go out for `grace_s`; what is then unsent or held back is lost, and
        the log says so.
        """
        if self._timer is not None:
            self._timer.cancel()
        lost = self._pacing.clear()
        if lost:
            self._log.warning(
                "the server stops with %d notifications held back by their rate limit", lost
            )
        await asyncio.gather(*(outbox.stop(grace_s) for outbox in self._outboxes))

    def _consider(
        self, delivery: PendingDelivery, outcome: AttemptOutcome, deactivated: bool
    ) -> None:
        kind = (
            Kind.STATE_CHANGE
            if deactivated and Kind.STATE_CHANGE in self._told_of
            else Kind.EXHAUSTED
        )
        contact = self._contact(delivery.endpoint_uid) if kind in self._told_of else None
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
        if self._pacing.admits(notice, asyncio.get_running_loop().time()):
            self._tell(notice)
        else:
            self.journal.held_back += 1

    def _tell(self, notice: Notice) -> None:
        for outbox in self._outboxes:
            if outbox.reaches(notice.contact):
                outbox.post(notice)
        if self._timer is None:
            self._wait()

    def _wait(self) -> None:
        """Look again when the next window ends."""
        end = self._pacing.next_end
        self._timer = (
            None if end is None else asyncio.get_running_loop().call_at(end, self._windows_ended)
        )

    def _windows_ended(self) -> None:
        self._timer = None
        for notice in self._pacing.ended(asyncio.get_running_loop().time()):
            self._tell(notice)
        if self._timer is None:
            self._wait()
