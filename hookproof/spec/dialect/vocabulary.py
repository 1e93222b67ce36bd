"""The closed word lists in which a dialect answers a gap.

Each class is one gap whose possible answers are kinds of behaviour. Code compares an answer with a
member, never with the word itself, so that the words are only here and in the dialect files.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Final


class KeyScope(StrEnum):
    """What one API key has access to (section 5).

    A key that decides opens its own project under every path, whatever project the path names.
    """

    PROJECT = "project"
    ACCOUNT = "account"
    KEY_DECIDES = "key_decides"


class IdentifierForm(StrEnum):
    """The form of identifiers that the service assigns (section 2.9)."""

    ULID = "ulid"
    UUID = "uuid"
    OPAQUE = "opaque"


IDENTIFIER_PATTERNS: Final = {
    IdentifierForm.ULID: "^[0-7][0-9A-HJKMNP-TV-Z]{25}$",
    IdentifierForm.UUID: (
        "^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"
    ),
    IdentifierForm.OPAQUE: "^.+$",
}


class TimestampForm(StrEnum):
    """The form of timestamps, which are strings (section 2.9)."""

    RFC3339_MICROSECONDS = "rfc3339_microseconds"
    RFC3339 = "rfc3339"
    UNIX_MILLISECONDS = "unix_milliseconds"
    UNIX_SECONDS = "unix_seconds"
    UNIX_MICROSECONDS = "unix_microseconds"
    UNIX_NANOSECONDS = "unix_nanoseconds"


# How many digits a time of these years has at least; one that is far away has more. The most first,
# so that the first form that fits is the one.
UNIX_DIGITS: Final = {
    TimestampForm.UNIX_NANOSECONDS: 19,
    TimestampForm.UNIX_MICROSECONDS: 16,
    TimestampForm.UNIX_MILLISECONDS: 13,
    TimestampForm.UNIX_SECONDS: 10,
}
# How many of its units make a second.
UNIX_UNITS: Final[dict[TimestampForm, int]] = {
    form: 10 ** (digits - 10) for form, digits in UNIX_DIGITS.items()
}

TIMESTAMP_PATTERNS: Final = {
    TimestampForm.RFC3339_MICROSECONDS: r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$",
    TimestampForm.RFC3339: r"^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$",
    **{form: rf"^\d{{{digits},}}$" for form, digits in UNIX_DIGITS.items()},
}


class NoValue(StrEnum):
    """How a response shows a field without a value."""

    NULL = "null"
    ABSENT = "absent"
    EMPTY = "empty"


class OnInput(StrEnum):
    """What the service does with input that it does not accept."""

    IGNORED = "ignored"
    REFUSED = "refused"


class GivenSetting(StrEnum):
    """What becomes of a setting that an endpoint is given; what is dropped counts as not given."""

    KEPT = "kept"
    DROPPED = "dropped"


class TimeUnit(StrEnum):
    """A unit of time in a request field or a signature."""

    MILLISECONDS = "milliseconds"
    SECONDS = "seconds"
    MINUTES = "minutes"
    HOURS = "hours"

    @property
    def in_seconds(self) -> float:
        """The length of one unit, in seconds."""
        return {"milliseconds": 0.001, "seconds": 1.0, "minutes": 60.0, "hours": 3600.0}[self.value]


class SignatureTime(StrEnum):
    """How the time of a signature is written: a whole number since 1970, or in RFC 3339."""

    MILLISECONDS = "milliseconds"
    SECONDS = "seconds"
    MINUTES = "minutes"
    HOURS = "hours"
    RFC3339 = "rfc3339"

    @property
    def in_seconds(self) -> float:
        """The length of the smallest step that every such time has, in seconds."""
        return 1.0 if self is SignatureTime.RFC3339 else TimeUnit(self.value).in_seconds


class AboveMaximum(StrEnum):
    """What a list operation does with a perPage above its maximum (section 8)."""

    REFUSE = "refuse"
    CLAMP = "clamp"


class BadParameter(StrEnum):
    """What a list operation does with a parameter that it cannot read."""

    REFUSE = "refuse"
    DEFAULT = "default"


class Match(StrEnum):
    """How a filter parameter is compared with a field (section 4.4)."""

    EXACT = "exact"
    PREFIX = "prefix"
    SUBSTRING = "substring"
    SUBSTRING_ANY_CASE = "substring_any_case"

    def matches(self, wanted: str, actual: str) -> bool:
        """Whether a resource with this field is in a list filtered by `wanted`."""
        if self is Match.EXACT:
            return actual == wanted
        if self is Match.PREFIX:
            return actual.startswith(wanted)
        if self is Match.SUBSTRING:
            return wanted in actual
        return wanted.casefold() in actual.casefold()


class LeftOut(StrEnum):
    """What an update does to a field that it leaves out (section 4.6)."""

    KEPT = "kept"
    CLEARED = "cleared"


class CursorForm(StrEnum):
    """The form of a page cursor for clients."""

    OPAQUE = "opaque"
    IDENTIFIER = "identifier"


class SortKey(StrEnum):
    """The field that `sort` orders a list by."""

    CREATED_AT = "created_at"
    NAME = "name"


class Reach(StrEnum):
    """The endpoints that a broadcast event is delivered to (section 4.8)."""

    ACTIVE_ENDPOINTS = "active_endpoints"
    OWNED_ENDPOINTS = "owned_endpoints"


class CreationVisit(StrEnum):
    """The request by which a service may test the URL of a new endpoint; not a delivery.

    Of several methods, each further one is tried where the one before gets no 2xx.
    """

    NONE = "none"
    HEAD = "head"
    GET = "get"
    POST = "post"
    HEAD_GET_POST = "head_get_post"
    ANY = "any"

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods in the order in which they are tried; any other may be used with `any`."""
        if self is CreationVisit.NONE:
            return ()
        methods = "head" if self is CreationVisit.ANY else self.value
        return tuple(methods.upper().split("_"))


