"""The control API, JSON on a listener of its own: sessions and client certificates.

`session_api` has what belongs to one session.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Final

import msgspec
from aiohttp import web

from hookproof.process.lateness import LatenessMeter
from hookproof.receiver.closed_ports import ClosedPorts, TooManyPorts, UnknownPort
from hookproof.receiver.control.json_exchange import errors_as_json, json_response, read_body
from hookproof.receiver.control.session_api import SessionApi
from hookproof.receiver.http.authority import Authority
from hookproof.receiver.http.connection import FaultyListener, Handshakes
from hookproof.receiver.mail import MailSink
from hookproof.receiver.session import Sessions, TooManySessions

MOST_SCRIPT_BYTES: Final = 32 * 2**20


class CertificateRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The common name of the client certificate to issue."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlApi:
    """The routes of the control API.

    `url` is the listener's public base URL, `port_url` returns that of another port. `tls_faults`
    are the listeners with wrong TLS, `closed_ports` is None without them, and `authority` is None
    without TLS. `mail` is the mail server, if there is one,
    and `lateness` that of the loop of all listeners.
    """

    sessions: Sessions
    authority: Authority | None
    url: str
    tls_faults: Mapping[str, FaultyListener]
    closed_ports: ClosedPorts | None
    port_url: Callable[[int], str]
    handshakes: Handshakes
    mail: MailSink | None
    new_token: Callable[[], str]
    lateness: LatenessMeter

    def application(self) -> web.Application:
        app = web.Application(client_max_size=MOST_SCRIPT_BYTES, middlewares=[errors_as_json])
        app.add_routes(
            [
                web.get("/health", self.health),
                web.get("/tls-faults", self.show_tls_faults),
                web.post("/closed-ports", self.reserve_port),
                web.post("/closed-ports/{port:[0-9]{1,5}}/open", self.open_port),
                web.get("/tls-handshakes", self.show_handshakes),
                web.get("/mail", self.show_mail),
                web.post("/client-certificates", self.issue_client_certificate),
                web.get("/sessions", self.show_sessions),
                web.post("/sessions", self.open_session),
                web.delete("/sessions/{session}", self.end_session),
                *SessionApi(
                    sessions=self.sessions,
                    url=self.url,
                    new_token=self.new_token,
                    lateness=self.lateness,
                ).routes(),
            ]
        )
        return app

    async def health(self, request: web.Request) -> web.Response:
        return json_response({"status": "ok"})

    async def show_tls_faults(self, request: web.Request) -> web.Response:
        """The base URL of each listener with wrong TLS, and its handshakes, by the fault."""
        listeners = self.tls_faults.items()
        return json_response(
            {
                "tls_faults": {fault: listener.url for fault, listener in listeners},
                "handshakes": {
                    fault: {
                        "begun": listener.handshakes.begun,
                        "completed": listener.handshakes.completed,
                    }
                    for fault, listener in listeners
                },
            }
        )

    async def reserve_port(self, request: web.Request) -> web.Response:
        """Reserve a port at which nobody listens; its base URL."""
        if self.closed_ports is None:
            raise web.HTTPConflict(text="the receiver has one port; start it with --tls-faults")
        try:
            port = self.closed_ports.reserve()
        except TooManyPorts as full:
            raise web.HTTPServiceUnavailable(text=str(full)) from None
        except OSError as error:
            text = f"no port can be reserved: {error.strerror or error}"
            raise web.HTTPServiceUnavailable(text=text) from None
        return json_response({"port": port, "url": self.port_url(port)}, HTTPStatus.CREATED)

    async def open_port(self, request: web.Request) -> web.Response:
        """Accept deliveries at a reserved port from now on."""
        port = int(request.match_info["port"])
        if self.closed_ports is None:
            raise web.HTTPNotFound(text=f"the port {port} is not reserved")
        try:
            await self.closed_ports.open(port)
        except UnknownPort as unknown:
            raise web.HTTPNotFound(text=str(unknown)) from None
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def show_handshakes(self, request: web.Request) -> web.Response:
        """How many TLS handshakes began and were completed, and how long ago the first began and
        the last connection without a request ended.
        """
        counted, now = self.handshakes, time.monotonic()
        return json_response(
            {
                "begun": counted.begun,
                "completed": counted.completed,
                "first_s_ago": now - counted.first_at if counted.begun else None,
                "unused_s_ago": now - counted.unused_at if counted.unused_at else None,
            }
        )

    async def show_mail(self, request: web.Request) -> web.Response:
        """The address of the mail server, or null, and how many mails it has received."""
        return json_response(
            {
                "mail": self.mail.address if self.mail else None,
                "received": self.mail.keeper.received if self.mail else 0,
            }
        )

    async def issue_client_certificate(self, request: web.Request) -> web.Response:
        """Issue a client certificate of the listener's authority."""
        certificate_request = await read_body(request, CertificateRequest)
        if self.authority is None:
            raise web.HTTPConflict(
                text="the receiver listens without TLS, so it has no authority to issue from"
            )
        certificate, key = self.authority.client_certificate(certificate_request.name)
        return json_response({"client_cert": certificate, "client_key": key}, HTTPStatus.CREATED)

    async def show_sessions(self, request: web.Request) -> web.Response:
        """The names of all sessions except the default one."""
        return json_response({"sessions": self.sessions.names()})

    async def open_session(self, request: web.Request) -> web.Response:
        """Open a session; its path has the same subpaths as the default session."""
        try:
            session = self.sessions.open()
        except TooManySessions as full:
            raise web.HTTPServiceUnavailable(text=str(full)) from None
        path = f"/sessions/{session.name}"
        return json_response(
            {"session": session.name, "control": f"{request.url.origin()}{path}"},
            HTTPStatus.CREATED,
        )

    async def end_session(self, request: web.Request) -> web.Response:
        name = request.match_info["session"]
        session = self.sessions.find(name)
        if session is None:
            raise web.HTTPNotFound(text=f"there is no session {name!r}; it may have ended")
        self.sessions.end(session)
        return web.Response(status=HTTPStatus.NO_CONTENT)
