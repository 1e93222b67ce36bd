"""The effect of deliveries, which a number tells: that of a URL, or what a command prints."""

import asyncio
import re
import ssl
import subprocess
from collections.abc import Awaitable, Callable
from typing import Final

import aiohttp

NUMBER: Final = re.compile(r"\s*(-?[0-9]{1,18})\s*")
ANSWER_WITHIN_S: Final = 10.0
MOST_READ: Final = 4096

# The number as it is now; raises EffectUnknown.
Effect = Callable[[], Awaitable[int]]


class EffectUnknown(Exception):
    """No number can be read; the message says why, in one line."""


def effect_of_url(url: str, tls: ssl.SSLContext) -> Effect:
    async def read() -> int:
        timeout = aiohttp.ClientTimeout(total=ANSWER_WITHIN_S)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.get(url, ssl=tls) as got,
            ):
                text = (await got.content.read(MOST_READ)).decode("utf-8", "replace")
                status = got.status
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            words = " ".join(str(error).split()) or type(error).__name__
            raise EffectUnknown(f"{url} cannot be read: {words}") from None
        if status != 200:  # noqa: PLR2004
            raise EffectUnknown(f"{url} answers {status}")
        return _number(text, url)

    return read


def effect_of_command(command: str) -> Effect:
    """The command is run by a shell, as it would be typed."""

    async def read() -> int:
        process = await asyncio.create_subprocess_shell(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                output, errors = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            raise EffectUnknown(f"the command did not end in {ANSWER_WITHIN_S:g} s") from None
        if process.returncode:
            said = " ".join(errors.decode("utf-8", "replace").split())[:200]
            raise EffectUnknown(f"the command ended with {process.returncode}: {said}")
        return _number(output.decode("utf-8", "replace"), "the command")

    return read


def _number(text: str, source: str) -> int:
    match = NUMBER.fullmatch(text)
    if match is None:
        raise EffectUnknown(f"{source} does not give a whole number but {text[:60]!r}")
    return int(match[1])
