"""`hookproof load`: arrange a run, hand it to locust in a process of its own, tell how it went."""

import asyncio
import json
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from secrets import token_urlsafe
from typing import Any, Final

import click

from load.arrangement import Refused, Site, Unreachable, arrange
from load.plan import Plan
from load.profile import Profile, load_profile
from load.report import console_report, verdict_of
from receiver.child import ChildFailed, child
from spec.dialect import Dialect
from spec.dialect_file import load_dialect
from spec.yaml_file import FileProblems

EXIT_UNREACHABLE: Final = 4
EXIT_USAGE: Final = 64
START_DEADLINE_S: Final = 15.0
PROJECT: Final = "load"


class Stop(click.ClickException):
    """Ends the command with one message and a documented exit code."""

    exit_code = EXIT_USAGE


class TargetUnreachable(Stop):
    """Ends the command because the target gave no answer."""

    exit_code = EXIT_UNREACHABLE


@click.command()
@click.argument("profile", default="smoke")
@click.option("--url", help="Base URL of the target; without it the embedded server is started.")
@click.option("--api-key", envvar="HOOKPROOF_API_KEY", help="Key of the target's project (or HOOKPROOF_API_KEY).")
@click.option("--project", help="Project of the target.")
@click.option("--dialect", default="reference", show_default=True, help="Name or file of the target's dialect.")
@click.option("--ca-dir", type=click.Path(path_type=Path), help="Folder of the CA that the target trusts.")
@click.option("--rate", type=click.FloatRange(0.1, 100_000), help="Broadcasts a second, instead of the profile's.")
@click.option("--duration", type=click.FloatRange(0.1, 3600), help="Seconds of sending, instead of the profile's.")
@click.option("--users", type=click.IntRange(1, 1024), help="Most requests in flight, instead of the profile's.")
@click.option("--out", default="hookproof-load", show_default=True, type=click.Path(file_okay=False, path_type=Path))
def load(
    profile: str,
    url: str | None,
    api_key: str | None,
    project: str | None,
    dialect: str,
    ca_dir: Path | None,
    rate: float | None,
    duration: float | None,
    users: int | None,
    out: Path,
) -> int:
    """Broadcast at a rate and measure, at the receiver, how late deliveries are and what is lost.

    PROFILE is the name of a shipped profile or a file. Exit codes: 0 nothing lost or refused; 1 something was;
    4 target unreachable; 64 usage or configuration.
    """
    if url is not None and not (api_key and project):
        raise Stop("a target needs --api-key and --project besides --url")
    try:
        chosen, spoken = load_profile(profile), load_dialect(dialect)
    except FileProblems as problems:
        raise Stop(str(problems)) from None
    chosen = replace(
        chosen, rate=rate or chosen.rate, duration_s=duration or chosen.duration_s, users=users or chosen.users
    )
    site = None if url is None else Site(base_url=url, project=project or "", api_key=api_key or "", dialect=spoken)
    result = asyncio.run(carry_out(chosen, dialect, spoken, site, ca_dir))
    verdict = verdict_of(result)
    out.mkdir(parents=True, exist_ok=True)
    (out / "report.json").write_text(json.dumps({"profile": chosen.name, **result, "verdict": verdict}, indent=2))
    click.echo(console_report(chosen, result))
    return 0 if verdict == "pass" else 1


async def carry_out(
    profile: Profile, dialect: str, spoken: Dialect, site: Site | None, ca_dir: Path | None
) -> dict[str, Any]:
    """Start what the run needs, arrange it, run it; raises Stop."""
    receive = ["receive"] if ca_dir is None else ["receive", "--ca-dir", str(ca_dir)]
    try:
        async with (
            child(receive, deadline_s=START_DEADLINE_S) as receiver,
            target(site, dialect, spoken, receiver["ca"]) as reached,
        ):
            return await run(await arrange(reached, profile, receiver["control"]))
    except Unreachable as unreachable:
        raise TargetUnreachable(str(unreachable)) from None
    except (ChildFailed, Refused) as failed:
        raise Stop(str(failed)) from None


@asynccontextmanager
async def target(site: Site | None, dialect: str, spoken: Dialect, ca: str) -> AsyncIterator[Site]:
    """The target given, or an embedded server for as long as the run lasts."""
    if site is not None:
        yield site
        return
    key = token_urlsafe(24)
    serve = ["serve", "--port", "0", "--dialect", dialect, "--project", f"{PROJECT}={key}", "--ca", ca]
    async with child(serve, deadline_s=START_DEADLINE_S) as server:
        yield Site(base_url=server["api"], project=PROJECT, api_key=key, dialect=spoken)


async def run(plan: Plan) -> dict[str, Any]:
    """Run a plan in the locust process; its tables go to standard output as they come."""
    with tempfile.TemporaryDirectory(prefix="hookproof-load-") as folder:
        written, result = Path(folder) / "plan.json", Path(folder) / "result.json"
        plan.write(written)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-P", "-m", "load.runner", str(written), str(result)),  # -P: no folder of the user's stands in for ours
            stdin=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, process.send_signal, signal.SIGINT)  # it drains and still reports
        try:
            code = await process.wait()
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            if process.returncode is None:
                process.terminate()
                await process.wait()
        if code != 0 or not result.exists():
            raise click.ClickException(f"the load generator ended with exit code {code} and without a result")
        return dict(json.loads(result.read_text(encoding="utf-8")))
