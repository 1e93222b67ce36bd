"""A dialect: one service's answer to every gap of the document.

`Dialect` has one field per gap, grouped by subject; `gaps.yaml` says which field answers which
question, and the files in `dialects/` have the answers. A field typed `Answer` may allow several
values or stay undecided, since it is only compared with what a target did. The other fields must be
known before anything can be sent or verified.

`file_schema.py` derives the schema of a file from these classes, and users see the descriptions
here in messages.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from hookproof.spec.dialect.answer import NOT_ASKED, Answer
from hookproof.spec.dialect.constraints import (
    AMOUNT,
    COUNT,
    HEADER,
    HEADER_TEXT,
    MEDIA_TYPE,
    ONE_WORD,
    PARAMETER,
    REFUSAL,
    STATUS,
    SUCCESS,
    Placeholder,
    Range,
)
from hookproof.spec.dialect.signature_scheme import Signatures
from hookproof.spec.dialect.vocabulary import (
    AboveMaximum,
    AppIdMeaning,
    BadParameter,
    BothContacts,
    CertificateEncoding,
    CreationVisit,
    CursorForm,
    Duplicate,
    EventApplication,
    EventCount,
    EventEcho,
    EventQuery,
    EventRaw,
    EventSource,
    Excess,
    FailureRate,
    FormEncoding,
    HeaderText,
    IdentifierForm,
    KeyScope,
    LeftOut,
    Match,
    Notify,
    NoValue,
    OnInput,
    PartialMapping,
    PortalEndpointsMeaning,
    Reach,
    RedirectOutcome,
    RetryAfter,
    SecretDisplay,
    SortKey,
    SuccessStatus,
    TimestampForm,
    TimeUnit,
    TokenScheme,
    ZeroLimit,
    ZeroTimeout,
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
class Errors:
    """Section 7: error responses."""

    body: Annotated[
        Mapping[str, object], "error body; {message} and {status} in a text stand for themselves"
    ]
    content_type: Annotated[str, "content type of an error body", MEDIA_TYPE]
    malformed_body: Annotated[Answer[int], "status for a body that is not JSON", REFUSAL]
    invalid_value: Annotated[
        Answer[int], "status for a field or parameter with a value that is not accepted", REFUSAL
    ]
    unknown_resource: Annotated[
        Answer[int], "status for an identifier that names nothing in the project", REFUSAL
    ]
    unknown_project: Annotated[Answer[int], "status for a project that does not exist", REFUSAL]
    unknown_path: Annotated[Answer[int], "status for a path outside the eight operations", REFUSAL]
    method_not_allowed: Annotated[Answer[int], "status for another method on a known path", REFUSAL]
    body_too_large: Annotated[Answer[int], "status for a body above the size limit", REFUSAL]
    unsupported_media_type: Annotated[
        Answer[int], "status for a body that is not declared as JSON", REFUSAL
    ]
    slow_request: Annotated[
        Answer[int], "status for a request that does not arrive in time", REFUSAL
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Representation:
    """Section 2.9: the forms of values."""

    identifier: Annotated[Answer[IdentifierForm], "form of assigned identifiers"]
    timestamp: Annotated[Answer[TimestampForm], "form of timestamps"]
    no_value: Annotated[Answer[NoValue], "how a field without value is shown"]
    secrets_shown: Annotated[Answer[SecretDisplay], "where secret values are shown in clear"]
    masked: Annotated[
        tuple[str, ...], "dotted paths within an endpoint whose values are masked in responses"
    ]
    mask: Annotated[str, "replacement of a masked value"]
    failure_rate: Annotated[Answer[FailureRate], "unit of failure_rate"] = NOT_ASKED
    event_count: Annotated[Answer[EventCount], "events that an endpoint counts in events"] = (
        NOT_ASKED
    )
    event_raw: Annotated[Answer[EventRaw], "what raw of an event holds"] = NOT_ASKED
    event_headers: Annotated[
        Answer[EventEcho], "what headers of an event shows of the custom headers"
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


# The field of RequestRules that names the required fields of an operation's body.
REQUIRES: Final = {
    "createEndpoint": "create_endpoint_requires",
    "expireEndpointSecret": "expire_endpoint_secret_requires",
    "updatePortalLink": "update_portal_link_requires",
    "createBroadcastEvent": "create_broadcast_event_requires",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRules:
    """Sections 2.9, 4.9, 8 and 9: what a request must and may contain."""

    create_endpoint_requires: Annotated[tuple[str, ...], "required fields of createEndpoint"]
    expire_endpoint_secret_requires: Annotated[
        tuple[str, ...], "required fields of expireEndpointSecret"
    ]
    update_portal_link_requires: Annotated[tuple[str, ...], "required fields of updatePortalLink"]
    create_broadcast_event_requires: Annotated[
        tuple[str, ...], "required fields of createBroadcastEvent"
    ]
    service_assigned: Annotated[tuple[str, ...], "response fields that only the service sets"]
    service_assigned_input: Annotated[
        Answer[OnInput], "what happens to a service-assigned field in a request"
    ]
    unknown_fields: Annotated[
        Answer[OnInput], "what happens to a field that the document does not name"
    ]
    size_limit: Annotated[int, "largest request body, in bytes", COUNT]
    http_timeout_minimum: Annotated[int, "smallest http_timeout, in seconds", AMOUNT]
    http_timeout_maximum: Annotated[int, "largest http_timeout, in seconds", COUNT]
    rate_limit_maximum: Annotated[int, "largest rate_limit", COUNT]
    rate_limit_duration_maximum: Annotated[int, "largest rate_limit_duration, in its unit", COUNT]
    expiration_maximum: Annotated[int, "largest expiration of an old secret, in its unit", COUNT]
    app_id: Annotated[Answer[AppIdMeaning], "what the deprecated appID does"]
    portal_endpoints: Annotated[
        Answer[PortalEndpointsMeaning], "what the deprecated portal field endpoints does"
    ]
    header_text: Annotated[Answer[HeaderText], "texts that the value of a custom header can be"] = (
        NOT_ASKED
    )
    client_certificate: Annotated[
        Answer[CertificateEncoding], "how certificate and key of mtls_client_cert are written"
    ] = NOT_ASKED
    partial_field_mapping: Annotated[
        Answer[PartialMapping], "what becomes of a field_mapping that leaves out a member"
    ] = NOT_ASKED
    update_left_out: Annotated[
        Answer[LeftOut], "what an update does to a field of a portal link that it leaves out"
    ] = NOT_ASKED

    def required_by(self, operation_id: str) -> tuple[str, ...]:
        """The required fields of an operation's body; raises KeyError if it has none."""
        required: tuple[str, ...] = getattr(self, REQUIRES[operation_id])
        return required


