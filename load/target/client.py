"""Calls to the target while a run is arranged; the run itself is Locust's."""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self

import aiohttp

from hookproof.load.plan import KEY
from hookproof.load.target.settings import TargetSettings

CONNECT_WITHIN_S: Final = 10.0
ANSWER_WITHIN_S: Final = 30.0
FIRST_SUCCESS, FIRST_REDIRECT = 200, 300


class Unreachable(Exception):
    """The target gave no answer at all; the text says so."""


class Refused(Exception):
    """The target answered, but it does not take what a run needs; the text says what."""


class TargetClient:
    """Calls the target; an async context manager."""

    def __init__(self, settings: TargetSettings) -> None:
        self._site = settings
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
        """The `data` of the envelope that a call is answered with (section 2.1); raises Unreachable
        and Refused.
        """
        url = f"{self._site.base_url}{path}"
        try:
            async with self._session.request(
                method, url, json=body, headers=self._headers, allow_redirects=False
            ) as answer:
                status, text = answer.status, await answer.text(errors="replace")
                told = (
                    await answer.json(content_type=None)
                    if FIRST_SUCCESS <= status < FIRST_REDIRECT
                    else None
                )
        except ValueError:
            raise Refused(f"{method} {url} was answered with {status} and no JSON") from None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Unreachable(
                f"{self._site.base_url} does not answer: {error or type(error).__name__}"
            ) from None
        if not isinstance(told, dict) or not isinstance(told.get("data"), dict):
            shown = " ".join(text.split())[:200]
            raise Refused(
                f"{method} {url} was answered with {status} and not with a resource: {shown}"
            )
        data: Mapping[str, Any] = told["data"]
        return data
