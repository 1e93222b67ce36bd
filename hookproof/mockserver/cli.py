"""`hookproof serve`: runs the reference server as a process. Start reading at `serve`."""

import asyncio
import gc
import json
import logging
import signal
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final

import click
import uvloop

from hookproof.control.same_origin import NAME_OPTION
from hookproof.help_examples import examples
from hookproof.mockserver.app import REQUEST_S, App, create_app
from hookproof.mockserver.control.fixtures import BadRecord
from hookproof.mockserver.delivery.http_client.egress import Network
from hookproof.mockserver.faults.live import BadOrder
from hookproof.mockserver.faults.selection import (
    ChosenFaults,
    parse_fault_options,
    render_fault_list,
    render_generated,
)
from hookproof.mockserver.fixture_file import DEFAULT_PATH, ProjectFixtures, read_fixtures
from hookproof.mockserver.notifications.channels import SENDER, MailServer, parse_mailbox
from hookproof.mockserver.project_file import read_projects
from hookproof.mockserver.store.database import IN_MEMORY, UnusableDatabase
from hookproof.process.exit_codes import CommandError
from hookproof.process.messages import MessageHandler, print_document, print_line
from hookproof.process.standard_streams import UNTIL_STDIN_CLOSES, call_at_end_of_input
from hookproof.process.stop_signals import STOPPING
from hookproof.process.subprocesses import PROJECTS_VARIABLE
from hookproof.process.system_resources import raise_descriptor_limit
from hookproof.spec.completion import complete_dialect
from hookproof.spec.dialect.answer import Undecided
from hookproof.spec.dialect.answers import first_of, require_decided
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_decided_dialect, load_dialect
from hookproof.spec.strict_yaml.reader import FileProblems

_LAST_PORT: Final = 65535


class HostPort(click.ParamType[tuple[str, int]]):
    name = "HOST:PORT"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        if isinstance(value, tuple):  # click converts a default twice
            return value
        host, _, port = str(value).rpartition(":")
        if not host or not port.isdecimal() or int(port) > _LAST_PORT:
            self.fail(f"{value!r} is not of the form HOST:PORT", param, ctx)
        return host.strip("[]"), int(port)


class NetworkType(click.ParamType[Network]):
    name = "CIDR"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Network:
        try:
            return ip_network(value)
        except ValueError as problem:
            self.fail(str(problem), param, ctx)


class MailboxType(click.ParamType[str]):
    name = "ADDRESS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            parse_mailbox(value)
        except ValueError as problem:
            self.fail(f"{value!r} is not an e-mail address: {problem}", param, ctx)
        return str(value)


class ProjectKey(click.ParamType[tuple[str, str]]):
    name = "ID=KEY"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):  # click converts a default twice
            return value
        project, equals, key = str(value).partition("=")
        if not (project and equals and key):
            # The message does not quote the value: it may be a key.
            self.fail("a project is given as ID=KEY", param, ctx)
        return project, key


_DEFAULT_PROJECTS: Final = {"demo": ("demo-key",)}
_COLLECT_AFTER: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """The command line, parsed. `api` and `control` are host and port."""

    api: tuple[str, int]
    control: tuple[str, int]
    control_names: tuple[str, ...]
    dialect: Dialect
    projects: Mapping[str, Sequence[str]]
    fixtures: ProjectFixtures
    database: str
    seed: int | None
    ca_file: Path | None
    egress: Sequence[Network]
    mail_server: MailServer | None
    request_s: float
    faults: ChosenFaults
    as_json: bool
    until_stdin_closes: bool


