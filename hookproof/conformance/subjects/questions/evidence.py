"""What may be taken or refused: the questions, and what is observed of each.

A question is one row: its requirement, what is reported, the dialect's answer, and the requests
that ask it. The experiments send them, each beside an ordinary request; `laws` and `learn` read the
answers. A row stands on the class of its observations, whose name is in run.jsonl; those of several
kinds or operations are in the table at the end.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar
from urllib.parse import quote, urlsplit

from hookproof.conformance.checks.bounds import NO_LONGEST, NO_SIZE_LIMIT, bounds
from hookproof.conformance.checks.reading import Reading, is_taken_over, unlike_left_out
from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.observations.answer import endpoints_in, refused, sent, shown_uid
from hookproof.conformance.observations.mistakes import RequestTried
from hookproof.spec.dialect.answer import NOT_ASKED, Answer
from hookproof.spec.dialect.given_settings import zero_http_timeout
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Acceptance, CreationVisit, HeaderText, SecretForm

if TYPE_CHECKING:
    from hookproof.conformance.experiments.support.valid_requests import ValidRequests

Tried = TypeVar("Tried", bound=RequestTried)

CREATE: Final = "createEndpoint"
ROLL: Final = "expireEndpointSecret"
UPDATE: Final = "updatePortalLink"
BROADCAST: Final = "createBroadcastEvent"
WITH_BODY: Final = (CREATE, ROLL, UPDATE, BROADCAST)

# Fields of which clients in some languages send null where nothing is set, of each type of JSON:
# some services take null in texts and refuse it in numbers (section 4.9).
SENT_AS_NULL: Final[Mapping[str, tuple[str, ...]]] = {
    CREATE: ("advanced_signatures", "http_timeout", "owner_id", "authentication"),
    ROLL: ("expiration", "secret"),
    UPDATE: ("can_manage_endpoint", "endpoints", "owner_id"),
    BROADCAST: ("custom_headers", "idempotency_key"),
}


# A secret of no form that a dialect can name, and for each kind of text beyond ASCII a value of a
# custom header that needs it.
OTHER_SECRET: Final = "no*such*form"  # noqa: S105
HEADER_TEXTS: Final = {HeaderText.LATIN_1: "Grüße", HeaderText.ANY: "配送"}


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


class UrlKind(StrEnum):
    """What a service may look at in the URL of an endpoint, beyond its scheme (section 8)."""

    ADDRESS = "an address in place of a name"
    OTHER_PORT = "another port"
    USER_INFORMATION = "a user name and a password"
    ODD_HOST = "an address in an odd form"
    FRAGMENT = "a fragment"


@dataclass(frozen=True, slots=True, kw_only=True)
class MistakenRequest(RequestTried):
    """A request with one mistake."""

    mistake: Mistake


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlistedInput(RequestTried):
    """A request with a word or a field that the document does not list."""

    kind: Unlisted


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestWithinBounds(RequestTried):
    """A request at the edge of what the dialect accepts, and an ordinary one."""

    bound: Bound


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointUrlTried(RequestTried):
    """The creation of an endpoint whose URL is not https, and of one whose URL is."""

    role_of_ordinary: ClassVar[str] = "with https"

    scheme: Scheme


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusualUrlTried(RequestTried):
    """The creation of an endpoint with such a URL, and of one whose URL differs in that alone."""

    role_of_ordinary: ClassVar[str] = "tried: plain"

    kind: UrlKind


# How a request of each kind is observed: the class, and the field of it that holds the kind.
OBSERVED_AS: Final[Mapping[type[StrEnum], tuple[type[RequestTried], str]]] = {
    Mistake: (MistakenRequest, "mistake"),
    Unlisted: (UnlistedInput, "kind"),
    Bound: (RequestWithinBounds, "bound"),
    Scheme: (EndpointUrlTried, "scheme"),
    UrlKind: (UnusualUrlTried, "kind"),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to send, and what it `asks`: a kind, or the class of its observation.

    `body` is sent as JSON, `content` as it is; a `media_type` of None declares neither. Without
    a `target`, which is percent-encoded already, it goes to the path of its operation.

    The request beside it is of the operation `beside`, or else of its own; `ordinary` is the body
    of that one, or else a plain one. Where one `beside_full` is taken, with every field, that
    stands for it.
    """

    asks: type[Observation] | StrEnum
    about: str
    operation_id: str | None = None
    field: str = ""
    body: object = None
    _: KW_ONLY
    content: bytes | None = None
    media_type: str | None = "application/json"
    path: Mapping[str, str] = dataclasses.field(default_factory=dict)
    method: str = ""
    target: str = ""
    beside: str = ""
    ordinary: Mapping[str, Any] | None = None
    beside_full: bool = False
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def observed_as(self) -> tuple[type[Observation], Mapping[str, Any]]:
        """The class of the observation, and the fields of that class."""
        if isinstance(self.asks, type):
            return self.asks, self.facts
        observed, fact = OBSERVED_AS[type(self.asks)]
        return observed, {fact: self.asks, **self.facts}


