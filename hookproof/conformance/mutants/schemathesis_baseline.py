"""The schemathesis baseline: what plain `schemathesis run` reports of the same servers, given their
own OpenAPI document.

It is given the key and the project, and runs with its defaults otherwise. What it reports of the
clean server is not about a fault, so only further reports count. It takes far longer than the
suites: each result is recorded as it comes, and shown beside the kill matrix.
"""

import asyncio
import json
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hookproof.conformance.mutants.campaign import CLEAN, CampaignPlan
from hookproof.conformance.mutants.catalogue import ListedFault, NamedDialect, conforming_dialects
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.private_folder import private_folder
from hookproof.process.subprocesses import PROJECTS_VARIABLE, subprocess_killed_at_end
from hookproof.receiver.client.child_process import child

RECORDED: Final = Path(__file__).parent / "schemathesis_baseline.json"
DOCUMENT: Final = "/openapi.yaml"
PROJECT: Final = "p1"
READY_WITHIN_S: Final = 60.0
ENDS_WITHIN_S: Final = 900.0
# Examples per operation: more take longer and find the same.
EXAMPLES: Final = 10

# Called with each server's name and what was reported of it.
OnReport = Callable[[str, Sequence[str]], None]

# What was reported of each server and not of the clean one, by the name of its fault or variant.
SchemathesisBaseline = Mapping[str, Sequence[str]]


def run_schemathesis_baseline(plan: CampaignPlan, on_report: OnReport) -> None:
    """Run schemathesis against every fault and variant; raises CommandError if it cannot be run.

    Each fault and variant is tried under the first dialect in which it is one, and the conforming
    dialects without variants.
    """
    asyncio.run(_run_all(plan, on_report))


def read_baseline(path: Path = RECORDED) -> SchemathesisBaseline | None:
    """What was recorded; None if nothing was."""
    if not path.is_file():
        return None
    baseline: SchemathesisBaseline = json.loads(path.read_text(encoding="utf-8"))
    return baseline


def record_baseline(baseline: SchemathesisBaseline, path: Path = RECORDED) -> None:
    """Write down what was reported of these servers; the entries of others stay."""
    known = {**(read_baseline(path) or {}), **baseline}
    path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


async def _run_all(plan: CampaignPlan, on_report: OnReport) -> None:
    seed, places = plan.settings.seed, asyncio.Semaphore(plan.settings.jobs)

    async def run_clean(name: str, dialect: NamedDialect) -> frozenset[str]:
        reported = await _findings(dialect, (), seed)
        on_report(name, sorted(reported))
        return frozenset(reported)

    async def run_server(
        name: str, dialect: NamedDialect, deviations: Sequence[str], known: frozenset[str]
    ) -> None:
        async with places:
            on_report(name, sorted(await _findings(dialect, deviations, seed) - known))

    first, *others = plan.dialects
    reported = await run_clean(CLEAN, first)
    await asyncio.gather(
        *(
            run_server(fault.name, first, fault.deviations, reported)
            for fault in _new_faults(plan, first)
        ),
        *(
            run_server(dialect.name, dialect, (), reported)
            for dialect in conforming_dialects()
            if plan.selects(dialect.name)
        ),
    )
    for dialect in others:
        if faults := _new_faults(plan, dialect):
            known = await run_clean(f"{CLEAN} under {dialect.name}", dialect)
            await asyncio.gather(
                *(run_server(fault.name, dialect, fault.deviations, known) for fault in faults)
            )


def _new_faults(plan: CampaignPlan, dialect: NamedDialect) -> list[ListedFault]:
    """The faults and variants that do not apply under an earlier dialect."""
    earlier = plan.dialects[: plan.dialects.index(dialect)]
    tried = {fault.name for item in earlier for fault in plan.faults[item.name] if fault.applies}
    return [
        fault
        for fault in plan.faults[dialect.name]
        if fault.applies and fault.name not in tried and plan.selects(fault.name)
    ]


async def _findings(dialect: NamedDialect, deviations: Sequence[str], seed: int) -> set[str]:
    """The failures that schemathesis reports, each with its operation."""
    key = secrets.token_urlsafe(16)
    arguments = [
        "serve",
        "--port",
        "0",
        "--dialect",
        dialect.word,
        *deviations,
    ]
    authorization = dialect.dialect.authentication.key_format.replace("{key}", key)
    with private_folder() as folder:
        _configure(folder, authorization)
        keys = {PROJECTS_VARIABLE: f"{PROJECT}={key}"}
        async with child(arguments, deadline_s=READY_WITHIN_S, environment=keys) as ready:
            await _run(f"{ready['api']}{DOCUMENT}", seed, folder)
        return _failures(folder / "report.json")


def _configure(folder: Path, authorization: str) -> None:
    """Write what is not for the command line, where every user of the machine could read it."""
    content = (
        f"headers = {{ Authorization = {json.dumps(authorization)} }}\n"
        f'[parameters]\n"path.projectID" = "{PROJECT}"\n'
    )
    (folder / "schemathesis.toml").write_text(content, encoding="utf-8")


async def _run(url: str, seed: int, folder: Path) -> None:
    words = (sys.executable, "-m", "schemathesis.cli", "run", url)
    options = ("--max-examples", str(EXAMPLES), "--seed", str(seed), "--continue-on-failure")
    try:
        async with subprocess_killed_at_end(
            *words,
            *options,
            *("--no-color", "--report", "json", "--report-json-path", "report.json"),
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        ) as process:
            await asyncio.wait_for(process.wait(), ENDS_WITHIN_S)
    except TimeoutError:
        raise CommandError(
            f"`schemathesis run` did not end within {ENDS_WITHIN_S:.0f} s", ExitCode.INTERNAL_ERROR
        ) from None


def _failures(report: Path) -> set[str]:
    try:
        failures: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["failures"]
    except (OSError, ValueError, KeyError):
        raise CommandError(
            "`schemathesis run` wrote no report; is it installed?", ExitCode.INTERNAL_ERROR
        ) from None
    return {
        f"{failure['title']}: {operation}"
        for failure in failures
        for operation in failure["operations"]
    }
