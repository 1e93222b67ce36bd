"""A dialect: one service's answer to every gap of the document.

`Dialect` has one field per gap, grouped by subject; `gaps.yaml` says which field answers which
question, and the files in `dialects/` have the answers. A field typed `Answer` may allow several
values or stay undecided, since it is only compared with what a target did. The other fields must
have a value before anything can be sent or verified; `assumed` names those whose value is filled in
for that alone (`assumptions.py`).

`file_schema.py` derives the schema of a file from these classes, and users see the descriptions
here in messages.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from hookproof.spec.dialect.answer import NOT_ASKED, Answer, Undecided
from hookproof.spec.dialect.constraints import (
    AMOUNT,
    COUNT,
    HEADER_TEXT,
    IDENTIFIER,
    ONE_WORD,
    PARAMETER,
    REFUSAL,
    STATUS,
    SUCCESS,
    Placeholder,
)
from hookproof.spec.dialect.groups.deliveries import Delivery, Retry
from hookproof.spec.dialect.groups.errors import Errors
from hookproof.spec.dialect.groups.requests import RequestRules
from hookproof.spec.dialect.signature_scheme import Signatures
from hookproof.spec.dialect.vocabulary import (
    IDENTIFIER_PATTERNS,
    AboveMaximum,
    Acceptance,
    BadParameter,
    CursorForm,
    Duplicate,
    EventApplication,
    EventCount,
    EventEcho,
    EventQuery,
    EventRaw,
    EventSource,
    ExpiredSecrets,
    FailureRate,
    HeaderValues,
    IdentifierForm,
    KeyScope,
    Match,
    NoValue,
    OnInput,
    PrevWithoutCursor,
    SecretDisplay,
    SortKey,
    TimestampForm,
    TimeUnit,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Authentication:
    """Section 5: API keys."""

    key_format: Annotated[
        str,
        "value of the Authorization header; {key} stands for the key",
        Placeholder("key"),
        HEADER_TEXT,
    ]
    other_key_formats: Annotated[
        Answer[Acceptance],
        "a key that is written otherwise than key_format says, such as without a scheme",
    ] = NOT_ASKED
    key_scope: Annotated[Answer[KeyScope], "what one key has access to"]
    missing_key_status: Annotated[Answer[int], "status for a request without a key", REFUSAL]
    wrong_key_status: Annotated[Answer[int], "status for a key that was never issued", REFUSAL]
    foreign_key_status: Annotated[Answer[int], "status for the key of another project", REFUSAL]


# The field of SuccessStatuses that holds the status of an operation: its label in section 4, if it
# has one.
LABELS: Final = {
    "createEndpoint": "created",
    "getEndpoint": "get_endpoint",
    "expireEndpointSecret": "ok",
    "listPortalLinks": "list_portal_links",
    "getPortalLink": "ok",
    "updatePortalLink": "accepted",
    "listSources": "ok",
    "createBroadcastEvent": "created",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SuccessStatuses:
    """Section 7: the numbers of the labels, and of the two operations without a label."""

    created: Annotated[Answer[int], "status behind the label Created", SUCCESS]
    accepted: Annotated[Answer[int], "status behind the label Accepted", SUCCESS]
    ok: Annotated[Answer[int], "status behind the label OK", SUCCESS]
    get_endpoint: Annotated[Answer[int], "status of a fetched endpoint", SUCCESS]
    list_portal_links: Annotated[Answer[int], "status of a page of portal links", SUCCESS]

    def of(self, operation_id: str) -> Answer[int]:
        """The status of an operation that succeeds; raises KeyError for an unknown operation."""
        status: Answer[int] = getattr(self, LABELS[operation_id])
        return status


@dataclass(frozen=True, slots=True, kw_only=True)
class Representation:
    """Section 2.9: the forms of values."""

    identifier: Annotated[Answer[IdentifierForm], "form of assigned identifiers"]
    identifier_of: Annotated[
        Mapping[str, str],
        "patterns that the identifiers of single resources have instead, by a name such as"
        " Endpoint: ep_[0-9A-Za-z]{22}",
        IDENTIFIER,
    ] = field(default_factory=dict)
    timestamp: Annotated[Answer[TimestampForm], "form of timestamps"]
    no_value: Annotated[Answer[NoValue], "how a field without value is shown"]
    no_value_of: Annotated[
        Mapping[str, Answer[NoValue]],
        "how single fields without value are shown instead, by a name such as deleted_at or"
        " Endpoint.owner_id, or by a type such as array",
    ] = field(default_factory=dict)
    secrets_shown: Annotated[Answer[SecretDisplay], "where secret values are shown in clear"]
    masked: Annotated[
        tuple[str, ...], "dotted paths within an endpoint whose values responses mask or leave out"
    ]
    mask: Annotated[str, "replacement of a masked value"]
    failure_rate: Annotated[Answer[FailureRate], "unit of failure_rate"] = NOT_ASKED
    expired_secrets: Annotated[
        Answer[ExpiredSecrets], "whether an endpoint still shows secrets that have expired"
    ] = NOT_ASKED
    event_count: Annotated[Answer[EventCount], "events that an endpoint counts in events"] = (
        NOT_ASKED
    )
    event_raw: Annotated[Answer[EventRaw], "what raw of an event holds"] = NOT_ASKED
    event_headers: Annotated[
        Answer[EventEcho], "what headers of an event shows of the custom headers"
    ] = NOT_ASKED
    event_header_values: Annotated[
        Answer[HeaderValues],
        "what each of the headers of an event holds, a text or a list of texts",
    ] = NOT_ASKED
    event_acknowledged_at: Annotated[
        Answer[EventEcho], "what acknowledged_at of an event shows of the time that was sent"
    ] = NOT_ASKED
    event_source: Annotated[Answer[EventSource], "source that a broadcast names as its own"] = (
        NOT_ASKED
    )
    event_application: Annotated[
        Answer[EventApplication], "what app_id of a broadcast refers to"
    ] = NOT_ASKED
    event_query: Annotated[
        Answer[EventQuery], "where url_query_params of a broadcast comes from"
    ] = NOT_ASKED

    def identifier_patterns(self, resource: str) -> tuple[str, ...]:
        """Regular expressions of which an identifier fits one; none if every text is one.

        `resource` is the name of its schema in the contract.
        """
        if resource in self.identifier_of:
            return (f"^{self.identifier_of[resource]}$",)
        return tuple(IDENTIFIER_PATTERNS[form] for form in self.identifier.allowed)

    def no_value_in(self, resource: str, name: str, json_type: str) -> Answer[NoValue]:
        """How a field of this type is shown without value; what names it best decides.

        `resource` is the name of its schema in the contract.
        """
        for key in (f"{resource}.{name}", name, json_type):
            if key in self.no_value_of:
                return self.no_value_of[key]
        return self.no_value

    @property
    def may_be_empty(self) -> bool:
        """Whether an empty value may stand for none, in one field at least."""
        answers = (self.no_value, *self.no_value_of.values())
        return any(answer.allows(NoValue.EMPTY) for answer in answers)


# The enumerated fields of requests (sections 2.5 and 4.6).
WORDS_IN_REQUESTS: Final = ("type", "authentication_type", "expiry_time_unit", "auth_type")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Sections 2.9 and 3: the values of enumerated fields, by meaning."""

    endpoint_active: Annotated[Answer[str], "status of an endpoint that is enabled"]
    endpoint_disabled: Annotated[Answer[str], "status of an endpoint created with is_disabled"]
    event_created: Annotated[Answer[str], "status of an event in the answer to its creation"]
    auth_api_key: Annotated[str, "authentication type that sends a fixed header"]
    auth_basic: Annotated[str, "authentication type that sends a user name and password"]
    auth_oauth2: Annotated[str, "authentication type that fetches an OAuth 2 token"]
    oauth2_shared_secret: Annotated[str, "authentication_type of OAuth 2 with a client secret"]
    oauth2_assertion: Annotated[str, "authentication_type of OAuth 2 with a signed assertion"]
    oauth2_expiry_units: Annotated[
        Mapping[str, TimeUnit], "values of expiry_time_unit and their meaning"
    ]
    portal_auth_types: Annotated[tuple[str, ...], "values of a portal link's auth_type"]
    source_types: Annotated[tuple[str, ...], "values of a source's type"]
    source_providers: Annotated[tuple[str, ...], "values of a source's provider"]
    verifier_types: Annotated[tuple[str, ...], "values of a source verifier's type"]
    pub_sub_types: Annotated[tuple[str, ...], "values of a source's pub_sub type"]
    hmac_encodings: Annotated[Answer[str], "values of a source verifier's hmac encoding"] = (
        NOT_ASKED
    )
    kafka_auth_types: Annotated[Answer[str], "values of a Kafka topic's auth type"] = NOT_ASKED
    other_words: Annotated[
        Answer[OnInput], "what happens to an enumerated field with a word not listed here"
    ]
    other_words_of: Annotated[
        Mapping[str, Answer[OnInput]],
        "what happens in single fields instead, by a name such as auth_type",
    ] = field(default_factory=dict)

    def other_words_in(self, name: str) -> Answer[OnInput]:
        """What happens to a word that is not listed in a field of requests of this name."""
        return self.other_words_of.get(name, self.other_words)


