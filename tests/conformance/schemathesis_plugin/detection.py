"""How many faults `schemathesis run` reports by the right requirement with Hookproof's checks, and
how many by itself:

    python -m tests.conformance.schemathesis_plugin.detection [--sample N] [--seed N] [--jobs N]
        [--whole] [--out FILE]

The sample is drawn from the faults of the catalogue that a check which judges here is recorded to
kill under the reference dialect, by a requirement that it can judge here. As all phases take twice
as long as the first two, they run where these report nothing, and of clean servers; `--whole` runs
them always. A line says what was reported of each; what is in FILE already is not run again, and
FILE gets a line for each that ran. The exit code is 1 if a requirement was reported that a fault
does not violate, or a failure of a clean server.
"""

import json
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final

import click

from hookproof.conformance.mutants.catalogue import find_dialect, list_faults
from hookproof.conformance.mutants.kill_matrix import read_kills
from hookproof.conformance.schemathesis_plugin.rules import judging_checks
from hookproof.spec.dialect.reader import shipped_dialects
from tests.conformance.schemathesis_plugin.stock_run import (
    run_schemathesis,
    served,
    settings_for,
)

DIALECT: Final = "reference"
EXAMPLES: Final = 10
# How much is kept of what a run said that failed and reported nothing, in characters.
OUT: Final = 4000
FIRST_PHASES: Final = ("examples", "coverage")


def detectable() -> Mapping[str, frozenset[str]]:
    """By fault the requirements that can be reported of it."""
    judged = {check.name: {*check.requirements} for _, check in judging_checks()}
    found = {
        fault: frozenset(
            requirement
            for check, requirements in by_dialect.get(DIALECT, {}).items()
            for requirement in requirements
            if requirement in judged.get(check, ())
        )
        for fault, by_dialect in read_kills().items()
    }
    return {fault: requirements for fault, requirements in found.items() if requirements}


@dataclass(frozen=True, kw_only=True)
class Server:
    """A server to try; `wanted` are the requirements one of which is to be reported of it."""

    name: str
    dialect: str
    options: tuple[str, ...] = ()
    wanted: frozenset[str] = frozenset()


def try_server(server: Server, *, hooks: bool, whole: bool) -> dict[str, Any]:
    """What is reported of it with Hookproof's checks, or by Schemathesis alone."""
    settings = settings_for(server.dialect, hooks=hooks)
    for phases in [()] if whole or not server.wanted else [FIRST_PHASES, ()]:
        with (
            tempfile.TemporaryDirectory() as name,
            served(Path(name), server.dialect, *server.options) as url,
        ):
            run = run_schemathesis(
                Path(name),
                url,
                document=f"{url}/openapi.json",
                settings=settings,
                dialect=server.dialect,
                examples=EXAMPLES,
                phases=phases,
                receives=hooks,
            )
        if (run.violated & server.wanted) if hooks else run.others:
            break
    return {
        "name": server.name,
        "hooks": hooks,
        "violated": sorted(run.violated),
        "others": sorted(run.others),
        "code": run.code,
        "out": "" if run.failures or not run.code else run.out[-OUT:],
        "phases": phases,
    }


def results(
    servers: Sequence[Server], out: Path | None, *, whole: bool, jobs: int
) -> Iterator[dict[str, Any]]:
    """Of each server with Hookproof's checks, then of each without; those in the file first."""
    known: dict[tuple[str, bool], dict[str, Any]] = {}
    if out is not None and out.exists():
        lines = map(json.loads, out.read_text("utf-8").splitlines())
        known = {(each["name"], each["hooks"]): each for each in lines}
    lock = Lock()

    def tried(of: tuple[bool, Server]) -> dict[str, Any]:
        hooks, server = of
        if (server.name, hooks) in known:
            return known[server.name, hooks]
        result = try_server(server, hooks=hooks, whole=whole)
        if out is not None:
            with lock, out.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(result) + "\n")
        return result

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(tried, [(hooks, each) for hooks in (True, False) for each in servers])


@click.command()
@click.option("--sample", default=60, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--out", type=click.Path(path_type=Path))
@click.option("--jobs", default=1, show_default=True, help="How many servers are tried at a time.")
@click.option("--whole", is_flag=True, help="Run all phases, also after a fault was reported.")
def main(*, sample: int, seed: int, out: Path | None, jobs: int, whole: bool) -> None:
    faults = detectable()
    listed = {fault.name: fault for fault in list_faults(find_dialect(DIALECT))}
    names = sorted(name for name in faults if name in listed and listed[name].applies)
    chosen = random.Random(seed).sample(names, min(sample, len(names)))
    servers = [
        *(
            Server(name=name, dialect=DIALECT, options=("--fault", name), wanted=faults[name])
            for name in chosen
        ),
        *(Server(name=f"clean ({dialect})", dialect=dialect) for dialect in shipped_dialects()),
    ]
    right = stock = wrong = 0
    for each in results(servers, out, whole=whole, jobs=jobs):
        name, violated, others = each["name"], {*each["violated"]}, each["others"]
        if name not in faults:
            false = bool(each["code"])
        else:
            false = bool(violated - {*listed[name].violates})
            right += bool(violated & faults[name])
            stock += bool(others) and not each["hooks"]
        wrong += false
        said = [*sorted(violated & faults.get(name, set())), *([] if each["hooks"] else others)]
        click.echo(
            f"{name}{'' if each['hooks'] else ', Schemathesis alone'}:"
            f" {'; '.join(said) or 'nothing'}{f' · WRONG: {each}' if false else ''}"
        )
    click.echo(
        f"{len(names)} faults can be detected; of {len(chosen)} drawn: {right} by the right"
        f" requirement, {stock} by Schemathesis alone; wrong: {wrong}"
    )
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
