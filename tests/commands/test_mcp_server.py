"""`hookproof mcp`: what an agent does with its tools, by a client of the SDK over stdio."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest
from mcp import Client, StdioServerParameters

from hookproof.commands import mcp_server
from hookproof.receiver.client.child_process import child
from hookproof.receiver.http.authority import Authority
from tests.conformance.canned_run import failed, finished_run, passed

T = TypeVar("T")
# Long enough for a busy machine; nothing waits for it to pass.
DEADLINE_S: Final = 300.0
KEY: Final = "key-1"
SECRET: Final = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def used(folder: Path, use: Callable[[Client], Awaitable[T]], **environment: str) -> T:
    """What comes of the use of a server that runs in a folder."""

    async def session() -> T:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-P", "-m", "hookproof", "mcp", "--directory", str(folder)],
            env={**os.environ, **environment},
        )
        async with Client(server, read_timeout_seconds=DEADLINE_S) as client:
            return await use(client)

    return asyncio.run(asyncio.wait_for(session(), DEADLINE_S))


async def call(client: Client, name: str, **arguments: Any) -> Any:
    """What a tool returns; an AssertionError with its words if it failed."""
    result = await client.call_tool(name, arguments)
    text = "".join(getattr(part, "text", "") for part in result.content)
    assert not result.is_error, text
    return result.structured_content if name != "explain" else text


async def refusal(client: Client, name: str, **arguments: Any) -> str:
    result = await client.call_tool(name, arguments)
    assert result.is_error
    return "".join(getattr(part, "text", "") for part in result.content)


def test_the_tools_are_these_and_each_argument_is_described(tmp_path: Path) -> None:
    async def use(client: Client) -> dict[str, Any]:
        return {tool.name: tool for tool in (await client.list_tools()).tools}

    tools = used(tmp_path, use)
    assert tools.keys() == {"check", "findings", "explain", "learn", "verify"}
    for tool in tools.values():
        assert tool.description
        for name, argument in tool.input_schema["properties"].items():
            assert name == "profile" or argument["description"]


def test_a_run_is_read_and_its_requirements_are_explained(tmp_path: Path) -> None:
    finished_run(tmp_path, passed("4.1-1"), failed("4.1-2"), failed("4.4-3"))

    async def use(client: Client) -> tuple[Any, Any, str]:
        return (
            await call(client, "findings", run=".", limit=1),
            await call(client, "findings", run=".", only=["4.4"]),
            await call(client, "explain", only=["4.1-2"]),
        )

    first, chosen, explained = used(tmp_path, use)
    assert (first["verdict"], first["further"]) == ("does_not_conform", 1)
    assert [each["id"] for each in first["findings"]] == ["4.1-2"]
    assert first["findings"][0]["first"]["message"]
    assert [each["id"] for each in chosen["findings"]] == ["4.4-3"]
    assert explained.startswith("4.1-2 · open · section 4.1")


def test_a_delivery_is_verified_and_the_reason_is_given(tmp_path: Path) -> None:
    body = '{"a": 1}'
    signed = [sys.executable, "-P", "-m", "hookproof", "sign", "--scheme", "standard-webhooks"]

    async def use(client: Client) -> tuple[Any, Any, Any]:
        process = await asyncio.create_subprocess_exec(
            *signed,
            *("--secret", SECRET, "--body", str(tmp_path / "body")),
            stdout=asyncio.subprocess.PIPE,
        )
        headers = (await process.communicate())[0].decode().splitlines()
        given = {"headers": headers, "secrets": [SECRET]}
        whole = "\r\n".join(["POST / HTTP/1.1", *headers, "", body])
        return (
            await call(client, "verify", body=body, **given),
            await call(client, "verify", body=body.replace(" ", ""), **given),
            await call(client, "verify", request=whole),
        )

    (tmp_path / "body").write_text(body)
    right, changed, saved = used(tmp_path, use, HOOKPROOF_SECRET=SECRET)
    assert (right["verified"], saved["verified"]) == (True, True)
    assert changed["verified"] is False
    assert changed["mend"]


def test_what_cannot_be_done_is_said_in_the_words_of_the_command(tmp_path: Path) -> None:
    async def use(client: Client) -> tuple[str, str, str, str]:
        return (
            await refusal(client, "findings", run="nowhere"),
            await refusal(client, "explain", only=["4.33-1"]),
            await refusal(client, "check", target="nowhere.yaml"),
            await refusal(client, "check", url="--version"),
        )

    run, name, target, url = used(tmp_path, use)
    assert "exit code 64: " in run
    assert "nowhere/run.jsonl cannot be read" in run
    assert "did you mean 4.3-1?" in name
    assert "nowhere.yaml: cannot be read" in target
    assert "exit code 64: " in url


# Takes the place of a command: says that it is ready, and what it has when it is interrupted.
INTERRUPTED: Final = """
import signal, sys
def end(*_):
    open(sys.argv[1], "w").close()
    print("what it had")
    sys.exit(3)