# What becomes of a request: an answer of the dialect of which one word is "refused".
AnswerIn = Callable[[Dialect, RequestTried], Answer[Any]]
TAKEN: Final[Answer[Any]] = Answer((Reading.TAKEN,))
REFUSED: Final[Answer[Any]] = Answer((Reading.REFUSED,))


def said(dialect: Dialect, field: str) -> Answer[Any]:
    """The answer in a field of a dialect, such as "requests.null_fields"."""
    group, name = field.split(".")
    answer: Answer[Any] = getattr(getattr(dialect, group), name)
    return answer


@dataclass(frozen=True, slots=True)
class Question:
    """One row: a requirement, what is reported where it is violated, and what is right.

    `says` is the field of the dialect with the answer, the answer, or what has it; where a request
    is taken, `learn` writes `taken_as` into that field. With a `status`, the name of a refusal of
    section 7, another one is wrong. `asks` are the requests of the `experiment`.

    `rules` are what the requests depend on, and in words what they are; `not_applicable` is when
    nothing can be asked, and why. `taken_over` says, of a field that is to be treated as if it were
    not there, what shows that it is not. An answer that `is_unclear` shows nothing.
    """

    requirement: str
    message: str
    says: str | Answer[Any] | AnswerIn
    status: str = ""
    _: KW_ONLY
    asks: "Callable[[ValidRequests], Iterator[Asked]] | None" = None
    experiment: str = "refusals"
    taken_as: str = Acceptance.TAKEN.value
    rules: tuple[str, Callable[[Dialect, str], object]] | None = None
    not_applicable: tuple[Callable[[Dialect], bool], str] | None = None
    taken_over: Callable[[Exchange, Exchange, str], str] = lambda *_: ""
    is_unclear: Callable[[Exchange, Dialect], bool] = lambda *_: False

    def answer(self, dialect: Dialect, request: RequestTried) -> Answer[Any]:
        """What is right for a request by a dialect."""
        if isinstance(self.says, str):
            return said(dialect, self.says)
        return self.says if isinstance(self.says, Answer) else self.says(dialect, request)

    def __call__(self, kind: type[Tried]) -> type[Tried]:
        """Make it the row of what is observed as this class, as a decorator."""
        QUESTIONS[kind] = self
        return kind


# The rows by the topic of a request: its class, its kind, or its class and its operation.
QUESTIONS: Final[dict[object, Question]] = {}

# How messages end.
AS_SAID: Final = " is not treated as the dialect says"
BY_OPERATION: Final = f"{AS_SAID}: {{request.operation_id}}"
INVALID: Final = "invalid_value"


def _null(requests: "ValidRequests") -> Iterator[Asked]:
    """Null in place of a field that may be left out, beside a request without it."""
    rules = requests.bodies.dialect.requests
    for operation_id, names in SENT_AS_NULL.items():
        needed = {*rules.required_by(operation_id), *rules.one_of_required_by(operation_id)}
        for name in names:
            if name not in needed and name not in requests.bodies.lacking_fields:
                body = requests.body_with(operation_id, name, None)
                ordinary = requests.body_with(operation_id, name, None)
                del ordinary[name]
                about = "null in place of a field"
                yield Asked(NullField, about, operation_id, name, body, ordinary=ordinary)


