"""Single requests with one thing that a dialect may refuse, and their neighbours."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final

from hookproof.conformance.model.evidence import Exchange, Observation

# The role of the request that differs from the one tried in nothing but what is tried.
ORDINARY: Final = "ordinary"

# Fields of which clients in some languages send null where nothing is set, of each type of JSON:
# some services take null in texts and refuse it in numbers (section 4.9).
SENT_AS_NULL: Final[Mapping[str, tuple[str, ...]]] = {
    "createEndpoint": ("advanced_signatures", "http_timeout", "owner_id", "authentication"),
    "expireEndpointSecret": ("expiration", "secret"),
    "updatePortalLink": ("can_manage_endpoint", "endpoints", "owner_id"),
    "createBroadcastEvent": ("custom_headers", "idempotency_key"),
}


class Mistake(StrEnum):
    """A mistake of a request for which a dialect has a status (section 7)."""

    OTHER_TYPE = "other type"
    NOT_JSON = "not JSON"
    MEDIA_TYPE = "media type"
    METHOD = "another method"
    PATH = "unknown path"
    TOO_LARGE = "above the size limit"
    BEYOND = "number beyond"
    TOO_LONG = "text too long"


class Unlisted(StrEnum):
    """Input that the document does not list (section 2.9)."""

    WORD = "unlisted word"
    SERVICE_FIELD = "field of the service"
    FIELD = "unknown field"


class Bound(StrEnum):
    """A bound of the dialect that a request reaches and does not exceed (section 8)."""

    NUMBER = "number at the edge"
    TEXT = "longest text"
    SIZE = "within the size limit"


class Scheme(StrEnum):
    """The scheme of an endpoint URL that is not https (section 8)."""

    HTTP = "http URL"
    OTHER = "URL of another scheme"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTried(Observation):
    """One request. `field` is the field of its body that it is about, or empty.

    The `ordinary` one beside it differs in what is tried alone, and so shows whether a refusal is
    because of that. `role_of_ordinary` is its role.
    """

    role_of_ordinary: ClassVar[str] = ORDINARY

    operation_id: str | None = None
    field: str = ""

    @property
    def topic(self) -> object:
        """What is asked about: the class, or the kind of request that it has."""
        return type(self)

    @property
    def tried(self) -> Exchange | None:
        """The request, if it was answered."""
        exchange = self.exchange("tried")
        return None if exchange is None or exchange.status is None else exchange

    @property
    def ordinary(self) -> Exchange | None:
        return self.exchange(self.role_of_ordinary)


@dataclass(frozen=True, slots=True, kw_only=True)
class MistakenRequest(RequestTried):
    """A request with one mistake."""

    mistake: Mistake

    @property
    def topic(self) -> object:
        return self.mistake


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlistedInput(RequestTried):
    """A request with a word or a field that the document does not list."""

    kind: Unlisted

    @property
    def topic(self) -> object:
        return self.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestWithinBounds(RequestTried):
    """A request at the edge of what the dialect accepts, and an ordinary one."""

    bound: Bound

    @property
    def topic(self) -> object:
        return self.bound


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointUrlTried(RequestTried):
    """The creation of an endpoint whose URL is not https, and of one whose URL is."""

    role_of_ordinary: ClassVar[str] = "with https"

    scheme: Scheme

    @property
    def topic(self) -> object:
        return self.scheme


@dataclass(frozen=True, slots=True, kw_only=True)
class UnansweredVisit(RequestTried):
    """The creation of an endpoint whose URL answers every visit with a 500, and of one whose URL
    answers with a 200.
    """

    role_of_ordinary: ClassVar[str] = "answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimitOfZero(RequestTried):
    """The creation of an endpoint with a rate_limit of 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutOfZero(RequestTried):
    """The creation of an endpoint with an http_timeout of 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialFieldMapping(RequestTried):
    """The creation of an endpoint whose field_mapping leaves out the access_token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownEndpointListed(RequestTried):
    """An update of a portal link whose endpoints name one that does not exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollWithoutBody(RequestTried):
    """A roll of a secret that has no body at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndeclaredBody(RequestTried):
    """A valid body without a Content-Type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataOfAnotherType(RequestTried):
    """A broadcast whose data is JSON, but no object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NullField(RequestTried):
    """A request with null in place of a field that the dialect does not require, and an ordinary
    one without the field.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedData(RequestTried):
    """A broadcast whose data is nested so many `levels` deep, and one with shallow data."""

    levels: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredFieldsAlone(RequestTried):
    """A body with the required fields and no other (section 4.9)."""

    @property
    def topic(self) -> object:
        return type(self), self.operation_id


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredFieldLeftOut(RequestTried):
    """A body without one required field, `field` (section 4.9)."""

    @property
    def topic(self) -> object:
        return type(self), self.operation_id


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownIdentifier(RequestTried):
    """An operation on a resource that does not exist."""

    @property
    def topic(self) -> object:
        return type(self), self.operation_id


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedRequest(Observation):
    """A request that is not sent to its end.

    Of the bytes of its body, `promised` is how many its Content-Length names, and `sent` how many
    were sent.
    """

    operation_id: str
    promised: int
    sent: int

    @property
    def tried(self) -> Exchange | None:
        """The request, answered or not."""
        return self.exchange("unfinished")


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfRequest(UnfinishedRequest):
    """A request whose body stops halfway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlongRequest(UnfinishedRequest):
    """A request whose body is far too long to be read to its end."""
