"""Hooks written as HTTP requests in target.yaml: the steps of a hook are sent one after the other.

    create_portal_link:
      - method: POST
        url: "http://127.0.0.1:5006/projects/{project.id}/portal-links"
        body: "{portal_link}"
        keep: {uid: data.uid}

`{...}` stands for a part of the arguments of the hook, for what an earlier step kept, or for a
word that is unique to the call, `{unique}`. A text that is only a placeholder becomes the value
itself, and a member of an object without a value is left out. `keep` names parts of the answer,
which the hook returns. A URL that begins with `{base_url}` is the target's own: such a step is sent
with the `headers` and the `connection` of the target file.
"""

import json
import re
import secrets
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp

from hookproof.target.connection import DIRECT, ApiConnection
from hookproof.target.file_schema import HOOK_ARGUMENTS
from hookproof.target.hooks.provision import Hook, HookFailed

UNIQUE: Final = "unique"
BASE_URL: Final = "{base_url}"
# Of a longer answer only the beginning is searched for credentials, in bytes.
SEARCHED: Final = 1024 * 1024
PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][\w.]*)\}")
_MISSING: Final = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpStep:
    """One request. `keep` maps names to dotted paths into its JSON answer; an empty `status`
    accepts any 2xx. With `at_target` it goes to the API of the target.
    """

    url: str
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    status: tuple[int, ...] = ()
    keep: Mapping[str, str] = field(default_factory=dict)
    at_target: bool = False

    def placeholders(self) -> Iterator[str]:
        for text in _texts([self.url, dict(self.headers), self.body]):
            yield from PLACEHOLDER.findall(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpHook:
    """A hook that sends these requests when it is called."""

    steps: tuple[HttpStep, ...]
    send: Hook

    def __call__(self, arguments: Mapping[str, Any]) -> Awaitable[object]:
        return self.send(arguments)


def unknown_placeholders(hook: str, steps: Sequence[HttpStep]) -> Iterator[tuple[int, str]]:
    """Placeholders that cannot have a value, each with the number of its step."""
    known = {*HOOK_ARGUMENTS[hook], UNIQUE}
    for number, step in enumerate(steps):
        yield from (
            (number, name) for name in step.placeholders() if name.partition(".")[0] not in known
        )
        known |= set(step.keep)


def http_hook(
    hook: str,
    steps: Sequence[HttpStep],
    *,
    timeout_s: float,
    connection: ApiConnection = DIRECT,
) -> HttpHook:
    """A hook that sends these requests, each of which may take `timeout_s` seconds.

    Those to the target are sent as `connection` says, the others directly.
    """
    tls = connection.tls_context() if any(step.at_target for step in steps) else True
    timeout = aiohttp.ClientTimeout(total=timeout_s)

    async def send_all(arguments: Mapping[str, Any]) -> object:
        values = {**arguments, UNIQUE: secrets.token_hex(6)}
        kept: dict[str, Any] = {}
        async with (
            aiohttp.ClientSession(timeout=timeout) as elsewhere,
            aiohttp.ClientSession(
                timeout=timeout, connector=aiohttp.TCPConnector(ssl=tls), proxy=connection.proxy
            ) as at_target,
        ):
            for step in steps:
                session = at_target if step.at_target else elsewhere
                kept |= await _sent(
                    hook, step, session, values, connection if step.at_target else DIRECT
                )
                values |= kept
        return kept or None

    return HttpHook(steps=tuple(steps), send=send_all)


async def _sent(
    hook: str,
    step: HttpStep,
    session: aiohttp.ClientSession,
    values: Mapping[str, Any],
    connection: ApiConnection,
) -> dict[str, Any]:
    url, body = fill_placeholders(step.url, values), fill_placeholders(step.body, values)
    request = f"{step.method} {url}"
    own = [(name, str(fill_placeholders(text, values))) for name, text in step.headers.items()]
    headers = connection.with_headers(own)
    try:
        async with session.request(
            step.method, str(url), headers=headers, json=body, allow_redirects=False
        ) as response:
            answer = await response.read()
            status = response.status
    except TimeoutError:
        within = f"within {session.timeout.total:g} s (budgets.request_s)"
        raise HookFailed(hook, f"{request} got no answer {within}") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise HookFailed(
            hook, f"{request} got no answer: {type(error).__name__}: {error}"
        ) from None
    if status not in step.status if step.status else not 200 <= status < 300:  # noqa: PLR2004
        quoted = answer[:SEARCHED].decode(errors="replace")
        raise HookFailed(hook, f"{request} was answered {status}{':' if quoted else ''}", quoted)
    return {name: _kept(hook, request, path, answer) for name, path in step.keep.items()}


def _kept(hook: str, request: str, path: str, answer: bytes) -> Any:
    try:
        value = _part(json.loads(answer), path)
    except ValueError:
        value = _MISSING
    if value is _MISSING:
        raise HookFailed(hook, f"the answer to {request} has no {path}")
    return value


def fill_placeholders(value: Any, values: Mapping[str, Any]) -> Any:
    """A JSON value with its placeholders replaced; None stands for a missing part."""
    if isinstance(value, dict):
        members = {name: fill_placeholders(member, values) for name, member in value.items()}
        return {name: member for name, member in members.items() if member is not None}
    if isinstance(value, list):
        return [fill_placeholders(item, values) for item in value]
    if not isinstance(value, str):
        return value
    whole = PLACEHOLDER.fullmatch(value)
    if whole:
        return _value(whole[1], values)
    return PLACEHOLDER.sub(lambda match: str(_value(match[1], values) or ""), value)


def _value(path: str, values: Mapping[str, Any]) -> Any:
    part = _part(values, path)
    return None if part is _MISSING else part


def _part(value: Any, path: str) -> Any:
    """The part of a JSON value at a dotted path."""
    for name in path.split("."):
        if isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        elif isinstance(value, Mapping) and name in value:
            value = value[name]
        else:
            return _MISSING
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value