def with_value(
    requests: "ValidRequests",
    asks: type[RequestTried] | StrEnum,
    operation_id: str,
    name: str,
    value: Any,
    about: str = "",
    *,
    beside_full: bool = False,
) -> Asked:
    """A request with this value in one field, beside one with an acceptable value in it."""
    body = requests.body_with(operation_id, name, value)
    right = requests.right_body(operation_id, name)
    about = about or str(asks)
    return Asked(asks, about, operation_id, name, body, ordinary=right, beside_full=beside_full)


def _zero(kind: type[RequestTried], name: str, requests: "ValidRequests") -> Iterator[Asked]:
    if name not in requests.bodies.lacking_fields:
        about = f"{name.replace('_', ' ')} of zero"
        yield with_value(requests, kind, CREATE, name, 0, about)


def _secret_of_another_form(requests: "ValidRequests") -> Iterator[Asked]:
    if "secret" not in requests.bodies.lacking_fields:
        about = "a secret of another form"
        yield with_value(requests, SecretOfAnotherForm, CREATE, "secret", OTHER_SECRET, about)


def _header_texts(requests: "ValidRequests") -> Iterator[Asked]:
    """Values of a custom header of each kind beyond ASCII, beside one that every service takes."""
    for needs, value in HEADER_TEXTS.items():
        yield Asked(
            HeaderTextTried,
            f"a custom header that needs {needs}",
            BROADCAST,
            "custom_headers",
            requests.body_with(BROADCAST, "custom_headers", {"X-Note": value}),
            ordinary=requests.body_with(BROADCAST, "custom_headers", {"X-Note": "plain"}),
            facts={"needs": needs},
        )


def _header_text(dialect: Dialect, request: RequestTried) -> Answer[Any]:
    assert isinstance(request, HeaderTextTried)
    rule = dialect.requests.header_text
    fits = {text.largest >= request.needs.largest for text in rule.allowed}
    if len(fits) != 1:
        return NOT_ASKED
    return TAKEN if True in fits else REFUSED


def _unknown_endpoint(requests: "ValidRequests") -> Iterator[Asked]:
    if requests.endpoint_id is not None:
        unknown = requests.unknown(requests.endpoint_id)
        yield Asked(
            UnknownEndpointListed,
            "unknown endpoint",
            UPDATE,
            "endpoints",
            requests.body_with(UPDATE, "endpoints", [unknown]),
            ordinary=requests.body_with(UPDATE, "endpoints", [requests.endpoint_id]),
        )


def _names_an_endpoint(tried: Exchange, _dialect: Dialect) -> bool:
    """Whether an endpoint that was not to exist is shown: then it was found, and not ignored."""
    listed = sent(tried).get("endpoints") or ()
    return any(record.text("uid") in listed for record in endpoints_in(tried))


def _is_found(tried: Exchange, _dialect: Dialect) -> bool:
    """Whether an identifier like known ones is found after all: then it exists."""
    uid = shown_uid(tried)
    return uid is not None and quote(uid, safe="") in urlsplit(tried.url).path.split("/")


def _may_be_refused_otherwise(kind: UrlKind, tried: Exchange, dialect: Dialect) -> bool:
    """Whether a URL that is to be taken may be refused for something else: a service without IPv6
    takes no such address, and one that reads odd forms as the addresses that they are refuses them
    as such.
    """
    if not refused(tried) or said(dialect, URL_FIELDS[kind]).allows(Acceptance.REFUSED):
        return False
    is_ipv6 = ":" in (urlsplit(str(sent(tried).get("url"))).hostname or "")
    takes_addresses = dialect.requests.url_addresses.allowed == (Acceptance.TAKEN,)
    return is_ipv6 or (kind is UrlKind.ODD_HOST and not takes_addresses)


