"""Evidence: exchanges with the target, deliveries at the receiver, and observations.

Everything here is frozen and survives a round trip through JSON, so that a run can be judged
again from its file. Checks read evidence; they never talk to the target.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Self

import msgspec

from hookproof.receiver.inbox.delivery import ReceivedDelivery, Seconds
from hookproof.spec.contract.service_contract import OPERATION_IDS
from hookproof.spec.dialect.model import Dialect

# A number of so many digits is no float (IEEE 754), and may be too long for Python's int().
_MOST_DIGITS: Final = 308
_BEYOND: Final[int] = 10**_MOST_DIGITS
_LONG_NUMBER: Final = b"0" * (_MOST_DIGITS + 1)
_ZERO_FOR_EACH_DIGIT: Final = bytes.maketrans(b"123456789", b"000000000")
# What `Exchange.json` is for a response without a JSON body.
NOT_JSON: Final = object()

# In bytes. Of longer bodies fewer parsed values are kept, each of which takes ten times the room.
LONG: Final = 128 * 1024
VERY_LONG: Final = 1024 * 1024

# In characters: no server reads a longer one, and an identifier in it may have a megabyte.
LONGEST_URL: Final = 8192
# The bodies of an exchange, which are base64 in JSON.
BODIES: Final = ("request_body", "response_body")


class PreconditionFailed(Exception):
    """Raised by an experiment that cannot go on; the message states why and what would help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request to the target and its response, byte for byte.

    `role` is the role of the exchange in its observation ("create", "fetch"), `key` the kind of API
    key that was sent ("own", "none", "wrong", ...). `sent_at` is in Unix seconds. `status` is None
    if there was no response; `problem` then states why.
    """

    role: str
    operation_id: str | None
    project: str
    key: str
    method: str
    url: str
    request_headers: tuple[tuple[str, str], ...]
    request_body: bytes | None
    status: int | None
    response_headers: tuple[tuple[str, str], ...] = ()
    response_body: bytes = b""
    problem: str | None = None
    sent_at: Seconds
    duration_s: Seconds

    @property
    def json(self) -> Any:
        """The response body as JSON, or NOT_JSON."""
        return _parsed(self.response_body)

    @property
    def request_json(self) -> Any:
        """The request body as JSON, or NOT_JSON."""
        return NOT_JSON if self.request_body is None else _parsed(self.request_body)

    @property
    def succeeded(self) -> bool:
        """Whether the status is a 2xx."""
        return self.status is not None and 200 <= self.status < 300  # noqa: PLR2004

    @property
    def data(self) -> Any:
        """The envelope's `data` of a successful response, or None (section 2.1)."""
        body = self.json if self.succeeded else None
        return body.get("data") if isinstance(body, dict) else None

    def response_header(self, name: str) -> str | None:
        """The first response header of this name, in any case."""
        return next(
            (value for key, value in self.response_headers if key.lower() == name.lower()), None
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON object from which `from_json` makes an equal exchange."""
        written = msgspec.to_builtins(self)
        for name in ("request_headers", "response_headers"):
            written[name] = list(map(list, written[name]))
        return {f"{name}_b64" if name in BODIES else name: written[name] for name in written}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Exchange":
        """Reverse `to_json`; raises KeyError, TypeError or ValueError."""
        fields = dict(value)
        if fields["operation_id"] not in (None, *OPERATION_IDS):
            raise ValueError(f"there is no operation {fields['operation_id']!r}")
        fields |= {name: fields.pop(f"{name}_b64") for name in BODIES}
        return msgspec.convert(fields, cls)


def kept_url(url: str) -> str:
    """A URL as evidence keeps it."""
    if len(url) <= LONGEST_URL:
        return url
    return f"{url[:LONGEST_URL]}...({len(url)} characters)"


def lasted_s(exchanges: Iterable[Exchange], deliveries: Iterable[ReceivedDelivery]) -> float:
    """Seconds from the first of these to the end of the last one."""
    spans = [
        *((exchange.sent_at, exchange.duration_s) for exchange in exchanges),
        *((delivery.arrived_at, delivery.lasted_s) for delivery in deliveries),
    ]
    if not spans:
        return 0.0
    return max(began + lasted for began, lasted in spans) - min(began for began, _ in spans)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one part of an experiment showed: exchanges and deliveries, each in order.

    A subclass stands for one kind of observation; its fields hold what else the experiment knows.
    `name` distinguishes the observations of an experiment, for people. The fields of a subclass
    hold numbers, texts, enumerations, data classes, and tuples and mappings of these, because
    run.jsonl can store those.
    """

    experiment: str
    name: str
    exchanges: tuple[Exchange, ...] = ()
    deliveries: tuple[ReceivedDelivery, ...] = ()

    def exchange(self, role: str) -> Exchange | None:
        """The first exchange with this role."""
        return next((exchange for exchange in self.exchanges if exchange.role == role), None)

    def all_exchanges(self, role: str) -> tuple[Exchange, ...]:
        """Every exchange with this role, in order."""
        return tuple(exchange for exchange in self.exchanges if exchange.role == role)

    def arrived_at(self, token: str) -> tuple[ReceivedDelivery, ...]:
        """The deliveries that arrived at this receiver token, in order of arrival."""
        return tuple(delivery for delivery in self.deliveries if delivery.token == token)

    def examined(self, dialect: Dialect) -> Self:
        """The observation with the fields that need its credentials in clear.

        It is called once, since what is stored is masked. A subclass that needs it fills fields of
        its own, for instance which secret signed which delivery.
        """
        del dialect
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class NotObserved:
    """An observation that could not be made, and the reason: what was missing, what would help.

    `observation` is the name of the intended class, empty if the whole experiment could not begin.
    The exchanges and deliveries show how far the experiment got.
    """

    experiment: str
    name: str
    observation: str
    reason: str
    exchanges: tuple[Exchange, ...] = ()
    deliveries: tuple[ReceivedDelivery, ...] = ()


Evidence = Observation | NotObserved


class NotExaminedError(Exception):
    """Raised if a check asks for what is masked and was not examined; the message states why."""


def _parsed(body: bytes) -> Any:
    # All oracles read each exchange of an observation, one oracle after the other. They share the
    # parsed values and must not change them.
    if len(body) <= LONG:
        return _parsed_short(body)
    return (_parsed_long if len(body) <= VERY_LONG else _parsed_very_long)(body)


def _parsed_once(body: bytes) -> Any:
    if _LONG_NUMBER not in body.translate(_ZERO_FOR_EACH_DIGIT):
        with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return msgspec.json.decode(body)
    # It takes less than what may be shown here, such as half of a pair of surrogates.
    try:
        # Not json.loads(body), which takes UTF-16 as well: JSON is UTF-8 (RFC 8259, 8.1).
        text = body.decode("utf-8-sig", "surrogatepass")
        return json.loads(text, parse_int=_bounded_integer)
    except (ValueError, RecursionError):
        return NOT_JSON


def _bounded_integer(text: str) -> int:
    """An integer that can be counted with, in place of one that is beyond all other numbers.

    Thousands of digits take a millisecond each time that they are read, shown or compared.
    """
    if len(text) <= _MOST_DIGITS:
        return int(text)
    return -_BEYOND if text.startswith("-") else _BEYOND


_parsed_short: Final = lru_cache(maxsize=256)(_parsed_once)
_parsed_long: Final = lru_cache(maxsize=8)(_parsed_once)
_parsed_very_long: Final = lru_cache(maxsize=2)(_parsed_once)
