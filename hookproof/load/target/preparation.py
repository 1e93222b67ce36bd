"""What happens before a run: endpoints that lead to the sidecars are created at the target.

Operations of the document are used, written as the target's dialect says, and what they cannot do
is done by the provision hooks of target.yaml. No operation deletes an endpoint, so the endpoints
serve all runs of a command.
"""

import asyncio
import math
import secrets
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, islice
from typing import Any, Final

import msgspec

from hookproof.load.plan import (
    LoadPlan,
    OperationTemplate,
    ReceivingEndpoint,
    ReplyPeriod,
    RolledEndpoint,
    SecretRolls,
    counts_as_delivered,
)
from hookproof.load.profile.load_profile import (
    BROADCAST,
    CREATION,
    LoadEndpointSettings,
    LoadProfile,
    Trouble,
)
from hookproof.load.target.client import TargetClient, TargetRefusal
from hookproof.load.target.hook_calls import HookCalls
from hookproof.load.target.settings import TargetSettings, new_secret
from hookproof.receiver.replies.script import Reply
from hookproof.spec.contract.service_contract import Contract, contract_for
from hookproof.spec.dialect.answer import Undecided
from hookproof.spec.dialect.groups.requests import least_expiration, most
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.retry_schedule import wait_before
from hookproof.spec.dialect.vocabulary import Excess, TimeUnit
from hookproof.spec.dialect.writer import written_dialect
from hookproof.target.file_schema import Presence
from hookproof.target.hooks.provision import HookFailed
from hookproof.target.hooks.wanted_resources import HOOKS
from hookproof.target.receiver_url import address_hint
from hookproof.target.shown_number import shown_number

OWNER: Final = "hookproof-load"
RATE_LIMIT: Final = "rate_limit"
HTTP_TIMEOUT: Final = "http_timeout"
ADVANCED: Final = "advanced_signatures"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedEndpoint:
    """An endpoint of the run: its uid at the target, and what its worker's sidecar must know.

    `uid` is empty if the target did not show it; `timeout_s` is how long it may take to answer a
    delivery, None if that is not known.
    """

    uid: str
    worker: int
    receiving: ReceivingEndpoint
    timeout_s: float | None = None

    @property
    def token(self) -> str:
        """The first path segment of its URL, which identifies its deliveries at the sidecar."""
        return self.receiving.token

    @property
    def limited(self) -> bool:
        return self.receiving.limited


@dataclass(slots=True, kw_only=True)
class EndpointCreator:
    """Creates the endpoints of a run, and has the hook called that lets each of them receive.

    A service without a licence for something, say for rate limits, refuses an endpoint that asks
    for it. It is asked again without that: the run says what was left out, and loads what there is.
    `left_out` says what the target has not, and why.
    """

    settings: TargetSettings
    target: TargetClient
    hooks: HookCalls
    path: str
    receivers: Sequence[str]
    left_out: dict[str, str] = field(default_factory=dict)

    async def create(self, wanted: LoadEndpointSettings, number: int) -> PlacedEndpoint:
        """Create an endpoint; raises Unreachable, TargetRefusal if it is refused altogether, and
        HookFailed if the hook has failed too often.
        """
        features = endpoint_features(wanted, self.settings.dialect, limited=number < wanted.limited)
        present = {name: body for name, body in features.items() if name not in self.left_out}
        refusal: TargetRefusal | None = None
        for dropped in self._droppable(present):
            asked = {name: body for name, body in present.items() if name not in dropped}
            try:
                placed = await self._create_with(asked, number)
            except TargetRefusal as refused:
                refusal = refusal or refused
                if not refused.has_no_effect:
                    break
                continue
            for name in dropped:
                self.left_out[name] = f"the target refuses an endpoint with it: {refusal}"
            return placed
        assert refusal is not None
        refusal.add_hint(address_hint(self.receivers[number % len(self.receivers)]))
        raise refusal

    def _droppable(self, features: Mapping[str, object]) -> list[tuple[str, ...]]:
        """What to ask for less, the least first; not what the target file promises."""
        promised = {
            name for name, word in self.settings.capabilities.items() if word is Presence.YES
        }
        names = [name for name in features if name not in promised]
        sizes = range(len(names) + 1)
        return list(chain.from_iterable(combinations(names, size) for size in sizes))

    async def _create_with(
        self, features: Mapping[str, Mapping[str, Any]], number: int
    ) -> PlacedEndpoint:
        rules = self.settings.dialect.signatures.secret
        worker = number % len(self.receivers)
        # A token of its own for each try: nobody listens for what a refused one may have left.
        token = f"{secrets.token_hex(4)}-{number}"
        receiving = ReceivingEndpoint(
            token=token,
            url=f"{self.receivers[worker]}/{token}",
            secrets=(new_secret(rules.prefix, rules.form),),
            advanced=ADVANCED in features,
            limited=RATE_LIMIT in features,
        )
        body = {
            "name": f"hookproof load {number}",
            "owner_id": OWNER,
            "url": receiving.url,
            "secret": receiving.secrets[0],
            ADVANCED: receiving.advanced,
            **{name: value for fields in features.values() for name, value in fields.items()},
        }
        created = await self.target.call("POST", self.path, body, needs_data=False)
        self.hooks.note_created(created, is_disabled=False)
        await self.hooks.after_endpoint_created(created)
        return PlacedEndpoint(
            uid=str(created.get("uid") or ""),
            worker=worker,
            receiving=receiving,
            timeout_s=self._timeout_s(created.get(HTTP_TIMEOUT), body.get(HTTP_TIMEOUT)),
        )

    def _timeout_s(self, shown: object, asked: object) -> float | None:
        """How long a delivery may take: as the target shows it, which need not be as asked."""
        default = self.settings.dialect.delivery.default_timeout_s
        for seconds in map(shown_number, (shown, asked)):
            if seconds is not None and seconds > 0:
                return seconds
        return float(default.value) if default.decided else None


