"""A plan: everything that the locust process needs to know of one run, handed over as one JSON file.

The command arranges the run (endpoints, sidecar) with the project's ordinary clients; only then does locust start, in a
process of its own, since it patches whatever process imports it.
"""

from pathlib import Path
from typing import Any

import msgspec

from receiver.script import Reply


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One operation as it is sent; `statuses` are the dialect's successes, none for any of HTTP's.

    `paths` are tried in turn, and so are `bodies`, JSON texts, without which the request has no body.
    """

    method: str
    paths: tuple[str, ...]
    statuses: tuple[int, ...]
    bodies: tuple[str, ...] = ()


class Rolled(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint whose secret is rolled: where (section 4.3), and its token at the sidecar."""

    path: str
    token: str


class Rolls(msgspec.Struct, frozen=True, kw_only=True):
    """Every so many seconds each endpoint gets a new secret; `expiration` is in the dialect's unit."""

    every_s: float
    method: str
    statuses: tuple[int, ...]
    expiration: int
    endpoints: tuple[Rolled, ...]
    secret_prefix: str
    secret_form: str


class Spell(msgspec.Struct, frozen=True, kw_only=True):
    """From one second of the run to another these tokens are answered with a reply, which may count as success."""

    tokens: tuple[str, ...]
    from_s: float
    to_s: float
    reply: Reply
    succeeds: bool


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One run: `points` are the corners of its rate, as (seconds, slots a second); `headers` go with each request.

    `mix` weighs the `calls` by operationId. `broadcast` holds the members of a broadcast's body beside `data` and
    `idempotency_key`; `pad` fills its `data`. Deliveries may come for `drain_s` seconds after the last answer; with
    `may_drop` some of them need not come at all.
    """

    run: str
    base_url: str
    headers: dict[str, str]
    points: tuple[tuple[float, float], ...]
    users: int
    mix: dict[str, float]
    calls: dict[str, Call]
    broadcast: dict[str, Any]
    pad: str
    control_url: str
    deliveries_each: int
    drain_s: float
    may_drop: bool
    rolls: Rolls | None
    spells: tuple[Spell, ...]

    def write(self, path: Path) -> None:
        """Write the plan so that only its owner can read it: it holds a key."""
        path.touch(mode=0o600)
        path.write_bytes(msgspec.json.encode(self))

    @classmethod
    def read(cls, path: Path) -> "Plan":
        """The plan that `write` wrote."""
        return msgspec.json.decode(path.read_bytes(), type=cls)
