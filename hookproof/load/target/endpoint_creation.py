"""The endpoints of a run, created at the target (section 4.1) as far as it has what they ask for.

A service without a licence for something, say for rate limits, refuses an endpoint that asks for
it. It is asked again without that: the run says what was left out, and loads what there is.
"""

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import Any, Final

from hookproof.load.plan import ReceivingEndpoint
from hookproof.load.profile.load_profile import LoadEndpointSettings
from hookproof.load.target.client import TargetClient, TargetRefusal
from hookproof.load.target.hook_calls import HookCalls
from hookproof.load.target.settings import TargetSettings
from hookproof.load.target.signing_secret import new_secret
from hookproof.spec.dialect.groups.requests import most
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import TimeUnit
from hookproof.target.file_schema import Presence
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
        receiving = ReceivingEndpoint(
            token=f"{secrets.token_hex(4)}-{number}",
            secrets=(new_secret(rules.prefix, rules.form),),
            advanced=ADVANCED in features,
            limited=RATE_LIMIT in features,
        )
        body = {
            "name": f"hookproof load {number}",
            "owner_id": OWNER,
            "url": f"{self.receivers[worker]}/{receiving.token}",
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