def endpoint_features(
    wanted: LoadEndpointSettings, dialect: Dialect, *, limited: bool
) -> dict[str, dict[str, Any]]:
    """What an endpoint asks for beyond a URL and a secret, and the fields for it (section 8)."""
    features: dict[str, dict[str, Any]] = {}
    if limited:
        unit = dialect.delivery.rate_limit_unit
        features[RATE_LIMIT] = {
            RATE_LIMIT: wanted.rate_limit,
            "rate_limit_duration": in_unit(wanted.rate_limit_duration_s, unit),
        }
    if wanted.http_timeout_s is not None:
        least = dialect.requests.http_timeout_minimum
        largest = most(dialect.requests.http_timeout_maximum)
        features[HTTP_TIMEOUT] = {HTTP_TIMEOUT: min(max(wanted.http_timeout_s, least), largest)}
    if wanted.advanced_signatures:
        features[ADVANCED] = {}
    return features


def in_unit(seconds: float, unit: TimeUnit) -> int:
    """A time in whole units, at least one (sections 4.3 and 8)."""
    return max(1, math.ceil(seconds / unit.in_seconds))


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledList:
    """A list operation at its path, and the hook that may fill it; its failure is in `left_out`."""

    operation_id: str
    path: str
    target: TargetClient
    hooks: HookCalls
    left_out: MutableMapping[str, str]

    async def fetch(self) -> list[Any]:
        """The resources that the list shows, and those whose uid only the hook has shown.

        Raises Unreachable and TargetRefusal.
        """
        listed, hook = await self._listed(), HOOKS[self.operation_id]
        calls = self.hooks.counts[hook]
        try:
            created = await self.hooks.create_missing(self.operation_id, len(listed))
        except HookFailed as failure:
            self.left_out[hook], created = str(failure), []
        if self.hooks.counts[hook] > calls:
            listed = await self._listed()
        uids = [resource.get("uid") for resource in listed if isinstance(resource, dict)]
        return [*listed, *(resource for resource in created if resource["uid"] not in uids)]

    async def _listed(self) -> list[Any]:
        content = (await self.target.call("GET", self.path)).get("content")
        return content if isinstance(content, list) else []


# The token of the endpoints that the mix creates: they are disabled, and nothing there is counted.
SPARE: Final = "spare"
SECRETS_IN_TURN: Final = 64
NO_UID: Final = "the answer to createEndpoint shows no uid"
ON_PORTAL_LINKS: Final = ("listPortalLinks", "getPortalLink", "updatePortalLink")
# What a run leaves out for a target that lacks a capability; no run asks for the others, such as
# oauth2 and mtls.
LACKING: Final[Mapping[str, tuple[str, ...]]] = {
    "portal_links": ON_PORTAL_LINKS,
    "sources": ("listSources",),
    "rate_limit": (RATE_LIMIT,),
}
# The figures of limited endpoints.
LIMIT_FIGURES: Final = frozenset({"overshoot", "allowance_used", "fairness"})
# The approximate size of a mark without its padding.
MARK_BYTES: Final = 110
ROLL: Final = "expireEndpointSecret"
EVENT_TYPE: Final = "hookproof.load"