def _comes_back(tried: Exchange, _ordinary: Exchange, field: str) -> str:
    return "taken over" if is_taken_over(tried, field) else ""


def required(dialect: Dialect, operation_id: str) -> tuple[tuple[str, ...], ...]:
    """The fields that are required, and those of which one is."""
    rules = dialect.requests
    return rules.required_by(operation_id), rules.one_of_required_by(operation_id)


def _rules_of(operation_id: str) -> tuple[str, Callable[[Dialect, str], object]]:
    return (
        f"requests of {operation_id} with its required fields",
        lambda dialect, _field: required(dialect, operation_id),
    )


@Question(
    "7-11",
    f"A body without a Content-Type{BY_OPERATION}",
    "requests.undeclared_body",
    asks=lambda requests: (
        Asked(
            UndeclaredBody,
            "without a Content-Type",
            name,
            body=requests.body(name),
            media_type=None,
        )
        for name in WITH_BODY
    ),
    experiment="hostile",
)
class UndeclaredBody(RequestTried):
    """A valid body without a Content-Type."""


@Question(
    "4.3-21",
    f"A roll without any body{BY_OPERATION}",
    "requests.roll_without_body",
    asks=lambda _: iter([Asked(RollWithoutBody, "without any body", ROLL)]),
    experiment="hostile",
    not_applicable=(
        lambda dialect: bool(dialect.requests.expire_endpoint_secret_requires),
        "the dialect requires fields of a roll",
    ),
)
class RollWithoutBody(RequestTried):
    """A roll of a secret that has no body at all."""


@Question(
    "4.8-20",
    f"Data that is no object{BY_OPERATION}",
    "requests.other_data",
    asks=lambda requests: (
        with_value(requests, DataOfAnotherType, BROADCAST, "data", value, f"data that is {kind}")
        for kind, value in (
            ("an array", [1, "two"]),
            ("a text", "not an object"),
            ("a number", 12.5),
            ("a boolean", True),
        )
    ),
)
class DataOfAnotherType(RequestTried):
    """A broadcast whose data is JSON, but no object."""


@Question(
    "4.9-9",
    f"Null in place of an optional field{BY_OPERATION}",
    "requests.null_fields",
    asks=_null,
    taken_over=unlike_left_out,
)
class NullField(RequestTried):
    """A request with null in place of a field that the dialect does not require, and an ordinary
    one without the field.
    """


@Question(
    "4.6-16",
    f"An identifier in endpoints that names no endpoint{BY_OPERATION}",
    "requests.unknown_listed_endpoints",
    asks=_unknown_endpoint,
    taken_as="ignored",
    is_unclear=_names_an_endpoint,
)
class UnknownEndpointListed(RequestTried):
    """An update of a portal link whose endpoints name one that does not exist."""


@Question(
    "8-5",
    f"A rate_limit of 0{AS_SAID}",
    "delivery.zero_rate_limit",
    INVALID,
    asks=lambda requests: _zero(RateLimitOfZero, "rate_limit", requests),
)
class RateLimitOfZero(RequestTried):
    """The creation of an endpoint with a rate_limit of 0."""


@Question(
    "8-21",
    f"An http_timeout of 0{AS_SAID}",
    lambda dialect, _: zero_http_timeout(dialect),
    INVALID,
    asks=lambda requests: _zero(TimeoutOfZero, "http_timeout", requests),
)
class TimeoutOfZero(RequestTried):
    """The creation of an endpoint with an http_timeout of 0."""


@Question(
    "2.5-27",
    f"A field_mapping without a member{AS_SAID}",
    "requests.partial_field_mapping",
    INVALID,
)
class PartialFieldMapping(RequestTried):
    """The creation of an endpoint whose field_mapping leaves out the access_token."""


