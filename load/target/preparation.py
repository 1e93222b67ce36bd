"""What happens before a run: endpoints that lead to the sidecars are created at the target.

Only operations of the document are used, written as the target's dialect says. No operation deletes
an endpoint, so the endpoints serve all runs of a command.
"""

import asyncio
import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

import msgspec

from hookproof.load.plan import (
    LoadPlan,
    OperationTemplate,
    ReceivingEndpoint,
    ReplyPeriod,
    RolledEndpoint,
    SecretRolls,
)
from hookproof.load.profile.load_profile import (
    BROADCAST,
    LoadEndpointSettings,
    LoadProfile,
    Trouble,
)
from hookproof.load.target.client import TargetClient
from hookproof.load.target.settings import TargetSettings
from hookproof.load.target.signing_secret import new_secret
from hookproof.receiver.replies.script import Reply
from hookproof.spec.contract.service_contract import Contract, contract_for
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Excess, TimeUnit

OWNER: Final = "hookproof-load"
# The token of the endpoints that the mix creates: they are disabled, and nothing there is counted.
SPARE: Final = "spare"
SECRETS_IN_TURN: Final = 64
# The approximate size of a mark without its padding.
MARK_BYTES: Final = 110
EVENT_TYPE: Final = "hookproof.load"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedEndpoint:
    """An endpoint of the run: its uid at the target, and what its worker's sidecar must know."""

    uid: str
    worker: int
    receiving: ReceivingEndpoint

    @property
    def token(self) -> str:
        """The first path segment of its URL, which identifies its deliveries at the sidecar."""
        return self.receiving.token

    @property
    def limited(self) -> bool:
        return self.receiving.limited


@dataclass(slots=True, kw_only=True)
class LoadPreparation:
    """What the runs of a command share.

    `left_out` says which operations cannot be sent to this target, and why. `receivers` are the
    URLs of the sidecars, one for each worker.
    """

    settings: TargetSettings
    contract: Contract
    receivers: tuple[str, ...]
    endpoints: list[PlacedEndpoint] = field(default_factory=list)
    calls: dict[str, OperationTemplate] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    def plans(self, profile: LoadProfile, run: str) -> list[LoadPlan]:
        """The plan of each worker for one run."""
        return [self._plan(profile, run, worker) for worker in range(len(self.receivers))]

    def _plan(self, profile: LoadProfile, run: str, worker: int) -> LoadPlan:
        mix = {name: weight for name, weight in profile.mix.items() if name not in self.left_out}
        return LoadPlan(
            run=run,
            worker=worker,
            workers=len(self.receivers),
            base_url=self.settings.base_url or "",
            headers=self.settings.headers,
            points=tuple((point.at_s, point.rate) for point in profile.shape.points),
            users=profile.users,
            mix=mix,
            calls=self.calls,
            broadcast={"event_type": EVENT_TYPE},
            pad="x" * max(0, profile.payload_bytes - MARK_BYTES),
            endpoints=tuple(endpoint.receiving for endpoint in self._endpoints_of(worker)),
            deliveries_each=len(self.endpoints),
            late_after_s=profile.late_after_s,
            drain_s=profile.drain_s,
            may_drop=profile.endpoints.limited > 0
            and self.settings.dialect.delivery.excess.allows(Excess.DROPPED),
            rolls=self._rolls(profile, worker),
            reply_periods=tuple(self._reply_periods(profile, worker)),
        )

    def _endpoints_of(self, worker: int) -> list[PlacedEndpoint]:
        return [endpoint for endpoint in self.endpoints if endpoint.worker == worker]

    def path(self, operation_id: str, **names: str) -> str:
        path = self.contract.operations[operation_id].path
        for name, value in {"projectID": self.settings.project, **names}.items():
            path = path.replace("{" + name + "}", value)
        return path

    def call(
        self, operation_id: str, paths: tuple[str, ...], bodies: tuple[object, ...] = ()
    ) -> OperationTemplate:
        operation = self.contract.operations[operation_id]
        texts = tuple(msgspec.json.encode(body).decode() for body in bodies)
        return OperationTemplate(
            method=operation.method.upper(),
            paths=paths,
            statuses=operation.success.allowed,
            bodies=texts,
        )

    def _rolls(self, profile: LoadProfile, worker: int) -> SecretRolls | None:
        if profile.roll is None:
            return None
        operation = self.contract.operations["expireEndpointSecret"]
        rules = self.settings.dialect.signatures.secret
        return SecretRolls(
            every_s=profile.roll.every_s,
            method=operation.method.upper(),
            statuses=operation.success.allowed,
            expiration=expiration(self.settings.dialect, profile.roll.expiration_s),
            endpoints=tuple(
                RolledEndpoint(
                    path=self.path("expireEndpointSecret", endpointID=endpoint.uid),
                    token=endpoint.token,
                )
                for endpoint in self._endpoints_of(worker)
            ),
            secret_prefix=rules.prefix,
            secret_form=rules.form,
        )

    def _reply_periods(self, profile: LoadProfile, worker: int) -> list[ReplyPeriod]:
        """One worker's part of the profile's troubles; no two troubles share an endpoint."""
        endpoints, reply_periods = iter(self.endpoints), []
        for trouble in profile.trouble:
            troubled = list(islice(endpoints, trouble.endpoints))
            tokens = tuple(endpoint.token for endpoint in troubled if endpoint.worker == worker)
            if tokens:
                reply_periods.append(_reply_period(trouble, tokens))
        return reply_periods


def _reply_period(trouble: Trouble, tokens: tuple[str, ...]) -> ReplyPeriod:
    reply = msgspec.convert(dict(trouble.reply), Reply)
    succeeds = not reply.hang and reply.status == Reply().status
    return ReplyPeriod(
        tokens=tokens, from_s=trouble.from_s, to_s=trouble.to_s, reply=reply, succeeds=succeeds
    )


