"""The client of the receiver's control API."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote

import aiohttp
import msgspec

from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.inbox.rate import Rate
from hookproof.receiver.replies.script import Reply, script_json
from hookproof.receiver.replies.token_server import TokenRequest
from hookproof.receiver.replies.token_server_settings import TokenServerSettings
from hookproof.receiver.signatures.token_secrets import Keyring

ANSWER_WITHIN_S: Final = 10.0


class ReceiverFailed(Exception):
    """The receiver could not be reached, refused a request, or lost deliveries; the message says
    which.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A place to send deliveries to."""

    token: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCertificate:
    """A client certificate and its key, both PEM, named as in section 2.3."""

    client_cert: str
    client_key: str


class ReceiverClient:
    """Talks to one receiver, or to one session of it; an async context manager. Every method raises
    ReceiverFailed.
    """

    def __init__(self, control_url: str) -> None:
        self._base = control_url.rstrip("/")
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._session is not None
        await self._session.close()

    @asynccontextmanager
    async def session(self) -> AsyncIterator["ReceiverClient"]:
        """A client of a session of one's own, which ends with the block, and all that it has with
        it.
        """
        opened = await self._call("POST", "/sessions")
        path = f"/sessions/{opened['session']}"
        try:
            async with type(self)(self._base + path) as client:
                yield client
        finally:
            await self._call("DELETE", path)

    async def new_token(self, token: str | None = None) -> Token:
        """A token of one's own; a certain one, if it is named and nobody else has it."""
        return Token(
            **await self._call("POST", "/tokens", json={} if token is None else {"token": token})
        )

    async def script(self, token: str, replies: Sequence[Reply]) -> None:
        """Answer the token's requests with these replies from now on, the last one for ever."""
        await self._call("PUT", f"{_path(token)}/script", data=script_json(replies))

    async def secrets(self, token: str, keyring: Keyring) -> None:
        """Have the token's deliveries verified with these secrets from now on."""
        await self._call("PUT", f"{_path(token)}/secrets", data=msgspec.json.encode(keyring))

    async def summary(self, token: str) -> Mapping[str, Any]:
        """How many requests the token had, how many were dropped, and how many verified, as the
        control API says it.
        """
        return await self._call("GET", _path(token))

    async def token_server(self, token: str, settings: TokenServerSettings) -> None:
        """Make the token's URL a token endpoint."""
        await self._call("PUT", f"{_path(token)}/token-server", data=msgspec.json.encode(settings))

    async def token_requests(self, token: str) -> tuple[TokenRequest, ...]:
        """What a token endpoint was asked, and what it made of it; raises ReceiverFailed if any of
        it was dropped.
        """
        found = await self._call("GET", f"{_path(token)}/token-server")
        self._refuse_loss(found, token)
        return tuple(TokenRequest(**request) for request in found["requests"])

    async def deliveries(
        self, token: str, count: int = 1, timeout_s: float = 5.0, *, after: int = 0
    ) -> tuple[ReceivedDelivery, ...]:
        """All deliveries to the token after sequence `after`, once `count` of them arrived or time
        is up.

        There may be fewer or more than `count`. Raises ReceiverFailed if the receiver dropped any
        of the token's.
        """
        return await self._deliveries(token, {"count": count, "timeout": timeout_s}, {}, after)

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
        """As `deliveries`, but only those of a method, and with a header (`Name`, or `Name:
        value`), are counted.
        """
        sieve = {
            name: value
            for name, value in (("method", method), ("header", header))
            if value is not None
        }
        return await self._deliveries(token, {"count": count, "timeout": timeout_s}, sieve, after)

    async def rate(self, token: str, window_s: float) -> Rate:
        """When the token's requests came, and how many at most within any window of so many
        seconds.
        """
        told = await self._call("GET", f"{_path(token)}/rate", params={"window": window_s})
        return msgspec.convert(told, Rate)

    async def tls_faults(self) -> Mapping[str, str]:
        """The base URL of each listener whose TLS is wrong, by what is wrong; none without
        --tls-faults.
        """
        found: Mapping[str, str] = (await self._call("GET", "/tls-faults"))["tls_faults"]
        return found

    async def client_certificate(self, name: str) -> ClientCertificate:
        """A client certificate of the receiver's authority, with this common name."""
        return ClientCertificate(
            **await self._call("POST", "/client-certificates", json={"name": name})
        )

    async def reset(self) -> None:
        """Forget all tokens, scripts and deliveries of the receiver."""
        await self._call("POST", "/reset")

    async def _deliveries(
        self, token: str, wait: dict[str, float], sieve: dict[str, str], after: int
    ) -> tuple[ReceivedDelivery, ...]:
        """What is found page by page; only the first page is waited for."""
        found: list[ReceivedDelivery] = []
        path, more = f"{_path(token)}/deliveries", True
        while more:
            within_s = wait.get("timeout", 0.0) + ANSWER_WITHIN_S
            page = await self._call(
                "GET", path, params={**wait, **sieve, "after": after}, within_s=within_s
            )
            self._refuse_loss(page, token)
            found += map(ReceivedDelivery.from_json, page["deliveries"])
            more, wait = page["more"], {}
            after = found[-1].sequence if found else after
        return tuple(found)

    @staticmethod
    def _refuse_loss(found: Mapping[str, Any], token: str) -> None:
        if found["dropped"]:
            raise ReceiverFailed(
                f"the receiver dropped {found['dropped']} deliveries to {token}; its inbox is bounded"
            )

    async def _call(
        self, method: str, path: str, *, within_s: float = ANSWER_WITHIN_S, **content: Any
    ) -> Mapping[str, Any]:
        assert self._session is not None, "use the client in an async with statement"
        limit = aiohttp.ClientTimeout(total=within_s)
        try:
            async with self._session.request(
                method, self._base + path, timeout=limit, **content
            ) as answer:
                told: Mapping[str, Any] = (
                    await answer.json() if answer.content_type == "application/json" else {}
                )
                if not answer.ok:
                    raise ReceiverFailed(
                        f"the receiver refused {method} {path}: {told.get('error', answer.reason)}"
                    )
                return told
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise ReceiverFailed(
                f"the receiver at {self._base} does not answer: {error or 'time is up'}"
            ) from error


def _path(token: str) -> str:
    return f"/tokens/{quote(token, safe='')}"
