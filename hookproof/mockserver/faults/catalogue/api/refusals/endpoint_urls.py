"""URLs of endpoints on which the document is silent, treated otherwise than the dialect says."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.service import ApiService
from hookproof.mockserver.faults.catalogue.api.refusals.taken_or_refused import otherwise
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.misread_dialect import misread_service
from hookproof.spec.dialect.vocabulary import Acceptance

EXPERIMENT: Final = ["endpoint_urls"]


class MistakenUrls(EndpointHandlers):
    """Takes the URLs of one kind that the dialect refuses, and the reverse.

    `field` is the answer of the dialect about it.
    """

    field: ClassVar[str]

    def __init__(self, service: ApiService) -> None:
        wrong = otherwise(getattr(service.dialect.requests, self.field))
        super().__init__(misread_service(service, f"requests.{self.field}", wrong))


class RefusedUrls(EndpointHandlers, ABC):
    """Refuses further URLs of new endpoints."""

    @abstractmethod
    def refuses(self, host: str, port: int | None) -> bool: ...

    def _reject_unusable(self, body: Mapping[str, Any]) -> None:
        super()._reject_unusable(body)
        parts = urlsplit(body["url"])
        if self.refuses(parts.hostname or "", parts.port):
            raise self._service.errors.invalid("/url: this is not allowed")


@fault(
    "closed_address",
    shows_in=EXPERIMENT,
    where=lambda dialect: dialect.requests.url_addresses.prefers(Acceptance.REFUSED),
)
class ClosedAddressesTaken(MistakenUrls):
    """An endpoint is created although its URL has an address of a closed network."""

    field = "url_addresses"


@fault(
    "closed_address",
    shows_in=EXPERIMENT,
    where=lambda dialect: dialect.requests.url_addresses.prefers(Acceptance.TAKEN),
)
class OneLoopbackAddress(RefusedUrls):
    """An endpoint URL with an address of the own machine is refused, unless it is 127.0.0.1."""

    def refuses(self, host: str, port: int | None) -> bool:
        return host.startswith("127.") and host.count(".") > 1 and host != "127.0.0.1"


@fault(
    "other_port",
    shows_in=EXPERIMENT,
    where=lambda dialect: dialect.requests.url_other_ports.prefers(Acceptance.TAKEN),
)
class PortsOfNames(RefusedUrls):
    """An endpoint URL with a port is refused if its host is a name with a dot."""

    def refuses(self, host: str, port: int | None) -> bool:
        return port is not None and host.rpartition(".")[2].isalpha() and "." in host


@fault(
    "user_information",
    shows_in=EXPERIMENT,
    where=lambda dialect: dialect.requests.url_user_information.decided,
)
class UserInformationMistaken(MistakenUrls):
    """An endpoint URL with a user name and a password is taken where the dialect refuses it, and
    the reverse.
    """

    field = "url_user_information"


@fault(
    "odd_host",
    shows_in=EXPERIMENT,
    where=lambda dialect: dialect.requests.url_odd_hosts.decided,
)
class OddHostsMistaken(MistakenUrls):
    """An endpoint URL with an address in an odd form is taken where the dialect refuses it, and the
    reverse.
    """

    field = "url_odd_hosts"


@fault(
    "fragment",
    shows_in=EXPERIMENT,
    where=lambda dialect: dialect.requests.url_fragments.decided,
)
class FragmentsMistaken(MistakenUrls):
    """An endpoint URL with a fragment is taken where the dialect refuses it, and the reverse."""

    field = "url_fragments"
