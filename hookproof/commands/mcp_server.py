"""The command `hookproof mcp`: a server of the Model Context Protocol over stdin and stdout.

Each tool runs one command of hookproof as a process and returns what that writes for programs. If a
call is cancelled, the command is interrupted, as by Ctrl-C, and cleans up. Keys and secrets stand
in the environment of a process and never in its arguments, which every user can read.
"""

import asyncio
import json
import os
import signal
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import click
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.installed_version import installed_version
from hookproof.process.subprocesses import send_signal, subprocess_killed_at_end, to_its_end
from hookproof.receiver.client.child_process import HOOKPROOF
from hookproof.spec.catalogue import load_catalogue

# In seconds, for a command that was interrupted: it judges and writes what it has, and cleans up.
GRACE_S: Final = 60.0
# For what only reads, and how much longer than twice its budget a run may take.
READING_S: Final = 120.0
# In characters, of a text that a tool returns.
LONGEST: Final = 60_000
# In bytes, of a line of progress.
LONGEST_LINE: Final = 1024 * 1024
# What is shown of a finding; the rest is in report.json.
SHOWN: Final = ("check", "message", "expected", "actual", "operation", "curl")
# What is shown of a run as a whole.
OF_A_RUN: Final = ("target", "dialect", "profile", "verdict", "exit_code", "totals", "warnings")

