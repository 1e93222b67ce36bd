"""A client of the control listener of `hookproof serve`."""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self

import aiohttp

# Many times as long as the server needs: it may have to share a busy machine.
ANSWER_TIMEOUT_S: Final = 30.0


class ServiceFailed(Exception):
    """The reference server could not be reached, or refused a request."""


class ServiceControl:
    """An async context manager."""

    def __init__(self, control_url: str) -> None:
        self._base = control_url
        self._session: aiohttp.ClientSession

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._session.close()

    async def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        record: Mapping[str, object] | None = None,
        wait_s: float = 0.0,
    ) -> Any:
        """The JSON of the answer, None without one; raises ServiceFailed.

        `wait_s` is how long the server is asked to wait before it answers.
        """
        limit = aiohttp.ClientTimeout(total=wait_s + ANSWER_TIMEOUT_S)
        url = self._base + path
        try:
            async with self._session.request(
                method, url, params=query, json=record, timeout=limit
            ) as answer:
                content = await answer.json() if answer.content_type == "application/json" else None
                if not answer.ok:
                    problem = content["problem"] if isinstance(content, dict) else answer.reason
                    raise ServiceFailed(f"the reference server refused {method} {path}: {problem}")
                return content
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise ServiceFailed(
                f"the reference server at {self._base} does not answer:"
                f" {str(error) or f'nothing came within {limit.total:g} s'}"
            ) from error