class SuccessStatus(StrEnum):
    """The answers of an endpoint that count as delivered, apart from redirects."""

    ANY_2XX = "any_2xx"
    ONLY_200 = "only_200"


class RedirectOutcome(StrEnum):
    """How an attempt that is answered with a redirect counts.

    One that is followed counts by the answer at its end. Only a dialect that says so allows that,
    since an endpoint can then send deliveries anywhere.
    """

    FAILURE = "failure"
    SUCCESS = "success"
    FOLLOWED = "followed"


class FinalStatus(StrEnum):
    """The answers of an endpoint that end a delivery, without a further attempt.

    A permanent 4xx is one that does not ask for another attempt by itself, as 408, 425 and 429 do
    (RFC 9110, section 15.5.9; RFC 8470, section 5.2; RFC 6585, section 4).
    """

    NONE = "none"
    ONLY_410 = "only_410"
    PERMANENT_4XX = "permanent_4xx"
    ANY_4XX = "any_4xx"

    def includes(self, status: int) -> bool:
        """Whether an attempt that is answered with this status is the last one."""
        if self is FinalStatus.ONLY_410:
            return status == HTTPStatus.GONE
        if self is FinalStatus.PERMANENT_4XX and status in _ASKING_AGAIN:
            return False
        return self is not FinalStatus.NONE and status // 100 == CLIENT_ERROR


CLIENT_ERROR: Final = 4  # the class of statuses, RFC 9110, section 15.5
_ASKING_AGAIN: Final = (
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_EARLY,
    HTTPStatus.TOO_MANY_REQUESTS,
)


class RetryAfter(StrEnum):
    """What the service does with a Retry-After header."""

    HONOURED = "honoured"
    IGNORED = "ignored"


class TokenScheme(StrEnum):
    """The scheme before an OAuth 2 access token in the Authorization header of a delivery."""

    TOKEN_TYPE = "token_type"  # noqa: S105 - the type in the token response
    BEARER = "bearer"


class FormEncoding(StrEnum):
    """The body of a delivery whose endpoint asks for application/x-www-form-urlencoded."""

    FORM = "form"
    JSON = "json"


class ZeroLimit(StrEnum):
    """What a rate_limit of 0 means."""

    UNLIMITED = "unlimited"
    REFUSED = "refused"


