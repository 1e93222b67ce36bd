"""A request for each operation that the target accepts, to be sent with one thing wrong."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.created_endpoints import create_endpoint
from hookproof.conformance.experiments.support.existing_resources import (
    find_changeable_links,
    put_back,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.generation.unknown_identifiers import unknown_identifier
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import resources
from hookproof.conformance.observations.mistakes import ORDINARY
from hookproof.conformance.target.circuit_breaker import RunOver
from hookproof.conformance.target.definition import Project
from hookproof.spec.contract.service_contract import Contract

OPERATIONS_WITH_BODY: Final = (
    "createEndpoint",
    "expireEndpointSecret",
    "updatePortalLink",
    "createBroadcastEvent",
)
# Another name of owner_id, and settings that a target may lack or refuse as they stand.
LEFT_OUT_OF_FULL: Final = frozenset({"appID", "authentication", "mtls_client_cert", "is_disabled"})
UPDATE: Final = "updatePortalLink"
OPERATIONS_ON_PORTAL_LINK: Final = ("getPortalLink", UPDATE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidRequests:
    """Requests about an endpoint and a portal link of one project.

    Each of the two is None if it is missing; `missing` then says why, by path parameter.
    `why_unasked` says why an operation is not requested of this target at all. `seen` are the
    identifiers that the target has shown. `own_bodies` make bodies in place of those here.
    """

    bodies: RequestBodies
    contract: Contract
    project: Project
    endpoint_id: str | None
    portal_link: Mapping[str, Any] | None
    missing: Mapping[str, str]
    why_unasked: Callable[[str], str]
    seen: frozenset[str] = frozenset()
    own_bodies: Mapping[str, Callable[[], Mapping[str, Any]]] = field(default_factory=dict)

    def unknown(self, known: str) -> str:
        """An identifier like a known one that no resource has."""
        return unknown_identifier(known, self.bodies.random, self.seen)

    def why_not(self, operation_id: str) -> str:
        """Why an operation is not requested, or its resource missing; empty if it can be called."""
        if unasked := self.why_unasked(operation_id):
            return unasked
        missing = [name for name, value in self.path(operation_id).items() if value is None]
        return self.missing[missing[0]] if missing else ""

    def can_call(self, operation_id: str) -> bool:
        """Whether the operation is requested, and the resource that it is about exists."""
        return not self.why_not(operation_id)

    def path(self, operation_id: str) -> dict[str, Any]:
        """The path parameters of an operation, projectID aside."""
        if operation_id in {"getEndpoint", "expireEndpointSecret"}:
            return {"endpointID": self.endpoint_id}
        if operation_id in OPERATIONS_ON_PORTAL_LINK:
            return {"portalLinkID": None if self.portal_link is None else self.portal_link["uid"]}
        return {}

    def target(self, operation_id: str, path: Mapping[str, str] | None = None) -> str:
        """The path of an operation with everything filled in, percent-encoded, and with these
        parameters in place of others; empty if one is missing.
        """
        filled = self.contract.operations[operation_id].path
        given = {"projectID": self.project.id, **self.path(operation_id), **(path or {})}
        for name, value in given.items():
            filled = filled.replace("{" + name + "}", quote(str(value), safe=""))
        return "" if None in given.values() else filled

    def body(self, operation_id: str) -> dict[str, Any] | None:
        """A new body that the target accepts, None for an operation without one."""
        if operation_id in self.own_bodies:
            return dict(self.own_bodies[operation_id]())
        match operation_id:
            case "createEndpoint":
                return self.bodies.quiet_endpoint()
            case "expireEndpointSecret":
                return self.bodies.roll(
                    secret=self.bodies.secret(), expiration=self.bodies.expiration()
                )
            case "updatePortalLink":
                return self.bodies.portal_link()
            case "createBroadcastEvent":
                return self.bodies.broadcast()
            case _:
                return None

    def full_body(self, operation_id: str) -> dict[str, Any]:
        """A new body with every documented field that no other contradicts or makes costly."""
        schema = self.contract.operations[operation_id].body_schema or {}
        of_service = self.bodies.dialect.requests.service_assigned
        names = schema["properties"].keys() - {
            *self.bodies.lacking_fields,
            *of_service,
            *LEFT_OUT_OF_FULL,
        }
        values = {name: self.bodies.value(operation_id, name) for name in sorted(names)}
        return {**values, **(self.body(operation_id) or {})}

    def body_with(self, operation_id: str, name: str, value: Any) -> dict[str, Any]:
        """A new body that the target accepts, but with this value for a field."""
        return {**(self.body(operation_id) or {}), name: value}

    def right_body(self, operation_id: str, name: str) -> dict[str, Any]:
        """The same with an acceptable value for the field."""
        return self.body_with(operation_id, name, self.bodies.value(operation_id, name))


@asynccontextmanager
async def hold_portal_links_for(
    context: ExperimentContext, operation_id: str
) -> AsyncIterator[None]:
    """If the operation changes a portal link, keep other experiments from changing or walking
    through them meanwhile.
    """
    async with context.portal_links if operation_id == UPDATE else nullcontext():
        yield


@asynccontextmanager
async def portal_link_put_back(
    context: ExperimentContext, trial: Trial, requests: ValidRequests
) -> AsyncIterator[None]:
    """Put the portal link of the requests back at the end, however it comes, unless the run is over
    by then.
    """
    try:
        yield
    finally:
        if requests.portal_link is not None:
            with suppress(RunOver):
                async with context.portal_links:
                    await put_back(context, trial, requests.portal_link)


async def send_ordinary(
    context: ExperimentContext,
    requests: ValidRequests,
    operation_id: str,
    body: Mapping[str, Any] | None,
) -> Exchange:
    """Send a request with nothing that could be refused."""
    trial, path = context.trial("ordinary request"), requests.path(operation_id)
    async with hold_portal_links_for(context, operation_id):
        return await trial.call(operation_id, role=ORDINARY, path=path, body=body)


async def prepare_valid_requests(context: ExperimentContext, trial: Trial) -> ValidRequests:
    """Create an endpoint in the trial's project and find a portal link there, as it is while no
    other experiment has changed it.
    """
    bodies = RequestBodies.of(context)
    created = await create_endpoint(context, trial, role="prepare", body=bodies.quiet_endpoint())
    async with context.portal_links:
        existing = await find_changeable_links(context, trial, pages=1)
    return ValidRequests(
        bodies=bodies,
        contract=context.contract,
        project=trial.project,
        endpoint_id=created.uid,
        portal_link=existing.links[0] if existing.links else None,
        missing={"endpointID": created.reason, "portalLinkID": existing.reason},
        why_unasked=context.why_unasked,
        seen=frozenset(
            filter(None, (part.text("uid") for each in trial.exchanges for part in resources(each)))
        ),
    )
