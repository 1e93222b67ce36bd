"""What the probes of a target share: its API, what was learned so far, and what they created."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final

from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.generation.unknown_identifiers import unknown_identifier
from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.target.circuit_breaker import Breaker, from_the_target
from hookproof.conformance.target.client import ApiClient, Key, encoded
from hookproof.conformance.target.definition import Budgets, Project, Target
from hookproof.conformance.target.hooks.created_endpoints import CreatedEndpoints
from hookproof.conformance.target.pacing import LimitedForGood, Pacing
from hookproof.spec.contract.service_contract import Contract, contract_for
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.field_roles import resource_parameter
from hookproof.target.hooks.provision import HookFailures

# The role of a request that is sent beside others, to see whether it is taken.
ORDINARY: Final = "an ordinary request"
# In bytes, of the body of a request.
LONGEST_KEPT: Final = 1024 * 1024

CREATE: Final = "createEndpoint"
GET: Final = "getEndpoint"
ROLL: Final = "expireEndpointSecret"
LINKS: Final = "listPortalLinks"
LINK: Final = "getPortalLink"
UPDATE: Final = "updatePortalLink"
SOURCES: Final = "listSources"
BROADCAST: Final = "createBroadcastEvent"


def unknown_uid(uid: str) -> str:
    """An identifier of the form of a known one that no resource has."""
    return unknown_identifier(uid, Random(uid))


@dataclass(slots=True)
class ProbeSession:
    """The calls of the probes; `exchanges` holds all of them, in order.

    `endpoint_fields` are the fields without which no endpoint is created. `answering_url` is where
    the receiver answers whatever comes. `round_trip_s` is how long a cheap request took at the
    start. `no_deliveries` is why none came, if they were looked for.
    """

    target: Target
    answers: LearnedAnswers
    nonce: str = field(default_factory=lambda: secrets.token_hex(3))
    exchanges: list[Exchange] = field(default_factory=list)
    endpoint_fields: tuple[str, ...] = ()
    answering_url: str = ""
    round_trip_s: float = 0.0
    no_deliveries: str = ""
    random: Random = field(default_factory=Random)
    pacing: Pacing = field(init=False)
    endpoints: CreatedEndpoints = field(default_factory=CreatedEndpoints)
    hook_failures: HookFailures = field(default_factory=HookFailures)
    # A list that is answered, all such lists, and what ordinary requests name and send.
    listing: str = SOURCES
    lists: tuple[str, ...] = ()
    paths: dict[str, Mapping[str, str]] = field(default_factory=dict)
    link_body: Mapping[str, Any] = field(default_factory=dict)
    # What became of an unknown word, by the field that had it and takes a known one.
    other_words: dict[str, Exchange] = field(default_factory=dict)
    # Whether each credential is masked that answers were seen to show, by its path.
    credentials: dict[str, bool] = field(default_factory=dict)
    # The refusals of an identifier that no resource has, by operation.
    unknown_resources: dict[str, Exchange] = field(default_factory=dict)
    # The refusals whose reason is known, by the field that has their status.
    refusals: dict[str, list[Exchange]] = field(default_factory=dict)
    _client: ApiClient | None = None
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _words: int = 0

    def __post_init__(self) -> None:
        self.pacing = Pacing(self.target.budgets.requests_per_s)

    @property
    def project(self) -> Project:
        return self.target.projects[0]

    @property
    def budgets(self) -> Budgets:
        """The budgets for a target as far away as this one."""
        return self.target.budgets.over(self.round_trip_s)

    @property
    def contract(self) -> Contract:
        return contract_for(self.answers.extended)

    @property
    def bodies(self) -> RequestBodies:
        """Bodies that the target accepts, as far as its rules are learned."""
        return RequestBodies(
            dialect=self.answers.dialect,
            random=self.random,
            word=self.word,
            answering_url=self.answering_url,
        )

    def word(self, stem: str) -> str:
        """A word that no other call returns."""
        self._words += 1
        return f"{stem}-{self.nonce}{self._words:03x}{self.random.getrandbits(24):06x}"

    async def use_key_format(self, key_format: str) -> None:
        """Send keys in this form from now on."""
        await self._stack.aclose()
        dialect = with_key_format(self.answers.extended, key_format)
        self._client = await self._stack.enter_async_context(
            ApiClient(
                self.target.base_url,
                self.contract,
                dialect,
                timeout_s=self.target.budgets.request_s,
                breaker=Breaker(),
                pacing=self.pacing,
                endpoints=self.endpoints,
                connection=self.target.connection,
            )
        )

    async def close(self) -> None:
        await self._stack.aclose()

    @property
    def api(self) -> ApiClient:
        assert self._client is not None, "no form of the key is known yet"
        return self._client

    async def call(
        self,
        operation_id: str,
        role: str,
        *,
        body: object = None,
        raw_body: bytes | None = None,
        is_declared: bool = True,
        uid: str | None = None,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, str] | Sequence[tuple[str, str]] = (),
        headers: Sequence[tuple[str, str]] = (),
        key: Key = Key.OWN,
        project: Project | None = None,
    ) -> Exchange:
        """Call an operation and note the exchange; never raises for what the target does.

        `uid` names the resource in the path, or `path` fills its parameters other than projectID.
        """
        exchange = await self.api.call(
            operation_id,
            role=role,
            project=project or self.project,
            path=path if uid is None else {resource_parameter(operation_id): uid},
            query=query,
            body=body,
            raw_body=raw_body,
            is_declared=is_declared,
            headers=headers,
            key=key,
        )
        return self._noted(exchange)

    async def ordinary(self, operation_id: str) -> Exchange | None:
        """Send a request without anything unusual; None if no such request is known."""
        bodies: Mapping[str, Callable[[], Mapping[str, Any]]] = {
            CREATE: self.endpoint,
            ROLL: self.bodies.roll,
            UPDATE: lambda: self.link_body,
            BROADCAST: self.bodies.broadcast,
        }
        path = self.paths.get(operation_id)
        if path is None and operation_id in (GET, ROLL, LINK, UPDATE):
            return None
        body = bodies[operation_id]() if operation_id in bodies else None
        return await self.call(operation_id, ORDINARY, path=path, body=body)

    def drop_refusals(self, exchanges: Sequence[Exchange]) -> None:
        """Conclude nothing from these refusals."""
        dropped = set(map(id, exchanges))
        for field_name, answers in self.refusals.items():
            self.refusals[field_name] = [each for each in answers if id(each) not in dropped]
        self.unknown_resources = {
            name: each for name, each in self.unknown_resources.items() if id(each) not in dropped
        }

    async def send(self, role: str, method: str, target: str, content: object = None) -> Exchange:
        """Send a request that is none of the eight operations."""
        raw = None if content is None else encoded(content)
        exchange = await self.api.send(
            operation_id=None,
            role=role,
            project=self.project,
            method=method,
            target=target,
            content=raw,
            headers=self.api.headers(self.project, Key.OWN, raw is not None),
            key=Key.OWN,
        )
        return self._noted(exchange)

    async def find_outage(self) -> str:
        """How the target has stopped answering, in words; empty if it still answers."""
        try:
            asked = [await self.call(operation_id, "last") for operation_id in (LINKS, SOURCES)]
        except LimitedForGood:
            return ""
        if any(from_the_target(exchange.status) for exchange in asked):
            return ""
        answered = [from_the_target(exchange.status) for exchange in self.exchanges]
        last = len(answered) - answered[::-1].index(True) if any(answered) else 0
        symptom = asked[-1].problem or f"every request is answered {asked[-1].status}"
        return f"the target stopped answering after {last} of {len(answered)} requests: {symptom}"

    def _noted(self, exchange: Exchange) -> Exchange:
        # Dozens of requests try how large one may be; each of them would have 32 MiB.
        is_long = len(exchange.request_body or b"") > LONGEST_KEPT
        self.exchanges.append(replace(exchange, request_body=None) if is_long else exchange)
        return exchange

    def endpoint(self, **fields: Any) -> dict[str, Any]:
        """A body for a disabled endpoint, with every field that is needed to create one."""
        bodies = self.bodies
        needed = {name: bodies.endpoint_value(name) for name in self.endpoint_fields}
        return {**needed, "url": bodies.url(), "is_disabled": True, **fields}

    def active_endpoint(self, **fields: Any) -> dict[str, Any]:
        """A body for an endpoint that takes whatever comes, if the target can reach the receiver:
        events to one that leads nowhere would be attempted again and again.
        """
        body = self.endpoint(is_disabled=False, **fields)
        if self.answering_url and self.target.receiver.can_be_trusted:
            body["url"] = f"{self.answering_url}/{self.bodies.word('path')}"
        return body


def with_key_format(dialect: Dialect, key_format: str) -> Dialect:
    """The dialect with keys in this form."""
    return replace(dialect, authentication=replace(dialect.authentication, key_format=key_format))


def see_refusals(session: ProbeSession, field_name: str) -> None:
    """Learn the statuses of the refusals that are known to be of one kind; services may have
    several, such as one for a value of the wrong type and one for a value that is out of bounds.
    """
    refusals = session.refusals[field_name]
    statuses = dict.fromkeys(each.status for each in refusals)
    session.answers.see(field_name, *statuses, shown_by=refusals[-1], count=len(refusals))
