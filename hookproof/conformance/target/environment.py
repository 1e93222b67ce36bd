"""The environment of a run: the target and the receiver, as processes where they must be started.

Without a target the reference server is started, with random keys, beside the receiver. With a
target only the receiver is started. Both end with the block.
"""

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Final

from hookproof.conformance.model.evidence import PreconditionFailed
from hookproof.conformance.target.definition import Budgets, Project, Target
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.private_folder import private_folder
from hookproof.process.subprocesses import PROJECTS_VARIABLE
from hookproof.process.written_file import FileNotWritten
from hookproof.receiver.client.child_process import ChildCommand, ChildFailed, child, children
from hookproof.receiver.client.control_api import ReceiverClient
from hookproof.receiver.http.address import Address, listener_names
from hookproof.receiver.http.authority import (
    CERTIFICATE_FILE,
    KEY_FILE,
    Authority,
    AuthorityProblem,
    write_private,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.given_file import read_given
from hookproof.target.file_schema import CAPABILITIES, Presence
from hookproof.target.hooks.http_steps import HttpStep, http_hook
from hookproof.target.hooks.provision import Provision
from hookproof.target.receiver_url import reached_by_name, require_taken
from hookproof.target.settings import ReceiverSettings

# Far more than is needed, for a busy machine: a process that fails reports it at once.
ANSWERING: Final = "answering"
READY_WITHIN_S: Final = 90.0
DEFAULT_BUDGETS: Final = Budgets()
THIS_HOST: Final = "127.0.0.1"
# Refused by the guard of the embedded server, although a connection reaches this machine, where the
# receiver listens.
REFUSED_BY_EMBEDDED: Final = ("0.0.0.0",)

HANDSHAKE_WITHIN_S: Final = 3.0
DISTRUST: Final = (
    "the target began {begun} TLS handshakes with the receiver and completed none, so it does not"
    " trust {authority} and nothing can be delivered; {advice}, and examine that with `hookproof"
    " doctor`"
)
NO_CA: Final = (
    "the receiver has a CA that the target cannot know, so nothing can be delivered to it; make one"
    " with `hookproof ca DIR`, let the target trust DIR/ca.pem, and give --ca-dir DIR"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """The reference server, to be started under a dialect; its process loads it by `dialect_name`.

    `deviations` are further arguments of its command line: faults and variants. Where it is
    `forked`, it and the receiver start without their imports, for many runs one after the other.
    """

    dialect: Dialect
    dialect_name: str
    seed: int
    projects: int
    receiver: ReceiverSettings
    budgets: Budgets = DEFAULT_BUDGETS
    deviations: tuple[str, ...] = ()
    forked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """A target that can be called, and the receiver beside it.

    `round_trip_s` is how long a cheap request took when the run began. `waited` says in words why
    the target was waited for before, if it was.
    """

    target: Target
    receiver: ReceiverClient
    embedded: bool
    # Where a new endpoint may lead that no event reaches: there every visit gets a 2xx.
    answering_url: str = ""
    round_trip_s: float = 0.0
    waited: str = ""

    @property
    def distrust(self) -> str | None:
        """That the target does not trust the receiver, in words, if that was seen."""
        return self.receiver.distrust if isinstance(self.receiver, WatchedReceiver) else None


class UntrustedReceiver(ReceiverClient):
    """A receiver whose CA no target trusts: it issues tokens, but no delivery can arrive."""

    async def deliveries(
        self, token: str, count: int = 1, timeout_s: float = 5.0, *, after: int = 0
    ) -> tuple[ReceivedDelivery, ...]:
        """Raise PreconditionFailed, since silence would prove nothing here."""
        raise PreconditionFailed(NO_CA)


class WatchedReceiver(ReceiverClient):
    """A receiver that notices if every TLS handshake with it fails.

    `distrust` says so in words then. Silence proves nothing of such a target. Experiments ask for
    the same deliveries again and again, so those that have ended are read only once.
    """

    def __init__(self, control_url: str, settings: ReceiverSettings) -> None:
        super().__init__(control_url)
        self._settings = settings
        self.distrust: str | None = None
        self._trusted = False
        # The first deliveries of each token, up to one that has not ended.
        self._ended: dict[str, tuple[ReceivedDelivery, ...]] = {}

    async def deliveries(
        self, token: str, count: int = 1, timeout_s: float = 5.0, *, after: int = 0
    ) -> tuple[ReceivedDelivery, ...]:
        """As the receiver's; raises PreconditionFailed if no handshake succeeds."""
        ended = self._ended.get(token, ())
        missing = max(0, after + count - len(ended))
        newer = await super().deliveries(token, missing, timeout_s, after=len(ended))
        if not ended and not newer and not self._trusted:
            await self._check_trust()
        arrived = ended + newer
        self._ended[token] = tuple(takewhile(_has_ended, arrived))
        return arrived[after:]

    async def _check_trust(self) -> None:
        handshakes = await self.tls_handshakes()
        if handshakes.first_s_ago is not None and not handshakes.completed:
            # One that has just begun may still succeed.
            await asyncio.sleep(max(0.0, HANDSHAKE_WITHIN_S - handshakes.first_s_ago))
            handshakes = await self.tls_handshakes()
        self._trusted = handshakes.completed > 0
        if handshakes.begun and not self._trusted:
            self.distrust = DISTRUST.format(
                begun=handshakes.begun,
                authority=self._settings.authority,
                advice=self._settings.trust_advice,
            )
            raise PreconditionFailed(self.distrust)


def _has_ended(delivery: ReceivedDelivery) -> bool:
    return delivery.completed_monotonic is not None or delivery.closed_monotonic is not None


# Opens the environment of a run, within a block.
Opening = Callable[[Target | Embedded], AbstractAsyncContextManager[Environment]]


@asynccontextmanager
async def open_environment(subject: Target | Embedded) -> AsyncIterator[Environment]:
    """Start the processes that the run needs; raises CommandError if that fails."""
    try:
        async with (
            _embedded(subject)
            if isinstance(subject, Embedded)
            else _with_receiver(subject) as environment
        ):
            yield environment
    except ChildFailed as failure:
        ours = failure.exit_code != ExitCode.USAGE
        raise CommandError(
            str(failure), ExitCode.INTERNAL_ERROR if ours else ExitCode.USAGE
        ) from None
    except AuthorityProblem as problem:
        raise CommandError(f"receiver: {problem}") from None


@asynccontextmanager
async def _embedded(subject: Embedded) -> AsyncIterator[Environment]:
    names = [f"P{number}" for number in range(1, subject.projects + 1)]
    projects = tuple(
        Project(id=name, api_key=f"embedded-{secrets.token_urlsafe(24)}") for name in names
    )
    settings = reached_by_name(subject.receiver, subject.dialect)
    with ExitStack() as stack:
        folder = stack.enter_context(private_folder())
        ca = copy_ca(settings, folder)
        hosts = listener_names(Address.parse(settings.bind), settings.public_url)
        # Written before both start, since both read it.
        certificate = Authority(ca, hosts).certificate_path
        serve = [
            "serve",
            "--port",
            "0",
            "--dialect",
            subject.dialect_name,
            "--seed",
            str(subject.seed),
        ]
        serve += subject.deviations
        keys = {PROJECTS_VARIABLE: " ".join(f"{p.id}={p.api_key}" for p in projects)}
        mail = stack.enter_context(_reserved_port())
        commands = [
            ChildCommand(
                arguments=[
                    *_receive_command(settings, ca),
                    "--mail",
                    mail,
                    "--mail-reserved",
                ]
            ),
            ChildCommand(
                arguments=[*serve, "--ca", str(certificate), "--smtp", mail], environment=keys
            ),
        ]
        async with (
            children(commands, deadline_s=READY_WITHIN_S, forked=subject.forked) as (
                receiving,
                serving,
            ),
            ReceiverClient(receiving["control"]) as receiver,
        ):
            require_taken(receiving["url"], subject.dialect)
            target = Target(
                base_url=serving["api"],
                projects=projects,
                dialect=subject.dialect,
                receiver=settings,
                budgets=subject.budgets,
                provision=_embedded_hooks(serving["control"], subject.budgets.request_s),
                capabilities=dict.fromkeys(CAPABILITIES, Presence.YES),
                egress_probes=REFUSED_BY_EMBEDDED,
            )
            answering = _answering(receiving["url"])
            yield Environment(
                target=target, receiver=receiver, embedded=True, answering_url=answering
            )


def _embedded_hooks(control: str, timeout_s: float) -> Provision:
    """The hooks of the reference server: its control listener creates portal links and sources."""
    kinds = {"portal_link": "portal-links", "source": "sources"}
    steps = {
        f"create_{kind}": HttpStep(
            url=f"{control}/projects/{{project.id}}/{path}", body=f"{{{kind}}}", keep={"uid": "uid"}
        )
        for kind, path in kinds.items()
    }
    return Provision(
        hooks={name: http_hook(name, [step], timeout_s=timeout_s) for name, step in steps.items()}
    )


@asynccontextmanager
async def _with_receiver(target: Target) -> AsyncIterator[Environment]:
    settings = reached_by_name(target.receiver, target.dialect)
    with private_folder() as folder:
        ca = copy_ca(settings, folder)
        async with (
            child(
                [*_receive_command(settings, ca), *_mail_options(settings)],
                deadline_s=READY_WITHIN_S,
            ) as ready,
            _receiver_client(ready["control"], settings) as receiver,
        ):
            require_taken(ready["url"], target.dialect)
            answering = _answering(ready["url"])
            yield Environment(
                target=target, receiver=receiver, embedded=False, answering_url=answering
            )


def beside(opened: Environment, target: Target) -> Opening:
    """Opens the environment of a run beside another one, on an event loop of its own: with the same
    receiver, whose port may be the only one that the target reaches.
    """

    @asynccontextmanager
    async def opening(_subject: Target | Embedded) -> AsyncIterator[Environment]:
        settings = reached_by_name(target.receiver, target.dialect)
        async with _receiver_client(opened.receiver.control_url, settings) as receiver:
            yield replace(opened, target=target, receiver=receiver)

    return opening


def _answering(receiver_url: str) -> str:
    """A URL of the receiver that stands for no token, so that it keeps what comes there apart."""
    return f"{receiver_url}/{ANSWERING}"


def _receiver_client(control_url: str, settings: ReceiverSettings) -> ReceiverClient:
    if settings.can_be_trusted:
        return WatchedReceiver(control_url, settings)
    return UntrustedReceiver(control_url)


def _receive_command(settings: ReceiverSettings, ca: Path) -> list[str]:
    public_url = [] if settings.public_url is None else ["--public-url", settings.public_url]
    return [
        "receive",
        "--bind",
        settings.bind,
        "--ca-dir",
        str(ca),
        *public_url,
        *tls_options(settings),
        *(["--forwarded"] if settings.forwarded else []),
        *(["--tls-faults"] if settings.has_faulty_listeners else []),
    ]


def tls_options(settings: ReceiverSettings) -> list[str]:
    """The options by which the receiver has no TLS, or a certificate that is not of its CA."""
    if settings.http:
        return ["--http"]
    if settings.tls_cert is None:
        return []
    return ["--tls-cert", str(settings.tls_cert), "--tls-key", str(settings.tls_key)]


def _mail_options(settings: ReceiverSettings) -> list[str]:
    return [] if settings.mail is None else ["--mail", settings.mail]


@contextmanager
def _reserved_port() -> Iterator[str]:
    """An address that nobody else gets within the block, and that a process may listen at which
    knows that it is reserved.
    """
    with socket.socket() as reservation:
        reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        reservation.bind((THIS_HOST, 0))
        yield f"{THIS_HOST}:{reservation.getsockname()[1]}"


def copy_ca(settings: ReceiverSettings, folder: Path) -> Path:
    """Copy the CA, whose two files may be anywhere, to the folder where the receiver expects it.

    Raises CommandError.
    """
    for source, name in ((settings.ca, CERTIFICATE_FILE), (settings.ca_key, KEY_FILE)):
        if source is None:
            continue
        try:
            content = read_given(source)
        except OSError as error:
            raise CommandError(f"receiver: the CA cannot be read: {error}") from None
        try:
            write_private(folder / name, content)
        except OSError as error:
            raise FileNotWritten(folder / name, error) from None
    return folder