@dataclass(slots=True, kw_only=True)
class LoadPreparation:
    """What the runs of a command share.

    `left_out` says which operations cannot be sent to this target and what its endpoints cannot
    have, and why. `receivers` are the URLs of the sidecars, one for each worker.
    """

    settings: TargetSettings
    contract: Contract
    receivers: tuple[str, ...]
    hooks: HookCalls
    endpoints: list[PlacedEndpoint] = field(default_factory=list)
    calls: dict[str, OperationTemplate] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    def fitted(self, profile: LoadProfile) -> LoadProfile:
        """The profile without limited endpoints and their thresholds, if the target has none."""
        if not profile.endpoints.limited or RATE_LIMIT not in self.left_out:
            return profile
        return replace(
            profile,
            endpoints=replace(profile.endpoints, limited=0),
            fail_if=tuple(
                threshold for threshold in profile.fail_if if threshold.figure not in LIMIT_FIGURES
            ),
        )

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
            pad="x" * max(0, profile.payload_bytes - MARK_BYTES),
            payload=None if profile.payload is None else dict(profile.payload),
            dialect=written_dialect(self.settings.dialect),
            endpoints=tuple(endpoint.receiving for endpoint in self._endpoints_of(worker)),
            deliveries_each=len(self.endpoints),
            late_after_s=profile.late_after_s,
            timeout_s=delivery_timeout_s(profile, self.settings.dialect),
            drain_s=profile.drain_s,
            drain_at_most_s=profile.longest_drain_s,
            pause_s=longest_pause_s(profile, self.settings.dialect),
            may_drop=profile.endpoints.limited > 0
            and self.settings.dialect.delivery.excess.allows(Excess.DROPPED),
            rolls=self._rolls(profile, worker),
            reply_periods=tuple(self._reply_periods(profile, worker)),
        )

    def check(self, profile: LoadProfile) -> None:
        """Raise TargetRefusal if the target has nothing for what the profile is about."""
        if all(name in self.left_out for name in profile.mix):
            raise TargetRefusal(
                "nothing of the profile's mix can be sent to this target:"
                f" {'; '.join(dict.fromkeys(self.left_out[name] for name in profile.mix))}"
            )
        if profile.roll is not None and not all(endpoint.uid for endpoint in self.endpoints):
            raise TargetRefusal(f"secrets cannot be rolled: {NO_UID}")

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
        rules = self.settings.dialect.signatures.secret
        return SecretRolls(
            every_s=profile.roll.every_s,
            expiration=expiration(self.settings.dialect, profile.roll.expiration_s),
            endpoints=tuple(
                RolledEndpoint(
                    path=self.path(ROLL, endpointID=endpoint.uid),
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
            here = [endpoint for endpoint in troubled if endpoint.worker == worker]
            if here:
                reply_periods.append(_reply_period(trouble, here, self.settings.dialect))
        return reply_periods


def _reply_period(
    trouble: Trouble, endpoints: Sequence[PlacedEndpoint], dialect: Dialect
) -> ReplyPeriod:
    reply = msgspec.convert(dict(trouble.reply), Reply)
    patience_s = min(
        (endpoint.timeout_s for endpoint in endpoints if endpoint.timeout_s is not None),
        default=math.inf,
    )
    return ReplyPeriod(
        tokens=tuple(endpoint.token for endpoint in endpoints),
        from_s=trouble.from_s,
        to_s=trouble.to_s,
        reply=reply,
        succeeds=counts_as_delivered(reply, dialect, patience_s),
    )


def longest_pause_s(profile: LoadProfile, dialect: Dialect) -> float:
    """The longest pause between two deliveries that the profile itself makes, in seconds.

    It is that of a rate limit, or of the retries after a trouble (sections 1 and 8).
    """
    pauses, retry = [0.0], dialect.retry
    if profile.endpoints.limited:
        pauses.append(profile.endpoints.rate_limit_duration_s)
    if profile.trouble:
        with suppress(Undecided):
            pauses.append(wait_before(retry, max(2, retry.attempts.value)).longest_s)
    return max(pauses)


def delivery_timeout_s(profile: LoadProfile, dialect: Dialect) -> float:
    """How long the target waits for the answer to a delivery, 0 if that is not known."""
    default = dialect.delivery.default_timeout_s
    return profile.endpoints.http_timeout_s or (default.value if default.decided else 0)


def _declared(settings: TargetSettings) -> dict[str, str]:
    """What the target file says and a run leaves out, by operation or feature."""
    return dict(settings.unused) | {
        name: f"the target lacks {capability} (capabilities in target.yaml)"
        for capability, names in LACKING.items()
        if settings.capabilities.get(capability) is Presence.NO
        for name in names
    }


async def prepare(
    settings: TargetSettings, profile: LoadProfile, receivers: Sequence[str], hooks: HookCalls
) -> LoadPreparation:
    """Create the endpoints, in turn at each receiver, and find what the mix needs.

    Raises Unreachable, TargetRefusal and HookFailed.
    """
    preparation = LoadPreparation(
        settings=settings,
        contract=contract_for(settings.dialect),
        receivers=tuple(receivers),
        hooks=hooks,
    )
    async with TargetClient(settings, hooks.mask) as target:
        preparation.left_out |= _declared(settings)
        creation = EndpointCreator(
            settings=settings,
            target=target,
            hooks=preparation.hooks,
            path=preparation.path(CREATION),
            receivers=receivers,
            left_out=preparation.left_out,
        )
        for number in range(profile.endpoints.count):
            preparation.endpoints.append(await creation.create(profile.endpoints, number))
        preparation.hooks.check_endpoints()
        await _find_calls(preparation, target, profile, receivers[0])
    preparation.check(profile)
    # The dialect's own time: a new endpoint may receive only after it.
    await asyncio.sleep(settings.dialect.delivery.visible_within_s)
    return preparation


async def _find_calls(
    preparation: LoadPreparation, target: TargetClient, profile: LoadProfile, sidecar_url: str
) -> None:
    """Prepare the calls of the operations of the mix."""
    preparation.calls[BROADCAST] = preparation.call(BROADCAST, (preparation.path(BROADCAST),))
    if profile.roll is not None:
        preparation.calls[ROLL] = preparation.call(ROLL, ())
    if set(profile.mix) == {BROADCAST}:
        return
    dialect = preparation.settings.dialect
    spare = {
        "name": "hookproof load spare",
        "owner_id": OWNER,
        "url": f"{sidecar_url}/{SPARE}",
        "is_disabled": True,
    }
    created = await target.call("POST", preparation.path(CREATION), spare, needs_data=False)
    preparation.hooks.note_created(created, is_disabled=True)
    rolled_uid = str(created.get("uid") or "")
    endpoint_paths = tuple(
        preparation.path("getEndpoint", endpointID=endpoint.uid)
        for endpoint in preparation.endpoints
        if endpoint.uid
    )
    if not endpoint_paths:
        preparation.left_out["getEndpoint"] = NO_UID
    if not rolled_uid:
        preparation.left_out[ROLL] = NO_UID
    rules = dialect.signatures.secret
    rolls = tuple(
        {"secret": new_secret(rules.prefix, rules.form), "expiration": expiration(dialect, 1)}
        for _ in range(SECRETS_IN_TURN)
    )
    preparation.calls |= {
        CREATION: preparation.call(CREATION, (preparation.path(CREATION),), (spare,)),
        "getEndpoint": preparation.call("getEndpoint", endpoint_paths),
        ROLL: preparation.call(
            ROLL,
            (preparation.path(ROLL, endpointID=rolled_uid),),
            rolls,
        ),
        "listPortalLinks": preparation.call(
            "listPortalLinks", (preparation.path("listPortalLinks"),)
        ),
        "listSources": preparation.call("listSources", (preparation.path("listSources"),)),
    }
    if "listSources" in profile.mix and "listSources" not in preparation.left_out:
        await _find_sources(preparation, target)
    if any(name in profile.mix for name in ON_PORTAL_LINKS):
        await _find_portal_links(preparation, target)


def _filled_list(
    preparation: LoadPreparation, target: TargetClient, operation_id: str
) -> FilledList:
    return FilledList(
        operation_id=operation_id,
        path=preparation.path(operation_id),
        target=target,
        hooks=preparation.hooks,
        left_out=preparation.left_out,
    )


async def _find_sources(preparation: LoadPreparation, target: TargetClient) -> None:
    try:
        await _filled_list(preparation, target, "listSources").fetch()
    except TargetRefusal as refused:
        preparation.left_out["listSources"] = str(refused)


async def _find_portal_links(preparation: LoadPreparation, target: TargetClient) -> None:
    """Fetch the portal links to be updated; only a hook can create them (section 4)."""
    if "listPortalLinks" in preparation.left_out:
        return
    try:
        listed = await _filled_list(preparation, target, "listPortalLinks").fetch()
    except TargetRefusal as refused:
        preparation.left_out |= dict.fromkeys(ON_PORTAL_LINKS, str(refused))
        return
    portal_links = [link for link in listed if isinstance(link, dict) and link.get("uid")]
    if not portal_links:
        preparation.left_out |= dict.fromkeys(
            ("getPortalLink", "updatePortalLink"), "the list shows no portal link with a uid"
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


def expiration(dialect: Dialect, seconds: float) -> int:
    """The expiration of an old secret in the dialect's unit, within the dialect's bounds."""
    wanted = in_unit(seconds, dialect.rolling.expiration_unit)
    rules = dialect.requests
    return min(max(wanted, least_expiration(rules)), most(rules.expiration_maximum))
