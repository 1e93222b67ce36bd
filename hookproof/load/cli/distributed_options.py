"""The options of `hookproof load` for several processes or machines, and the start of a worker."""

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import click

from hookproof.load.distributed.workers import Distribution, worker_options
from hookproof.load.metrics import next_address
from hookproof.load.single_process import MODULE
from hookproof.load.target.settings import KEY_VARIABLE, TargetSettings
from hookproof.process.exit_codes import CommandError
from hookproof.receiver.http.address import Address

MOST_WORKERS: Final = 256
MASTER_PORT: Final = 5557
WEB: Final = "127.0.0.1:8089"
LOCAL: Final = "127.0.0.1:0"
WAIT_S: Final = 300.0
LOCAL_WAIT_S: Final = 300.0

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS: Final = (
    click.option(
        "--processes",
        "--workers",
        "processes",
        type=click.IntRange(1, MOST_WORKERS),
        help="Worker processes on this machine, each with a receiver; they share rate and users.",
    ),
    click.option(
        "--master",
        is_flag=True,
        help="Be the master of workers on other machines (see --expect-workers).",
    ),
    click.option(
        "--expect-workers",
        type=click.IntRange(1, MOST_WORKERS),
        help="How many workers a master waits for.",
    ),
    click.option(
        "--master-bind",
        default=f"127.0.0.1:{MASTER_PORT}",
        show_default=True,
        metavar="H:P",
        help="Where a master listens for workers, unencrypted: only in a network that you trust.",
    ),
    click.option(
        "--wait-for-workers",
        default=WAIT_S,
        show_default=True,
        type=click.FloatRange(1, 86_400),
        metavar="SECONDS",
        help="How long a master waits for them.",
    ),
    click.option(
        "--worker", is_flag=True, help="Be a worker of a master, which decides what is sent."
    ),
    click.option(
        "--master-host",
        default="127.0.0.1",
        show_default=True,
        help="Host of a worker's master.",
    ),
    click.option(
        "--master-port", default=MASTER_PORT, show_default=True, type=click.IntRange(1, 65_535)
    ),
    click.option(
        "--web",
        is_flag=True,
        help="Show Locust's web page, with the deliveries, while the run lasts.",
    ),
    click.option(
        "--web-bind", default=WEB, show_default=True, metavar="H:P", help="Address of that page."
    ),
    click.option(
        "--otel",
        is_flag=True,
        help="Trace requests and deliveries by OpenTelemetry, to the exporter that OTEL_* names.",
    ),
    click.option(
        "--metrics",
        metavar="H:P",
        help="Serve figures for Prometheus here, and those of each receiver at the next port.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributedFlags:
    """The options for several processes and machines."""

    processes: int | None
    master: bool
    expect_workers: int | None
    master_bind: str
    wait_for_workers: float
    worker: bool
    master_host: str
    master_port: int
    web: bool
    web_bind: str
    metrics: str | None
    otel: bool

    def distribution(self, settings: TargetSettings) -> Distribution | None:
        """How the run is distributed, None for one process; raises CommandError."""
        if self.expect_workers is not None and not self.master:
            raise CommandError(
                "--expect-workers is for a --master; --processes starts workers on this machine"
            )
        if not self.master:
            if self.processes is None or self.processes == 1:
                return None
            return Distribution(
                workers=self.processes, local=True, bind=LOCAL, within_s=LOCAL_WAIT_S
            )
        if self.processes is not None:
            raise CommandError(
                "a --master does not start workers: leave out --processes, or --master"
            )
        if self.expect_workers is None:
            raise CommandError(
                "a --master needs --expect-workers N, to know when all have connected"
            )
        if settings.base_url is None:
            raise CommandError(
                "a --master needs a target (--url or --target):"
                " the embedded server is for this machine only"
            )
        _check_address(self.master_bind)
        return Distribution(
            workers=self.expect_workers,
            local=False,
            bind=self.master_bind,
            within_s=self.wait_for_workers,
        )

    def web_address(self) -> str | None:
        """The address of the web page; raises CommandError if it is not an address or is in use."""
        return _check_free(_check_address(self.web_bind)) if self.web else None

    def with_monitoring(self, settings: TargetSettings) -> TargetSettings:
        """The settings with what is told to others while a run lasts; raises CommandError."""
        settings = replace(settings, otel=self.otel)
        if self.metrics is None:
            return settings
        _check_address(self.metrics)
        further = 0 if self.worker else 1
        return replace(settings, metrics=next_address(self.metrics, further))

    @property
    def master_address(self) -> str:
        host = f"[{self.master_host}]" if ":" in self.master_host else self.master_host
        return f"{host}:{self.master_port}"


def distributed_options(command: F) -> F:
    """Add the options of `DistributedFlags` to a command, in the order in which help shows them."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def become_worker(settings: TargetSettings, flags: DistributedFlags, may_load: str | None) -> None:
    """Replace this process by a worker; raises CommandError for what it lacks."""
    if flags.master or flags.processes is not None or flags.web:
        raise CommandError(
            "a --worker works for a master elsewhere: leave out --master, --processes and --web"
        )
    if settings.ca_dir is None:
        raise CommandError("a --worker needs --ca-dir, the folder of the CA that the target trusts")
    if not settings.api_key:
        raise CommandError(
            f"a --worker needs the target's key itself: --api-key, or {KEY_VARIABLE}"
        )
    if settings.dialect_source is None:
        raise CommandError(
            "a --worker needs its dialect by name or in a file of its own, not as a mapping in the"
            " target file: give --dialect"
        )
    options = worker_options(
        settings, master=flags.master_address, ca_dir=settings.ca_dir, may_load=may_load
    )
    variables = {**os.environ, **settings.variables}
    os.execve(  # noqa: S606
        MODULE[0], [*MODULE, "hookproof.load.distributed.worker_process", *options], variables
    )


def _check_free(address: str) -> str:
    at = Address.parse(address)
    try:
        socket.create_server(
            (at.host, at.port), family=socket.AF_INET6 if ":" in at.host else socket.AF_INET
        ).close()
    except OSError as problem:
        raise CommandError(
            f"--web: cannot listen on {address}: {problem.strerror or problem}"
        ) from None
    return address


def _check_address(address: str) -> str:
    try:
        Address.parse(address)
    except ValueError as problem:
        raise CommandError(str(problem)) from None
    return address