# The fields by which portal links may be filtered (section 4.4), with how their answers are named.
PORTAL_LINK_FILTERS: Final = {"owner_id": "owner", "name": "name"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Paging:
    """Sections 4.4, 4.7 and 8: lists."""

    default_per_page: Annotated[Answer[int], "page size when perPage is not given", COUNT]
    maximum_per_page: Annotated[Answer[int | None], "largest page size; null: none", COUNT]
    above_maximum: Annotated[Answer[AboveMaximum], "what happens to a larger perPage"]
    bad_parameter: Annotated[
        Answer[BadParameter], "what happens to a parameter that cannot be read"
    ]
    bad_cursor: Annotated[
        Answer[BadParameter],
        "what happens to a cursor that cannot be read; left out: as to other parameters",
    ] = NOT_ASKED
    prev_without_cursor: Annotated[
        Answer[PrevWithoutCursor], "what direction=prev without a cursor is answered with"
    ] = NOT_ASKED
    cursor_form: Annotated[Answer[CursorForm], "what a cursor looks like"]
    sort_key: Annotated[Answer[SortKey], "field that sort orders by"]
    owner_filter: Annotated[
        str | None,
        "name of the query parameter that filters portal links by owner ID; null: none does",
        PARAMETER,
    ]
    owner_match: Annotated[Answer[Match], "how the owner filter is compared"]
    name_filter: Annotated[
        str | None,
        "name of the query parameter that filters portal links by name; null: none does",
        PARAMETER,
    ]
    name_match: Annotated[Answer[Match], "how the name filter is compared"]

    @property
    def portal_link_filters(self) -> Mapping[str, tuple[str, Answer[Match]]]:
        """The field that each filter of portal links compares, and how, by its parameter."""
        filters = (
            (self.owner_filter, "owner_id", self.owner_match),
            (self.name_filter, "name", self.name_match),
        )
        return {
            parameter: (field, match)
            for parameter, field, match in filters
            if parameter is not None
        }

    def filtered_by(self, parameter: str) -> tuple[str, Answer[Match]] | None:
        """The field that one filter of portal links compares, and how; None if it is none of them.

        Raises Undecided if that takes a name that is only assumed.
        """
        unread: Undecided | None = None
        for compared, name in PORTAL_LINK_FILTERS.items():
            try:
                if getattr(self, f"{name}_filter") == parameter:
                    return compared, getattr(self, f"{name}_match")
            except Undecided as assumed:
                unread = assumed
        if unread is not None:
            raise unread
        return None

    @property
    def filters_not_offered(self) -> tuple[str, ...]:
        """The fields by which portal links are not filtered, as far as that is known."""
        return tuple(each for each, name in PORTAL_LINK_FILTERS.items() if self._lacks(name))

    def _lacks(self, name: str) -> bool:
        try:
            return getattr(self, f"{name}_filter") is None
        except Undecided:
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rolling:
    """Section 4.3: rolling a secret."""

    expiration_unit: Annotated[TimeUnit, "unit of expiration"]
    default_expiration: Annotated[
        Answer[int], "expiration when it is not given, in its unit", AMOUNT
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """Sections 2.8 and 4.8: duplicates. A key is compared within its project."""

    duplicate: Annotated[Answer[Duplicate], "what a duplicate is answered with"]
    duplicate_status: Annotated[Answer[int], "status of that answer", STATUS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A service's answers to all gaps."""

    name: Annotated[str, "name of the dialect", ONE_WORD]
    summary: Annotated[str, "what kind of service it describes"]
    assumed: Annotated[
        tuple[str, ...],
        "fields whose answers nobody gave or saw: a server is asked by them, and not judged",
    ] = ()
    policy: Annotated[
        str, "the service's policy on deprecation and compatibility, in words (section 9)"
    ]
    authentication: Annotated[Authentication, "API keys"]
    success: Annotated[SuccessStatuses, "success statuses"]
    errors: Annotated[Errors, "refusals"]
    representation: Annotated[Representation, "forms of values"]
    words: Annotated[Words, "enumerated values"]
    requests: Annotated[RequestRules, "request fields"]
    paging: Annotated[Paging, "lists"]
    rolling: Annotated[Rolling, "secret rolling"]
    retry: Annotated[Retry, "attempts"]
    delivery: Annotated[Delivery, "deliveries"]
    idempotency: Annotated[Idempotency, "duplicates"]
    signatures: Annotated[Signatures, "signatures"]
