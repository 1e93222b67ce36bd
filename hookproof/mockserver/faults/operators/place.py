"""Places at which operators make faults: a field, or an operation as a whole.

A place is named by its operation, what is wrong there, and the path of a field or the name of a
parameter, as in `createEndpoint.taken.authentication.oauth2.scope`. Elements of arrays have no step
of their own: `endpoints_metadata.name` is the name of each endpoint. Places of deliveries, which no
operation sends, have DELIVERY or TOKEN_REQUEST for their operation: `delivery.sent.body.second`.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

# The first steps of paths that do not begin in a resource (sections 2.1 and 2.2).
ENVELOPE: Final = "envelope"
PAGINATION: Final = "pagination"
# What stands for the operation at places of deliveries, and of the requests for access tokens.
DELIVERY: Final = "delivery"
TOKEN_REQUEST: Final = "token_request"  # noqa: S105  a kind of request


class PlaceKind(StrEnum):
    """What of an operation is altered."""

    TAKEN = "taken"  # a field of the request, before the operation is carried out
    STORED = "stored"  # a field in the store; the answer of the operation that stores it is right
    SHOWN = "shown"  # a field in the successful answers of this operation alone
    WRITTEN = "written"  # all that the operation stores
    ANSWER = "answer"  # the successful answer as a whole
    LIST = "list"  # the pages of a list
    FILTER = "filter"  # one filter of a list
    ACCESS = "access"  # who may call the operation, and what the others are told
    COMPARED = "compared"  # a field by which requests are told apart
    SENT = "sent"  # one part of what attempts send, on some of them
    ATTEMPT = "attempt"  # some attempts as a whole
    ANSWERED = "answered"  # what follows an attempt that was answered so, or not at all
    LIMITED = "limited"  # what a rate limit counts
    REACHED = "reached"  # the endpoints that a broadcast reaches, all or some
    CONNECTED = "connected"  # a certificate that proves nothing, in one respect
    TOKEN = "token"  # noqa: S105  a member of oauth2 by which access tokens are told apart
    LIFETIME = "lifetime"  # how long an access token is used
    SIGNING = "signing"  # the secrets that sign, in one format and after so many rolls


class ValueKind(StrEnum):
    """The type of a field's value."""

    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"
    OBJECT = "object"
    ARRAY = "array"


class Content(StrEnum):
    """What a text may hold, which decides whether an operator changes it at all."""

    FREE = "free"
    URL = "url"
    HEADER = "header"
    WORD = "word"
    IDENTIFIER = "identifier"
    TIMESTAMP = "timestamp"
    SECRET = "secret"  # noqa: S105  a kind of text
    CERTIFICATE = "certificate"
    KEY = "key"  # a member of a key: base64url (RFC 7518)
    CURSOR = "cursor"
    QUERY = "query"  # of a URL, as it was sent
    MASKED = "masked"
    PLAIN = "plain"  # letters and digits that the service chooses
    NEVER = "never"  # a field that never has a value


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of the contract.

    `required`: it has a value wherever it is shown, or must be sent. `members` are the names of an
    object's members, empty for objects that may hold anything. `element` is the type of an array's
    elements, `neighbour` the next member of the same object that may hold the same values.
    """

    value: ValueKind
    content: Content = Content.FREE
    required: bool = False
    default: Any = None
    maximum: int | None = None
    pattern: str = ""
    members: tuple[str, ...] = ()
    element: ValueKind | None = None
    neighbour: str = ""

    @property
    def holds_anything(self) -> bool:
        return self.value is ValueKind.OBJECT and not self.members


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """`path` is that of a field, or the name of a filter; `field` is None for whole operations."""

    operation: str
    kind: PlaceKind
    path: tuple[str, ...] = ()
    field: Field | None = None

    @property
    def name(self) -> str:
        return ".".join((self.operation, self.kind, *self.path))

    @property
    def is_in_record_of_event(self) -> bool:
        """Whether an event shows it of another resource: not in full, so that it may be empty."""
        records = ("endpoint_metadata", "source_metadata")
        return self.operation == "createBroadcastEvent" and self.path[0] in records

    @property
    def words(self) -> str:
        """The place as part of a sentence."""
        if self.operation in (DELIVERY, TOKEN_REQUEST):
            return f"{self.operation}, {' '.join((self.kind, *self.path))}".replace("_", " ")
        if not self.path:
            return f"{self.kind} of {self.operation}"
        return f"{'.'.join(self.path)} as {self.kind} by {self.operation}"
