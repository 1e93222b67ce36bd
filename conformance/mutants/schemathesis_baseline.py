"""The stock comparison: what plain `schemathesis run` finds in the same servers, given their own
OpenAPI document.

It is told the key and the project, and is otherwise left as it comes. What it reports of the clean
server says nothing of a fault, so only what it reports besides counts. It takes far longer than the
suites: each result is recorded as it comes, and shown beside the kill matrix.
"""

import asyncio
import json
import secrets
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hookproof.conformance.mutants.campaign import CLEAN, Docket
from hookproof.conformance.mutants.catalogue import Fault, Spoken, innocent_dialects
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.receiver.client.child_process import child, signalled

RECORDED: Final = Path(__file__).parent / "schemathesis_baseline.json"
DOCUMENT: Final = "/openapi.yaml"
PROJECT: Final = "p1"
READY_WITHIN_S: Final = 60.0
ENDS_WITHIN_S: Final = 900.0
# Per operation: more take longer and find the same.
EXAMPLES: Final = 10

# Is called with each server and what was found in it.
Told = Callable[[str, Sequence[str]], None]

# What was found in each server, by the name of its fault or variant, besides what is found in the
# clean one.
Stock = Mapping[str, Sequence[str]]


def compare(asked: Docket, told: Told) -> None:
    """Run schemathesis against every fault and innocent; raises CommandError if it cannot be run.

    Each fault and variant is tried under the first dialect in which it is one, the innocent
    dialects without variants.
    """
    asyncio.run(_compare(asked, told))


def recorded_stock(path: Path = RECORDED) -> Stock | None:
    """What was recorded; None if nothing was."""
    if not path.is_file():
        return None
    found: Stock = json.loads(path.read_text(encoding="utf-8"))
    return found


def record_stock(stock: Stock, path: Path = RECORDED) -> None:
    """Write down what was found, beside what was known of other servers."""
    known = {**(recorded_stock(path) or {}), **stock}
    path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


async def _compare(asked: Docket, told: Told) -> None:
    seed, places = asked.settings.seed, asyncio.Semaphore(asked.settings.jobs)

    async def clean(name: str, speaking: Spoken) -> frozenset[str]:
        reported = await _findings(speaking, (), seed)
        told(name, sorted(reported))
        return frozenset(reported)

    async def one(
        name: str, speaking: Spoken, deviations: Sequence[str], known: frozenset[str]
    ) -> None:
        async with places:
            told(name, sorted(await _findings(speaking, deviations, seed) - known))

    first, *others = asked.speaking
    usual = await clean(CLEAN, first)
    await asyncio.gather(
        *(one(fault.name, first, _deviation(fault), usual) for fault in _tried_first(asked, first)),
        *(
            one(speaking.name, speaking, (), usual)
            for speaking in innocent_dialects()
            if asked.named(speaking.name)
        ),
    )
    for speaking in others:
        if on_trial := _tried_first(asked, speaking):
            known = await clean(f"{CLEAN} under {speaking.name}", speaking)
            await asyncio.gather(
                *(one(fault.name, speaking, _deviation(fault), known) for fault in on_trial)
            )


def _tried_first(asked: Docket, speaking: Spoken) -> list[Fault]:
    """The faults and variants that are not such under an earlier dialect."""
    earlier = asked.speaking[: asked.speaking.index(speaking)]
    tried = {fault.name for one in earlier for fault in asked.faults[one.name] if fault.applies}
    told = asked.faults[speaking.name]
    return [
        fault
        for fault in told
        if fault.applies and fault.name not in tried and asked.named(fault.name)
    ]


def _deviation(fault: Fault) -> tuple[str, str]:
    return ("--variant" if fault.innocent else "--fault", fault.name)


async def _findings(speaking: Spoken, deviations: Sequence[str], seed: int) -> set[str]:
    """The failures that schemathesis reports, each with its operation."""
    key = secrets.token_urlsafe(16)
    arguments = [
        "serve",
        "--port",
        "0",
        "--dialect",
        speaking.word,
        "--project",
        f"{PROJECT}={key}",
        *deviations,
    ]
    shown = speaking.dialect.authentication.key_format.replace("{key}", key)
    with tempfile.TemporaryDirectory(prefix="hookproof-") as folder:
        _configure(Path(folder))
        async with child(arguments, deadline_s=READY_WITHIN_S) as ready:
            await _run(f"{ready['api']}{DOCUMENT}", shown, seed, folder)
        return _failures(Path(folder, "report.json"))


def _configure(folder: Path) -> None:
    content = f'[parameters]\n"path.projectID" = "{PROJECT}"\n'
    (folder / "schemathesis.toml").write_text(content, encoding="utf-8")


async def _run(url: str, authorization: str, seed: int, folder: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "schemathesis.cli",
            "run",
            url,
            "-H",
            f"Authorization: {authorization}",
        ),
        *(
            "--max-examples",
            str(EXAMPLES),
            "--seed",
            str(seed),
            "--continue-on-failure",
            "--no-color",
        ),
        *("--report", "json", "--report-json-path", "report.json"),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await asyncio.wait_for(process.wait(), ENDS_WITHIN_S)
    except TimeoutError:
        raise CommandError(
            f"`schemathesis run` did not end within {ENDS_WITHIN_S:.0f} s", ExitCode.INTERNAL_ERROR
        ) from None
    finally:
        signalled(process, signal.SIGKILL)
        await process.wait()


def _failures(report: Path) -> set[str]:
    try:
        failures: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["failures"]
    except (OSError, ValueError, KeyError):
        raise CommandError(
            "`schemathesis run` wrote no report; is it installed?", ExitCode.INTERNAL_ERROR
        ) from None
    return {f"{one['title']}: {operation}" for one in failures for operation in one["operations"]}
