"""A token of the receiver that answers as a token server, and endpoints that use it (section 2.5).

Answers hold a decoy under every name that `field_mapping` does not give.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hookproof.conformance.experiments.scenario import Delivered, Scenario
from hookproof.conformance.observations.destinations import AUTHORIZED, DECOY, Destination
from hookproof.receiver.replies.script import Reply
from hookproof.spec.dialect.vocabulary import TimeUnit

STANDARD_FIELDS: Final = {
    "access_token": "access_token",
    "expires_in": "expires_in",
    "token_type": "token_type",
}
MAPPED_FIELDS: Final = {"access_token": "issued", "expires_in": "lifetime", "token_type": "kind"}
GRANT: Final = "client_credentials"
BEARER: Final = "Bearer"
LONG_LIFE_S: Final = 3600
SHORT_LIFE_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryUnit:
    """A unit of lifetimes, and the dialect's word for it; None if it has none."""

    word: str | None
    unit: TimeUnit

    def at_least(self, seconds: float) -> int:
        """The smallest whole number of this unit that lasts so long."""
        return math.ceil(seconds / self.unit.in_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedTokenServer:
    """A token of the receiver with its URL, and the access tokens that it issues, in order.

    The last of them is issued again and again. `mapping` is the field_mapping that its answers
    need, `first_life_s` how long the first token is valid.
    """

    token: str
    url: str
    issued: tuple[str, ...]
    expiry: ExpiryUnit
    first_life_s: float
    mapping: Mapping[str, str] | None

    @property
    def members(self) -> dict[str, Any]:
        """The members of oauth2 by which its answers are read."""
        mapping = {} if self.mapping is None else {"field_mapping": dict(self.mapping)}
        return {"expiry_time_unit": self.expiry.word, **mapping}


async def new_token_server(
    scenario: Scenario,
    *,
    mapping: Mapping[str, str] | None = None,
    expiry: ExpiryUnit | None = None,
    first_life_s: float = LONG_LIFE_S,
    later_life_s: float = LONG_LIFE_S,
    token_type: str = BEARER,
    count: int = 4,
) -> ScriptedTokenServer:
    """A token server with so many access tokens; the first may end sooner than the others."""
    scenario.context.require_capability("oauth2")
    expiry = expiry or usual_unit(scenario)
    server = await scenario.context.receiver.new_token()
    issued = tuple(scenario.bodies.word("issued") for _ in range(count))
    long_life = expiry.at_least(LONG_LIFE_S)
    lifetimes = [
        expiry.at_least(first_life_s),
        *[expiry.at_least(later_life_s)] * (count - 1),
    ]
    fields = {**STANDARD_FIELDS, **(mapping or {})}
    wrong = {"access_token": DECOY, "expires_in": long_life, "token_type": DECOY}
    decoys = {name: value for name, value in wrong.items() if name not in fields.values()}
    replies = [
        Reply(
            headers=(("Content-Type", "application/json"),),
            body=json.dumps(
                {
                    **decoys,
                    fields["access_token"]: access_token,
                    fields["expires_in"]: expires_in,
                    fields["token_type"]: token_type,
                }
            ),
        )
        for access_token, expires_in in zip(issued, lifetimes, strict=True)
    ]
    await scenario.context.receiver.script(server.token, replies)
    return ScriptedTokenServer(
        token=server.token,
        url=server.url,
        issued=issued,
        expiry=expiry,
        first_life_s=lifetimes[0] * expiry.unit.in_seconds,
        mapping=mapping,
    )


async def authorized_destination(
    scenario: Scenario,
    server: ScriptedTokenServer,
    *,
    replies: Sequence[Reply] = (),
    **further: Any,
) -> Destination:
    """A new endpoint whose access tokens come from this server, and that replies so.

    `further` members of oauth2 replace the usual ones; None leaves one out.
    """
    members = {**server.members, **further}
    return await scenario.destination(
        AUTHORIZED,
        replies=replies,
        authentication=oauth2_towards(scenario, server.url, **members),
    )


def oauth2_towards(scenario: Scenario, url: str, **further: Any) -> dict[str, Any]:
    """An authentication object with oauth2 and this token URL.

    `further` members of oauth2 replace the usual ones; None leaves one out.
    """
    usual = {
        "url": url,
        "authentication_type": scenario.dialect.words.oauth2_shared_secret,
        "client_id": scenario.bodies.word("client"),
        "client_secret": scenario.bodies.word("shared"),
        "grant_type": GRANT,
        "scope": scenario.bodies.word("scope"),
        "audience": scenario.bodies.word("audience"),
        "expiry_time_unit": usual_unit(scenario).word,
    }
    members = {name: value for name, value in {**usual, **further}.items() if value is not None}
    return {"type": scenario.dialect.words.auth_oauth2, "oauth2": members}


def usual_unit(scenario: Scenario) -> ExpiryUnit:
    """Seconds if the dialect has a word for them in expiry_time_unit, otherwise its shortest unit.

    A token response is in seconds where nobody says otherwise (RFC 6749, section 5.1).
    """
    units = scenario.dialect.words.oauth2_expiry_units
    word = next((word for word, unit in units.items() if unit is TimeUnit.SECONDS), None)
    if units and word is None:
        return shortest_unit(scenario)
    return ExpiryUnit(word=word, unit=TimeUnit.SECONDS)


def shortest_unit(scenario: Scenario) -> ExpiryUnit:
    """The shortest unit that the dialect has a word for in expiry_time_unit."""
    units = scenario.dialect.words.oauth2_expiry_units
    if not units:
        return ExpiryUnit(word=None, unit=TimeUnit.SECONDS)
    word, unit = min(units.items(), key=lambda item: item[1].in_seconds)
    return ExpiryUnit(word=word, unit=unit)


async def observe_tokens(
    scenario: Scenario, observation: type[Delivered], server: ScriptedTokenServer, **fields: Any
) -> Delivered:
    """An observation with what arrived at the token server."""
    await scenario.trial.arrivals(server.token, count=0, timeout_s=0)
    return await scenario.observe(
        observation, token_server=server.token, issued=server.issued, **fields
    )