@Question(
    "4.1-18",
    f"An endpoint whose URL answers no visit{AS_SAID}",
    "delivery.failed_visit",
    not_applicable=(
        lambda dialect: dialect.delivery.creation_visit.allowed == (CreationVisit.NONE,),
        "the dialect has no request that tests a URL",
    ),
)
class UnansweredVisit(RequestTried):
    """The creation of an endpoint whose URL answers every visit with a 500, and of one whose URL
    answers with a 200.
    """

    role_of_ordinary: ClassVar[str] = "answered"


@Question(
    "2.3-15",
    f"A secret without the dialect's prefix and form{AS_SAID}",
    lambda dialect, _: dialect.signatures.secret.other_forms,
    INVALID,
    asks=_secret_of_another_form,
    not_applicable=(
        lambda dialect: (
            (
                not dialect.signatures.secret.prefix
                and dialect.signatures.secret.form is SecretForm.TEXT
            )
            or not dialect.signatures.secret.other_forms.decided
        ),
        "in this dialect every text is a secret, or it leaves open what other texts are",
    ),
)
class SecretOfAnotherForm(RequestTried):
    """The creation of an endpoint with a secret that has neither the dialect's prefix nor its
    form.
    """


@Question(
    "2.8-17",
    f"A custom header that needs {{request.needs}}{AS_SAID}",
    _header_text,
    INVALID,
    asks=_header_texts,
)
@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderTextTried(RequestTried):
    """A broadcast with a custom header whose value needs such texts to be accepted."""

    needs: HeaderText


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedData(RequestTried):
    """A broadcast whose data is nested so many `levels` deep, and one with shallow data."""

    levels: int


class RequiredFieldsAlone(RequestTried):
    """A body with the required fields and no other (section 4.9)."""


class RequiredFieldLeftOut(RequestTried):
    """A body without one required field, `field` (section 4.9)."""


class UnknownIdentifier(RequestTried):
    """An operation on a resource that does not exist."""


# The field of the dialect that says what becomes of such URLs.
URL_FIELDS: Final[Mapping[UrlKind, str]] = {
    UrlKind.ADDRESS: "requests.url_addresses",
    UrlKind.OTHER_PORT: "requests.url_other_ports",
    UrlKind.USER_INFORMATION: "requests.url_user_information",
    UrlKind.ODD_HOST: "requests.url_odd_hosts",
    UrlKind.FRAGMENT: "requests.url_fragments",
}

AT_THE_EDGE: Final = ("requests at the edge of what is allowed", bounds)
BEYOND: Final = ("requests beyond what is allowed", bounds)
OF_SERVICE: Final = (
    "requests with fields that only the service sets",
    lambda dialect, _field: dialect.requests.service_assigned,
)
HAS_NO_SIZE_LIMIT: Final = (lambda dialect: dialect.requests.size_limit is None, NO_SIZE_LIMIT)
HAS_NO_LONGEST: Final = (lambda dialect: not dialect.requests.text_maximum_of, NO_LONGEST)
UNLISTED: Final = (
    "{request.operation_id} does not treat {request.field} as the dialect says: {request.topic}"
)
LEFT_OUT: Final = (
    "{request.operation_id} does not refuse a body without its {request.field} as the dialect says"
)

