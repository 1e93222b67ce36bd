"""When the contacts of an endpoint are notified.

Section 6, item 4, leaves the conditions to the dialect.
"""

from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Notify


def notifies_contacts(dialect: Dialect, exhausted: int) -> bool:
    """Whether contacts are notified after this many exhausted deliveries in a row.

    `exhausted` is at most the dialect's `deactivate_after`: the state changes with the last
    delivery, if it does. Raises Undecided.
    """
    match dialect.delivery.notify_on.value:
        case Notify.EXHAUSTED | Notify.EXHAUSTED_OR_STATE_CHANGE:
            return True
        case Notify.STATE_CHANGE:
            return bool(dialect.retry.deactivate_after.value == exhausted)
        case Notify.NEVER:
            return False
