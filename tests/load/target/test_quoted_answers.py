"""What a load run says of answers and of hooks: the words, and no key and no credential in them."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from hookproof.load.profile.load_profile import load_profile
from hookproof.load.run.driver import open_driver
from hookproof.load.single_process import InterruptForwarder
from hookproof.load.target.client import TargetClient, TargetRefusal, Unreachable
from hookproof.load.target.hook_calls import HookCalls
from hookproof.load.target.settings import TargetSettings, target_settings
from hookproof.target.connection import ApiConnection
from hookproof.target.hooks.provision import HookFailed, Provision
from hookproof.target.settings import Flags
from tests.conformance.planted_credentials import ENCODINGS, credentials, traces

KEY, GATEWAY, SECRET, AUTH_KEY, *_ = credentials()[0::5]
PLANTED = {"API key": KEY, "header": GATEWAY, "secret": SECRET, "key of a portal link": AUTH_KEY}
SETTINGS = replace(
    target_settings(Flags(), {}),
    project="p",
    api_key=KEY,
    connection=ApiConnection(headers=(("X-Gateway", f"Bearer {GATEWAY}"),)),
)


def leaks(text: str) -> list[tuple[str, bytes]]:
    """What would tell a reader of a planted credential, by what it is."""
    return [
        (kind, trace)
        for kind, credential in PLANTED.items()
        for trace in traces(credential)
        if trace in text.encode()
    ]


async def refusals(bodies: list[object]) -> list[str]:
    """What is said where the target refuses with these bodies, after it has shown AUTH_KEY."""
    left = iter(bodies)

    async def answer(request: web.Request) -> web.Response:
        if request.method == "GET":
            link = {"auth_type": "t", "auth_key": AUTH_KEY}
            return web.json_response({"data": {"content": [link]}})
        return web.json_response(next(left), status=422)

    app = web.Application()
    app.router.add_route("*", "/", answer)
    said = []
    async with TestServer(app) as server:
        settings = replace(SETTINGS, base_url=str(server.make_url("")).rstrip("/"))
        async with TargetClient(settings, HookCalls.of(settings).mask) as target:
            await target.call("GET", "/")
            for _ in bodies:
                with pytest.raises(TargetRefusal) as refused:
                    await target.call("POST", "/", {"name": "n", "secret": SECRET})
                said.append(str(refused.value))
    return said


def refused_with(status: int, body: str, **headers: str) -> TargetRefusal:
    """What is raised where the target gives this answer to everything."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=status, text=body, headers=headers)

    async def call() -> TargetRefusal:
        app = web.Application()
        app.router.add_route("*", "/", answer)
        async with TestServer(app) as server:
            settings = replace(SETTINGS, base_url=str(server.make_url("")).rstrip("/"))
            async with TargetClient(settings, HookCalls.of(settings).mask) as target:
                with pytest.raises(TargetRefusal) as refused:
                    await target.call("GET", "/")
        return refused.value

    return asyncio.run(call())


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, "<p>It\n works", "answered 200, but the body has no object in data: <p>It works"),
        (200, '{"data": [1]}', 'answered 200, but the body has no object in data: {"data": [1]}'),
        (200, "[" * 9000, f"answered 200, but the body has no object in data: {'[' * 200}"),
        (201, "", "answered 201, but the body has no object in data: with an empty body"),
        (422, ' {"message":\n"No"} ', 'answered 422: {"message": "No"}'),
        (500, "", "answered 500: with an empty body"),
    ],
    ids=["text", "a list", "nested", "nothing", "a refusal", "a failure"],
)
def test_a_refusal_says_what_was_answered(status: int, body: str, words: str) -> None:
    refusal = refused_with(status, body)
    method, url, said = str(refusal).split(" ", 2)
    assert (method, url[:17], said) == ("GET", "http://127.0.0.1:", f"was {words}")
    assert (refusal.has_no_effect, refusal.is_failure) == (status == 422, status == 500)


def test_a_pause_that_is_too_long_is_in_the_words() -> None:
    said = str(refused_with(429, "Slow down", **{"Retry-After": "301"}))
    assert said.endswith(" was answered 429, with a pause of 301 s once more: Slow down")


def test_no_refusal_quotes_a_key_or_a_credential_in_any_encoding() -> None:
    bodies = [
        {"message": encode(credential)}
        for credential in PLANTED.values()
        for encode in ENCODINGS.values()
    ]
    said = asyncio.run(refusals(bodies))
    assert len(said) == len(PLANTED) * len(ENCODINGS)
    assert [leak for text in said for leak in leaks(text)] == []
    assert "$HOOKPROOF_API_KEY" in said[0]


