"""Before a run: endpoints at the target that lead to the sidecars, made through the API alone, and
the mix's calls.

Only operations of the document are used, written as the target's dialect says. There is no
operation that deletes an endpoint, so one stage serves all runs of a command.
"""

import asyncio
import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from hookproof.load.plan import Call, Plan, Receiving, Rolled, Rolls, Spell
from hookproof.load.profile.load_profile import BROADCAST, Endpoints, Profile, Trouble
from hookproof.load.target.client import TargetClient
from hookproof.load.target.settings import TargetSettings
from hookproof.load.target.signing_secret import new_secret
from hookproof.receiver.replies.script import Reply
from hookproof.spec.contract.service_contract import Contract, contract_for
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Excess, TimeUnit

OWNER: Final = "hookproof-load"
# Where the endpoints lead to that the mix itself creates: they are disabled, and nothing there is
# counted.
SPARE: Final = "spare"
SECRETS_IN_TURN: Final = 64
MARK_BYTES: Final = 110
EVENT_TYPE: Final = "hookproof.load"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """An endpoint of the run: its uid at the target, and what the sidecar of its worker must know
    of it.
    """

    uid: str
    worker: int
    receiving: Receiving

    @property
    def token(self) -> str:
        """By what its deliveries are told from others at the sidecar."""
        return self.receiving.token

    @property
    def limited(self) -> bool:
        """Whether it has the rate limit."""
        return self.receiving.limited


@dataclass(slots=True, kw_only=True)
class Stage:
    """All that the runs of a command share; `left_out` says which operations the target has nothing
    for, and why.

    `receivers` are the URLs of the sidecars, one for each worker.
    """

    settings: TargetSettings
    contract: Contract
    receivers: tuple[str, ...]
    endpoints: list[Placed] = field(default_factory=list)
    calls: dict[str, Call] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    def plans(self, profile: Profile, run: str) -> list[Plan]:
        """One run on this stage: the share of each worker."""
        return [self._plan(profile, run, worker) for worker in range(len(self.receivers))]

    def _plan(self, profile: Profile, run: str, worker: int) -> Plan:
        mix = {name: weight for name, weight in profile.mix.items() if name not in self.left_out}
        return Plan(
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
            endpoints=tuple(one.receiving for one in self._endpoints_of(worker)),
            deliveries_each=len(self.endpoints),
            late_after_s=profile.late_after_s,
            drain_s=profile.drain_s,
            may_drop=profile.endpoints.limited > 0
            and self.settings.dialect.delivery.excess.allows(Excess.DROPPED),
            rolls=self._rolls(profile, worker),
            spells=tuple(self._spells(profile, worker)),
        )

    def _endpoints_of(self, worker: int) -> list[Placed]:
        return [one for one in self.endpoints if one.worker == worker]

    def path(self, operation_id: str, **names: str) -> str:
        """The path of an operation within the project."""
        path = self.contract.operations[operation_id].path
        for name, value in {"projectID": self.settings.project, **names}.items():
            path = path.replace("{" + name + "}", value)
        return path

    def call(
        self, operation_id: str, paths: tuple[str, ...], bodies: tuple[object, ...] = ()
    ) -> Call:
        """An operation as it is sent."""
        operation = self.contract.operations[operation_id]
        texts = tuple(msgspec.json.encode(body).decode() for body in bodies)
        return Call(
            method=operation.method.upper(),
            paths=paths,
            statuses=operation.success.allowed,
            bodies=texts,
        )

    def _rolls(self, profile: Profile, worker: int) -> Rolls | None:
        if profile.roll is None:
            return None
        operation, rules = (
            self.contract.operations["expireEndpointSecret"],
            self.settings.dialect.signatures.secret,
        )
        return Rolls(
            every_s=profile.roll.every_s,
            method=operation.method.upper(),
            statuses=operation.success.allowed,
            expiration=expiration(self.settings.dialect, profile.roll.expiration_s),
            endpoints=tuple(
                Rolled(path=self.path("expireEndpointSecret", endpointID=one.uid), token=one.token)
                for one in self._endpoints_of(worker)
            ),
            secret_prefix=rules.prefix,
            secret_form=rules.form,
        )

    def _spells(self, profile: Profile, worker: int) -> list[Spell]:
        """Each trouble at endpoints of its own, in order; of these, what one worker has."""
        free, spells = list(self.endpoints), []
        for trouble in profile.trouble:
            taken, free = free[: trouble.endpoints], free[trouble.endpoints :]
            if tokens := tuple(one.token for one in taken if one.worker == worker):
                spells.append(_spell(trouble, tokens))
        return spells


def _spell(trouble: Trouble, tokens: tuple[str, ...]) -> Spell:
    reply = msgspec.convert(dict(trouble.reply), Reply)
    succeeds = not reply.hang and reply.status == Reply().status
    return Spell(
        tokens=tokens, from_s=trouble.from_s, to_s=trouble.to_s, reply=reply, succeeds=succeeds
    )


