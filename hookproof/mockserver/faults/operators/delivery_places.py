"""The places of deliveries: what attempts send and on which of them, what follows them, and who is
reached, limited, trusted and signed for.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Final

from hookproof.mockserver.delivery.store_port import EndpointSettings, PendingDelivery
from hookproof.mockserver.faults.operators.place import DELIVERY, TOKEN_REQUEST, Place, PlaceKind
from hookproof.spec.dialect.model import Dialect

# Whether an attempt is one of those that are altered.
Affects = Callable[[PendingDelivery, EndpointSettings], bool]

HEADERS: Final = (
    *("event_id", "attempt_number", "event_type", "content_type"),
    *("signature", "timestamp", "custom_headers"),
)
CREDENTIALS: Final = ("api_key", "basic_auth", "oauth2", "client_certificate")
PARTS: Final = ("body", *HEADERS, *CREDENTIALS)
OCCASIONS: Final = ("second", "third", "last", "later", "rolled")
SUCCESSES: Final = ("200", "201", "202", "204", "206")
REDIRECTS: Final = ("301", "302", "303", "307", "308")
ERRORS: Final = (
    *("400", "401", "403", "404", "408", "409", "410", "422", "425", "429"),
    *("500", "501", "502", "503", "504"),
)
CLASSES: Final = ("3xx", "4xx", "5xx")
SILENCES: Final = ("timeout", "reset", "refused", "tls", "protocol")
# Respects in which a certificate proves nothing (requirement 6-21).
RESPECTS: Final = ("expired", "not_yet_valid", "self_signed", "other_host", "unknown_authority")
GROUPS: Final = ("all", "owned", "unowned")
TOKEN_MEMBERS: Final = ("url", "client_id", "grant_type", "scope", "audience")
FORMATS: Final = ("simple", "advanced")
ROLLS: Final = ("roll_1", "roll_2", "roll_3", "roll_4")


def places_of_deliveries() -> Iterator[Place]:
    """Every place of deliveries; which of them make sense under a dialect, operators say."""
    keys = [("idempotency_key",)]
    yield from _at(PlaceKind.COMPARED, keys, operation="createBroadcastEvent")
    yield from _at(PlaceKind.SENT, product(PARTS, OCCASIONS))
    yield from _at(PlaceKind.ATTEMPT, product(OCCASIONS))
    answers = (*SUCCESSES, *REDIRECTS, *ERRORS, *CLASSES, *SILENCES)
    yield from _at(PlaceKind.ANSWERED, product(answers))
    yield from _at(PlaceKind.LIMITED, [()])
    yield from _at(PlaceKind.REACHED, product(GROUPS))
    yield from _at(PlaceKind.CONNECTED, product(RESPECTS))
    yield from _at(PlaceKind.CONNECTED, product(RESPECTS), operation=TOKEN_REQUEST)
    yield from _at(PlaceKind.TOKEN, product(TOKEN_MEMBERS))
    yield from _at(PlaceKind.LIFETIME, [()])
    yield from _at(PlaceKind.SIGNING, product(FORMATS, ROLLS))


def _at(
    kind: PlaceKind, paths: Iterable[tuple[str, ...]], *, operation: str = DELIVERY
) -> Iterator[Place]:
    for path in paths:
        yield Place(operation=operation, kind=kind, path=path)


def affects_on(occasion: str, dialect: Dialect) -> Affects:
    """Tells the attempts of an occasion from the others."""
    last = dialect.retry.attempts.value - 1
    by_occasion: dict[str, Affects] = {
        "second": lambda delivery, _: delivery.attempts == 1,
        "third": lambda delivery, _: delivery.attempts == 2,
        "last": lambda delivery, _: delivery.attempts == last,
        "later": lambda delivery, _: delivery.attempts > 0,
        "rolled": lambda _, endpoint: len(endpoint.secrets) > 1,
    }
    return by_occasion[occasion]


def never_occurs(occasion: str, dialect: Dialect) -> str:
    """Why no attempt is one of this occasion alone, if so."""
    attempts = dialect.retry.attempts.value
    if occasion == "rolled":
        return ""
    if attempts == 1:
        return "the dialect attempts a delivery once"
    if occasion == "third" and attempts < 3:
        return "the dialect attempts a delivery twice"
    by_number = {2: "second", 3: "third"}
    if occasion == "last" and attempts in by_number:
        return f"the last attempt is the {by_number[attempts]} one"
    return ""
