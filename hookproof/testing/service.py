"""`Service`: the reference server, in a process of `hookproof serve`.

with Service(dialect="convoy") as service:
    service.arm_fault("server_error", status=503, next=1)
    ...  # have your client call service.url
    service.journal("requests", count=2, operation="createEndpoint")
"""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex, token_urlsafe
from typing import Any, Final, Literal

import trustme

from hookproof.control.client import ControlClient
from hookproof.process.private_folder import private_folder
from hookproof.process.subprocesses import PROJECTS_VARIABLE
from hookproof.process.terminal_text import printable
from hookproof.receiver.client.child_process import child
from hookproof.receiver.http.authority import CERTIFICATE_FILE, KEY_FILE, Authority
from hookproof.spec.dialect.reader import load_dialect
from hookproof.testing.background import READY_WITHIN_S, BackgroundLoop, BackgroundProcess


class ServiceFailed(Exception):
    """The reference server could not be reached, or refused a request."""


class ServiceControl(ControlClient):
    """A client of the control listener of `hookproof serve`."""

    failure = ServiceFailed
    server = "the reference server"
    reason = "problem"


JournalKind = Literal["requests", "deliveries", "notifications"]
# An entry of a journal: its fields by name, as the control listener shows them.
Entry = Mapping[str, Any]

THIS_MACHINE: Final = ("localhost", "127.0.0.1", "::1")
# How long to wait for entries of a journal unless the caller says more.
HAPPEN_WITHIN_S: Final = 5.0
# How many entries of a journal a failure shows: the latest ones.
MOST_SHOWN: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _OpenService:
    """A running reference server."""

    loop: BackgroundLoop
    control: ServiceControl
    url: str
    control_url: str
    ca_folder: Path
    own_folder: Path


