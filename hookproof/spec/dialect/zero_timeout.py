"""An http_timeout of 0, and the smallest that is accepted: two answers decide both (section 8)."""

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.given_settings import is_dropped
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import ZeroTimeout


def least_http_timeout(dialect: Dialect) -> int:
    """The smallest http_timeout that is accepted, which is not 0 where that is refused."""
    refused = dialect.delivery.zero_http_timeout.allowed == (ZeroTimeout.REFUSED,)
    return max(dialect.requests.http_timeout_minimum, int(refused))


def zero_http_timeout(dialect: Dialect) -> Answer[ZeroTimeout]:
    """What an http_timeout of 0 means; it is refused where a larger one is the smallest, and the
    default where every one is dropped.
    """
    if dialect.requests.http_timeout_minimum > 0:
        return Answer((ZeroTimeout.REFUSED,))
    if is_dropped("http_timeout", dialect) and not dialect.delivery.zero_http_timeout.prefers(
        ZeroTimeout.REFUSED
    ):
        return Answer((ZeroTimeout.DEFAULT,))
    return dialect.delivery.zero_http_timeout
