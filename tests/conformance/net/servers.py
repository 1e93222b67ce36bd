"""The servers whose runs the net judges: clean ones, variants, faulty ones and spoilt ones."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from subprocess import DEVNULL
from typing import Final, TypeVar

import yaml

from hookproof.conformance.mutants.catalogue import (
    conforming_dialects,
    find_dialect,
    list_faults,
    list_generated,
)
from tests.conformance.command import check
from tests.conformance.reference_server import reference_server, write_target_file
from tests.conformance.run.degenerate_gallery import PROJECTS, judge
from tests.source_tree import ROOT
from tests.spec.random_dialects import random_dialect
from tests.strangers.flow import clean_run
from tests.strangers.services import Stranger, has_go, ledgerline, queuepost

Each = TypeVar("Each")
# Writes `hookproof-report/run.jsonl` or `report/run.jsonl` into a new folder.
MakeRun = Callable[[Path], object]

SEED: Final = 47
RANDOM_DIALECTS: Final = 3
# How many of each kind are drawn.
VARIANTS: Final = 6
OTHER_ANSWERS: Final = 6
FAULTS: Final = 20
GENERATED: Final = 14
# Those that end a run early, or spoil it, as soon as a run can show.
DEGENERATE: Final = (
    "dies after 1200 requests",
    "dies after 300 requests",
    "answers 502 in bursts",
    "data is null everywhere",
    "no uid anywhere",
    "answers 401 on portal links",
)


@dataclass(frozen=True, kw_only=True)
class JudgedServer:
    """A reference server with options of `serve`; `dialect` is what it is judged by."""

    name: str
    options: tuple[str, ...] = ()
    dialect: str | None = "reference"

    def run(self, folder: Path) -> None:
        """Judge the server once, in the quick profile."""
        with reference_server(
            folder, ROOT, *PROJECTS, options=self.options, stderr=DEVNULL
        ) as ready:
            target = write_target_file(folder, ready["api"], *PROJECTS, dialect=self.dialect)
            check(folder, "--target", target, "--profile", "quick")


def runs(folder: Path) -> Iterator[tuple[str, MakeRun]]:
    """What makes each run of the net, by name; the dialects that are drawn go into the folder."""
    for server in servers(folder):
        yield server.name, server.run
    for name in DEGENERATE:
        yield name, partial(judge, name)
    strangers = [ledgerline(0), *([queuepost(folder / "program")] if has_go() else [])]
    for stranger in strangers:
        yield stranger.name, partial(_run_stranger, stranger)


def _run_stranger(stranger: Stranger, folder: Path) -> None:
    clean_run(stranger, folder / "run", "quick", "quick")


def servers(folder: Path) -> Iterator[JudgedServer]:
    """The reference servers, the same ones each time."""
    for name in ("reference", "standard-webhooks", "convoy", "contrary"):
        yield JudgedServer(name=f"clean {name}", options=("--dialect", name), dialect=name)
    yield JudgedServer(name="clean without a dialect", dialect=None)
    for seed in range(SEED, SEED + RANDOM_DIALECTS):
        path = str(folder / f"random-{seed}.yaml")
        Path(path).write_text(yaml.safe_dump(random_dialect(seed)))
        yield JudgedServer(name=f"random dialect {seed}", options=("--dialect", path), dialect=path)
    for other in drawn(conforming_dialects(), OTHER_ANSWERS):
        yield JudgedServer(name=other.name, options=("--dialect", other.word), dialect=other.word)
    listed = [each for each in list_faults(find_dialect("reference")) if each.applies]
    for variant in drawn([each for each in listed if each.is_variant], VARIANTS):
        yield JudgedServer(name=variant.name, options=("--variant", variant.name))
    for fault in drawn([each for each in listed if not each.is_variant], FAULTS):
        yield JudgedServer(name=fault.name, options=("--fault", fault.name))
    of_operator: dict[str, list[str]] = defaultdict(list)
    for each in list_generated(find_dialect("reference"))["faults"]:
        if not each["equivalent"]:
            of_operator[each["operator"]].append(each["name"])
    for operator in drawn(sorted(of_operator), GENERATED):
        (name,) = drawn(sorted(of_operator[operator]), 1)
        yield JudgedServer(name=name, options=("--fault", name))


def drawn(items: Sequence[Each], count: int) -> list[Each]:
    """Some of them, the same ones each time."""
    return random.Random(SEED).sample(items, min(count, len(items)))