def test_a_refusal_quotes_no_credential_in_a_field_that_only_it_shows() -> None:
    shown = {"endpoint": {"secret": "only-here-4711", "url": "https://u:only-too@a.invalid"}}
    (said,) = asyncio.run(refusals([shown]))
    assert "only-" not in said
    assert said.endswith(
        'was answered 422: {"endpoint": {"secret": "secret#3", "url": "https://***@a.invalid"}}'
    )


def test_a_credential_is_masked_before_the_quotation_is_cut() -> None:
    for length in range(150, 200):
        (said,) = asyncio.run(refusals(["x" * length + KEY]))
        assert KEY[:4] not in said


async def test_an_answer_that_is_no_http_quotes_no_key() -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 abc {KEY}\r\n\r\n".encode())
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        settings = replace(SETTINGS, base_url=f"http://127.0.0.1:{port}")
        async with TargetClient(settings, HookCalls.of(settings).mask) as target:
            with pytest.raises(Unreachable) as unreachable:
                await target.call("GET", "/")
    said = str(unreachable.value)
    assert "HTTP" in said
    assert leaks(said) == []


def telling(hook: str) -> Callable[[Mapping[str, Any]], Any]:
    """A hook that fails and quotes its arguments and the headers of the target."""

    async def fail(arguments: Mapping[str, Any]) -> object:
        raise HookFailed(hook, f"{json.dumps(arguments)} was sent with {GATEWAY}")

    return fail


def with_hooks(*hooks: str) -> TargetSettings:
    return replace(SETTINGS, provision=Provision(hooks={hook: telling(hook) for hook in hooks}))


async def test_no_failure_of_a_hook_quotes_what_it_was_called_with() -> None:
    hooks = ("after_endpoint_created", "create_portal_link", "remove_endpoint")
    calls = HookCalls.of(with_hooks(*hooks))
    calls.mask.learn(json.dumps({"secret": SECRET}).encode())

    said = []
    await calls.after_endpoint_created({"uid": "e", "shown": SECRET})
    with pytest.raises(HookFailed) as failed:
        calls.check_endpoints()
    said.append(str(failed.value))
    with pytest.raises(HookFailed) as failed:
        await calls.create_missing("listPortalLinks", 0)
    said.append(str(failed.value))
    mixed = json.dumps({"secret": AUTH_KEY, "data": {"uid": "m", "name": AUTH_KEY}})
    calls.note_created_by_mix(1, [mixed.encode()])
    async with calls.cleaned_up():
        pass
    said = [*said, *calls.failed_at_end()]
    assert [text.partition(" failed")[0].split()[-1] for text in said] == list(hooks)
    assert all("was sent with $HOOKPROOF_HEADER_X_GATEWAY" in text for text in said)
    assert [leak for text in said for leak in leaks(text)] == []


async def test_what_a_hook_gave_is_masked_before_the_quotation_is_cut() -> None:
    async def fail(arguments: Mapping[str, Any]) -> object:
        raise HookFailed("after_endpoint_created", "it was answered", "x" * 190 + KEY)

    hooks = dict.fromkeys(("after_endpoint_created", "create_source", "remove_endpoint"), fail)
    calls = HookCalls.of(replace(SETTINGS, provision=Provision(hooks=hooks)))

    await calls.after_endpoint_created({"uid": "e"})
    with pytest.raises(HookFailed) as before:
        calls.check_endpoints()
    with pytest.raises(HookFailed) as listed:
        await calls.create_missing("listSources", 0)
    calls.note_created({"uid": "e"}, is_disabled=False)
    async with calls.cleaned_up():
        pass
    texts = [str(before.value), str(listed.value), *calls.failed_at_end()]
    assert ["x" * 190 in text for text in texts] == [True] * 3
    assert [text for text in texts if KEY[:6] in text] == []


async def test_a_fresh_project_that_cannot_be_made_quotes_no_header_of_the_target() -> None:
    settings = replace(with_hooks("fresh_project"), base_url="http://127.0.0.1:1", project="")
    profile, interrupts = load_profile("smoke"), InterruptForwarder(cancel=lambda: None)
    with pytest.raises(HookFailed) as failed:
        async with open_driver(settings, profile, None, web=None, interrupts=interrupts):
            raise AssertionError("a project was made")
    assert leaks(str(failed.value)) == []
    assert "was sent with $HOOKPROOF_HEADER_X_GATEWAY" in str(failed.value)
