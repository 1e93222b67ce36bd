"""Secrets and credentials of endpoints, as they are generated, stored and shown (2.3 to 2.5)."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

import msgspec

from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.serialization.response_serializer import ResponseSerializer
from hookproof.mockserver.api.service import OperationCall
from hookproof.mockserver.api.signing_secrets import SecretSource
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_endpoints import AlteredCreation
from hookproof.mockserver.faults.support.altered_responses import (
    BROADCAST,
    CREATE_ENDPOINT,
    GET_ENDPOINT,
    ON_PORTAL_LINKS,
    ROLL,
    AlteredRecords,
    AlteredResponses,
    Object,
)
from hookproof.mockserver.faults.support.misread_dialect import misread_dialect
from hookproof.mockserver.store.endpoints import NewEndpoint, StoredSecret, decode_secrets
from hookproof.spec.contract.service_contract import Contract
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import CertificateEncoding, SecretDisplay, SecretForm

SHOWN: Final = ("round_trip",)
CLIENT_KEY: Final = "mtls_client_cert.client_key"


@fault(
    "echoed@createEndpoint.mtls_client_cert.client_cert",
    seen="a certificate whose line breaks got lost",
    shows_in=SHOWN,
    where=lambda dialect: dialect.requests.client_certificate.allows(CertificateEncoding.PEM),
)
class CertificateInOneLine(AlteredRecords):
    """The client_cert of an endpoint is shown without its line breaks."""

    def alter_endpoint(self, endpoint: Object) -> Object:
        shown = endpoint.get("mtls_client_cert") or {}
        if not shown.get("client_cert"):
            return endpoint
        return {
            **endpoint,
            "mtls_client_cert": {**shown, "client_cert": shown["client_cert"].replace("\n", "")},
        }


@fault(
    "has_secret given_secret_shown@createEndpoint.secrets.value"
    " secret_generated@createEndpoint.secrets.value",
    shows_in=SHOWN,
)
class SecretsNotShownAtCreation(AlteredResponses):
    """The response to the creation of an endpoint holds no secrets."""

    operations = (CREATE_ENDPOINT,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "secrets": []}


@fault("given_secret_shown", shows_in=["round_trip", "roll_answers"])
class GivenSecretReplaced(SecretSource):
    """A secret is generated although the request gave one."""

    def choose(self, given: str | None) -> str:
        return self.generate()


@fault(
    "given_secret_shown",
    shows_in=["telling_texts"],
    where=lambda dialect: dialect.signatures.secret.form is SecretForm.TEXT,
)
class GivenSecretTrimmed(SecretSource):
    """A secret is kept without the spaces around it."""

    def choose(self, given: str | None) -> str:
        return super().choose(given and given.strip())


@fault(
    "secret_form secret_generated@expireEndpointSecret.secrets",
    shows_in=["round_trip", "roll_answers"],
)
class ShortSecrets(SecretSource):
    """A generated secret has a quarter of its length."""

    def generate(self) -> str:
        rest = super().generate().removeprefix(self.rules.prefix)
        return self.rules.prefix + rest[: len(rest) // 16 * 4]


@fault("secrets_differ", seen="a default secret that was never changed", shows_in=SHOWN)
class OneSecretForAll(SecretSource):
    """Every generated secret is the same."""

    first_generated: ClassVar[list[str]] = []

    def generate(self) -> str:
        if not self.first_generated:
            self.first_generated.append(super().generate())
        return self.first_generated[0]


@fault(
    "other_secret",
    shows_in=["refusals"],
    where=lambda dialect: bool(dialect.signatures.secret.prefix),
)
class OtherSecretFormsRefused(EndpointHandlers):
    """A secret that is not in the dialect's form is refused instead of replaced."""

    def _create_secret(self, given: str | None, created_at: str) -> StoredSecret:
        if given and not self._service.secrets.accepts(given):
            raise self._service.errors.invalid("/secret: has another form")
        return super()._create_secret(given, created_at)


@fault("unique@createEndpoint.secrets.uid created_once", shows_in=["roll_answers"])
class SecretsWithOneUid(AlteredRecords):
    """An endpoint shows all its secrets with the uid of the newest, but where it was rolled."""

    operations = (GET_ENDPOINT, *ON_PORTAL_LINKS, BROADCAST)

    def alter_endpoint(self, endpoint: Object) -> Object:
        newest = endpoint["secrets"][-1]["uid"]
        return {
            **endpoint,
            "secrets": [{**secret, "uid": newest} for secret in endpoint["secrets"]],
        }


