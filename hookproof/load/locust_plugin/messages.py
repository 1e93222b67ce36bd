"""The messages of a test, which go over Locust's own connection (`Runner.send_message`).

A test of one process uses them too: its runner hands each message to its own listeners. No key of a
target and no secret that an endpoint has from the beginning is in them. A secret that a worker
rolls is: the connection is plain text without a password, and belongs in a trusted network.
"""

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from hookproof.load.latency import Buckets
from hookproof.load.ledger.balance import Explanations
from hookproof.load.plan import LoadPlan
from hookproof.load.profile.load_profile import LoadEndpointSettings

# From a process with users to the head: it takes part; it cannot; it needs more numbers; a secret
# is about to be rolled; what became of its broadcasts; and the same for the last time.
JOIN: Final = "hookproof-join"
PROBLEM: Final = "hookproof-problem"
NUMBERS: Final = "hookproof-numbers"
SECRET: Final = "hookproof-secret"  # noqa: S105 - the name of a message
STATES: Final = "hookproof-states"
CEASED: Final = "hookproof-ceased"
# From the head: the plan of the test; numbers; the receiver knows a secret; send no more.
PLAN: Final = "hookproof-plan"
BLOCK: Final = "hookproof-block"
SECRET_KNOWN: Final = "hookproof-secret-known"  # noqa: S105
CEASE: Final = "hookproof-cease"

# The numbers of a test are given to its processes in blocks of so many.
BLOCK_SIZE: Final = 10_000

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


def clock_name() -> str:
    """The name of this machine's clock: the same for all processes that read this clock."""
    try:
        return _BOOT.read_text("ascii").strip()
    except (OSError, ValueError):
        return socket.gethostname()


class ReceivingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a receiving process is to prepare, a line of JSON on its standard input.

    Without a host, and without one in the target file, it is the embedded server if that
    `may_be_embedded`. The receiver's figures are served for Prometheus at `metrics`.
    """

    host: str | None
    may_be_embedded: bool
    endpoints: LoadEndpointSettings
    payload_bytes: int
    expiration_s: int
    drain_s: float
    drain_at_most_s: float | None
    metrics: str | None = None


class ReceivingReady(msgspec.Struct, frozen=True, kw_only=True):
    """What it has prepared, a line of JSON on its standard output: a plan without a run.

    `control_url` is that of the receiver's control API; `variables` are those of the environment of
    a process that sends requests; `left_out` says what the target has not, and why.
    """

    control_url: str
    plan: LoadPlan
    variables: dict[str, str]
    explanations: Explanations
    rate_limit: int
    rate_limit_s: float
    left_out: dict[str, str]


class SenderFigures(msgspec.Struct, kw_only=True):
    """What a process with users counts of itself, as in `RunProgress`."""

    limited: int = 0
    answering: Buckets = msgspec.field(default_factory=Buckets)
    lateness: Buckets = msgspec.field(default_factory=Buckets)
    cpu_s: float = 0.0


class NothingReady(msgspec.Struct, frozen=True, kw_only=True):
    """Why nothing can be loaded, in place of a `ReceivingReady`."""

    problem: str
    exit_code: int


def field_of(message: Any, name: str) -> Any:
    """A field of a message of Locust's."""
    data: Mapping[str, Any] = message.data
    return data[name]
