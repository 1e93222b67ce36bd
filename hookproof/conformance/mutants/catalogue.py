"""The faults and variants of the reference server, as `hookproof serve --list-faults --json` lists
them, and the dialects under which they run.
"""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.receiver.client.child_process import HOOKPROOF
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect

HERE: Final = Path(__file__).parent
LISTED_WITHIN_S: Final = 60.0
# The dialects under which mutants run: the reference, one that answers every question otherwise,
# one with short waits, and three with answers that neither of the first two has.
DIALECTS: Final = ("reference", "contrary", "hurried", "convoy", "unusual", "visiting")
# How many of them try every fault; the others try what is not detected yet.
TRY_EVERYTHING: Final = 2
_LISTS: Final = ("former_names", "violates", "shows_in")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFault:
    """A fault, or a variant that violates nothing. `applies` is for the dialect of the list.

    A server with several faults is listed as one; `parts` are its faults then.
    """

    name: str
    former_names: tuple[str, ...]
    broken: str
    violates: tuple[str, ...]
    seen: str
    area: str
    replaces: str
    is_variant: bool
    applies: bool
    shows_in: tuple[str, ...]
    parts: tuple["ListedFault", ...] = ()

    @classmethod
    def from_json(cls, item: dict[str, Any]) -> "ListedFault":
        members = {**item, **{name: tuple(item[name]) for name in _LISTS}}
        del members["also"]  # always empty
        return cls(is_variant=members.pop("innocent"), **members)

    @property
    def defects(self) -> tuple["ListedFault", ...]:
        """The faults of its server, each for itself."""
        return self.parts or (self,)

    @property
    def deviations(self) -> tuple[str, ...]:
        """The words of the command line that start its server."""
        option = "--variant" if self.is_variant else "--fault"
        return tuple(word for defect in self.defects for word in (option, defect.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedDialect:
    """A dialect, and the name or file by which the server's process loads the same one."""

    word: str
    dialect: Dialect

    @property
    def name(self) -> str:
        return self.dialect.name


@cache
def find_dialect(word: str) -> NamedDialect:
    """A dialect by name or file, including those of this package; raises FileProblems."""
    for folder in ("dialects", "conforming_variants"):
        path = HERE / folder / f"{word}.yaml"
        if path.is_file():
            word = str(path)
            break
    return NamedDialect(word=word, dialect=load_dialect(word))


def conforming_dialects() -> tuple[NamedDialect, ...]:
    """Dialects that answer one question otherwise than the reference, for the clean server."""
    return tuple(
        find_dialect(path.stem) for path in sorted((HERE / "conforming_variants").glob("*.yaml"))
    )


class FaultLists(Mapping[str, tuple[ListedFault, ...]]):
    """Every fault and variant, by the name of a dialect; each list is made when it is asked for.

    That raises CommandError if the server cannot list them.
    """

    def __init__(self, dialects: Sequence[NamedDialect]) -> None:
        self._dialects = {dialect.name: dialect for dialect in dialects}
        self._lists: dict[str, tuple[ListedFault, ...]] = {}

    def __getitem__(self, name: str) -> tuple[ListedFault, ...]:
        if name not in self._lists:
            self._lists[name] = list_faults(self._dialects[name])
        return self._lists[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._dialects)

    def __len__(self) -> int:
        return len(self._dialects)


def list_faults(dialect: NamedDialect) -> tuple[ListedFault, ...]:
    """Every fault and variant; raises CommandError if the server cannot list them."""
    return tuple(map(ListedFault.from_json, _list(dialect, "--list-faults")))


def list_generated(dialect: NamedDialect) -> dict[str, Any]:
    """The operators, and all that they make; raises CommandError if the server cannot list them."""
    listed: dict[str, Any] = _list(dialect, "--list-generated")
    return listed


def _list(dialect: NamedDialect, option: str) -> Any:
    command = [*HOOKPROOF, "serve", option, "--json", "--dialect", dialect.word]
    try:
        process = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LISTED_WITHIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CommandError(
            f"`hookproof serve {option}` did not end", ExitCode.INTERNAL_ERROR
        ) from None
    if process.returncode != 0:
        message = process.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise CommandError(f"`hookproof serve {option}` failed: {message}", ExitCode.INTERNAL_ERROR)
    return json.loads(process.stdout)