@fault(
    "secrets_in_clear secrets_fetched roll_fetched",
    shows_in=[*SHOWN, "roll_answers"],
)
class SecretsShownElsewhere(ResponseSerializer):
    """Secret values are masked where the dialect shows them, and the reverse."""

    def __init__(self, contract: Contract, dialect: Dialect, clock: Callable[[], float]) -> None:
        right = dialect.representation.secrets_shown.value
        wrong = SecretDisplay.WHEN_SET if right is SecretDisplay.ALWAYS else SecretDisplay.ALWAYS
        misread = misread_dialect(dialect, "representation.secrets_shown", wrong)
        super().__init__(contract, misread, clock)


@fault("unreplaced_unexpiring", shows_in=SHOWN)
class FreshSecretExpires(EndpointHandlers):
    """The secret of a new endpoint shows an expires_at, a day after the creation."""

    def _build_endpoint(self, project: str, body: Mapping[str, Any], now: float) -> NewEndpoint:
        new = super()._build_endpoint(project, body, now)
        (secret,) = decode_secrets(new.secrets)
        shown = msgspec.structs.replace(secret, expires_at=self._service.timestamp(now + 86400))
        return new._replace(secrets=msgspec.json.encode([shown]))


@fault("echoed@createEndpoint.authentication.type configuration_fetched", shows_in=SHOWN)
class AuthenticationTypeForgotten(AlteredResponses):
    """The response to a creation shows the type of the authentication as null."""

    operations = (CREATE_ENDPOINT,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        shown = resource.get("authentication")
        return {**resource, "authentication": {**shown, "type": None}} if shown else resource


@fault(
    "echoed@createEndpoint.authentication.oauth2 echoed@createEndpoint.authentication.api_key"
    " token_sent mapped_names_read token_lifetime api_key_sent",
    seen="nested objects that are stored to one depth",
    shows_in=[*SHOWN, "credentials"],
)
class MembersForgotten(AlteredCreation):
    """The last member of each object in an authentication, except basic_auth, is not stored."""

    def alter_request(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        authentication = body.get("authentication")
        if not authentication:
            return body
        cut = dict(authentication)
        for name, value in authentication.items():
            if isinstance(value, dict) and name != "basic_auth":
                cut[name] = dict(list(value.items())[:-1])
        return {**body, "authentication": cut}


@fault("echoed@createEndpoint.authentication.basic_auth.username", shows_in=SHOWN)
class UserNameMasked(AlteredRecords):
    """The user name of basic_auth is masked like a password."""

    def alter_endpoint(self, endpoint: Object) -> Object:
        shown = endpoint.get("authentication")
        if not shown or not shown.get("basic_auth"):
            return endpoint
        masked = {**shown["basic_auth"], "username": "*" * 8}
        return {**endpoint, "authentication": {**shown, "basic_auth": masked}}


@fault("masked", shows_in=SHOWN, where=lambda dialect: bool(dialect.representation.masked))
class CredentialsShown(ResponseSerializer):
    """Credentials are shown unmasked."""

    def mask_credentials(self, document: dict[str, Any]) -> dict[str, Any]:
        return document


@fault("secrets_fetched", shows_in=SHOWN)
class SecretsFetchedWithNewUids(AlteredRecords):
    """An endpoint that was never rolled shows its secret with another uid once it is created."""

    operations = (GET_ENDPOINT, ROLL, *ON_PORTAL_LINKS, BROADCAST)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._rolled: set[str] = set()

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        if call.operation.operation_id == ROLL:
            self._rolled.add(resource["uid"])
            return resource
        return super().alter_resource(call, resource)

    def alter_endpoint(self, endpoint: Object) -> Object:
        secret, *further = endpoint["secrets"]
        if further or endpoint["uid"] in self._rolled:
            return endpoint
        last = "1" if secret["uid"].endswith("0") else "0"
        return {**endpoint, "secrets": [{**secret, "uid": f"{secret['uid'][:-1]}{last}"}]}


@fault(
    "client_key_shown",
    seen="a column that is too short",
    shows_in=SHOWN,
    where=lambda dialect: CLIENT_KEY not in dialect.representation.masked,
)
class ClientKeyCut(AlteredRecords):
    """The client_key of an endpoint is shown without its last characters."""

    def alter_endpoint(self, endpoint: Object) -> Object:
        shown = endpoint.get("mtls_client_cert") or {}
        if not shown.get("client_key"):
            return endpoint
        cut = {**shown, "client_key": shown["client_key"][:-40]}
        return {**endpoint, "mtls_client_cert": cut}
