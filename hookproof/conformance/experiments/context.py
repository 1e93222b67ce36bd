"""What an experiment works with: the target's API, a receiver, the dialect, and trials.

@experiment("secret_roll", observes=(RollAnswer,))
async def secret_roll(context: ExperimentContext) -> AsyncIterator[Evidence]:
    trial = context.trial("advanced")
    created = await trial.call("createEndpoint", role="create", body=...)
    ...
    yield trial.observe(RollAnswer, given=secrets)
"""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from hookproof.conformance.experiments.backlog import Backlog
from hookproof.conformance.experiments.shared_broadcasts import SharedBroadcasts
from hookproof.conformance.generation.generators import RequestGenerators
from hookproof.conformance.generation.unknown_identifiers import unknown_identifier
from hookproof.conformance.model.evidence import (
    Exchange,
    NotObserved,
    Observation,
    PreconditionFailed,
)
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.tolerances import distant
from hookproof.conformance.observations.destinations import MARKED
from hookproof.conformance.target.capabilities import CAPABILITIES, MECHANISMS
from hookproof.conformance.target.client import ApiClient, Key
from hookproof.conformance.target.definition import Budgets, Fixtures, Project
from hookproof.receiver.client.control_api import ReceiverClient
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.contract.service_contract import Contract
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.field_roles import resource_parameter
from hookproof.target.file_schema import Presence
from hookproof.target.hooks.provision import Provision

Observed = TypeVar("Observed", bound=Observation)


