"""The API document, transcribed: every field table of section 2, every body list of section 4.

Read from the document and not from spec/openapi.yaml, so that tests can compare the two.

A field maps to a type expression: a JSON type (`string`, `boolean`, `integer`, `object`), the name
of the schema that holds a resource or sub-object (`Endpoint`, `OAuth2`), `array of` either, or
`NOT_SHOWN` where the document gives none.
"""

from dataclasses import dataclass

Fields = dict[str, str]

NOT_SHOWN = "not shown"

# Every numbered section, so that a citation of any other is a mistake.
SECTIONS = frozenset(map(str, range(1, 10))) | {
    f"{chapter}.{number}" for chapter in (2, 4) for number in range(1, 10)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The fields of one object and the section that lists them."""

    section: str
    fields: Fields


def strings(*names: str) -> Fields:
    return dict.fromkeys(names, "string")


def envelope(data: str) -> Table:
    return Table(section="2.1", fields={"message": "string", "status": "boolean", "data": data})


def page(content: str) -> Table:
    return Table(
        section="2.2", fields={"content": f"array of {content}", "pagination": "Pagination"}
    )


TIMESTAMPS = strings("created_at", "updated_at", "deleted_at")

TABLES = {
    "EndpointEnvelope": envelope("Endpoint"),
    "PortalLinkEnvelope": envelope("PortalLink"),
    "PortalLinkPageEnvelope": envelope("PortalLinkPage"),
    "SourcePageEnvelope": envelope("SourcePage"),
    "EventEnvelope": envelope("Event"),
    "PortalLinkPage": page("PortalLink"),
    "SourcePage": page("Source"),
    "Pagination": Table(
        section="2.2",
        fields={
            "has_next_page": "boolean",
            "has_prev_page": "boolean",
            "next_page_cursor": "string",
            "per_page": "integer",
            "prev_page_cursor": "string",
        },
    ),
    "Endpoint": Table(
        section="2.3",
        fields={
            "uid": "string",
            "project_id": "string",
            "name": "string",
            "description": "string",
            "url": "string",
            "owner_id": "string",
            "content_type": "string",
            "advanced_signatures": "boolean",
            "http_timeout": "integer",
            "rate_limit": "integer",
            "rate_limit_duration": "integer",
            "slack_webhook_url": "string",
            "support_email": "string",
            "status": "string",
            "events": "integer",
            "failure_rate": "integer",
            "secrets": "array of Secret",
            "authentication": "EndpointAuthentication",
            "mtls_client_cert": "MtlsClientCert",
            **TIMESTAMPS,
        },
    ),
    "MtlsClientCert": Table(section="2.3", fields=strings("client_cert", "client_key")),
    "Secret": Table(
        section="2.4",
        fields=strings("uid", "value", "created_at", "updated_at", "expires_at", "deleted_at"),
    ),
    "EndpointAuthentication": Table(
        section="2.5",
        fields={
            "type": "string",
            "api_key": "ApiKey",
            "basic_auth": "BasicAuth",
            "oauth2": "OAuth2",
        },
    ),
    "CreateEndpointAuthentication": Table(
        section="2.5", fields={"type": "string", "oauth2": "OAuth2"}
    ),
    "ApiKey": Table(section="2.5", fields=strings("header_name", "header_value")),
    "BasicAuth": Table(section="2.5", fields=strings("username", "password")),
    "OAuth2": Table(
        section="2.5",
        fields={
            **strings(
                "url",
                "authentication_type",
                "client_id",
                "client_secret",
                "grant_type",
                "scope",
                "audience",
            ),
            **strings("issuer", "subject", "expiry_time_unit"),
            "field_mapping": "FieldMapping",
            "signing_algorithm": "string",
            "signing_key": "SigningKey",
        },
    ),
    "FieldMapping": Table(
        section="2.5", fields=strings("access_token", "expires_in", "token_type")
    ),
    "SigningKey": Table(
        section="2.5",
        fields=strings("crv", "d", "dp", "dq", "e", "kid", "kty", "n", "p", "q", "qi", "x", "y"),
    ),
    "PortalLink": Table(
        section="2.6",
        fields={
            "uid": "string",
            "project_id": "string",
            "name": "string",
            "owner_id": "string",
            "endpoints": "array of string",
            "endpoint_count": "integer",
            "endpoints_metadata": "array of Endpoint",
            "can_manage_endpoint": "boolean",
            "auth_type": "string",
            "auth_key": "string",
            "token": "string",
            "url": "string",
            **TIMESTAMPS,
        },
    ),
    "Source": Table(
        section="2.7",
        fields={
            "uid": "string",
            "project_id": "string",
            "name": "string",
            "type": "string",
            "provider": "string",
            "provider_config": "ProviderConfig",
            "url": "string",
            "mask_id": "string",
            "is_disabled": "boolean",
            "forward_headers": "array of string",
            "idempotency_keys": "array of string",
            "header_function": "string",
            "body_function": "string",
            "custom_response": "CustomResponse",
            "verifier": "Verifier",
            "pub_sub": "PubSub",
            **TIMESTAMPS,
        },
    ),
    "ProviderConfig": Table(section="2.7", fields={"twitter": "Twitter"}),
    "Twitter": Table(section="2.7", fields=strings("crc_verified_at")),
    "CustomResponse": Table(section="2.7", fields=strings("body", "content_type")),
    # The members of the verifier's api_key and basic_auth are those that section 2.5 types.
    "Verifier": Table(
        section="2.7",
        fields={"type": "string", "api_key": "ApiKey", "basic_auth": "BasicAuth", "hmac": "Hmac"},
    ),
    "Hmac": Table(
        section="2.7",
        fields={"encoding": "string", "hash": NOT_SHOWN, "header": NOT_SHOWN, "secret": NOT_SHOWN},
    ),
    "PubSub": Table(
        section="2.7",
        fields={
            "type": "string",
            "workers": "integer",
            "amqp": "Amqp",
            "google": "Google",
            "kafka": "Kafka",
            "sqs": "Sqs",
        },
    ),
    "Amqp": Table(
        section="2.7",
        fields={
            **strings(
                "host",
                "port",
                "schema",
                "vhost",
                "queue",
                "routingKey",
                "bindedExchange",
                "deadLetterExchange",
            ),
            "auth": "AmqpAuth",
        },
    ),
    "AmqpAuth": Table(section="2.7", fields={"user": NOT_SHOWN, "password": NOT_SHOWN}),
    "Google": Table(
        section="2.7",
        fields={
            "project_id": "string",
            "subscription_id": "string",
            "service_account": "array of integer",
        },
    ),
    "Kafka": Table(
        section="2.7",
        fields={
            "brokers": "array of string",
            "consumer_group_id": "string",
            "topic_name": "string",
            "auth": "KafkaAuth",
        },
    ),
    "KafkaAuth": Table(
        section="2.7", fields={**strings("type", "username", "password", "hash"), "tls": "boolean"}
    ),
    "Sqs": Table(
        section="2.7",
        fields=strings("access_key_id", "secret_key", "default_region", "queue_name", "endpoint"),
    ),
    "Event": Table(
        section="2.8",
        fields={
            "uid": "string",
            "project_id": "string",
            "event_type": "string",
            "data": "array of integer",
            "raw": "string",
            "headers": "object",
            "endpoints": "array of string",
            "endpoint_metadata": "array of Endpoint",
            "source_id": "string",
            "source_metadata": "Source",
            "app_id": "string",
            "idempotency_key": "string",
            "is_duplicate_event": "boolean",
            "metadata": "string",
            "url_query_params": "string",
            "status": "string",
            "acknowledged_at": "string",
            **TIMESTAMPS,
        },
    ),
    "CreateEndpoint": Table(
        section="4.1",
        fields={
            "advanced_signatures": "boolean",
            "appID": "string",
            "authentication": "CreateEndpointAuthentication",
            "content_type": "string",
            "description": "string",
            "http_timeout": "integer",
            "is_disabled": "boolean",
            "mtls_client_cert": "MtlsClientCert",
            "name": "string",
            "owner_id": "string",
            "rate_limit": "integer",
            "rate_limit_duration": "integer",
            "secret": "string",
            "slack_webhook_url": "string",
            "support_email": "string",
            "url": "string",
        },
    ),
    "ExpireSecret": Table(section="4.3", fields={"expiration": "integer", "secret": "string"}),
    "UpdatePortalLink": Table(
        section="4.6",
        fields={
            "auth_type": "string",
            "can_manage_endpoint": "boolean",
            "endpoints": "array of string",
            "name": "string",
            "owner_id": "string",
        },
    ),
    "CreateBroadcastEvent": Table(
        section="4.8",
        fields={
            "acknowledged_at": "string",
            "custom_headers": "object",
            "data": "object",
            "event_type": "string",
            "idempotency_key": "string",
        },
    ),
}