async def prepare(
    settings: TargetSettings, profile: LoadProfile, receivers: Sequence[str]
) -> LoadPreparation:
    """Create the endpoints, in turn at each receiver, and find what the mix needs.

    Raises Unreachable or TargetRefusal.
    """
    preparation = LoadPreparation(
        settings=settings, contract=contract_for(settings.dialect), receivers=tuple(receivers)
    )
    async with TargetClient(settings) as target:
        for number in range(profile.endpoints.count):
            await _create_endpoint(preparation, target, profile, number)
        await _find_calls(preparation, target, profile, receivers[0])
    # The dialect's own time: a new endpoint may receive only after it.
    await asyncio.sleep(settings.dialect.delivery.visible_within_s)
    return preparation


async def _create_endpoint(
    preparation: LoadPreparation, target: TargetClient, profile: LoadProfile, number: int
) -> None:
    wanted = profile.endpoints
    rules = preparation.settings.dialect.signatures.secret
    worker = number % len(preparation.receivers)
    receiving = ReceivingEndpoint(
        token=f"{secrets.token_hex(4)}-{number}",
        secrets=(new_secret(rules.prefix, rules.form),),
        advanced=wanted.advanced_signatures,
        limited=number < wanted.limited,
    )
    body = {
        "name": f"hookproof load {number}",
        "owner_id": OWNER,
        "url": f"{preparation.receivers[worker]}/{receiving.token}",
        "secret": receiving.secrets[0],
        "advanced_signatures": wanted.advanced_signatures,
        **limit_fields(wanted, preparation.settings.dialect, limited=receiving.limited),
    }
    created = await target.call("POST", preparation.path("createEndpoint"), body)
    preparation.endpoints.append(
        PlacedEndpoint(uid=str(created.get("uid", "")), worker=worker, receiving=receiving)
    )


def limit_fields(
    wanted: LoadEndpointSettings, dialect: Dialect, *, limited: bool
) -> dict[str, int]:
    """The fields of an endpoint for its rate limit and its time-out (section 8)."""
    body = {}
    if limited:
        body["rate_limit"] = wanted.rate_limit
        unit = dialect.delivery.rate_limit_unit
        body["rate_limit_duration"] = in_unit(wanted.rate_limit_duration_s, unit)
    if wanted.http_timeout_s is not None:
        least, most = dialect.requests.http_timeout_minimum, dialect.requests.http_timeout_maximum
        body["http_timeout"] = min(max(wanted.http_timeout_s, least), most)
    return body


async def _find_calls(
    preparation: LoadPreparation, target: TargetClient, profile: LoadProfile, sidecar_url: str
) -> None:
    """Prepare the calls of the operations of the mix."""
    preparation.calls[BROADCAST] = preparation.call(BROADCAST, (preparation.path(BROADCAST),))
    if set(profile.mix) == {BROADCAST}:
        return
    dialect = preparation.settings.dialect
    spare = {
        "name": "hookproof load spare",
        "owner_id": OWNER,
        "url": f"{sidecar_url}/{SPARE}",
        "is_disabled": True,
    }
    created = await target.call("POST", preparation.path("createEndpoint"), spare)
    rolled_uid = str(created.get("uid", ""))
    endpoint_paths = tuple(
        preparation.path("getEndpoint", endpointID=endpoint.uid)
        for endpoint in preparation.endpoints
    )
    rules = dialect.signatures.secret
    rolls = tuple(
        {"secret": new_secret(rules.prefix, rules.form), "expiration": expiration(dialect, 1)}
        for _ in range(SECRETS_IN_TURN)
    )
    preparation.calls |= {
        "createEndpoint": preparation.call(
            "createEndpoint", (preparation.path("createEndpoint"),), (spare,)
        ),
        "getEndpoint": preparation.call("getEndpoint", endpoint_paths),
        "expireEndpointSecret": preparation.call(
            "expireEndpointSecret",
            (preparation.path("expireEndpointSecret", endpointID=rolled_uid),),
            rolls,
        ),
        "listPortalLinks": preparation.call(
            "listPortalLinks", (preparation.path("listPortalLinks"),)
        ),
        "listSources": preparation.call("listSources", (preparation.path("listSources"),)),
    }
    await _find_portal_links(preparation, target)


async def _find_portal_links(preparation: LoadPreparation, target: TargetClient) -> None:
    """Fetch the portal links to be updated; they cannot be created (section 4)."""
    page = await target.call("GET", preparation.path("listPortalLinks"))
    portal_links: list[Mapping[str, Any]] = page.get("content") or []
    if not portal_links:
        preparation.left_out |= dict.fromkeys(
            ("getPortalLink", "updatePortalLink"), "the project has no portal link"
        )
        return
    uids = [str(link["uid"]) for link in portal_links]
    updates = tuple(
        {"name": link.get("name") or "hookproof load", "owner_id": link.get("owner_id") or OWNER}
        for link in portal_links
    )
    for operation_id, bodies in (("getPortalLink", ()), ("updatePortalLink", updates)):
        paths = tuple(preparation.path(operation_id, portalLinkID=uid) for uid in uids)
        preparation.calls[operation_id] = preparation.call(operation_id, paths, bodies)


def in_unit(seconds: float, unit: TimeUnit) -> int:
    """A time in whole units, at least one (sections 4.3 and 8)."""
    return max(1, math.ceil(seconds / unit.in_seconds))


def expiration(dialect: Dialect, seconds: float) -> int:
    """The expiration of an old secret in the dialect's unit, within the dialect's maximum."""
    return min(
        in_unit(seconds, dialect.rolling.expiration_unit), dialect.requests.expiration_maximum
    )
