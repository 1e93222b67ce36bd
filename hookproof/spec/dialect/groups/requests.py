"""The fields of a dialect about requests (sections 2.9, 4.9, 8 and 9)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from hookproof.spec.dialect.answer import NOT_ASKED, Answer
from hookproof.spec.dialect.constraints import AMOUNT, COUNT, NESTING, TEXT_LENGTH
from hookproof.spec.dialect.vocabulary import (
    Acceptance,
    AppIdMeaning,
    CertificateEncoding,
    GivenSetting,
    HeaderText,
    LeftOut,
    OnInput,
    PartialMapping,
    PortalEndpointsMeaning,
)

# What a service without a bound accepts at least: what a signed integer of 32 bits holds.
UNBOUNDED: Final = 2**31 - 1

# The fields of requests whose texts are of any kind, and may have a longest one.
FREE_TEXTS: Final = ("name", "description", "owner_id", "event_type", "idempotency_key")
# A service that takes data nested so deeply has no limit that a client meets.
DEEP: Final = 128

# The field of RequestRules that names the required fields of an operation's body.
REQUIRES: Final = {
    "createEndpoint": "create_endpoint_requires",
    "expireEndpointSecret": "expire_endpoint_secret_requires",
    "updatePortalLink": "update_portal_link_requires",
    "createBroadcastEvent": "create_broadcast_event_requires",
}
# The field of RequestRules that names those of which an operation's body needs one.
REQUIRES_ONE_OF: Final = {
    "updatePortalLink": "update_portal_link_requires_one_of",
    "createBroadcastEvent": "create_broadcast_event_requires_one_of",
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
    update_portal_link_requires_one_of: Annotated[
        tuple[str, ...], "further fields of which updatePortalLink requires at least one"
    ] = ()
    create_broadcast_event_requires_one_of: Annotated[
        tuple[str, ...], "further fields of which createBroadcastEvent requires at least one"
    ] = ()
    service_assigned: Annotated[tuple[str, ...], "response fields that only the service sets"]
    service_assigned_input: Annotated[
        Answer[OnInput], "what happens to a service-assigned field in a request"
    ]
    unknown_fields: Annotated[
        Answer[OnInput], "what happens to a field that the document does not name"
    ]
    size_limit: Annotated[int | None, "largest request body, in bytes; null: no limit", COUNT]
    http_timeout_minimum: Annotated[int, "smallest http_timeout, in seconds", AMOUNT]
    http_timeout_maximum: Annotated[
        int | None, "largest http_timeout, in seconds; null: none", COUNT
    ]
    rate_limit_maximum: Annotated[int | None, "largest rate_limit; null: none", COUNT]
    rate_limit_duration_maximum: Annotated[
        int | None, "largest rate_limit_duration, in its unit; null: none", COUNT
    ]
    expiration_maximum: Annotated[
        int | None, "largest expiration of an old secret, in its unit; null: none", COUNT
    ]
    expiration_minimum: Annotated[
        int | None, "smallest expiration of an old secret, in its unit; null: none", AMOUNT
    ] = 0
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
    unknown_listed_endpoints: Annotated[
        Answer[OnInput],
        "what happens to an identifier in endpoints of a portal link that names no endpoint",
    ] = NOT_ASKED
    given_http_timeout: Annotated[
        Answer[GivenSetting], "what becomes of an http_timeout; dropped: the default is in force"
    ] = NOT_ASKED
    given_contacts: Annotated[
        Answer[GivenSetting], "what becomes of a slack_webhook_url and a support_email"
    ] = NOT_ASKED
    roll_without_body: Annotated[
        Answer[Acceptance], "whether a roll without any body is taken as one with an empty object"
    ] = NOT_ASKED
    undeclared_body: Annotated[
        Answer[Acceptance], "whether a body without a Content-Type is taken as JSON"
    ] = NOT_ASKED
    other_data: Annotated[
        Answer[Acceptance], "whether data of a broadcast can be JSON that is no object"
    ] = NOT_ASKED
    null_fields: Annotated[
        Answer[Acceptance],
        "whether null in place of an optional field, other than data, is taken as a field left out",
    ] = NOT_ASKED
    text_maximum_of: Annotated[
        Mapping[str, int],
        "longest texts of single fields of requests, in characters: {field: length}; what is not"
        " named is not promised",
        TEXT_LENGTH,
    ] = field(default_factory=dict)
    nesting_maximum: Annotated[
        Answer[int | None],
        "deepest nesting of arrays and objects in data of a broadcast, itself counted; null: none"
        " up to 128",
        NESTING,
    ] = NOT_ASKED
    url_addresses: Annotated[
        Answer[Acceptance],
        "whether the URL of an endpoint can have a loopback or private address in place of a name",
    ] = NOT_ASKED
    url_other_ports: Annotated[
        Answer[Acceptance], "whether the URL of an endpoint can have another port than 443"
    ] = NOT_ASKED
    url_user_information: Annotated[
        Answer[Acceptance], "whether the URL of an endpoint can have a user name and a password"
    ] = NOT_ASKED
    url_odd_hosts: Annotated[
        Answer[Acceptance],
        "whether the URL of an endpoint can have an address in a decimal, octal, hexadecimal,"
        " short or IPv4-mapped form",
    ] = NOT_ASKED
    url_fragments: Annotated[
        Answer[Acceptance], "whether the URL of an endpoint can have a fragment"
    ] = NOT_ASKED

    def required_by(self, operation_id: str) -> tuple[str, ...]:
        """The required fields of an operation's body; raises KeyError if it has none."""
        required: tuple[str, ...] = getattr(self, REQUIRES[operation_id])
        return required

    def one_of_required_by(self, operation_id: str) -> tuple[str, ...]:
        """The further fields of which an operation's body needs at least one; empty for none."""
        fields: tuple[str, ...] = ()
        if operation_id in REQUIRES_ONE_OF:
            fields = getattr(self, REQUIRES_ONE_OF[operation_id])
        return fields


def most(bound: int | None) -> int:
    """The largest number that is certainly accepted by a bound, or where there is none."""
    return UNBOUNDED if bound is None else bound


def accepted_levels(rules: RequestRules) -> int:
    """How deeply data can be nested that is certainly accepted, or where nothing is known."""
    return min((each for each in rules.nesting_maximum.allowed if each is not None), default=DEEP)


def accepted_timeout(rules: RequestRules, seconds: int) -> int:
    """The http_timeout that is nearest to so many seconds and certainly accepted."""
    return min(max(seconds, rules.http_timeout_minimum), most(rules.http_timeout_maximum))


def least_expiration(rules: RequestRules) -> int:
    """The smallest expiration that is certainly accepted, below zero where nothing bounds it."""
    return -UNBOUNDED if rules.expiration_minimum is None else rules.expiration_minimum