class PartialMapping(StrEnum):
    """What becomes of a field_mapping that leaves out a member of token responses."""

    STANDARD_NAMES = "standard_names"
    REFUSED = "refused"


class ZeroTimeout(StrEnum):
    """What an http_timeout of 0 means."""

    DEFAULT = "default"
    UNLIMITED = "unlimited"
    IMMEDIATE = "immediate"
    REFUSED = "refused"


class Excess(StrEnum):
    """What the service does with a delivery above the rate limit."""

    WAITS = "waits"
    DROPPED = "dropped"


class Duplicate(StrEnum):
    """The answer to a broadcast with a used idempotency_key; it is not delivered again."""

    FLAGGED_EVENT = "flagged_event"
    FIRST_EVENT = "first_event"
    FLAGGED_FIRST_EVENT = "flagged_first_event"

    @property
    def shows_first(self) -> bool:
        """Whether the answer shows the first event, under its uid."""
        return self is not Duplicate.FLAGGED_EVENT


class CertificateEncoding(StrEnum):
    """How the two halves of mtls_client_cert are written (section 2.3)."""

    PEM = "pem"
    BASE64_DER = "base64_der"


class BothContacts(StrEnum):
    """Who is notified of an endpoint with an e-mail address and a chat channel (section 2.3)."""

    BOTH = "both"
    CHAT_ALONE = "chat_alone"


class FailureRate(StrEnum):
    """The unit of an endpoint's failure_rate (section 2.3)."""

    PERCENT = "percent"
    PER_MILLE = "per_mille"
    COUNT = "count"

    @property
    def whole(self) -> int | None:
        """The rate of an endpoint that always fails; None if nothing limits it."""
        return {"percent": 100, "per_mille": 1000}.get(self.value)


class EventCount(StrEnum):
    """The events that an endpoint counts (section 2.3): those it was to get, or has got."""

    REACHED = "reached"
    DELIVERED = "delivered"


class EventRaw(StrEnum):
    """What raw of an event holds (section 2.8)."""

    PAYLOAD = "payload"
    NONE = "none"


class HeaderText(StrEnum):
    """The texts that the value of a custom header can be, apart from control characters."""

    ASCII = "ascii"
    LATIN_1 = "latin_1"
    ANY = "any"

    @property
    def largest(self) -> str:
        """The last character that can be in such a text."""
        return {"ascii": "\x7e", "latin_1": "\xff"}.get(self.value, "\U0010ffff")


class EventEcho(StrEnum):
    """What an event shows of an optional field of the broadcast (sections 2.8 and 4.8)."""

    SENT = "sent"
    NONE = "none"


class HeaderValues(StrEnum):
    """What each of the headers of an event holds (section 2.8)."""

    TEXT = "text"
    LIST = "list"


class EventSource(StrEnum):
    """The source that a broadcast names as its own, in source_id and source_metadata."""

    LISTED = "listed"
    NONE = "none"


class EventApplication(StrEnum):
    """What app_id of a broadcast refers to (section 2.8)."""

    PROJECT = "project"
    NONE = "none"


class EventQuery(StrEnum):
    """Where url_query_params of a broadcast comes from (section 2.8)."""

    REQUEST = "request"
    NONE = "none"


class SecretDisplay(StrEnum):
    """Which responses show an endpoint's secret values."""

    ALWAYS = "always"
    WHEN_SET = "when_set"


class ExpiredSecrets(StrEnum):
    """Whether an endpoint still shows the secrets that have expired (section 2.4)."""

    LISTED = "listed"
    LEFT_OUT = "left_out"


class AppIdMeaning(StrEnum):
    """What the deprecated appID does (section 9)."""

    OWNER_ALIAS = "owner_alias"
    IGNORED = "ignored"


class PortalEndpointsMeaning(StrEnum):
    """What the deprecated endpoints list of a portal link does (section 9).

    One that is shown is kept as it was written, and adds no endpoint to the portal link.
    """

    ADDED = "added"
    IGNORED = "ignored"
    SHOWN = "shown"


