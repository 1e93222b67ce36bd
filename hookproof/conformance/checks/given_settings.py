"""Settings of an endpoint that were given, where the dialect lets the service drop them."""

from typing import Any, Final

from hookproof.conformance.model.evidence import Exchange, NotExaminedError
from hookproof.conformance.observations.answer import has_value, sent, shown
from hookproof.spec.dialect.given_settings import is_dropped, may_be_dropped
from hookproof.spec.dialect.model import Dialect

TIMEOUT: Final = "http_timeout"
ANOTHER_TIMEOUT: Final = (
    "the service shows another http_timeout than the one given, and may drop it; answer"
    " requests.given_http_timeout in the dialect"
)
NO_CONTACT: Final = (
    "the service does not show the {} that it was given, and may drop it; answer"
    " requests.given_contacts in the dialect"
)


def is_shown_as_dropped(setting: str, actual: Any, dialect: Dialect) -> bool:
    """Whether this is what a service may show that drops the setting."""
    if not may_be_dropped(setting, dialect):
        return False
    if setting == TIMEOUT:
        is_number = isinstance(actual, int) and not isinstance(actual, bool)
        return is_number and dialect.delivery.default_timeout_s.allows(actual)
    return not has_value(actual)


def require_given_timeout(created: Exchange | None, dialect: Dialect) -> None:
    """Raises NotExaminedError if an endpoint shows that it may have another time-out than given."""
    if created is None or TIMEOUT not in sent(created) or is_dropped(TIMEOUT, dialect):
        return
    actual = shown(created).get(TIMEOUT)
    if actual != sent(created)[TIMEOUT] and is_shown_as_dropped(TIMEOUT, actual, dialect):
        raise NotExaminedError(ANOTHER_TIMEOUT)


def require_given_contact(contact: str, created: Exchange | None, dialect: Dialect) -> None:
    """Raises NotExaminedError if an endpoint shows that it may not have kept its contact."""
    if created is not None and is_shown_as_dropped(contact, shown(created).get(contact), dialect):
        raise NotExaminedError(NO_CONTACT.format(contact))
