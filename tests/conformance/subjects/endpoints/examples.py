"""Examples for sections 2.3, 2.5, 4.1 and 4.2: endpoints and their credentials."""

from typing import Any

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.round_trip import (
    EndpointRoundTrip,
    EndpointsOfOneOwner,
    MinimalEndpoints,
)
from tests.conformance.canned_evidence import context, observation
from tests.conformance.checks.api.example import (
    AT,
    ECHOED,
    LATER,
    OTHER_UID,
    Example,
    created,
    fetched,
    refusal,
)


def shown_with(*exchanges: Exchange, fields: tuple[str, ...] = ()) -> EndpointRoundTrip:
    """An endpoint that was created for these fields, and perhaps fetched."""
    return observation(EndpointRoundTrip, *exchanges, fields=fields)


def minimal(*exchanges: Exchange) -> MinimalEndpoints:
    """Endpoints with the required fields alone, examined as at intake."""
    return observation(MinimalEndpoints, *exchanges).examined(context().dialect)


VALUES = {
    **dict.fromkeys(ECHOED, "text"),
    **dict.fromkeys(("http_timeout", "rate_limit", "rate_limit_duration"), 17),
    "advanced_signatures": True,
}

OF_ENDPOINT = (
    Example(requirement="2.3-1", kept=created(), broken=created({"uid": ""})),
    Example(requirement="2.3-10", kept=created(), broken=created({"secrets": []})),
    Example(
        requirement="2.3-2",
        kept=shown_with(created(), created({"uid": OTHER_UID})),
        broken=shown_with(created(), created()),
    ),
    Example(
        requirement="2.3-3",
        kept=fetched({"url": "HTTPS://one.invalid"}),
        broken=fetched({"url": "http://one.invalid"}),
    ),
    Example(requirement="2.3-16", kept=fetched(), broken=fetched({"events": -1})),
    Example(
        requirement="2.3-4",
        kept=observation(EndpointsOfOneOwner, *[created({"owner_id": "o"}, {"owner_id": "o"})] * 2),
        broken=observation(
            EndpointsOfOneOwner,
            created({"owner_id": "o"}, {"owner_id": "o"}),
            created({"owner_id": None}, {"owner_id": "o"}),
        ),
    ),
    Example(requirement="2.3-5", kept=created(), broken=created({"content_type": "text/plain"})),
    Example(requirement="2.3-8", kept=created(), broken=created({"advanced_signatures": True})),
    *(
        Example(
            requirement=requirement,
            kept=shown_with(created({field: VALUES[field]}, {field: VALUES[field]})),
            broken=shown_with(created({field: None}, {field: VALUES[field]})),
        )
        for field, requirement in ECHOED.items()
    ),
    Example(
        requirement="4.2-5",
        kept=shown_with(
            created({"name": "one"}), fetched({"name": "one", "events": 3, "status": "inactive"})
        ),
        broken=shown_with(created({"name": "one"}), fetched({"name": "two"})),
    ),
    *(
        Example(
            requirement="2.9-13",
            kept=shown_with(created(), fetched({"created_at": cut, "updated_at": LATER})),
            broken=shown_with(created(), fetched({"created_at": LATER})),
        )
        for cut in (AT, f"{AT[:-4]}Z")
    ),
    Example(
        requirement="3-1",
        kept=shown_with(created()),
        broken=shown_with(created({"status": "inactive"})),
    ),
    Example(
        requirement="3-2",
        kept=shown_with(created({"status": "inactive"}, {"is_disabled": True})),
        broken=shown_with(created({"status": "active"}, {"is_disabled": True})),
    ),
    Example(
        requirement="3-4",
        kept=shown_with(created({}, {"is_disabled": False}), fields=("is_disabled",)),
        broken=shown_with(
            refusal(role="create", request={"is_disabled": True}), fields=("is_disabled",)
        ),
    ),
    *(
        Example(
            requirement=requirement,
            kept=shown_with(created({"owner_id": "app"}, {"appID": "app"})),
            broken=shown_with(broken),
        )
        for requirement, broken in (
            ("9-1", refusal(role="create", request={"appID": "app"})),
            ("9-3", created({"owner_id": None}, {"appID": "app"})),
        )
    ),
    Example(
        requirement="9-3",
        kept=shown_with(
            created(
                {"owner_id": "owner"}, {"appID": "app", "owner_id": "owner"}, dialect="contrary"
            )
        ),
        broken=shown_with(
            created({"owner_id": "app"}, {"appID": "app", "owner_id": "owner"}, dialect="contrary")
        ),
        dialect="contrary",
    ),
)


OAUTH2 = {
    "type": "oauth2",
    "oauth2": {"client_id": "client", "client_secret": "confidential", "scope": "s"},
}
MASKED = {
    "type": "oauth2",
    "oauth2": {"client_id": "client", "client_secret": "********", "scope": "s"},
}
API_KEY = {"type": "api_key", "api_key": {"header_name": "X-Key", "header_value": "key-value"}}
BASIC = {"type": "basic_auth", "basic_auth": {"username": "user", "password": "password"}}


def authenticated(given: dict[str, Any], shown: dict[str, Any]) -> EndpointRoundTrip:
    """An endpoint created with one authentication and shown with another."""
    return shown_with(
        created({"authentication": shown}, {"authentication": given}), fields=("authentication",)
    )


def with_client_key(given: str, shown: str) -> EndpointRoundTrip:
    """An endpoint created with one private key and fetched with another, examined as at intake."""
    certified = {"mtls_client_cert": {"client_key": given}}
    return shown_with(
        created({"mtls_client_cert": {}}, certified),
        fetched({"mtls_client_cert": {"client_key": shown}}),
    ).examined(context("contrary").dialect)


CREDENTIALS = (
    Example(
        requirement="2.5-1",
        kept=authenticated(OAUTH2, MASKED),
        broken=authenticated(OAUTH2, {**MASKED, "type": "api_key"}),
    ),
    Example(
        requirement="2.5-2",
        kept=authenticated(OAUTH2, MASKED),
        broken=authenticated(
            OAUTH2, {"type": "oauth2", "oauth2": {**MASKED["oauth2"], "scope": None}}
        ),
    ),
    Example(
        requirement="2.5-11",
        kept=authenticated(API_KEY, API_KEY),
        broken=authenticated(API_KEY, {"type": "api_key", "api_key": {"header_name": "X-Key"}}),
    ),
    Example(
        requirement="2.5-12",
        kept=authenticated(
            BASIC,
            {"type": "basic_auth", "basic_auth": {"username": "user", "password": "********"}},
        ),
        broken=authenticated(BASIC, {"type": "basic_auth", "basic_auth": {"username": "********"}}),
    ),
    Example(
        requirement="2.5-13",
        kept=authenticated(OAUTH2, MASKED),
        broken=authenticated(OAUTH2, OAUTH2),
    ),
    Example(
        requirement="2.5-24",
        kept=with_client_key("PEM\n", "PEM"),
        broken=with_client_key("PEM", "PE"),
        dialect="contrary",
    ),
    Example(
        requirement="4.1-15",
        kept=shown_with(
            created(
                {"mtls_client_cert": {"client_cert": "PEM"}},
                {"mtls_client_cert": {"client_cert": "PEM\n"}},
            )
        ),
        broken=shown_with(
            created({"mtls_client_cert": {}}, {"mtls_client_cert": {"client_cert": "PEM"}})
        ),
    ),
)


EXAMPLES = (
    *OF_ENDPOINT,
    *CREDENTIALS,
)