async def set_up(settings: TargetSettings, profile: Profile, receivers: Sequence[str]) -> Stage:
    """Make the endpoints, in turn at each receiver, and find what the mix needs.

    Raises Unreachable or Refused in words for the user.
    """
    stage = Stage(
        settings=settings, contract=contract_for(settings.dialect), receivers=tuple(receivers)
    )
    async with TargetClient(settings) as target:
        for number in range(profile.endpoints.count):
            await _place(stage, target, profile, number)
        await _find_calls(stage, target, profile, receivers[0])
    await asyncio.sleep(
        settings.dialect.delivery.visible_within_s
    )  # a new endpoint may receive only after this long
    return stage


async def _place(stage: Stage, target: TargetClient, profile: Profile, number: int) -> None:
    wanted, rules, worker = (
        profile.endpoints,
        stage.settings.dialect.signatures.secret,
        number % len(stage.receivers),
    )
    receiving = Receiving(
        token=f"{secrets.token_hex(4)}-{number}",
        secrets=(new_secret(rules.prefix, rules.form),),
        advanced=wanted.advanced_signatures,
        limited=number < wanted.limited,
    )
    body = {
        "name": f"hookproof load {number}",
        "owner_id": OWNER,
        "url": f"{stage.receivers[worker]}/{receiving.token}",
        "secret": receiving.secrets[0],
        "advanced_signatures": wanted.advanced_signatures,
        **limits_of(wanted, stage.settings.dialect, limited=receiving.limited),
    }
    made = await target.call("POST", stage.path("createEndpoint"), body)
    stage.endpoints.append(Placed(uid=str(made.get("uid", "")), worker=worker, receiving=receiving))


def limits_of(wanted: Endpoints, dialect: Dialect, *, limited: bool) -> dict[str, int]:
    """How fast an endpoint may be sent to, and for how long each delivery may take (section 8),
    where that is said.
    """
    found = {}
    if limited:
        found["rate_limit"] = wanted.rate_limit
        unit = dialect.delivery.rate_limit_unit
        found["rate_limit_duration"] = in_unit(wanted.rate_limit_duration_s, unit)
    if wanted.http_timeout_s is not None:
        least, most = dialect.requests.http_timeout_minimum, dialect.requests.http_timeout_maximum
        found["http_timeout"] = min(max(wanted.http_timeout_s, least), most)
    return found


async def _find_calls(
    stage: Stage, target: TargetClient, profile: Profile, sidecar_url: str
) -> None:
    """The calls of the operations of the mix."""
    stage.calls[BROADCAST] = stage.call(BROADCAST, (stage.path(BROADCAST),))
    if set(profile.mix) == {BROADCAST}:
        return
    dialect = stage.settings.dialect
    spare = {
        "name": "hookproof load spare",
        "owner_id": OWNER,
        "url": f"{sidecar_url}/{SPARE}",
        "is_disabled": True,
    }
    rolled = str((await target.call("POST", stage.path("createEndpoint"), spare)).get("uid", ""))
    uids = tuple(stage.path("getEndpoint", endpointID=one.uid) for one in stage.endpoints)
    rolls = tuple(
        {"secret": new_secret(dialect.signatures.secret.prefix, dialect.signatures.secret.form)}
        for _ in range(SECRETS_IN_TURN)
    )
    expires = {"expiration": expiration(dialect, 1)}
    stage.calls |= {
        "createEndpoint": stage.call("createEndpoint", (stage.path("createEndpoint"),), (spare,)),
        "getEndpoint": stage.call("getEndpoint", uids),
        "expireEndpointSecret": stage.call(
            "expireEndpointSecret",
            (stage.path("expireEndpointSecret", endpointID=rolled),),
            tuple({**roll, **expires} for roll in rolls),
        ),
        "listPortalLinks": stage.call("listPortalLinks", (stage.path("listPortalLinks"),)),
        "listSources": stage.call("listSources", (stage.path("listSources"),)),
    }
    await _find_portal_links(stage, target)


async def _find_portal_links(stage: Stage, target: TargetClient) -> None:
    """Portal links cannot be created (section 4), so those that are there are fetched and updated."""
    page = await target.call("GET", stage.path("listPortalLinks"))
    found: list[Mapping[str, Any]] = page.get("content") or []
    if not found:
        stage.left_out |= dict.fromkeys(
            ("getPortalLink", "updatePortalLink"), "the project has no portal link"
        )
        return
    uids = [str(link["uid"]) for link in found]
    bodies = tuple(
        {"name": link.get("name") or "hookproof load", "owner_id": link.get("owner_id") or OWNER}
        for link in found
    )
    for operation_id, texts in (("getPortalLink", ()), ("updatePortalLink", bodies)):
        paths = tuple(stage.path(operation_id, portalLinkID=uid) for uid in uids)
        stage.calls[operation_id] = stage.call(operation_id, paths, texts)


def in_unit(seconds: float, unit: TimeUnit) -> int:
    """A time in whole units, at least one (sections 4.3 and 8)."""
    return max(1, math.ceil(seconds / unit.in_seconds))


def expiration(dialect: Dialect, seconds: float) -> int:
    """The expiration of an old secret, as the dialect counts it, and no longer than it allows."""
    return min(
        in_unit(seconds, dialect.rolling.expiration_unit), dialect.requests.expiration_maximum
    )
