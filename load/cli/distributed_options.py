"""How a load run is spread over processes and machines, as the command line says it; and a worker's
own command.
"""

import os
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import click

from hookproof.load.distributed.workers import Spread, worker_options
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
        "--master", is_flag=True, help="Lead workers on other machines (see --expect-workers)."
    ),
    click.option(
        "--expect-workers",
        type=click.IntRange(1, MOST_WORKERS),
        help="How many a master waits for.",
    ),
    click.option(
        "--master-bind",
        default=f"127.0.0.1:{MASTER_PORT}",
        show_default=True,
        metavar="H:P",
        help="Where a master listens for workers. The line is in clear: only in a network that you trust.",
    ),
    click.option(
        "--wait-for-workers",
        default=WAIT_S,
        show_default=True,
        type=click.FloatRange(1, 86_400),
        metavar="SECONDS",
        help="How long a master waits for them.",
    ),
    click.option("--worker", is_flag=True, help="Work for a master, which says what is sent."),
    click.option(
        "--master-host",
        default="127.0.0.1",
        show_default=True,
        help="Where a worker finds its master.",
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
        "--web-bind", default=WEB, show_default=True, metavar="H:P", help="Where that page is."
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadFlags:
    """What the command line says of processes and machines."""

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

    def spread(self, settings: TargetSettings) -> Spread | None:
        """How the run is spread, None for one process; raises CommandError for what does not fit
        together.
        """
        if self.expect_workers is not None and not self.master:
            raise CommandError(
                "--expect-workers is for a --master; --processes starts workers on this machine"
            )
        if not self.master:
            alone = self.processes in {None, 1}
            return (
                None
                if alone
                else Spread(
                    workers=self.processes or 1, local=True, bind=LOCAL, within_s=LOCAL_WAIT_S
                )
            )
        if self.processes is not None:
            raise CommandError(
                "a --master starts no workers itself: leave out --processes, or --master"
            )
        if self.expect_workers is None:
            raise CommandError(
                "a --master needs --expect-workers N, so that it knows when all are there"
            )
        if settings.base_url is None:
            raise CommandError(
                "a --master needs a target (--url or --target): the embedded server is for this machine alone"
            )
        _checked(self.master_bind)
        return Spread(
            workers=self.expect_workers,
            local=False,
            bind=self.master_bind,
            within_s=self.wait_for_workers,
        )

    def web_address(self) -> str | None:
        """Where the web page is to be; raises CommandError for what is no address, or one that is
        taken.
        """
        return _free(_checked(self.web_bind)) if self.web else None

    @property
    def master_address(self) -> str:
        """Where a worker finds its master."""
        host = f"[{self.master_host}]" if ":" in self.master_host else self.master_host
        return f"{host}:{self.master_port}"


def spread_options(command: F) -> F:
    """The options of `SpreadFlags`, in the order in which help shows them."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def become_worker(settings: TargetSettings, flags: SpreadFlags, may_load: str | None) -> None:
    """Be a worker process from now on; raises CommandError for what it lacks, and does not return
    otherwise.
    """
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
    sys.stdout.flush()
    variables = {**os.environ, KEY_VARIABLE: settings.api_key}
    os.execve(  # noqa: S606
        MODULE[0], [*MODULE, "hookproof.load.distributed.worker_process", *options], variables
    )


def _free(address: str) -> str:
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


def _checked(address: str) -> str:
    try:
        Address.parse(address)
    except ValueError as wrong:
        raise CommandError(str(wrong)) from None
    return address
