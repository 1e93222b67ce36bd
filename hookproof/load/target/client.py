"""Calls to the target while a run is prepared; in the run itself Locust sends the requests."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, Self

import aiohttp

from hookproof.load.plan import KEY, is_success, no_answer_reason
from hookproof.load.target.settings import TargetSettings
from hookproof.target.masking.quotation_mask import QuotationMask
from hookproof.target.rate_answer import is_refusal, requested_pause_s

CONNECT_WITHIN_S: Final = 10.0
ANSWER_WITHIN_S: Final = 30.0
# The pauses that a target may ask for while a run is prepared, all together.
LONGEST_PAUSES_S: Final = 300.0
SHORTEST_PAUSE_S: Final = 0.1
# In bytes; an endless answer must not exhaust our memory.
LONGEST_ANSWER: Final = 16 * 1024 * 1024
# Of a longer answer only the beginning is searched for credentials, in bytes, and quoted, in
# characters.
SEARCHED: Final = 1024 * 1024
QUOTED: Final = 200


class Unreachable(Exception):
    """The target did not answer; the message says so."""


class TargetRefusal(Exception):
    """The target answered, but refuses what a run needs; the message says what.

    `has_no_effect` if its answer says that it has not done what was asked; `is_failure` if it says
    that the target itself has failed, whatever was asked.
    """

    def __init__(
        self, message: str, *, has_no_effect: bool = False, is_failure: bool = False
    ) -> None:
        super().__init__(message)
        self.has_no_effect = has_no_effect
        self.is_failure = is_failure

    def add_hint(self, hint: str) -> None:
        """Add what the user may do, unless the target itself has failed."""
        if not self.is_failure:
            self.args = (f"{self}{hint}",)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetAnswer:
    """What the target answered to one request."""

    status: int
    headers: Mapping[str, str]
    text: str


class TargetClient:
    """What it says of an answer is masked by `mask`, which learns the credentials of all others."""

    def __init__(self, settings: TargetSettings, mask: QuotationMask) -> None:
        self._settings = settings
        self._mask = mask
        self._patience_s = LONGEST_PAUSES_S
        self._headers = settings.connection.with_headers(
            [
                (name, value.replace(KEY, settings.api_key))
                for name, value in settings.headers.items()
            ]
        )

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._settings.connection.tls_context()),
            # What was not asked for is not decompressed: a small answer could become a huge one.
            auto_decompress=False,
            skip_auto_headers=("Accept-Encoding",),
            timeout=aiohttp.ClientTimeout(total=ANSWER_WITHIN_S, connect=CONNECT_WITHIN_S),
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._session.close()

    async def call(
        self, method: str, path: str, body: object = None, *, needs_data: bool = True
    ) -> Mapping[str, Any]:
        """The `data` of the answer (section 2.1); raises Unreachable and TargetRefusal.

        A target that limits how fast it is called is called again when it says. A success without
        data is refused, or has none if `needs_data` is false.
        """
        url = f"{self._settings.base_url}{path}"
        answer = await self._answer(method, url, body)
        while (pause_s := requested_pause_s(answer.status, answer.headers)) is not None:
            pause_s = max(pause_s, SHORTEST_PAUSE_S)
            self._patience_s -= pause_s
            if self._patience_s < 0:
                raise self._refusal(
                    method, url, answer, f", with a pause of {pause_s:g} s once more"
                )
            await asyncio.sleep(pause_s)
            answer = await self._answer(method, url, body)
        if not is_success(answer.status):
            raise self._refusal(method, url, answer)
        data = data_of(answer.text)
        if data is None and needs_data:
            raise self._refusal(method, url, answer, ", but the body has no object in data")
        return data or {}

    async def _answer(self, method: str, url: str, body: object) -> TargetAnswer:
        self._mask.learn(json.dumps(body).encode())
        try:
            async with self._session.request(
                method,
                url,
                json=body,
                headers=self._headers,
                allow_redirects=False,
                proxy=self._settings.connection.proxy,
            ) as answer:
                content = bytearray()
                async for piece in answer.content.iter_any():
                    content += piece
                    if len(content) > LONGEST_ANSWER:
                        raise Unreachable(
                            f"{method} {url} was answered {answer.status}, with a body that is"
                            f" longer than {LONGEST_ANSWER} bytes"
                        )
                self._mask.learn(bytes(content[:SEARCHED]))
                text = content.decode(errors="replace")
                return TargetAnswer(status=answer.status, headers=answer.headers, text=text)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Unreachable(
                f"the server does not answer: {self._settings.base_url}:"
                f" {self._mask.quotation(no_answer_reason(error, ANSWER_WITHIN_S))}"
            ) from None

    def _refusal(
        self, method: str, url: str, answer: TargetAnswer, what: str = ""
    ) -> TargetRefusal:
        quoted = " ".join(self._mask.quotation(answer.text[:SEARCHED]).split())[:QUOTED]
        return TargetRefusal(
            f"{method} {url} was answered {answer.status}{what}: {quoted or 'with an empty body'}",
            has_no_effect=is_refusal(answer.status),
            is_failure=answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR,
        )


def data_of(text: str | bytes) -> Mapping[str, Any] | None:
    """The `data` of an answer (section 2.1), None if there is no object there."""
    try:
        envelope = json.loads(text)
    except (ValueError, RecursionError):  # the latter for what is nested too deeply
        return None
    data = envelope.get("data") if isinstance(envelope, dict) else None
    return data if isinstance(data, dict) else None
