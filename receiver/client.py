"""The client of the receiver's control API."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote

import aiohttp

from receiver.delivery import ReceivedDelivery
from receiver.script import Reply, script_json

ANSWER_WITHIN_S: Final = 10.0


class ReceiverFailed(Exception):
    """The receiver could not be reached, refused a request, or lost deliveries; the message says which."""


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
    """Talks to one receiver; an async context manager. Every method raises ReceiverFailed."""

    def __init__(self, control_url: str) -> None:
        self._base = control_url.rstrip("/")
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._session is not None
        await self._session.close()

    async def new_token(self) -> Token:
        """A token of one's own."""
        return Token(**await self._call("POST", "/tokens"))

    async def script(self, token: str, replies: Sequence[Reply]) -> None:
        """Answer the token's requests with these replies from now on, the last one for ever."""
        await self._call("PUT", f"/tokens/{quote(token, safe='')}/script", data=script_json(replies))

    async def deliveries(
        self, token: str, count: int = 1, timeout_s: float = 5.0, *, after: int = 0
    ) -> tuple[ReceivedDelivery, ...]:
        """All deliveries to the token after sequence `after`, once `count` of them arrived or time is up.

        There may be fewer or more than `count`. Raises ReceiverFailed if the receiver dropped any of the token's.
        """
        found = await self._call(
            "GET",
            f"/tokens/{quote(token, safe='')}/deliveries",
            params={"count": count, "timeout": timeout_s, "after": after},
            within_s=timeout_s + ANSWER_WITHIN_S,
        )
        if found["dropped"]:
            raise ReceiverFailed(f"the receiver dropped {found['dropped']} deliveries to {token}; its inbox is bounded")
        return tuple(map(ReceivedDelivery.from_json, found["deliveries"]))

    async def client_certificate(self, name: str) -> ClientCertificate:
        """A client certificate of the receiver's authority, with this common name."""
        return ClientCertificate(**await self._call("POST", "/client-certificates", json={"name": name}))

    async def reset(self) -> None:
        """Forget all tokens, scripts and deliveries of the receiver."""
        await self._call("POST", "/reset")

    async def _call(
        self, method: str, path: str, *, within_s: float = ANSWER_WITHIN_S, **content: Any
    ) -> Mapping[str, Any]:
        assert self._session is not None, "use the client in an async with statement"
        limit = aiohttp.ClientTimeout(total=within_s)
        try:
            async with self._session.request(method, self._base + path, timeout=limit, **content) as answer:
                told: Mapping[str, Any] = await answer.json() if answer.content_type == "application/json" else {}
                if not answer.ok:
                    raise ReceiverFailed(f"the receiver refused {method} {path}: {told.get('error', answer.reason)}")
                return told
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise ReceiverFailed(f"the receiver at {self._base} does not answer: {error or 'time is up'}") from error
