"""A plan: everything that a locust process needs to know of its share of one run.

The command arranges the run (endpoints, sidecars) with the project's ordinary clients; locust is in
processes of its own, since it patches whatever process imports it. A plan reaches them in a file or
as a message of Locust's. The target's key is in neither: each process has it from its environment.
"""

from typing import Any, Final

import msgspec

from hookproof.load.profile.schedule import Point, Shape
from hookproof.receiver.replies.script import Reply

KEY: Final = "{key}"


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One operation as it is sent; `statuses` are the dialect's successes, none for any of HTTP's.

    `paths` are tried in turn, and so are `bodies`, JSON texts, without which the request has no
    body.
    """

    method: str
    paths: tuple[str, ...]
    statuses: tuple[int, ...]
    bodies: tuple[str, ...] = ()


class Receiving(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint whose deliveries come to this worker's sidecar: by which token, and how they are
    signed.
    """

    token: str
    secrets: tuple[str, ...]
    advanced: bool
    limited: bool


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
    """From one second of the run to another these tokens are answered with a reply, which may count
    as success.
    """

    tokens: tuple[str, ...]
    from_s: float
    to_s: float
    reply: Reply
    succeeds: bool


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One worker's share of a run: of `workers` it is number `worker`, counted from 0.

    `points` are the corners of the whole run's rate, as (seconds, slots a second), and `users`
    those of all workers; `headers` go with each request, with `KEY` where the key belongs. `mix`
    weighs the `calls` by operationId. `broadcast` holds the members of a broadcast's body beside
    `data` and `idempotency_key`; `pad` fills its `data`. `endpoints` are those of this worker;
    `deliveries_each` is how many there are in all. Deliveries may come for `drain_s` seconds after
    the last answer; with `may_drop` some of them need not come at all.
    """

    run: str
    worker: int
    workers: int
    base_url: str
    headers: dict[str, str]
    points: tuple[tuple[float, float], ...]
    users: int
    mix: dict[str, float]
    calls: dict[str, Call]
    broadcast: dict[str, Any]
    pad: str
    endpoints: tuple[Receiving, ...]
    deliveries_each: int
    late_after_s: float
    drain_s: float
    may_drop: bool
    rolls: Rolls | None
    spells: tuple[Spell, ...]

    @property
    def shape(self) -> Shape:
        """The rate of the whole run."""
        return Shape(points=tuple(Point(at_s=at_s, rate=rate) for at_s, rate in self.points))

    def headers_with(self, key: str) -> dict[str, str]:
        """The headers of each request (section 5)."""
        return {name: value.replace(KEY, key) for name, value in self.headers.items()}