@dataclass(frozen=True, slots=True, kw_only=True)
class Paging:
    """Sections 4.4, 4.7 and 8: lists."""

    default_per_page: Annotated[Answer[int], "page size when perPage is not given", COUNT]
    maximum_per_page: Annotated[Answer[int], "largest page size", COUNT]
    above_maximum: Annotated[Answer[AboveMaximum], "what happens to a larger perPage"]
    bad_parameter: Annotated[
        Answer[BadParameter], "what happens to a parameter that cannot be read"
    ]
    cursor_form: Annotated[Answer[CursorForm], "what a cursor looks like"]
    sort_key: Annotated[Answer[SortKey], "field that sort orders by"]
    owner_filter: Annotated[
        str, "name of the query parameter that filters portal links by owner ID", PARAMETER
    ]
    owner_match: Annotated[Answer[Match], "how the owner filter is compared"]
    name_filter: Annotated[
        str, "name of the query parameter that filters portal links by name", PARAMETER
    ]
    name_match: Annotated[Answer[Match], "how the name filter is compared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rolling:
    """Section 4.3: rolling a secret."""

    expiration_unit: Annotated[TimeUnit, "unit of expiration"]
    default_expiration: Annotated[
        Answer[int], "expiration when it is not given, in its unit", AMOUNT
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Section 1: attempts.

    The n-th wait is `initial_s * factor ** (n - 1)`, at most `maximum_s`, plus jitter.
    """

    attempts: Annotated[Answer[int], "attempts for one delivery, the first one included", COUNT]
    initial_s: Annotated[Answer[float], "wait before the second attempt, in seconds", AMOUNT]
    factor: Annotated[Answer[float], "growth of the wait from attempt to attempt", COUNT]
    maximum_s: Annotated[Answer[float], "longest wait, in seconds", AMOUNT]
    jitter: Annotated[float, "largest random share by which a wait is lengthened", Range(0, 1)]
    success: Annotated[Answer[SuccessStatus], "answers that count as delivered"]
    redirect: Annotated[Answer[RedirectOutcome], "how an answer that redirects counts"]
    retry_after: Annotated[Answer[RetryAfter], "what happens to a Retry-After header"]
    retry_after_maximum_s: Annotated[
        float, "longest Retry-After that is waited for, in seconds", AMOUNT
    ]
    deactivate_after: Annotated[
        Answer[int], "exhausted deliveries in a row that disable an endpoint; 0: never", AMOUNT
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Sections 1, 4.8 and 6: which deliveries arrive, and where."""

    reach: Annotated[Answer[Reach], "endpoints that a broadcast reaches"]
    disabled_receives: Annotated[
        Answer[bool], "whether an endpoint created with is_disabled receives"
    ]
    visible_within_s: Annotated[
        float, "time after which a new endpoint receives broadcasts, in seconds", AMOUNT
    ]
    creation_visit: Annotated[Answer[CreationVisit], "request that tests a new endpoint's URL"]
    event_id_header: Annotated[
        str, "delivery header with the event's identifier, the same at each attempt", HEADER
    ]
    attempt_header: Annotated[
        str | None, "delivery header with the attempt's number; null: none", HEADER
    ]
    first_attempt: Annotated[Answer[int], "number of the first attempt", AMOUNT]
    event_type_header: Annotated[
        str | None, "delivery header with the event_type; null: none", HEADER
    ]
    reserved_headers: Annotated[
        Answer[OnInput], "what happens to a custom header that the service itself sets"
    ]
    form_body: Annotated[Answer[FormEncoding], "body for an endpoint with the form content type"]
    default_timeout_s: Annotated[
        Answer[int], "http_timeout when it is not given, in seconds", COUNT
    ]
    zero_http_timeout: Annotated[Answer[ZeroTimeout], "what an http_timeout of 0 means"] = NOT_ASKED
    rate_limit_unit: Annotated[TimeUnit, "unit of rate_limit_duration"]
    default_rate_limit_duration: Annotated[
        Answer[int], "rate_limit_duration when it is not given, in its unit", COUNT
    ]
    zero_rate_limit: Annotated[Answer[ZeroLimit], "what a rate_limit of 0 means"]
    excess: Annotated[Answer[Excess], "what happens to deliveries above the rate limit"]
    notify_on: Annotated[Answer[Notify], "condition for notifications by e-mail and chat"]
    both_contacts: Annotated[
        Answer[BothContacts],
        "who is notified where there are an e-mail address and a chat channel",
    ] = NOT_ASKED
    own_events: Annotated[
        Answer[bool], "whether the service sends webhooks about its own resources"
    ]
    token_scheme: Annotated[
        Answer[TokenScheme], "scheme before an OAuth 2 token in the Authorization header"
    ] = NOT_ASKED


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
