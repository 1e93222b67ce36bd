"""Endpoints: create, fetch, roll the secret (sections 4.1 to 4.3)."""

import ssl
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, Final
from urllib.parse import urlsplit

from hookproof.mockserver.api.serialization.response_serializer import encode
from hookproof.mockserver.api.service import ApiService, OperationCall, OperationResult
from hookproof.mockserver.delivery.attempt.headers import CONTENT_TYPE, header_problems
from hookproof.mockserver.delivery.http_client.tls import CertificateError, load_client_certificate
from hookproof.mockserver.delivery.http_client.transport import (
    ODD_ADDRESS,
    ParsedUrl,
    UrlError,
    is_odd_address,
    split_url,
)
from hookproof.mockserver.delivery.store_port import ClientCertificate, certificate_encoding
from hookproof.mockserver.store.deliveries import StoredCredentials
from hookproof.mockserver.store.endpoints import (
    EndpointRow,
    NewEndpoint,
    StoredSecret,
    decode_secrets,
    encode_secrets,
)
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.given_settings import what_becomes_of
from hookproof.spec.dialect.groups.deliveries import Delivery
from hookproof.spec.dialect.groups.requests import RequestRules
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Acceptance, AppIdMeaning, GivenSetting

HTTPS_PORT: Final = 443


def unusable_settings(body: Mapping[str, Any], dialect: Dialect) -> Iterator[str]:
    """What deliveries to an endpoint with this body could not use, each with its place in it.

    The body fulfils the contract.
    """
    authentication = body.get("authentication", {})
    yield from _header_problems("/content_type", {CONTENT_TYPE: body.get("content_type", "")})
    api_key = authentication.get("api_key", {})
    if "header_name" in api_key:
        header = {api_key["header_name"]: api_key.get("header_value", "")}
        yield from _header_problems("/authentication/api_key", header)
    if authentication.get("type") == dialect.words.auth_oauth2 and not authentication.get("oauth2"):
        yield "/authentication/oauth2: is needed for this type"
    if "url" in body:
        yield from _url_problems(body["url"], dialect.requests)
    if body.get("mtls_client_cert"):
        yield from _certificate_problems(body["mtls_client_cert"], dialect)


def _header_problems(place: str, headers: Mapping[str, Any]) -> Iterator[str]:
    for problem in header_problems(headers):
        yield f"{place}: {problem}"


def _url_problems(url: str, rules: RequestRules) -> Iterator[str]:
    """The contract says which schemes there are (section 8); the rest is looked at here."""
    https_url = f"https:{url.partition(':')[2]}"
    try:
        parsed = split_url(https_url)
    except UrlError:
        yield "/url: is not a URL with a host that requests can be sent to"
        return
    if parsed.key.port == 0:
        yield "/url: nothing can be reached at port 0"
    for answer, is_so, problem in _looked_at(https_url, parsed, rules):
        if is_so and answer.prefers(Acceptance.REFUSED):
            yield f"/url: {problem}"


def _looked_at(
    url: str, parsed: ParsedUrl, rules: RequestRules
) -> Iterator[tuple[Answer[Acceptance], bool, str]]:
    """What a dialect may refuse in a URL, whether this one has it, and how that is called."""
    authority, host = urlsplit(url).netloc, parsed.key.host
    address = _address(host)
    is_mapped = isinstance(address, IPv6Address) and address.ipv4_mapped is not None
    is_odd = is_mapped or is_odd_address(authority, host)
    is_internal = not is_odd and address is not None and not address.is_global
    has_port = parsed.key.port != HTTPS_PORT
    yield rules.url_odd_hosts, is_odd, "has an address in an unusual form"
    yield rules.url_addresses, is_internal, "has an address of a closed network"
    yield rules.url_other_ports, has_port, f"has another port than {HTTPS_PORT}"
    yield rules.url_user_information, "@" in authority, "has user information"
    yield rules.url_fragments, "#" in url, "has a fragment"


