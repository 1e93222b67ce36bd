"""How many faults `schemathesis run` reports by the right requirement with Hookproof's checks, and
how many by itself:

    python -m tests.conformance.schemathesis_plugin.detection [--sample N] [--seed N] [--out FILE]

The sample is drawn from the faults of the catalogue that a check which judges here is recorded to
kill under the reference dialect, by a requirement that it can judge here. Each takes some seconds,
one after the other. A line says what was reported of each; a fault that is in FILE already is not
run again, and FILE gets a line for each that ran. The exit code is 1 if a requirement was reported
that a fault does not violate, or a failure of a clean server.
"""

import json
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from hookproof.conformance.mutants.catalogue import find_dialect, list_faults
from hookproof.conformance.mutants.kill_matrix import read_kills
from hookproof.conformance.schemathesis_plugin.rules import judging_checks
from hookproof.spec.dialect.reader import shipped_dialects
from tests.conformance.schemathesis_plugin.stock_run import (
    StockRun,
    run_schemathesis,
    served,
    settings_for,
)

DIALECT: Final = "reference"
EXAMPLES: Final = 10


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


def try_server(dialect: str, *options: str) -> tuple[StockRun, StockRun]:
    """A run with Hookproof's checks and one without, each against a new server."""
    runs = []
    for hooks in (True, False):
        with tempfile.TemporaryDirectory() as name, served(Path(name), dialect, *options) as url:
            run = run_schemathesis(
                Path(name),
                url,
                document=f"{url}/openapi.json",
                settings=settings_for(dialect, hooks=hooks),
                dialect=dialect,
                examples=EXAMPLES,
                receives=hooks,
            )
            runs.append(run)
    with_hooks, without = runs
    return with_hooks, without


def result(name: str, dialect: str, *options: str) -> dict[str, Any]:
    with_hooks, without = try_server(dialect, *options)
    return {
        "name": name,
        "violated": sorted(with_hooks.violated),
        "stock": sorted(without.others | without.violated),
        "codes": [with_hooks.code, without.code],
    }


def results(sample: Sequence[str], out: Path | None) -> Iterator[dict[str, Any]]:
    """The result of each server, those in the file first."""
    known: dict[str, dict[str, Any]] = {}
    if out is not None and out.exists():
        known = {each["name"]: each for each in map(json.loads, out.read_text().splitlines())}
    servers = {f"clean ({name})": (name, ()) for name in shipped_dialects()}
    servers |= {name: (DIALECT, ("--fault", name)) for name in sample}
    for name, (dialect, options) in servers.items():
        if name not in known:
            known[name] = result(name, dialect, *options)
            if out is not None:
                with out.open("a") as stream:
                    stream.write(json.dumps(known[name]) + "\n")
        yield known[name]


@click.command()
@click.option("--sample", default=60, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--out", type=click.Path(path_type=Path))
def main(*, sample: int, seed: int, out: Path | None) -> None:
    faults = detectable()
    listed = {fault.name: fault for fault in list_faults(find_dialect(DIALECT))}
    names = sorted(name for name in faults if name in listed and listed[name].applies)
    chosen = random.Random(seed).sample(names, min(sample, len(names)))
    wrong = right = stock = 0
    for each in results(chosen, out):
        name, violated = each["name"], {*each["violated"]}
        wanted = faults.get(name, frozenset())
        false = violated - {*(listed[name].violates if name in listed else ())}
        right += bool(violated & wanted)
        stock += bool(each["stock"]) and name in faults
        wrong += bool(false) or (name not in faults and each["codes"] != [0, 0])
        click.echo(
            f"{name}: {', '.join(sorted(violated & wanted)) or 'not found'}"
            f" · stock: {'; '.join(each['stock']) or 'nothing'}"
            f"{f' · WRONG: {sorted(false)} {each}' if false else ''}"
            f"{'' if name in faults or each['codes'] == [0, 0] else f' · {each}'}"
        )
    click.echo(
        f"{len(names)} faults can be detected; of {len(chosen)} drawn: {right} by the right"
        f" requirement, {stock} by Schemathesis alone; wrong: {wrong}"
    )
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
