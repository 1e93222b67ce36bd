"""A client of the receiver's control API."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec

from hookproof.control.client import ControlClient
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.inbox.rate import Rate
from hookproof.receiver.replies.script import Reply, script_json
from hookproof.receiver.replies.token_server import TokenRequest
from hookproof.receiver.replies.token_server_settings import TokenServerSettings
from hookproof.receiver.signatures.token_secrets import TokenSecrets


class ReceiverFailed(Exception):
    """The receiver could not be reached, refused a request, or lost deliveries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverToken:
    """A token, and the URL that deliveries to it are sent to."""

    token: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsHandshakes:
    """How many TLS handshakes senders began and completed; `first_s_ago` is None if none began.

    `unused_s_ago` is when the last connection ended on which no request was sent.
    """

    begun: int
    completed: int
    first_s_ago: float | None
    unused_s_ago: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedMail:
    """Where mail is accepted, as host:port, None without --mail; and how many mails came."""

    address: str | None
    mails: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedCertificate:
    """A client certificate and its key, both PEM, named as in section 2.3."""

    client_cert: str
    client_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedPort:
    """A port of the receiver that is closed until it is opened, and its base URL."""

    port: int
    url: str


class ReceiverClient(ControlClient):
    """Talks to one receiver, or to one session of it; an async context manager.

    Every method raises ReceiverFailed.
    """

    failure = ReceiverFailed
    server = "the receiver"
    reason = "error"

    def __init__(self, control_url: str) -> None:
        super().__init__(control_url)
        self._late_s: dict[str, float] = {}

    @asynccontextmanager
    async def session(self) -> AsyncIterator["ReceiverClient"]:
        """A client of a new session, which ends with the block."""
        session = await self.call("POST", "/sessions")
        path = f"/sessions/{session['session']}"
        try:
            async with type(self)(self._base + path) as client:
                yield client
        finally:
            await self.call("DELETE", path)

    async def new_token(self, token: str | None = None) -> ReceiverToken:
        """Issue a token: a new one, or the one named if no other session has it."""
        return ReceiverToken(
            **await self.call("POST", "/tokens", json={} if token is None else {"token": token})
        )

    async def script(
        self, token: str, replies: Sequence[Reply], *, only_for: str = "", visits: bool = False
    ) -> None:
        """Set the replies to the token's requests, or to those that contain the text `only_for`;
        the last one repeats indefinitely. With `visits` GET, HEAD and OPTIONS get them too.
        """
        script = script_json(replies, only_for, visits=visits)
        await self.call("PUT", f"{_path(token)}/script", data=script)

    async def accept_all(self) -> int:
        """Answer whatever comes with success from now on; returns how many connections that waited
        for an answer were aborted.
        """
        aborted: int = (await self.call("POST", "/accept"))["aborted"]
        return aborted

    async def last_arrival_s_ago(self) -> float | None:
        """How long ago the last request of any token came; None if none did."""
        last_s_ago: float | None = (await self.call("GET", "/arrivals"))["last_s_ago"]
        return last_s_ago

    async def secrets(self, token: str, token_secrets: TokenSecrets) -> None:
        """Set the secrets that verify the token's deliveries."""
        await self.call("PUT", f"{_path(token)}/secrets", data=msgspec.json.encode(token_secrets))

    async def summary(self, token: str) -> Mapping[str, Any]:
        """The token's counts, as the control API returns them."""
        counts: Mapping[str, Any] = await self.call("GET", _path(token))
        return counts

    async def token_server(self, token: str, settings: TokenServerSettings) -> None:
        """Make the token's URL an OAuth 2 token endpoint."""
        await self.call("PUT", f"{_path(token)}/token-server", data=msgspec.json.encode(settings))

    async def token_requests(self, token: str) -> tuple[TokenRequest, ...]:
        """The requests to a token endpoint, and their results.

        Raises ReceiverFailed if any record was dropped.
        """
        answer = await self.call("GET", f"{_path(token)}/token-server")
        self._check_no_loss(answer, token)
        return tuple(TokenRequest(**request) for request in answer["requests"])

    async def deliveries(
        self, token: str, count: int = 1, timeout_s: float = 5.0, *, after: int = 0
    ) -> tuple[ReceivedDelivery, ...]:
        """The token's deliveries above `after`, once `count` of them arrived or time is up.

        There may be fewer or more than `count`. Raises ReceiverFailed if the receiver dropped any
        of the token's deliveries.
        """
        return await self._deliveries(token, {"count": count, "timeout": timeout_s}, {}, after)

    def late_s(self, token: str) -> float:
        """By how much the receiver's timers were late at most since the token was issued, in
        seconds, as far as its deliveries have been asked for; 0 if the receiver does not say.
        """
        return self._late_s.get(token, 0.0)

    async def matching_deliveries(
        self,
        token: str,
        count: int = 1,
        timeout_s: float = 5.0,
        *,
        after: int = 0,
        method: str | None = None,
        header: str | None = None,
    ) -> tuple[ReceivedDelivery, ...]:
        """As `deliveries`, but only of a method, or with a header (`Name`, or `Name: value`)."""
        conditions = {
            name: value
            for name, value in (("method", method), ("header", header))
            if value is not None
        }
        return await self._deliveries(
            token, {"count": count, "timeout": timeout_s}, conditions, after
        )

    async def rate(self, token: str, window_s: float) -> Rate:
        """The token's arrival rate over a sliding window."""
        rate = await self.call("GET", f"{_path(token)}/rate", params={"window": window_s})
        return msgspec.convert(rate, Rate)

    async def tls_faults(self) -> Mapping[str, str]:
        """The base URL of each listener with wrong TLS, by fault; empty without --tls-faults."""
        faults: Mapping[str, str] = (await self.call("GET", "/tls-faults"))["tls_faults"]
        return faults

    async def tls_fault_handshakes(self) -> Mapping[str, int]:
        """How many handshakes senders began with each listener with wrong TLS, by fault."""
        counted = (await self.call("GET", "/tls-faults"))["handshakes"]
        return {fault: handshakes["begun"] for fault, handshakes in counted.items()}

    async def reserve_port(self) -> ReservedPort:
        """A port at which nobody listens until `open_port`; needs --tls-faults."""
        return ReservedPort(**await self.call("POST", "/closed-ports"))

    async def open_port(self, port: int) -> None:
        await self.call("POST", f"/closed-ports/{port}/open")

    async def tls_handshakes(self) -> TlsHandshakes:
        """The handshakes with the receiver's own listener, of all sessions."""
        return TlsHandshakes(**await self.call("GET", "/tls-handshakes"))

    async def mail(self) -> ReceivedMail:
        """Where the receiver accepts mail, and how much came, of all sessions."""
        answer = await self.call("GET", "/mail")
        return ReceivedMail(address=answer["mail"], mails=answer["received"])

    async def client_certificate(self, name: str) -> IssuedCertificate:
        """Issue a client certificate with this common name."""
        return IssuedCertificate(
            **await self.call("POST", "/client-certificates", json={"name": name})
        )

    async def reset(self) -> None:
        await self.call("POST", "/reset")

    async def _deliveries(
        self, token: str, wait: dict[str, float], conditions: dict[str, str], after: int
    ) -> tuple[ReceivedDelivery, ...]:
        """Read all pages; only the first one waits."""
        deliveries: list[ReceivedDelivery] = []
        path, more = f"{_path(token)}/deliveries", True
        while more:
            wait_s = wait.get("timeout", 0.0)
            page = await self.call(
                "GET", path, params={**wait, **conditions, "after": after}, wait_s=wait_s
            )
            self._check_no_loss(page, token)
            self._late_s[token] = max(self.late_s(token), page.get("late_s", 0.0))
            deliveries += map(ReceivedDelivery.from_json, page["deliveries"])
            more, wait = page["more"], {}
            after = deliveries[-1].sequence if deliveries else after
        return tuple(deliveries)

    @staticmethod
    def _check_no_loss(answer: Mapping[str, Any], token: str) -> None:
        if answer["dropped"]:
            raise ReceiverFailed(
                f"the receiver dropped {answer['dropped']} deliveries to {token}; "
                "its inbox is limited"
            )


def _path(token: str) -> str:
    return f"/tokens/{quote(token, safe='')}"