class Notify(StrEnum):
    """When support_email and slack_webhook_url are notified (section 6, item 4)."""

    EXHAUSTED = "exhausted"
    STATE_CHANGE = "state_change"
    EXHAUSTED_OR_STATE_CHANGE = "exhausted_or_state_change"
    NEVER = "never"


class Acceptance(StrEnum):
    """Whether the service carries out a request of some kind, or refuses it."""

    TAKEN = "taken"
    REFUSED = "refused"


class PrevWithoutCursor(StrEnum):
    """The answer to a list request with the direction prev and no cursor (sections 4.4 and 4.7)."""

    FIRST_PAGE = "first_page"
    LAST_PAGE = "last_page"
    EMPTY_PAGE = "empty_page"
    REFUSED = "refused"


class Algorithm(StrEnum):
    """How a signature is made of the secret and the message."""

    HMAC = "hmac"
    PLAIN_HASH = "plain_hash"  # of the secret and then the message
    ED25519 = "ed25519"  # the secret is the public key (RFC 8032)
    ECDSA = "ecdsa"  # the two numbers of a signature are in DER (RFC 3279, section 2.2.3)
    ECDSA_RAW = "ecdsa_raw"  # they are one after the other (RFC 9421, section 3.3.4)
    RSA = "rsa"  # PKCS #1 v1.5 (RFC 8017, section 8.2)
    RSA_PSS = "rsa_pss"  # the salt is as long as the hash (RFC 8017, section 8.1)
    TOKEN = "token"  # noqa: S105 - the header holds the secret itself
    BASIC = "basic"  # the same in base64, as `Authorization: Basic` (RFC 7617)

    @property
    def signs(self) -> bool:
        """Whether the message matters."""
        return self not in {Algorithm.TOKEN, Algorithm.BASIC}

    @property
    def has_public_key(self) -> bool:
        """Whether what verifies is no secret."""
        return self in PUBLIC_KEY_ALGORITHMS


PUBLIC_KEY_ALGORITHMS: Final = frozenset(
    {
        Algorithm.ED25519,
        Algorithm.ECDSA,
        Algorithm.ECDSA_RAW,
        Algorithm.RSA,
        Algorithm.RSA_PSS,
    }
)


class Hash(StrEnum):
    """The hash of the HMAC that signs a delivery."""

    SHA1 = "sha1"
    SHA256 = "sha256"
    SHA512 = "sha512"


class Encoding(StrEnum):
    """How the bytes of a signature are written in a header."""

    HEX = "hex"
    BASE64 = "base64"
    BASE64_UNPADDED = "base64_unpadded"
    BASE64URL = "base64url"
    BASE64URL_UNPADDED = "base64url_unpadded"


class SecretForm(StrEnum):
    """How the text of a secret, without its prefix, becomes the key of the HMAC."""

    TEXT = "text"
    HEX = "hex"  # in either case
    BASE64 = "base64"
    BASE64_UNPADDED = "base64_unpadded"
    BASE64URL = "base64url"
    BASE64URL_UNPADDED = "base64url_unpadded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Base64Variant:
    """A way to write base64 (RFC 4648): in the alphabet of section 4 or 5, with padding or without.

    `letters` are those of the alphabet, for a set of characters in a regular expression.
    """

    url_safe: bool
    padded: bool

    @property
    def letters(self) -> str:
        return "-_0-9A-Za-z" if self.url_safe else "+/0-9A-Za-z"


# By the words that Encoding and SecretForm have in common.
BASE64_VARIANTS: Final[Mapping[str, Base64Variant]] = {
    "base64": Base64Variant(url_safe=False, padded=True),
    "base64_unpadded": Base64Variant(url_safe=False, padded=False),
    "base64url": Base64Variant(url_safe=True, padded=True),
    "base64url_unpadded": Base64Variant(url_safe=True, padded=False),
}


class SigningSecrets(StrEnum):
    """Which of the valid secrets sign a delivery, in the order of their signatures."""

    NEWEST = "newest"
    OLDEST = "oldest"
    ALL_OLDEST_FIRST = "all_oldest_first"
    ALL_NEWEST_FIRST = "all_newest_first"
