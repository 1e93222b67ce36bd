"""What becomes of settings of an endpoint that a service may drop, and of an http_timeout of 0.

Sections 2.3, 4.1 and 8.
"""

from collections.abc import Mapping
from typing import Final

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.groups.requests import accepted_timeout
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import GivenSetting, ZeroTimeout

# The answer about each of these settings, a field of RequestRules.
ABOUT: Final[Mapping[str, str]] = {
    "http_timeout": "given_http_timeout",
    "slack_webhook_url": "given_contacts",
    "support_email": "given_contacts",
}


def what_becomes_of(setting: str, dialect: Dialect) -> Answer[GivenSetting]:
    """Whether a setting that is given is kept or dropped; most are not asked about, and kept."""
    if setting not in ABOUT:
        return Answer((GivenSetting.KEPT,))
    answer: Answer[GivenSetting] = getattr(dialect.requests, ABOUT[setting])
    return answer


def is_dropped(setting: str, dialect: Dialect) -> bool:
    """Whether a setting is certainly dropped."""
    return what_becomes_of(setting, dialect).allowed == (GivenSetting.DROPPED,)


def may_be_dropped(setting: str, dialect: Dialect) -> bool:
    return what_becomes_of(setting, dialect).allows(GivenSetting.DROPPED)


def timeout_in_force(dialect: Dialect, seconds: int) -> int:
    """The http_timeout to give, so that it is in force in any case: the nearest to so many seconds
    that is accepted, or the default where others may be dropped.
    """
    default = dialect.delivery.default_timeout_s
    given = what_becomes_of("http_timeout", dialect)
    if GivenSetting.DROPPED in given.allowed and default.decided:
        return default.value
    return accepted_timeout(dialect.requests, seconds)


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