def _address(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a host is; None for a name."""
    if not ODD_ADDRESS.search(host):  # most hosts are names: this is much faster than parsing
        return None
    try:
        return ip_address(host)
    except ValueError:
        return None


def _certificate_problems(pair: Mapping[str, Any], dialect: Dialect) -> Iterator[str]:
    written = ClientCertificate(
        certificate=pair.get("client_cert", ""), key=pair.get("client_key", "")
    )
    encoding = certificate_encoding(dialect)
    try:
        certificate = written.in_pem(encoding)
    except ValueError:
        yield f"/mtls_client_cert: is not written as {encoding.value}"
        return
    try:
        load_client_certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), certificate)
    except CertificateError as problem:
        yield f"/mtls_client_cert: {problem}"


# The end of the year 9999, in Unix seconds: what timestamps can show.
LATEST_S: Final = 253_402_300_799.0

_INTEGERS: Final = ("http_timeout", "rate_limit", "rate_limit_duration")


def visits_first(rules: Delivery) -> bool:
    """Whether an endpoint is created only if its URL answers a visit (section 4.1)."""
    return rules.failed_visit.prefers(Acceptance.REFUSED) and bool(
        rules.creation_visit.value.methods
    )


class EndpointHandlers:
    def __init__(self, service: ApiService) -> None:
        self._service = service
        properties = service.contract.operations["createEndpoint"].body_schema or {}
        members: Mapping[str, Mapping[str, Any]] = properties["properties"]
        self._defaults = {
            name: member["default"] for name, member in members.items() if "default" in member
        }
        rules = service.dialect.delivery
        self._defaults |= {
            "http_timeout": rules.default_timeout_s.value,
            "rate_limit_duration": rules.default_rate_limit_duration.value,
        }

    def create(self, call: OperationCall) -> OperationResult:
        """Section 4.1."""
        service = self._service
        self._reject_unusable(call.body)
        now = service.now()
        endpoint = self._build_endpoint(call.project, call.body, now)
        seq = service.endpoints.add(endpoint)
        delivery = service.dialect.delivery
        methods = delivery.creation_visit.value.methods
        if methods and not visits_first(delivery):
            service.dispatch.visit(call.body["url"], *methods)
        row = EndpointRow(
            seq=seq,
            uid=endpoint.uid,
            owner_id=endpoint.owner_id,
            active=endpoint.active,
            document=endpoint.document,
            secrets=endpoint.secrets,
            updated_at=endpoint.updated_at,
            events=0,
            delivered=0,
            failed=0,
        )
        return self._reply(call, "Endpoint is created", row, clear=True)

    def get(self, call: OperationCall) -> OperationResult:
        """Section 4.2."""
        return self._reply(call, "Endpoint is fetched", self._find(call), clear=False)

    def expire_secret(self, call: OperationCall) -> OperationResult:
        """Section 4.3: ends the current secret and adds a new one; earlier ones keep their ends."""
        service = self._service
        row = self._find(call)
        now = service.now()
        rolling = service.dialect.rolling
        window = int(call.body.get("expiration", rolling.default_expiration.value))
        ends = min(now + window * rolling.expiration_unit.in_seconds, LATEST_S)
        ends = max(ends, now)
        changed_at = service.timestamp(now)
        *older, current = decode_secrets(row.secrets)
        expiring = StoredSecret(
            uid=current.uid,
            value=current.value,
            created_at=current.created_at,
            updated_at=changed_at,
            expires_at=service.timestamp(ends),
            ends=ends,
        )
        secrets = [*older, expiring, self._create_secret(call.body.get("secret"), changed_at)]
        service.endpoints.roll(row.seq, secrets, updated_at=changed_at)
        rolled = row._replace(secrets=encode_secrets(secrets), updated_at=changed_at)
        return self._reply(call, "Secret is rolled", rolled, clear=True)

    def _build_endpoint(self, project: str, body: Mapping[str, Any], now: float) -> NewEndpoint:
        service = self._service
        rules = service.dialect.delivery
        created_at = service.timestamp(now)
        uid = service.identifier("Endpoint")
        owner_id = self._owner(body)
        settings = {**self._defaults, **self._kept(body)}
        settings |= {name: int(settings[name]) for name in _INTEGERS if name in settings}
        settings |= {
            "uid": uid,
            "project_id": project,
            "owner_id": owner_id,
            "created_at": created_at,
            "deleted_at": None,
        }
        disabled = bool(body.get("is_disabled"))
        document = service.serializer.endpoints.select(settings)
        return NewEndpoint(
            uid=uid,
            project=project,
            owner_id=owner_id,
            active=not disabled,
            receives=not disabled or rules.disabled_receives.value,
            visible_from=now + rules.visible_within_s,
            document=encode(service.serializer.mask_credentials(document)),
            credentials=self._credentials(body),
            secrets=encode_secrets([self._create_secret(body.get("secret"), created_at)]),
            updated_at=created_at,
        )

    def _kept(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """What was given, without what the dialect drops (section 2.3)."""
        dialect = self._service.dialect
        return {
            name: value
            for name, value in body.items()
            if not what_becomes_of(name, dialect).prefers(GivenSetting.DROPPED)
        }

    def _create_secret(self, given: str | None, created_at: str) -> StoredSecret:
        service = self._service
        value = service.secrets.choose(given)
        return StoredSecret(
            uid=service.identifier("Secret"),
            value=value,
            created_at=created_at,
            updated_at=created_at,
        )

    def _owner(self, body: Mapping[str, Any]) -> str | None:
        """Return the owner, None if empty. The deprecated appID may replace it (section 9)."""
        owner_id = body.get("owner_id")
        if not owner_id and self._service.dialect.requests.app_id.value is AppIdMeaning.OWNER_ALIAS:
            owner_id = body.get("appID")
        return owner_id or None

    @staticmethod
    def _credentials(body: Mapping[str, Any]) -> bytes | None:
        credentials = {
            name: body[name] for name in StoredCredentials.__struct_fields__ if name in body
        }
        return encode(StoredCredentials(**credentials)) if credentials else None

    def _reject_unusable(self, body: Mapping[str, Any]) -> None:
        """Reject settings that no delivery could use (sections 2.3 to 2.5)."""
        for problem in unusable_settings(body, self._service.dialect):
            raise self._service.errors.invalid(problem)

    def _find(self, call: OperationCall) -> EndpointRow:
        row = self._service.endpoints.find(call.project, call.target)
        if row is None:
            raise self._service.errors.unknown_resource("endpoint")
        return row

    def _reply(
        self, call: OperationCall, message: str, row: EndpointRow, *, clear: bool
    ) -> OperationResult:
        serializer = self._service.serializer
        return OperationResult(
            status=call.operation.success.value,
            body=serializer.envelope(message, serializer.endpoint(row, clear=clear)),
        )
