"""Examples for sections 2.3 to 2.5, 2.9, 3, 4.1 to 4.3 and 9: endpoints, their secrets and their
credentials.
"""

from typing import Any

from hookproof.conformance.checks.api.requests.deprecated_fields import (
    app_id_is_taken_and_means_what_the_dialect_says,
)
from hookproof.conformance.checks.api.resources.credentials import (
    masked_credentials_are_not_shown_in_clear,
    the_authentication_type_is_the_one_given,
    the_client_certificate_is_the_one_sent,
    the_members_of_a_mechanism_are_shown_as_given,
    the_user_name_is_shown_as_given,
)
from hookproof.conformance.checks.api.resources.endpoint import (
    ECHOED,
    a_created_endpoint_has_a_uid_and_a_secret,
    a_created_endpoint_shows_what_was_sent,
    an_endpoint_is_fetched_as_it_was_created,
    an_endpoint_shows_an_https_url_and_no_negative_count,
    created_at_never_changes,
    no_two_endpoints_have_the_same_uid,
    several_endpoints_share_one_owner,
    status_follows_is_disabled,
    what_is_not_given_has_the_documented_default,
)
from hookproof.conformance.checks.api.resources.secret import (
    a_given_secret_is_the_endpoints,
    a_secret_is_made_when_none_is_given,
    a_secret_of_another_form_is_taken_or_refused,
    a_secret_that_was_never_replaced_does_not_expire,
    an_endpoint_is_fetched_with_its_secrets,
    no_two_secrets_of_an_endpoint_have_the_same_uid,
    secrets_are_shown_where_the_dialect_says,
)
from hookproof.conformance.checks.api.resources.secret_roll import (
    a_roll_leaves_the_configuration_as_it_was,
    a_roll_leaves_the_secrets_of_others_alone,
    a_roll_shows_when_the_endpoint_is_fetched,
    a_roll_without_a_secret_brings_in_one,
    the_new_secret_does_not_expire,
    the_old_secret_expires_when_the_roll_says,
    the_secret_sent_is_among_those_in_the_answer,
)
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.resources.round_trip import (
    EndpointRoundTrip,
    EndpointsOfOneOwner,
    MinimalEndpoints,
    SecretOfAnotherForm,
)
from hookproof.conformance.observations.resources.secret_roll import RollAnswer
from tests.conformance.canned_evidence import NOW, context, exchange, observation
from tests.conformance.checks.api.example import (
    AT,
    LATER,
    OTHER_UID,
    UID,
    Example,
    created,
    endpoint,
    fetched,
    refusal,
    secret,
)

OLD, NEW = "01ARZ3NDEKTSV4RRFFQ69G5FA0", "01ARZ3NDEKTSV4RRFFQ69G5FA1"
ONE_HOUR_ON = "2027-01-15T09:00:00.000000Z"  # NOW and an hour
GIVEN = "a-secret-that-was-given"


def shown_with(*exchanges: Exchange, fields: tuple[str, ...] = ()) -> EndpointRoundTrip:
    """An endpoint that was created for these fields, and perhaps fetched."""
    return observation(EndpointRoundTrip, *exchanges, fields=fields)


def minimal(*exchanges: Exchange) -> MinimalEndpoints:
    """Endpoints with the required fields alone, examined as at intake."""
    return observation(MinimalEndpoints, *exchanges).examined(context().dialect)


def with_secrets(
    role: str, operation_id: str, *secrets: dict[str, Any], request: Any = None, **fields: Any
) -> Exchange:
    """An endpoint with these secrets in the answer to an operation."""
    return exchange(
        role,
        operation_id,
        data=endpoint(secrets=list(secrets), **fields),
        request=request,
        path={"endpointID": UID},
    )


def roll(
    *secrets: dict[str, Any], body: dict[str, Any], fetched_secrets: Any = None, **changed: Any
) -> RollAnswer:
    """A roll that was answered with these secrets, between two fetches, examined as at intake.

    Another endpoint stays as it is.
    """
    after = list(secrets) if fetched_secrets is None else fetched_secrets
    return observation(
        RollAnswer,
        with_secrets("create other", "createEndpoint", secret(OTHER_UID)),
        with_secrets("fetch before", "getEndpoint", secret(OLD, GIVEN)),
        with_secrets("roll", "expireEndpointSecret", *secrets, request=body),
        with_secrets("fetch", "getEndpoint", *after, **changed),
        with_secrets("fetch other", "getEndpoint", secret(OTHER_UID)),
        given=(GIVEN,),
    ).examined(context().dialect)


EXPIRING = secret(OLD, GIVEN, expires_at=ONE_HOUR_ON)
BODY = {"secret": "new-secret", "expiration": 3600}
ROLLED = roll(EXPIRING, secret(NEW, "new-secret"), body=BODY)