Profile = Literal["quick", "standard", "deep"]
Url = Annotated[str, Field(description="Base URL of the API; the embedded server if empty")]
Target = Annotated[str, Field(description="Path of a target file, in place of the other options")]
Projects = Annotated[
    list[str],
    Field(description="Projects to work in; their key is in HOOKPROOF_API_KEY of this server"),
]
CaFolder = Annotated[str, Field(description="Folder of the CA that the target trusts")]
Selectors = Annotated[
    list[str], Field(description="Requirements: an id (4.3-2), a section (4.3) or '4.3-*'")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str

    def confirm(self, *expected: ExitCode) -> "Ended":
        """Raise ToolError, with what the command says, for another exit code than these."""
        if self.code not in expected:
            said = self.err.strip() or self.out.strip() or "it said nothing"
            raise ToolError(f"exit code {self.code}: {_cut(said)}")
        return self


async def check(
    context: Context[Any, Any],
    url: Url = "",
    target: Target = "",
    project: Projects = [],  # noqa: B006 - it is read alone
    dialect: Annotated[str, Field(description="Name or file of the target's dialect")] = "",
    ca_dir: CaFolder = "",
    only: Selectors = [],  # noqa: B006
    profile: Profile = "quick",
    budget_s: Annotated[float, Field(gt=0, description="Seconds for the run")] = 120,
    out: Annotated[str, Field(description="Folder for the reports")] = "hookproof-report",
) -> dict[str, Any]:
    """Judge a server: its verdict, the totals and the worst findings. Calls the server's API."""
    words = [
        *_option("--target", target),
        *_option("--project", *project),
        *_option("--dialect", dialect),
        *_option("--ca-dir", ca_dir),
        *_option("--only", *only),
        *("--profile", profile, "--budget", str(budget_s), "--out", out),
    ]
    limit_s = 2 * budget_s + READING_S
    ended = await _run(["check", *words, "--", *filter(None, [url])], context, limit_s=limit_s)
    ended.confirm(ExitCode.CONFORMS, ExitCode.DOES_NOT_CONFORM, ExitCode.INCOMPLETE)
    return await findings(context, run=out)


async def findings(
    context: Context[Any, Any],
    run: Annotated[str, Field(description="Folder or pack of a run")] = "hookproof-report",
    only: Selectors = [],  # noqa: B006
    limit: Annotated[int, Field(ge=1, description="How many requirements to show")] = 20,
) -> dict[str, Any]:
    """Read the run that `check` left: each violated requirement, with one proof of it."""
    words = ["report", "--format", "json", "--", run]
    ended = await _run(words, context, limit_s=READING_S)
    report = json.loads(ended.confirm(ExitCode.OK).out)
    chosen = {each.id for name in only for each in load_catalogue().select(name)}
    violated = [
        entry
        for entry in report["requirements"]
        if entry["findings"] and (not only or entry["id"] in chosen)
    ]
    return {
        **{name: report.get(name) for name in OF_A_RUN},
        "report": str(Path(run, "report.json")),
        "findings": [
            {
                **{name: entry[name] for name in ("id", "level", "text", "verdict")},
                "findings": len(entry["findings"]),
                "first": {name: entry["findings"][0].get(name) for name in SHOWN},
            }
            for entry in violated[:limit]
        ],
        "further": max(0, len(violated) - limit),
    }


async def explain(context: Context[Any, Any], only: Selectors = []) -> str:  # noqa: B006
    """Say what requirements mean, how they are tested and what is often wrong; all in short if none
    is chosen.
    """
    ended = await _run(["explain", "--", *only], context, limit_s=READING_S)
    return _cut(ended.confirm(ExitCode.OK).out)


async def learn(
    context: Context[Any, Any],
    url: Url = "",
    target: Target = "",
    project: Projects = [],  # noqa: B006
    ca_dir: CaFolder = "",
    profile: Profile = "quick",
    budget_s: Annotated[
        float, Field(gt=0, description="Seconds after which what was learned is written")
    ] = 300,
    out: Annotated[str, Field(description="Folder for dialect.yaml and target.yaml")] = "hookproof",
) -> dict[str, Any]:
    """Find out what a server chose where the document leaves it open, and write its dialect."""
    words = [
        *_option("--target", target),
        *_option("--project", *project),
        *_option("--ca-dir", ca_dir),
        *("--profile", profile, "--out", out, "--json"),
    ]
    ended = await _run(["learn", *words, "--", *filter(None, [url])], context, limit_s=budget_s)
    learned: dict[str, Any] = json.loads(ended.confirm(ExitCode.OK, ExitCode.INCOMPLETE).out)
    return learned


async def verify(
    context: Context[Any, Any],
    headers: Annotated[list[str], Field(description="Headers of the delivery, NAME: VALUE")] = [],  # noqa: B006
    body: Annotated[str, Field(description="The body, exactly as it arrived")] = "",
    request: Annotated[
        str, Field(description="Or the whole delivery as text: raw HTTP, `curl -v`, HAR, ...")
    ] = "",
    request_file: Annotated[str, Field(description="Or the path of a file that holds it")] = "",
    secrets: Annotated[
        list[str], Field(description="Secrets; by default HOOKPROOF_SECRET of this server")
    ] = [],  # noqa: B006
    scheme: Annotated[str, Field(description="Sender, such as stripe; found out if empty")] = "",
    url: Annotated[str, Field(description="URL that the sender called")] = "",
    at: Annotated[str, Field(description="When it arrived")] = "",
) -> dict[str, Any]:
    """Check the signature of one delivery: if it does not verify, why, who, and what mends it."""
    with tempfile.TemporaryDirectory() as folder:
        _write(folder, headers="\n".join(headers), request=request, body=body)
        place = request_file or (f"{folder}/request" if request else "")
        saved = ["--header", f"@{folder}/headers", "--body", f"{folder}/body"]
        words = [
            *(["--request", place] if place else saved),
            *_option("--scheme", scheme),
            *_option("--url", url),
            *_option("--at", at),
        ]
        keys = {"HOOKPROOF_SECRET": "\n".join(secrets)} if secrets else {}
        ended = await _run(
            ["verify", "--json", *words], context, limit_s=READING_S, environment=keys
        )
    judged: dict[str, Any] = json.loads(ended.confirm(ExitCode.OK, ExitCode.FAILED).out)
    return judged


def _write(folder: str, **texts: str) -> None:
    for name, text in texts.items():
        Path(folder, name).write_bytes(text.encode())


def _option(name: str, *values: str) -> list[str]:
    return [word for value in values if value for word in (name, value)]


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n... and {len(text) - LONGEST:,} more characters: choose less"


async def _run(
    words: Sequence[str],
    context: Context[Any, Any],
    *,
    limit_s: float,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Run a command to its end, and interrupt it after `limit_s` seconds, or if it is cancelled.

    What it says on standard error is reported as progress.
    """
    async with subprocess_killed_at_end(
        *HOOKPROOF,
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **(environment or {})},
        limit=LONGEST_LINE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        reading = asyncio.gather(
            process.stdout.read(), _tell(process.stderr, context, limit_s), process.wait()
        )
        try:
            await asyncio.wait([reading], timeout=limit_s)
        finally:
            if not reading.done():
                send_signal(process, signal.SIGINT)
                with suppress(TimeoutError):
                    await to_its_end(asyncio.wait_for(asyncio.shield(reading), GRACE_S))
        if not reading.done():
            raise ToolError(f"it did not end {GRACE_S:.0f} s after it was interrupted")
        out, err, code = await reading
    return Ended(code=code, out=out.decode(errors="replace"), err=err)


async def _tell(lines: asyncio.StreamReader, context: Context[Any, Any], limit_s: float) -> str:
    """The text of standard error, of which each line is told when it comes."""
    began, said = time.monotonic(), list[str]()
    async for line in lines:
        said.append(line.decode(errors="replace"))
        with suppress(Exception):  # the client has gone, or asked for none
            await context.report_progress(time.monotonic() - began, limit_s, said[-1].strip())
    return "".join(said)


@click.command(
    epilog=examples(
        ("hookproof mcp", "What an agent's configuration starts."),
        ("hookproof mcp --directory tests", "The same, with files in another folder."),
    )
)
@click.option(
    "--directory",
    type=click.Path(path_type=Path),
    help="Folder in which the tools read and write; the current one by default.",
)
def mcp(*, directory: Path | None) -> None:
    """Offer hookproof to agents and editors as a server of the Model Context Protocol (MCP).

    Its tools are check, findings, explain, learn and verify, over standard input and output. API
    keys and secrets are read from the environment of this process: HOOKPROOF_API_KEY,
    HOOKPROOF_SECRET.
    """
    if directory is not None:
        try:
            os.chdir(directory)
        except OSError as error:
            raise CommandError(f"{directory} cannot be used: {error.strerror or error}") from None
    _server().run("stdio")


def _server() -> MCPServer[Any]:
    """It sets up the logging of the whole process, so that none is made when this is imported."""
    server: MCPServer[Any] = MCPServer(
        "hookproof",
        version=installed_version(),
        log_level="WARNING",
        instructions="Tests whether a webhook service does what its API document says, and says why"
        " the signature of a webhook does not verify. To test a service: `check`, then `findings`"
        " for what failed and `explain` for what a requirement means. Only a failed requirement"
        " accuses the service; what was not exercised proves nothing.",
    )
    for tool in (check, findings, explain, learn, verify):
        server.add_tool(tool)
    return server