@dataclass(slots=True)
class Trial:
    """The calls and deliveries of one observation: both are recorded here, in order.

    `receiver_late_s` is how late the receiver was at most, as far as it has been asked.
    """

    experiment: str
    name: str
    api: ApiClient
    receiver: ReceiverClient
    project: Project
    exchanges: list[Exchange] = field(default_factory=list)
    received: list[ReceivedDelivery] = field(default_factory=list)
    receiver_late_s: float = 0.0

    async def call(
        self,
        operation_id: str,
        *,
        role: str,
        uid: str | None = None,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        body: object = None,
        raw_body: bytes | None = None,
        headers: Sequence[tuple[str, str]] = (),
        key: Key = Key.OWN,
        project: Project | None = None,
    ) -> Exchange:
        """Call one operation and record the exchange; never raises for what the target does.

        `uid` names the resource in the path, or `path` fills its parameters other than projectID.
        `raw_body` is sent as it is; `body` as compact JSON.
        """
        exchange = await self.api.call(
            operation_id,
            role=role,
            project=project or self.project,
            path=(path or {}) if uid is None else {resource_parameter(operation_id): uid},
            query=query or {},
            body=body,
            raw_body=raw_body,
            headers=headers,
            key=key,
        )
        self.exchanges.append(exchange)
        return exchange

    def rename(self, exchange: Exchange, role: str) -> Exchange:
        """The exchange with another role, also among those that are recorded."""
        renamed = replace(exchange, role=role)
        self.exchanges[:] = [renamed if known is exchange else known for known in self.exchanges]
        return renamed

    async def arrivals(
        self, token: str, *, count: int, timeout_s: float
    ) -> tuple[ReceivedDelivery, ...]:
        """Wait until `count` requests have arrived at the token or the time is over; record and
        return all that arrived.

        Raises PreconditionFailed where the target cannot deliver to the receiver at all.
        """
        arrived = await self.receiver.deliveries(token, count=count, timeout_s=timeout_s)
        self.receiver_late_s = max(self.receiver_late_s, self.receiver.late_s(token))
        self.received = [delivery for delivery in self.received if delivery.token != token]
        self.received.extend(arrived)
        return arrived

    def observe(self, kind: type[Observed], /, **fields: Any) -> Observed:
        """An observation of this class with what was called and received so far."""
        return kind(
            experiment=self.experiment,
            name=self.name,
            exchanges=tuple(self.exchanges),
            deliveries=tuple(self.received),
            **fields,
        )

    def not_observed(self, kind: type[Observation] | None, reason: str) -> NotObserved:
        """Why an observation of this class could not be made, and what would help."""
        return NotObserved(
            experiment=self.experiment,
            name=self.name,
            observation="" if kind is None else kind.__name__,
            reason=reason,
            exchanges=tuple(self.exchanges),
            deliveries=tuple(self.received),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentContext:
    """Everything that one experiment may use.

    The first of `projects` is the experiment's own where the target has enough of them; a second
    one, if there is any, is for isolation. `random` is seeded per experiment, `clock` is Unix time
    in seconds, `nonce` distinguishes this run from all others, since a target may have seen the
    same seed before. Whoever changes portal links of the first project, or walks through their
    list, holds `portal_links`: the API cannot create any, so experiments in one project share those
    that are there. `egress_probes` are addresses that the target must not reach. `seeding` fills a
    project's lists through the provision hooks, once for all experiments. `backlog` and
    `generators` are those of the whole run. `shared_broadcasts` are there where other experiments
    work in the first project, so that each broadcast reaches their endpoints too. An experiment
    that goes first there calls `let_others_broadcast` once that no longer disturbs it, be it only
    events with markers. `others_receive` tells whether they have begun to create endpoints, to all
    of which a broadcast would be delivered. `round_trip_s` is the way to the target and back.
    """

    experiment: str
    nonce: str
    api: ApiClient
    receiver: ReceiverClient
    projects: tuple[Project, ...]
    dialect: Dialect
    contract: Contract
    profile: Profile
    budgets: Budgets
    random: random.Random
    clock: Callable[[], float]
    loop: asyncio.AbstractEventLoop
    portal_links: AbstractAsyncContextManager[None]
    provision: Provision
    fixtures: Mapping[str, Fixtures]
    capabilities: Mapping[str, Presence]
    # Where a URL of the receiver answers every visit with a 2xx.
    answering_url: str = ""
    # Whether TLS ends at the receiver, so that it sees the certificates of clients.
    ends_tls: bool = True
    egress_probes: tuple[str, ...]
    seeding: "ListSeeding"
    backlog: Backlog
    generators: RequestGenerators
    shared_broadcasts: SharedBroadcasts | None = None
    round_trip_s: float = 0.0
    let_others_broadcast: "LetBroadcast" = field(default=lambda **_: None)
    others_receive: Callable[[], bool] = field(default=lambda: False)

    @property
    def shares_project(self) -> bool:
        """Whether other experiments work in the first project."""
        return self.shared_broadcasts is not None

    def distant(self, tolerance_s: float) -> float:
        """A tolerance for times that allows for the way to the target."""
        return distant(tolerance_s, self.round_trip_s)

    def presence(self, capability: str) -> Presence:
        """What the target file says about a capability of the target."""
        return self.capabilities.get(capability, Presence.AUTO)

    def why_lacking(self, capability: str) -> str:
        """Why a capability is not tried; empty unless the target file says that it is lacking."""
        if self.presence(capability) is not Presence.NO:
            return ""
        return f"the target says that it lacks {capability} (capabilities in target.yaml)"

    def why_unasked(self, operation_id: str) -> str:
        """Why an operation is not requested; empty unless the target lacks what it is for."""
        lacking = (
            self.why_lacking(name)
            for name, capability in CAPABILITIES.items()
            if operation_id in capability.operations
        )
        return next(filter(None, lacking), "")

    def lacking_fields(self) -> frozenset[str]:
        """The fields of createEndpoint that the target lacks, as its target file says."""
        return frozenset(
            field
            for name, capability in CAPABILITIES.items()
            if self.why_lacking(name)
            for field in capability.fields
        )

    def lacking_mechanisms(self) -> frozenset[str]:
        """The members of an endpoint's authentication that the target lacks (section 2.5)."""
        return frozenset(filter(self.why_lacking, MECHANISMS))

    def require_capability(self, capability: str) -> None:
        """Raise PreconditionFailed for a capability that the target file says the target lacks."""
        if reason := self.why_lacking(capability):
            raise PreconditionFailed(reason)

    def trial(self, name: str, *, project: Project | None = None) -> Trial:
        """A new trial, in the first project unless another is given."""
        return Trial(
            experiment=self.experiment,
            name=name,
            api=self.api,
            receiver=self.receiver,
            project=project or self.projects[0],
        )

    def word(self, stem: str) -> str:
        """A word that begins with the stem and that no other call of this run returns."""
        return f"{stem}-{self.nonce}{self.random.getrandbits(40):010x}"

    def unknown_project(self) -> Project:
        """A project that does not exist, with the key of the first one."""
        own, seen = self.projects[0], [project.id for project in self.projects]
        return Project(id=unknown_identifier(own.id, self.random, seen), api_key=own.api_key)

    def new_marker(self) -> str:
        """A word that distinguishes an event from all others."""
        return self.word(MARKED)


def marker_of_run(nonce: str) -> str:
    """What the markers of all events of a run begin with."""
    return f"{MARKED}-{nonce}"


class LetBroadcast(Protocol):
    """What lets others broadcast where an experiment goes first."""

    def __call__(self, *, only_marked: bool = False) -> None: ...


class ListSeeding(Protocol):
    """What fills a project before its lists are fetched."""

    async def fill(self, api: ApiClient, operation_id: str, project: Project) -> None:
        """Fill a list with resources, as far as a provision hook can create them.

        A hook that fails fills nothing.
        """

    def failure(self, operation_id: str, project: Project) -> str:
        """How the hook failed that was to fill a list; empty if it did not."""

    def created(self, operation_id: str, project: Project) -> Sequence[str]:
        """The identifiers of what was created for a list, as far as the hook returned them."""