OF_ENDPOINT = (
    Example(
        check=a_created_endpoint_has_a_uid_and_a_secret,
        requirement="2.3-1",
        kept=created(),
        broken=created({"uid": ""}),
    ),
    Example(
        check=a_created_endpoint_has_a_uid_and_a_secret,
        requirement="2.3-10",
        kept=created(),
        broken=created({"secrets": []}),
    ),
    Example(
        check=no_two_endpoints_have_the_same_uid,
        requirement="2.3-2",
        kept=shown_with(created(), created({"uid": OTHER_UID})),
        broken=shown_with(created(), created()),
    ),
    Example(
        check=an_endpoint_shows_an_https_url_and_no_negative_count,
        requirement="2.3-3",
        kept=fetched({"url": "HTTPS://one.invalid"}),
        broken=fetched({"url": "http://one.invalid"}),
    ),
    Example(
        check=an_endpoint_shows_an_https_url_and_no_negative_count,
        requirement="2.3-16",
        kept=fetched(),
        broken=fetched({"events": -1}),
    ),
    Example(
        check=several_endpoints_share_one_owner,
        requirement="2.3-4",
        kept=observation(EndpointsOfOneOwner, *[created({"owner_id": "o"}, {"owner_id": "o"})] * 2),
        broken=observation(
            EndpointsOfOneOwner,
            created({"owner_id": "o"}, {"owner_id": "o"}),
            created({"owner_id": None}, {"owner_id": "o"}),
        ),
    ),
    Example(
        check=what_is_not_given_has_the_documented_default,
        requirement="2.3-5",
        kept=created(),
        broken=created({"content_type": "text/plain"}),
    ),
    Example(
        check=what_is_not_given_has_the_documented_default,
        requirement="2.3-8",
        kept=created(),
        broken=created({"advanced_signatures": True}),
    ),
    *(
        Example(
            check=a_created_endpoint_shows_what_was_sent,
            requirement=requirement,
            kept=shown_with(created({field: value}, {field: value})),
            broken=shown_with(created({field: None}, {field: value})),
        )
        for field, requirement in ECHOED.items()
        for value in (
            {"advanced_signatures": True}.get(
                field, 17 if field.endswith(("out", "limit", "on")) else "text"
            ),
        )
    ),
    Example(
        check=an_endpoint_is_fetched_as_it_was_created,
        requirement="4.2-5",
        kept=shown_with(
            created({"name": "one"}), fetched({"name": "one", "events": 3, "status": "inactive"})
        ),
        broken=shown_with(created({"name": "one"}), fetched({"name": "two"})),
    ),
    Example(
        check=created_at_never_changes,
        requirement="2.9-13",
        kept=shown_with(created(), fetched({"updated_at": LATER})),
        broken=shown_with(created(), fetched({"created_at": LATER})),
    ),
    Example(
        check=status_follows_is_disabled,
        requirement="3-1",
        kept=shown_with(created()),
        broken=shown_with(created({"status": "inactive"})),
    ),
    Example(
        check=status_follows_is_disabled,
        requirement="3-2",
        kept=shown_with(created({"status": "inactive"}, {"is_disabled": True})),
        broken=shown_with(created({"status": "active"}, {"is_disabled": True})),
    ),
    Example(
        check=status_follows_is_disabled,
        requirement="3-4",
        kept=shown_with(created({}, {"is_disabled": False}), fields=("is_disabled",)),
        broken=shown_with(
            refusal(role="create", request={"is_disabled": True}), fields=("is_disabled",)
        ),
    ),
    *(
        Example(
            check=app_id_is_taken_and_means_what_the_dialect_says,
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
        check=app_id_is_taken_and_means_what_the_dialect_says,
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

OF_SECRET = (
    Example(
        check=a_given_secret_is_the_endpoints,
        requirement="2.3-11",
        kept=shown_with(created({"secrets": [secret(value=GIVEN)]}, {"secret": GIVEN})),
        broken=shown_with(created({"secrets": [secret()]}, {"secret": GIVEN})),
    ),
    *(
        Example(
            check=a_secret_is_made_when_none_is_given,
            requirement=requirement,
            kept=minimal(
                created({"secrets": [secret(value="s" * 43)]}),
                created({"secrets": [secret(value="t" * 43)]}),
            ),
            broken=minimal(*[created({"secrets": [secret(value=value)]}) for value in values]),
        )
        for requirement, values in (
            ("2.3-12", ("", "s" * 43)),
            ("2.3-13", ("short", "s" * 43)),
            ("2.3-14", ("s" * 43,) * 2),
        )
    ),
    Example(
        check=a_secret_of_another_form_is_taken_or_refused,
        requirement="2.3-15",
        kept=observation(SecretOfAnotherForm, created()),
        broken=observation(SecretOfAnotherForm, refusal(role="create")),
        dialect="contrary",
    ),
    Example(
        check=a_secret_that_was_never_replaced_does_not_expire,
        requirement="2.4-5",
        kept=shown_with(created({"secrets": [secret(expires_at=None)]})),
        broken=shown_with(created({"secrets": [secret(expires_at=AT)]})),
    ),
    Example(
        check=an_endpoint_is_fetched_with_its_secrets,
        requirement="4.2-6",
        kept=shown_with(created(), fetched()),
        broken=shown_with(created(), fetched({"secrets": [secret(value="another")]})),
    ),
    Example(
        check=no_two_secrets_of_an_endpoint_have_the_same_uid,
        requirement="2.4-2",
        kept=fetched({"secrets": [secret(OLD), secret(NEW)]}),
        broken=fetched({"secrets": [secret(OLD), secret(OLD)]}),
    ),
    Example(
        check=secrets_are_shown_where_the_dialect_says,
        requirement="2.4-4",
        kept=shown_with(
            created({}, {"secret": GIVEN}), fetched({"secrets": [secret(value=GIVEN)]})
        ),
        broken=shown_with(
            created({}, {"secret": GIVEN}), fetched({"secrets": [secret(value="***")]})
        ),
    ),
    Example(
        check=secrets_are_shown_where_the_dialect_says,
        requirement="2.4-4",
        kept=shown_with(
            created({}, {"secret": GIVEN}), fetched({"secrets": [secret(value="***")]})
        ),
        broken=shown_with(
            created({}, {"secret": GIVEN}), fetched({"secrets": [secret(value=GIVEN)]})
        ),
        dialect="contrary",
    ),
)

ROLLS = (
    Example(
        check=a_roll_leaves_the_configuration_as_it_was,
        requirement="4.3-11",
        kept=ROLLED,
        broken=roll(EXPIRING, secret(NEW, "new-secret"), body=BODY, url="https://two.invalid"),
    ),
    Example(
        check=the_secret_sent_is_among_those_in_the_answer,
        requirement="4.3-12",
        kept=ROLLED,
        broken=roll(EXPIRING, secret(NEW, "another"), body=BODY),
    ),
    Example(
        check=a_roll_shows_when_the_endpoint_is_fetched,
        requirement="4.3-13",
        kept=ROLLED,
        broken=roll(
            EXPIRING, secret(NEW, "new-secret"), body=BODY, fetched_secrets=[secret(OLD, GIVEN)]
        ),
    ),
    Example(
        check=a_roll_leaves_the_secrets_of_others_alone,
        requirement="4.3-14",
        kept=ROLLED,
        broken=observation(
            RollAnswer,
            *ROLLED.exchanges[:-1],
            with_secrets(
                "fetch other", "getEndpoint", secret(OTHER_UID, expires_at=AT), secret(NEW)
            ),
            given=ROLLED.given,
        ),
    ),
    Example(
        check=the_old_secret_expires_when_the_roll_says,
        requirement="4.3-15",
        kept=ROLLED,
        broken=roll(
            secret(OLD, GIVEN, expires_at="2027-01-15T08:01:00.000000Z"),
            secret(NEW, "new-secret"),
            body=BODY,
        ),
    ),
    Example(
        check=the_old_secret_expires_when_the_roll_says,
        requirement="4.3-18",
        kept=roll(secret(NEW, "new-secret"), body={"secret": "new-secret"}),
        broken=roll(EXPIRING, secret(NEW, "new-secret"), body={"secret": "new-secret"}),
    ),
    Example(
        check=the_new_secret_does_not_expire,
        requirement="4.3-17",
        kept=ROLLED,
        broken=roll(EXPIRING, secret(NEW, "new-secret", expires_at=ONE_HOUR_ON), body=BODY),
    ),
    Example(
        check=a_roll_without_a_secret_brings_in_one,
        requirement="4.3-19",
        kept=roll(EXPIRING, secret(NEW, "g" * 43), body={"expiration": 3600}),
        broken=roll(EXPIRING, secret(NEW, ""), body={"expiration": 3600}),
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


CREDENTIALS = (
    Example(
        check=the_authentication_type_is_the_one_given,
        requirement="2.5-1",
        kept=authenticated(OAUTH2, MASKED),
        broken=authenticated(OAUTH2, {**MASKED, "type": "api_key"}),
    ),
    Example(
        check=the_members_of_a_mechanism_are_shown_as_given,
        requirement="2.5-2",
        kept=authenticated(OAUTH2, MASKED),
        broken=authenticated(
            OAUTH2, {"type": "oauth2", "oauth2": {**MASKED["oauth2"], "scope": None}}
        ),
    ),
    Example(
        check=the_members_of_a_mechanism_are_shown_as_given,
        requirement="2.5-11",
        kept=authenticated(API_KEY, API_KEY),
        broken=authenticated(API_KEY, {"type": "api_key", "api_key": {"header_name": "X-Key"}}),
    ),
    Example(
        check=the_user_name_is_shown_as_given,
        requirement="2.5-12",
        kept=authenticated(
            BASIC,
            {"type": "basic_auth", "basic_auth": {"username": "user", "password": "********"}},
        ),
        broken=authenticated(BASIC, {"type": "basic_auth", "basic_auth": {"username": "********"}}),
    ),
    Example(
        check=masked_credentials_are_not_shown_in_clear,
        requirement="2.5-13",
        kept=authenticated(OAUTH2, MASKED),
        broken=authenticated(OAUTH2, OAUTH2),
    ),
    Example(
        check=the_client_certificate_is_the_one_sent,
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

EXAMPLES = (*OF_ENDPOINT, *OF_SECRET, *ROLLS, *CREDENTIALS)
assert NOW == 1_800_000_000.0, "ONE_HOUR_ON counts from NOW"
