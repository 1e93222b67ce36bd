"""A client of a control listener, which is sent JSON and answers with JSON."""

from types import TracebackType
from typing import Any, ClassVar, Final, Self

import aiohttp
import orjson

# Many times as long as a listener needs: it may have to share a busy machine.
ANSWER_TIMEOUT_S: Final = 30.0


class ControlClient:
    """An async context manager.

    `failure` is what it raises, `server` how its message names the other side, and `reason` the
    member of a refusal that says why.
    """

    failure: ClassVar[type[Exception]]
    server: ClassVar[str]
    reason: ClassVar[str]

    def __init__(self, control_url: str) -> None:
        self._base = control_url.rstrip("/")
        self._session: aiohttp.ClientSession | None = None

    @property
    def control_url(self) -> str:
        """Where another client reaches the same listener."""
        return self._base

    async def __aenter__(self) -> Self:
        # Each wait holds a connection, and many tasks may wait at once.
        self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._session is not None
        await self._session.close()

    async def call(self, method: str, path: str, *, wait_s: float = 0.0, **content: Any) -> Any:
        """The JSON of the answer, an empty object without one; raises `failure`.

        `wait_s` is how long the listener is asked to wait before it answers, `content` what aiohttp
        sends (`json`, `data`, `params`).
        """
        assert self._session is not None, "use the client in an async with statement"
        limit = aiohttp.ClientTimeout(total=wait_s + ANSWER_TIMEOUT_S)
        try:
            async with self._session.request(
                method, self._base + path, timeout=limit, **content
            ) as answer:
                is_json = answer.content_type == "application/json"
                shown = await answer.json(loads=orjson.loads) if is_json else {}
                if not answer.ok:
                    reason = shown.get(self.reason, answer.reason)
                    raise self.failure(f"{self.server} refused {method} {path}: {reason}")
                return shown
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise self.failure(
                f"{self.server} at {self._base} does not answer:"
                f" {str(error) or f'nothing came within {limit.total:g} s'}"
            ) from error
