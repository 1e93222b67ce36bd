"""What requests may hold, as pydantic reads it: types are converted where it does so by default."""

import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field, SecretStr, model_validator

from tests.strangers.ledgerline.bugs import bug

HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
HEADER_VALUE = re.compile(r"[ -~]*")

# Headers that belong to the service or to HTTP.
OWN_HEADERS = re.compile(
    "ledgerline-.*|authorization|connection|content-.*|cookie|expect|host|te|trailer"
    "|transfer-encoding|upgrade|user-agent",
    re.IGNORECASE,
)


def https_url(url: str) -> str:
    parts = urlsplit(url)
    plain = bug("http_accepted") and parts.scheme == "http"
    if (parts.scheme != "https" and not plain) or not parts.hostname or parts.port == 0:
        raise ValueError("URL scheme should be 'https'")
    if re.search(r"[\s\x00-\x20\x7f]", url):
        raise ValueError("URL holds white space")
    return url


def header_name(name: str) -> str:
    if not HEADER_NAME.fullmatch(name):
        raise ValueError("not the name of a header")
    return name


def header_value(value: str) -> str:
    if not HEADER_VALUE.fullmatch(value):
        raise ValueError("not the value of a header")
    return value


def sendable_headers(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        header_name(name)
        header_value(value)
        if OWN_HEADERS.fullmatch(name) and not bug("signature_overridden"):
            raise ValueError(f"{name} is set by the service")
    return headers


HttpsUrl = Annotated[str, AfterValidator(https_url)]
Text = str | None


class ApiKey(BaseModel):
    header_name: Annotated[str, AfterValidator(header_name)]
    header_value: Annotated[str, AfterValidator(header_value)]


class BasicAuth(BaseModel):
    username: Annotated[str, AfterValidator(header_value)]
    password: SecretStr


class FieldMapping(BaseModel):
    access_token: Text = None
    expires_in: Text = None
    token_type: Text = None


class SigningKey(BaseModel):
    crv: Text = None
    d: SecretStr | None = None
    dp: SecretStr | None = None
    dq: SecretStr | None = None
    e: Text = None
    kid: Text = None
    kty: Text = None
    n: Text = None
    p: SecretStr | None = None
    q: SecretStr | None = None
    qi: SecretStr | None = None
    x: Text = None
    y: Text = None


class OAuth2(BaseModel):
    url: HttpsUrl
    authentication_type: Literal["shared_secret"] = "shared_secret"
    client_id: str
    client_secret: SecretStr
    grant_type: Text = None
    scope: Text = None
    audience: Text = None
    issuer: Text = None
    subject: Text = None
    expiry_time_unit: Literal["seconds", "milliseconds"] | None = None
    field_mapping: FieldMapping | None = None
    signing_algorithm: Text = None
    signing_key: SigningKey | None = None


class Authentication(BaseModel):
    type: Literal["api_key", "basic_auth", "oauth2"]
    api_key: ApiKey | None = None
    basic_auth: BasicAuth | None = None
    oauth2: OAuth2 | None = None

    @model_validator(mode="after")
    def has_its_member(self) -> "Authentication":
        if getattr(self, self.type) is None:
            raise ValueError(f"{self.type} is required for this type")
        return self


class Certificate(BaseModel):
    client_cert: str
    client_key: SecretStr


class NewEndpoint(BaseModel):
    name: str = Field(min_length=1, max_length=200)
    url: HttpsUrl
    description: Annotated[str, Field(max_length=2000)] | None = None
    owner_id: Text = None
    app_id: Text = Field(default=None, alias="appID")
    content_type: Literal["application/json", "application/x-www-form-urlencoded"] | None = None
    advanced_signatures: bool | None = None
    is_disabled: bool | None = None
    http_timeout: Annotated[int, Field(ge=1, le=120)] | None = None
    rate_limit: Annotated[int, Field(ge=0)] | None = None
    rate_limit_duration: Annotated[int, Field(ge=1, le=86400)] | None = None
    slack_webhook_url: HttpsUrl | None = None
    support_email: Text = None
    secret: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    authentication: Authentication | None = None
    mtls_client_cert: Certificate | None = None


class Roll(BaseModel):
    expiration: Annotated[int, Field(ge=0, le=31_536_000)] | None = None
    secret: Annotated[str, Field(min_length=1, max_length=500)] | None = None


class LinkUpdate(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    owner_id: Text = None
    can_manage_endpoint: bool | None = None
    auth_type: Literal["refresh_token", "static_token"] | None = None
    endpoints: list[str] | None = None


class Broadcast(BaseModel):
    event_type: str = Field(min_length=1, max_length=200)
    data: dict[str, Any]
    custom_headers: Annotated[dict[str, str], AfterValidator(sendable_headers)] | None = None
    idempotency_key: Text = None
    acknowledged_at: Text = None


class Page(BaseModel):
    per_page: int = Field(default=10, ge=1, le=40, alias="perPage")
    sort: Literal["ASC", "DESC"] = "DESC"
    direction: Literal["next", "prev"] = "next"
    next_page_cursor: str = ""
    prev_page_cursor: str = ""


class LinkPage(Page):
    owner_id: Text = None
    name: Text = None


class SourcePage(Page):
    type: Text = None
    provider: Text = None
