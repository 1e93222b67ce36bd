"""Creates the notifier and its channels (section 6, item 4)."""

import logging
from collections.abc import Callable, Sequence

from hookproof.mockserver.delivery.http_client.egress import EgressGuard, Network
from hookproof.mockserver.delivery.http_client.tls import TlsContexts
from hookproof.mockserver.delivery.http_client.transport import Transport
from hookproof.mockserver.notifications.chat import ChatChannel
from hookproof.mockserver.notifications.journal import NotificationJournal
from hookproof.mockserver.notifications.limits import NotificationLimits
from hookproof.mockserver.notifications.mail import MailChannel, MailServer
from hookproof.mockserver.notifications.notice import Contact
from hookproof.mockserver.notifications.notifier import Notifier
from hookproof.mockserver.notifications.outbox import Outbox
from hookproof.mockserver.notifications.wording import Wording
from hookproof.spec.dialect.model import Dialect


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