@click.command(
    epilog=examples(
        (
            "hookproof serve --project p1=key-1 --ca ca/ca.pem --control 127.0.0.1:5006",
            "Deliver to receivers whose certificates the CA made.",
        ),
        (
            "hookproof serve --fault late:delay_s=2,rate=0.1",
            "Answer one request in ten two seconds late.",
        ),
        (
            "hookproof serve --dialect contrary --port 0",
            "Answer what the document leaves open otherwise, on a free port.",
        ),
    )
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address of the API.")
@click.option(
    "--port",
    default=5005,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port of the API; 0 chooses a free one.",
)
@click.option(
    "--dialect",
    default="reference",
    shell_complete=complete_dialect,
    show_default=True,
    help="Name of a shipped dialect, or a file.",
)
@click.option(
    "--project",
    "pairs",
    multiple=True,
    type=ProjectKey(),
    envvar=PROJECTS_VARIABLE,
    help=f"A project and its API key; may be repeated (or {PROJECTS_VARIABLE}, with spaces between"
    " them).",
)
@click.option(
    "--projects",
    "projects_file",
    type=click.Path(path_type=Path),
    help="YAML file with projects and API keys.",
)
@click.option(
    "--control", default="127.0.0.1:0", type=HostPort(), help="Address of the control listener."
)
@click.option(
    NAME_OPTION,
    "control_names",
    multiple=True,
    metavar="HOST",
    help="An additional host name by which browsers may reach --control.",
)
@click.option(
    "--fixtures",
    default="default",
    show_default=True,
    help="Portal links and sources to start with: default, none, or a YAML file.",
)
@click.option(
    "--db",
    "database",
    default=IN_MEMORY,
    help="SQLite database file; by default everything is in memory.",
)
@click.option("--seed", type=int, help="Make identifiers, secrets and jitter repeatable.")
@click.option(
    "--ca",
    "ca_file",
    type=click.Path(path_type=Path),
    help="PEM file of the certificate authority that deliveries trust.",
)
@click.option(
    "--allow-egress",
    "egress",
    multiple=True,
    type=NetworkType(),
    help="Network that deliveries may go to besides loopback; may be repeated.",
)
@click.option(
    "--smtp", type=HostPort(), help="Mail server for notifications; by default no e-mail is sent."
)
@click.option(
    "--smtp-from",
    "sender",
    default=SENDER,
    show_default=True,
    type=MailboxType(),
    help="Sender of notifications by e-mail.",
)
@click.option(
    "--request-timeout",
    "request_s",
    default=REQUEST_S,
    show_default=True,
    type=click.FloatRange(0, min_open=True),
    help="Seconds within which a request's head, and then its body, must arrive.",
)
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="NAME",
    help="Fault to plant: NAME, or for example late:delay_s=2,rate=0.1; may be repeated.",
)
@click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="NAME",
    help="Conforming variant to run as; may be repeated.",
)
@click.option("--list-faults", is_flag=True, help="List the faults and variants, then exit.")
@click.option(
    "--list-generated", is_flag=True, help="List the faults that operators make, then exit."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the addresses as one line of JSON when ready."
)
@click.option(UNTIL_STDIN_CLOSES, is_flag=True, help="Stop when standard input ends.")
def serve(
    host: str,
    port: int,
    dialect: str,
    pairs: tuple[tuple[str, str], ...],
    projects_file: Path | None,
    control: tuple[str, int],
    control_names: tuple[str, ...],
    fixtures: str,
    database: str,
    seed: int | None,
    ca_file: Path | None,
    egress: tuple[Network, ...],
    smtp: tuple[str, int] | None,
    sender: str,
    request_s: float,
    faults: tuple[str, ...],
    variants: tuple[str, ...],
    list_faults: bool,
    list_generated: bool,
    as_json: bool,
    until_stdin_closes: bool,
) -> None:
    """Run the reference server until it is stopped."""
    handler = MessageHandler()
    handler.addFilter(_DatabaseFailures(database))
    logging.basicConfig(
        handlers=[handler], level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
    try:
        if list_faults:
            print_document(render_fault_list(load_dialect(dialect), as_json=as_json))
            return
        loaded_dialect = _decided_dialect(dialect)
        if list_generated:
            print_document(render_generated(loaded_dialect, as_json=as_json))
            return
        settings = ServeSettings(
            api=(host, port),
            control=control,
            control_names=control_names,
            dialect=loaded_dialect,
            projects=read_projects(projects_file, pairs) or _DEFAULT_PROJECTS,
            fixtures=_fixtures(fixtures, loaded_dialect),
            database=database,
            seed=seed,
            ca_file=ca_file,
            egress=egress,
            mail_server=_mail_server(smtp, sender),
            request_s=request_s,
            faults=parse_fault_options(faults, variants, loaded_dialect),
            as_json=as_json,
            until_stdin_closes=until_stdin_closes,
        )
        uvloop.run(_serve(settings))
    except (FileProblems, Undecided, UnusableDatabase, BadRecord, BadOrder) as problem:
        raise CommandError(str(problem)) from None


class _DatabaseFailures(logging.Filter):
    """Reports once, in a line that names the file, that the database cannot be written.

    Whatever needs it fails then, with the same error each time.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self._reported = set[str]()

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, sqlite3.Error) or not _is_of_disk(error):
            return True
        is_new = str(error) not in self._reported
        self._reported.add(str(error))
        record.msg, record.args = f"{self._path} cannot be written: {error}", ()
        record.exc_info = None
        return is_new


def _is_of_disk(error: sqlite3.Error) -> bool:
    """Whether the disk is full or broken, by the primary code of the error."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    return code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}


def _decided_dialect(name: str) -> Dialect:
    """The dialect; says on standard error which answers are those of one that it extends."""
    decided = load_decided_dialect(name)
    require_decided(decided.dialect)
    for extended, fields in decided.taken.items():
        print_line(
            f"hookproof: the dialect {decided.dialect.name} leaves {len(fields)} answers undecided,"
            f" and those of {extended} are served: {first_of(fields)}",
            err=True,
        )
    return decided.dialect


def _fixtures(name: str, dialect: Dialect) -> ProjectFixtures:
    if name == "none":
        return ProjectFixtures()
    return read_fixtures(DEFAULT_PATH if name == "default" else Path(name), dialect)


def _mail_server(smtp: tuple[str, int] | None, sender: str) -> MailServer | None:
    return None if smtp is None else MailServer(host=smtp[0], port=smtp[1], sender=sender)


async def _serve(settings: ServeSettings) -> None:
    raise_descriptor_limit()  # for thousands of idle connections
    app = _create_app(settings)
    _prepare_process()
    stopped = _stop_event(settings)
    try:
        try:
            ports = await app.start(
                *settings.api, *settings.control, control_names=settings.control_names
            )
        except OSError as problem:
            raise CommandError(
                f"cannot listen: {problem.strerror or problem}; choose another --port or --control"
            ) from None
        _announce(settings, *ports)
        await stopped.wait()
    finally:
        await app.stop()


def _create_app(settings: ServeSettings) -> App:
    try:
        return create_app(
            settings.dialect,
            settings.projects,
            fixtures=settings.fixtures,
            path=settings.database,
            seed=settings.seed,
            ca_file=settings.ca_file,
            egress=settings.egress,
            mail_server=settings.mail_server,
            request_s=settings.request_s,
            faults=settings.faults.catalogued,
            orders=settings.faults.orders,
        )
    except OSError as problem:  # ssl.SSLError is a subclass
        raise CommandError(
            f"--ca {settings.ca_file} cannot be used: {problem.strerror or problem}"
        ) from None


def _prepare_process() -> None:
    """Tune the garbage collector.

    What was created until now lives as long as the process: freezing it keeps the garbage collector
    from visiting it again and again.
    """
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER, 10, 10)


def _announce(settings: ServeSettings, port: int, control_port: int) -> None:
    api = f"http://{_bracketed(settings.api[0])}:{port}"
    control = f"http://{_bracketed(settings.control[0])}:{control_port}"
    projects = list(settings.projects)
    if settings.as_json:
        print_document(json.dumps({"api": api, "control": control, "projects": projects}))
    else:
        print_line(
            f"Serving the dialect {settings.dialect.name} at {api} (docs at {api}/docs), "
            f"control at {control}, projects: {', '.join(projects)}"
        )


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _stop_event(settings: ServeSettings) -> asyncio.Event:
    """Return an event that the signals to stop set, and the end of standard input if asked for."""
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGINT, *STOPPING):
        loop.add_signal_handler(number, stopped.set)
    if settings.until_stdin_closes:
        call_at_end_of_input(loop, stopped.set)
    return stopped