signal.signal(signal.SIGINT, end)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
print("ready", file=sys.stderr, flush=True)
while True:
    signal.pause()
"""


class Listener:
    """Stands for the context of a call: knows when the command has said something."""

    def __init__(self) -> None:
        self.told = asyncio.Event()

    async def report_progress(self, _done: float, _total: float, message: str) -> None:
        assert message == "ready"
        self.told.set()


@pytest.fixture
def interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """What the command writes when it is interrupted, which it can be from its first moment."""
    monkeypatch.setattr(mcp_server, "HOOKPROOF", (sys.executable, "-c", INTERRUPTED))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    yield tmp_path / "interrupted"
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def test_a_command_whose_time_is_over_is_interrupted_and_its_result_taken(
    interrupted: Path,
) -> None:
    context: Any = Listener()
    ended = asyncio.run(mcp_server._run([str(interrupted)], context, limit_s=0))
    assert (ended.code, ended.out) == (3, "what it had\n")
    assert interrupted.exists()


def test_a_call_that_is_cancelled_ends_its_command_in_order(interrupted: Path) -> None:
    context: Any = Listener()

    async def cancelled() -> None:
        call = asyncio.ensure_future(
            mcp_server._run([str(interrupted)], context, limit_s=DEADLINE_S)
        )
        await context.told.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(cancelled())
    assert interrupted.exists()


FAULT: Final = "no_key_needed"


def test_a_client_finds_and_names_a_planted_fault_by_tools_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Authority(tmp_path / "ca")
    monkeypatch.chdir(tmp_path)
    told: list[float] = []

    async def progress(done: float, _total: float | None, _message: str | None) -> None:
        told.append(done)

    async def use(client: Client) -> tuple[Any, str]:
        serve = ["serve", "--port", "0", "--project", f"p1={KEY}", "--ca", "ca/ca.pem"]
        async with child([*serve, "--fault", FAULT], deadline_s=60) as ready:
            target = {"url": ready["api"], "project": ["p1"], "ca_dir": "ca"}
            judged = await client.call_tool(
                "check",
                {**target, "dialect": "reference", "only": ["5-1", "5-9"]},
                progress_callback=progress,
            )
        assert not judged.is_error, judged.content
        assert judged.structured_content is not None
        names = [each["id"] for each in judged.structured_content["findings"]]
        return judged.structured_content, await call(client, "explain", only=names)

    judged, explained = used(tmp_path, use, HOOKPROOF_API_KEY=KEY)
    assert judged["verdict"] == "does_not_conform"
    assert [each["id"] for each in judged["findings"]] == ["5-1"]
    assert "curl" in judged["findings"][0]["first"]["curl"]
    assert FAULT in explained
    assert told == sorted(told)
    assert KEY not in json.dumps(judged)


def test_importing_it_leaves_the_logging_of_other_commands_alone() -> None:
    program = "import logging, hookproof.commands.mcp_server; print(logging.root.handlers)"
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert shown.stdout == "[]\n"