OF_SEVERAL: Final[Mapping[object, Question]] = {
    Unlisted.WORD: Question(
        "2.9-9",
        UNLISTED,
        lambda dialect, request: dialect.words.other_words_in(request.field.rpartition(".")[2]),
        INVALID,
    ),
    Unlisted.SERVICE_FIELD: Question(
        "2.9-10",
        UNLISTED,
        "requests.service_assigned_input",
        INVALID,
        rules=OF_SERVICE,
        taken_over=_comes_back,
    ),
    Unlisted.FIELD: Question(
        "2.9-11", UNLISTED, "requests.unknown_fields", INVALID, taken_over=_comes_back
    ),
    **{
        kind: Question(
            requirement,
            f"An endpoint URL with {kind}{AS_SAID}",
            URL_FIELDS[kind],
            is_unclear=partial(_may_be_refused_otherwise, kind),
        )
        for kind, requirement in zip(
            URL_FIELDS, ("8-22", "8-23", "8-24", "8-25", "8-26"), strict=True
        )
    },
    **{
        scheme: Question(
            requirement, f"An endpoint is created with a URL that is not https: {scheme}", REFUSED
        )
        for scheme, requirement in ((Scheme.HTTP, "8-10"), (Scheme.OTHER, "8-11"))
    },
    **{
        mistake: Question(
            requirement,
            f"A request is not refused as the dialect says: {mistake} {{request.field}}",
            REFUSED,
            status,
            rules=rules,
            not_applicable=not_applicable,
        )
        for mistake, requirement, status, rules, not_applicable in (
            (Mistake.OTHER_TYPE, "7-3", INVALID, None, None),
            (Mistake.NOT_JSON, "7-2", "malformed_body", None, None),
            (Mistake.MEDIA_TYPE, "7-4", "unsupported_media_type", None, None),
            (Mistake.METHOD, "7-5", "method_not_allowed", None, None),
            (Mistake.PATH, "7-6", "unknown_path", None, None),
            (Mistake.TOO_LARGE, "8-14", "body_too_large", BEYOND, HAS_NO_SIZE_LIMIT),
            (Mistake.BEYOND, "8-17", INVALID, BEYOND, None),
            (Mistake.TOO_LONG, "8-28", INVALID, BEYOND, HAS_NO_LONGEST),
        )
    },
    **{
        bound: Question(
            requirement,
            f"A request within the dialect's bounds is refused: {bound} {{request.field}}",
            TAKEN,
            rules=AT_THE_EDGE,
            not_applicable=not_applicable,
        )
        for bound, requirement, not_applicable in (
            (Bound.NUMBER, "8-16", None),
            (Bound.SIZE, "8-15", HAS_NO_SIZE_LIMIT),
            (Bound.TEXT, "8-27", HAS_NO_LONGEST),
        )
    },
    **{
        (UnknownIdentifier, operation_id): Question(
            requirement,
            f"{operation_id} of what does not exist is not refused as the dialect says",
            REFUSED,
            "unknown_resource",
            is_unclear=_is_found,
        )
        for operation_id, requirement in (
            ("getEndpoint", "4.2-7"),
            (ROLL, "4.3-20"),
            ("getPortalLink", "4.5-5"),
            (UPDATE, "4.6-13"),
        )
    },
    **{
        (RequiredFieldLeftOut, operation_id): Question(
            requirement, LEFT_OUT, REFUSED, INVALID, rules=_rules_of(operation_id)
        )
        for operation_id, requirement in zip(
            WITH_BODY, ("4.9-1", "4.9-3", "4.9-5", "4.9-7"), strict=True
        )
    },
    **{
        (RequiredFieldsAlone, operation_id): Question(
            requirement,
            f"{operation_id} refuses a body with all the fields that the dialect requires",
            TAKEN,
            rules=_rules_of(operation_id),
        )
        for operation_id, requirement in zip(
            WITH_BODY, ("4.9-2", "4.9-4", "4.9-6", "4.9-8"), strict=True
        )
    },
}
QUESTIONS.update(OF_SEVERAL)


def question_of(request: RequestTried) -> Question:
    """The row of a request."""
    topics = ((type(request), request.operation_id), type(request), request.topic)
    return next(QUESTIONS[topic] for topic in topics if topic in QUESTIONS)


def rows_of(*kinds: type[RequestTried]) -> list[Question]:
    """The rows of what is observed as these classes."""
    return [row for topic, row in QUESTIONS.items() if _observed(topic) in kinds]


def _observed(topic: object) -> object:
    if isinstance(topic, StrEnum):
        return OBSERVED_AS[type(topic)][0]
    return topic[0] if isinstance(topic, tuple) else topic


def asked_in(*experiments: str) -> dict[type[RequestTried], Question]:
    """The rows that experiments ask with requests of their own, by their class."""
    return {
        topic: row
        for topic, row in QUESTIONS.items()
        if isinstance(topic, type) and row.asks is not None and row.experiment in experiments
    }
