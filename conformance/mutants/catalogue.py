"""The faults and variants of the reference server, as `hookproof serve --list-faults --json` tells
them.
"""

import asyncio
import json
import signal
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.receiver.client.child_process import HOOKPROOF, signalled
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect

HERE: Final = Path(__file__).parent
LISTED_WITHIN_S: Final = 60.0
# Under which faults are tried: the reference, one that answers everything otherwise, and one that
# waits briefly.
DIALECTS: Final = ("reference", "contrary", "hurried")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault or, with nothing violated, a variant; `applies` says whether it is one under the
    dialect asked about.

    `also` is what breaks with it, seen only where every experiment is made: it may be convicted of
    that.
    """

    name: str
    broken: str
    violates: tuple[str, ...]
    also: tuple[str, ...]
    seen: str
    area: str
    replaces: str
    innocent: bool
    applies: bool
    shows_in: tuple[str, ...]

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> "Fault":
        """A fault from a member of the list."""
        return cls(
            **{**told, **{name: tuple(told[name]) for name in ("violates", "also", "shows_in")}}
        )

    def breaks(self, requirement: str) -> bool:
        """Whether a conviction of this requirement is no false accusation."""
        return requirement in self.violates or requirement in self.also


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A dialect, and the word by which the server's process finds the same one."""

    word: str
    dialect: Dialect

    @property
    def name(self) -> str:
        """The dialect's own name."""
        return self.dialect.name


@cache
def spoken(word: str) -> Spoken:
    """A dialect by name or file, those of this package included; raises FileProblems."""
    for folder in ("dialects", "conforming_variants"):
        path = HERE / folder / f"{word}.yaml"
        if path.is_file():
            word = str(path)
            break
    return Spoken(word=word, dialect=load_dialect(word))


def innocent_dialects() -> tuple[Spoken, ...]:
    """The clean server under dialects that answer one question otherwise than the reference."""
    return tuple(
        spoken(path.stem) for path in sorted((HERE / "conforming_variants").glob("*.yaml"))
    )


async def faults_under(speaking: Spoken) -> tuple[Fault, ...]:
    """Every fault and variant; raises CommandError if the server cannot tell."""
    process = await asyncio.create_subprocess_exec(
        *HOOKPROOF,
        *("serve", "--list-faults", "--json", "--dialect", speaking.word),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), LISTED_WITHIN_S)
    except TimeoutError:
        signalled(process, signal.SIGKILL)
        await process.wait()
        raise CommandError(
            "`hookproof serve --list-faults` did not end", ExitCode.INTERNAL_ERROR
        ) from None
    if process.returncode != 0:
        said = err.decode(errors="replace").strip().rpartition("\n")[2]
        raise CommandError(
            f"`hookproof serve --list-faults` failed: {said}", ExitCode.INTERNAL_ERROR
        )
    return tuple(map(Fault.from_json, json.loads(out)))
