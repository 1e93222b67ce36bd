"""Calls to the target while a run is prepared; in the run itself Locust sends the requests."""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self

import aiohttp

from hookproof.load.plan import KEY, is_success
from hookproof.load.target.settings import TargetSettings

CONNECT_WITHIN_S: Final = 10.0
ANSWER_WITHIN_S: Final = 30.0


class Unreachable(Exception):
    """The target did not answer; the message says so."""


class TargetRefusal(Exception):
    """The target answered, but refuses what a run needs; the message says what."""


class TargetClient:
    def __init__(self, settings: TargetSettings) -> None:
        self._settings = settings
        self._headers = {
            name: value.replace(KEY, settings.api_key) for name, value in settings.headers.items()
        }

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=ANSWER_WITHIN_S, connect=CONNECT_WITHIN_S)
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._session.close()

    async def call(self, method: str, path: str, body: object = None) -> Mapping[str, Any]:
        """The `data` of the answer (section 2.1); raises Unreachable and TargetRefusal."""
        url = f"{self._settings.base_url}{path}"
        try:
            async with self._session.request(
                method, url, json=body, headers=self._headers, allow_redirects=False
            ) as answer:
                status, text = answer.status, await answer.text(errors="replace")
                envelope = await answer.json(content_type=None) if is_success(status) else None
        except ValueError:
            raise TargetRefusal(
                f"{method} {url} was answered with {status} and not with JSON"
            ) from None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Unreachable(
                f"{self._settings.base_url} does not answer: {error or type(error).__name__}"
            ) from None
        if not isinstance(envelope, dict) or not isinstance(envelope.get("data"), dict):
            shown = " ".join(text.split())[:200]
            raise TargetRefusal(
                f"{method} {url} was answered with {status} and not with a resource: {shown}"
            )
        data: Mapping[str, Any] = envelope["data"]
        return data
