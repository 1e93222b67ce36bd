"""When the contacts of an endpoint are told (section 6, item 4, which leaves the conditions to the
dialect).
"""

from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Notify


def tells_of(dialect: Dialect, exhausted: int) -> bool:
    """Whether contacts hear of it when this many deliveries in a row were exhausted; raises
    Undecided.

    No more than `deactivate_after` of the dialect are asked about: the state changes with the last
    one, if it does.
    """
    match dialect.delivery.notify_on.value:
        case Notify.EXHAUSTED | Notify.EXHAUSTED_OR_STATE_CHANGE:
            return True
        case Notify.STATE_CHANGE:
            return bool(dialect.retry.deactivate_after.value == exhausted)
        case Notify.NEVER:
            return False