class Service(BackgroundProcess):
    """The reference server under a dialect, with one project and nothing in it.

    It delivers to this machine only. Methods whose name ends in `_async` are the same for callers
    in an event loop. All that ask the server raise ServiceFailed.
    """

    def __init__(self, *, dialect: str = "reference", ca_folder: Path | None = None) -> None:
        """`dialect` is the name of a shipped dialect or a file.

        Deliveries trust the CA in `ca_folder`, which is made there if it is empty; by default it is
        one that ends with the process.
        """
        super().__init__()
        self.project = f"project-{token_hex(4)}"
        self.api_key = token_urlsafe(24)
        self._dialect = dialect
        self._ca_folder = ca_folder
        self._open: _OpenService | None = None

    def _start(self, stack: ExitStack) -> None:
        own_folder = stack.enter_context(private_folder())
        ca_folder = self._ca_folder or own_folder
        ca = Authority(ca_folder).certificate_path
        options = ["--port", "0", "--fixtures", "none", "--ca", str(ca), "--dialect", self._dialect]
        loop = stack.enter_context(BackgroundLoop())
        ready = loop.enter(
            child(
                ["serve", *options],
                deadline_s=READY_WITHIN_S,
                environment={PROJECTS_VARIABLE: f"{self.project}={self.api_key}"},
            )
        )
        self._open = _OpenService(
            loop=loop,
            control=loop.enter(ServiceControl(ready["control"])),
            url=ready["api"],
            control_url=ready["control"],
            ca_folder=ca_folder,
            own_folder=own_folder,
        )
        stack.callback(setattr, self, "_open", None)

    @property
    def url(self) -> str:
        """Where the API is: scheme, host and port."""
        return self._opened.url

    @property
    def control_url(self) -> str:
        """The control listener, which other programs may use as well."""
        return self._opened.control_url

    @property
    def authorization(self) -> str:
        """The header Authorization of a call to the API, as the dialect writes it."""
        return load_dialect(self._dialect).authentication.key_format.format(key=self.api_key)

    @property
    def ca_file(self) -> Path:
        """The certificate of the CA that deliveries trust, in PEM."""
        return self._opened.ca_folder / CERTIFICATE_FILE

    @property
    def server_certificate(self) -> Path:
        """A certificate for this machine that deliveries trust, with its key, in one PEM file.

        With it your software can be reached by https: endpoint URLs have to be.
        """
        opened = self._opened
        path = opened.own_folder / "server.pem"
        if not path.exists():
            ca = opened.ca_folder
            authority = trustme.CA.from_pem(
                (ca / CERTIFICATE_FILE).read_bytes(), (ca / KEY_FILE).read_bytes()
            )
            issued = authority.issue_cert(*THIS_MACHINE)
            issued.private_key_and_cert_chain_pem.write_to_path(path)
        return path

    def arm_fault(self, fault: str, **parameters: object) -> None:
        """Make the server misbehave, as `POST /faults` of its control listener does."""
        self._call("POST", "/faults", {"fault": fault, **parameters})

    def disarm_faults(self) -> None:
        self._call("DELETE", "/faults")

    def add_portal_link(self, **record: object) -> dict[str, Any]:
        """The portal link that was created, with the fields of section 2.6; it needs a `name`."""
        return self._add("portal-links", record)

    def add_source(self, **record: object) -> dict[str, Any]:
        """The source that was created, with the fields of section 2.7; it needs a `name` and a
        `type`.
        """
        return self._add("sources", record)

    def reset(self) -> None:
        """Remove everything, and disarm all faults."""
        self._call("POST", "/reset")

    def journal(
        self,
        kind: JournalKind,
        *,
        count: int = 0,
        timeout_s: float = HAPPEN_WITHIN_S,
        **filters: str | int,
    ) -> list[Entry]:
        """What the server was requested, delivered or notified, as soon as `count` entries match.

        A filter is a field of the entries. Raises AssertionError, which shows the journal, if there
        are fewer after `timeout_s` seconds.
        """
        __tracebackhide__ = True
        found = self._opened.loop.call(self._entries(kind, count, timeout_s, filters))
        return self._at_least(count, found, f"{kind} expected within {timeout_s:g} s")

    async def journal_async(
        self,
        kind: JournalKind,
        *,
        count: int = 0,
        timeout_s: float = HAPPEN_WITHIN_S,
        **filters: str | int,
    ) -> list[Entry]:
        """As `journal`."""
        __tracebackhide__ = True
        found = await self._opened.loop.call_async(self._entries(kind, count, timeout_s, filters))
        return self._at_least(count, found, f"{kind} expected within {timeout_s:g} s")

    def describe(self) -> str:
        """The latest requests and deliveries, a line for each, without control characters."""
        requests, deliveries = self.journal("requests"), self.journal("deliveries")
        return "\n".join(
            [
                f"requests: {len(requests)}",
                *(f"  {printable(_request_line(entry))}" for entry in requests[-MOST_SHOWN:]),
                f"deliveries: {len(deliveries)}",
                *(f"  {printable(_delivery_text(entry))}" for entry in deliveries[-MOST_SHOWN:]),
            ]
        )

    @property
    def _opened(self) -> _OpenService:
        if self._open is None:
            raise RuntimeError("the reference server does not run: use it in a with statement")
        return self._open

    def _call(self, method: str, path: str, record: Mapping[str, object] | None = None) -> Any:
        opened = self._opened
        return opened.loop.call(opened.control.call(method, path, json=record))

    def _add(self, kind: str, record: Mapping[str, object]) -> dict[str, Any]:
        created: dict[str, Any] = self._call("POST", f"/projects/{self.project}/{kind}", record)
        return created

    async def _entries(
        self, kind: JournalKind, count: int, timeout_s: float, filters: Mapping[str, str | int]
    ) -> list[Entry]:
        query = {"kind": kind, "count": str(count), "timeout": str(timeout_s)}
        query |= {name: str(value) for name, value in filters.items()}
        answer = await self._opened.control.call("GET", "/journal", params=query, wait_s=timeout_s)
        found: list[Entry] = answer[kind]
        return found

    def _at_least(self, count: int, found: list[Entry], expected: str) -> list[Entry]:
        __tracebackhide__ = True
        if len(found) < count:
            raise AssertionError(f"{expected}: {count}, found: {len(found)}\n{self.describe()}")
        return found


def _request_line(entry: Entry) -> str:
    operation = entry["operation"] or "no operation"
    return f"{entry['method']} {entry['path']} {entry['status']} ({operation})"


def _delivery_text(entry: Entry) -> str:
    """A delivery with the outcome of each attempt: a status, or what went wrong."""
    outcomes = [
        str(attempt["status"] or f"{attempt['failure']}: {attempt['detail']}")
        for attempt in entry["attempts"]
    ]
    attempts = "; ".join(outcomes) or "no attempt"
    return f"{entry['event_type']} to {entry['endpoint']}, {entry['state']}: {attempts}"
