"""The notifier joined with its channels (section 6, item 4)."""

import logging
from collections.abc import Callable, Sequence

from mockserver.delivery.egress import EgressGuard, Network
from mockserver.delivery.tls import TlsContexts
from mockserver.delivery.transport import Transport
from mockserver.notifications.bounds import Bounds
from mockserver.notifications.chat import ChatChannel
from mockserver.notifications.journal import NotificationJournal
from mockserver.notifications.mail import MailChannel, MailServer
from mockserver.notifications.notice import Contact
from mockserver.notifications.notifier import Notifier
from mockserver.notifications.outbox import Outbox
from mockserver.notifications.wording import Wording
from spec.dialect import Dialect


def notifier_for(
    dialect: Dialect,
    contact: Callable[[str], Contact | None],
    *,
    clock: Callable[[], float],
    trust: TlsContexts,
    egress: Sequence[Network],
    mail_server: MailServer | None,
    bounds: Bounds,
) -> Notifier:
    """A notifier that looks endpoints up with `contact`; without a `mail_server` it has no e-mail channel.

    The channels share the rules of deliveries, the guard's and the trust's, and no connection and no look-up thread
    with them.
    """
    log = logging.getLogger("mockserver.notifications")
    journal = NotificationJournal(clock)
    wording = Wording(dialect, bounds.window_s)
    chat = ChatChannel(Transport(EgressGuard(egress), trust), wording, timeout_s=bounds.timeout_s)
    outboxes = [Outbox(chat, journal, bounds, at_once=bounds.chats_at_once, log=log)]
    if mail_server is not None:
        mail = MailChannel(mail_server, trust, wording)
        outboxes.append(Outbox(mail, journal, bounds, at_once=bounds.mails_at_once, log=log))
    return Notifier(dialect, outboxes, contact=contact, journal=journal, bounds=bounds, log=log)
