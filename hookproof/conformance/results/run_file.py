"""run.jsonl, the only truth of a run: every report is rendered from it alone.

Each line is a JSON object; its member `event` is one of these:

- `header`: what was judged, and how;
- `case`: one observation, in order of arrival;
- `experiment`: how an experiment ended;
- `shrunk`: a finding whose proof is a smaller request that was sent afterwards;
- `finding`: one defect, with its smallest proof;
- `requirement`: the verdict of a requirement;
- `disagreement`: a field of the dialect that alone explains findings (`disagreements.py`);
- `fields`: how often each documented field was sent and shown;
- `left`: what the run leaves at the target;
- `footer`: the verdict of the run. A file without it holds no finished run.

Everything is masked before it is written. `stored_evidence.py` reads the evidence back; reports
need none of it.
"""

import json
import os
import re
import secrets
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from io import FileIO
from itertools import count
from pathlib import Path
from typing import Any, Final

from hookproof.conformance.model.disagreement import Disagreement
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.ledger import Entry, Finding, Ledger, LeftBehind, RunVerdict
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.results.baseline import Expectation
from hookproof.conformance.results.documented_fields import Coverage, FieldCount, FieldCounter
from hookproof.conformance.results.packed.manifest import MOST_CONTENT, BrokenPack
from hookproof.conformance.results.packed.reading import is_packed, open_packed
from hookproof.conformance.results.records.compression import LongBodies, pack_evidence
from hookproof.conformance.results.records.evidence_records import evidence_json
from hookproof.conformance.results.records.finding_records import (
    entry_json,
    entry_of,
    finding_json,
    finding_of,
    typed,
)
from hookproof.process.written_file import FileNotWritten, unfinished_file, write_whole
from hookproof.spec.dialect.file_schema import ASSUMED
from hookproof.spec.given_file import given_file, text_lines

FORMAT: Final = 2
# In Unix seconds, the end of the year 9999.
LATEST: Final = 253_402_300_800
# What reading a line raises that is damaged, or was written to do damage.
DAMAGED: Final = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    zlib.error,
)
NAME: Final = "run.jsonl"
# In bytes of the file, which is read line by line; of each line; and of all but the evidence.
LARGEST_RUN: Final = MOST_CONTENT
LONGEST_LINE: Final = 64 * 1024 * 1024
MOST_OUTCOME: Final = 64 * 1024 * 1024
LARGEST_NUMBER: Final = 10**18

PARTIAL: Final = "; `hookproof report --partial` renders what it holds"

# The beginnings of lines that reports skip; `judgements` occurs in files of earlier versions.
EVIDENCE: Final = tuple(f'{{"event":"{name}"' for name in ("case", "judgements", "shrunk"))

# How half of a surrogate pair begins in JSON.
_SURROGATE: Final = re.compile(r"\\u[dD]")
# The beginning of a line with an observation.
CASE: Final = b'{"event":"case"'

# The beginning of the line that holds the counts of fields; no check has a part in them.
FIELDS: Final = '{"event":"fields"'


class NotARun(Exception):
    """The file does not hold a finished run; the message states why."""


class CutOff(NotARun):
    """The file ends before the run did; `header` is what it says of the run."""

    def __init__(self, path: Path, header: "Header") -> None:
        super().__init__(
            f"{path} is cut off: it has no footer, as the run did not come to its end{PARTIAL}"
        )
        self.header = header


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What was judged, and how.

    `started_at` is in Unix seconds; `everything` tells whether all requirements were judged,
    `learned` whether the dialect was found out from the target. `sections` holds the titles of the
    document's sections, `baseline` the entries of the baseline file. `answers` holds the whole
    dialect, so that the evidence can be judged again even if the dialect's file has changed.
    `selected` are the ids of the requirements to judge; a file of an earlier version has none.
    `light` tells whether what any exchange shows was to be looked at in a few experiments.
    `verified` is false if the target's certificate was accepted unseen. `round_trip_s` is how long
    a cheap request took when the run began. `excluded` are the ids that were left out on purpose,
    each with its reason, if one was given; `newer` those that are newer than `requirement_set`.
    `given` is false if nobody said which dialect the target has.
    `projects`, `nonce` and `receiver_url` are what `hookproof replay` puts its own in place of: the
    ids of the projects, what distinguishes the names of the first repetition, and the receiver.
    `hooks` names what the target file provides besides the eight operations, and `hook_calls` are
    the requests of the one for new endpoints (`noted_calls.py`). `run_id` is that of the footer
    too, or the file is of two runs.
    """

    tool_version: str
    target: str
    embedded: bool
    dialect: str
    profile: str
    seed: int
    strict: bool
    everything: bool
    started_at: float
    sections: Mapping[str, str]
    answers: Mapping[str, Any]
    repetitions: int = 1
    learned: bool = False
    baseline: list[Mapping[str, Any]] = field(default_factory=list)
    selected: list[str] = field(default_factory=list)
    light: bool = False
    verified: bool = True
    round_trip_s: float = 0.0
    excluded: Mapping[str, str] = field(default_factory=dict)
    requirement_set: str = ""
    newer: list[str] = field(default_factory=list)
    projects: list[str] = field(default_factory=list)
    nonce: str = ""
    receiver_url: str = ""
    given: bool = True
    hooks: list[str] = field(default_factory=list)
    hook_calls: list[dict[str, Any]] = field(default_factory=list)
    run_id: str = ""

    @property
    def assumed(self) -> tuple[str, ...]:
        """The answers that are only assumed, by which nothing was judged."""
        return tuple(self.answers.get(ASSUMED, ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Footer:
    """How the run ended. `cut` states why it ended early; `faults` are errors of hookproof.
    `hooks` are the failures of provision hooks, which are the user's. `put_off` is how many
    requests the target answered 429, and `waited_s` how long it was therefore not called.
    `cut_bodies` is how many long bodies are not whole in the file.

    `stale` names the entries of the baseline that are no longer right. `uncovered` states what was
    seen of the document, if that is less than the run had to see.
    """

    verdict: RunVerdict
    exit_code: int
    duration_s: float
    exchanges: int
    deliveries: int
    cut: str | None
    faults: tuple[str, ...]
    stale: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    put_off: int = 0
    waited_s: float = 0.0
    cut_bodies: int = 0
    uncovered: str = ""
    run_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentTime:
    """When an experiment ran, in seconds since the run began, and how it ended.

    `began_s` is None if it never began, or in a file of an earlier version.
    """

    name: str
    repetition: int
    ending: Ending
    reason: str
    duration_s: float
    began_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished run, as read from its file."""

    header: Header
    entries: tuple[Entry, ...]
    footer: Footer
    fields: tuple[FieldCount, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    left: LeftBehind = field(default_factory=LeftBehind)
    experiments: tuple[ExperimentTime, ...] = ()

    @property
    def ledger(self) -> Ledger:
        return Ledger(
            entries=self.entries,
            cut=self.footer.cut,
            faults=self.footer.faults,
            hooks=self.footer.hooks,
            stale=self.footer.stale,
            uncovered=self.footer.uncovered,
        )


class RunWriter:
    """Writes a run while it goes on; thread-safe. Everything passed to it must be masked.

    `failure` is set when a line could not be written. Nothing is written after it, so that the file
    holds all that came before, and at most a part of this line.
    """

    def __init__(self, stream: FileIO, header: Header):
        self.failure: FileNotWritten | None = None
        self._stream = stream
        self._run_id = header.run_id
        self._lock = threading.Lock()
        self.exchanges = 0
        self.deliveries = 0
        self.left = LeftBehind()
        self.put_off = 0
        self.waited_s = 0.0
        self._fields = FieldCounter()
        self._long_bodies = LongBodies()
        self.cut_bodies = 0  # by an earlier writer of the same evidence
        self._write("header", {"format": FORMAT, **asdict(header)})

    def confirm(self) -> None:
        """Raise FileNotWritten if something could not be written."""
        if self.failure is not None:
            raise self.failure

    def evidence(self, evidence: Evidence, repetition: int = 1) -> None:
        """Write a masked observation; raises TypeError if it is not JSON."""
        self._write_line(self._case(evidence, repetition))
        self.exchanges += len(evidence.exchanges)
        self.deliveries += len(evidence.deliveries)
        for exchange in evidence.exchanges:
            self._fields.add(exchange)

    def replace_evidence(self, replaced: Mapping[int, Evidence], repetition: int = 1) -> None:
        """Write other masked observations in the places of some of a repetition.

        The file stays as it was until it is whole.
        """
        if not replaced or self.failure is not None:
            return
        path = Path(str(self._stream.name))
        places, unfinished = count(), unfinished_file(path)
        try:
            with self._lock, unfinished.open("wb") as copy:
                with path.open("rb") as lines:
                    for line in lines:
                        event = json.loads(line) if line.startswith(CASE) else {}
                        is_own = event.get("repetition") == repetition
                        new = replaced.get(next(places)) if is_own else None
                        copy.write(line if new is None else self._case(new, repetition))
                copy.flush()
                unfinished.replace(path)
                os.dup2(copy.fileno(), self._stream.fileno(), inheritable=False)
        except OSError as error:
            unfinished.unlink(missing_ok=True)
            self.failure = FileNotWritten(path, error, PARTIAL)

    def experiment(self, gathered: Gathered, repetition: int = 1) -> None:
        self._write(
            "experiment",
            {
                "name": gathered.experiment,
                "repetition": repetition,
                "ending": gathered.ending.value,
                "reason": gathered.reason,
                "cases": len(gathered.observations),
                "began_s": gathered.began_s,
                "duration_s": gathered.duration_s,
            },
        )

    def shrunk(self, finding: Finding, requests: int, repetition: int = 1) -> None:
        self._write(
            "shrunk",
            {
                **self._long_bodies.within(finding_json(finding)),
                "requests": requests,
                "repetition": repetition,
            },
        )

    def limited(self, put_off: int, waited_s: float) -> None:
        """Note how many requests the target answered 429, and how long it was not called for it."""
        self.put_off += put_off
        self.waited_s += waited_s

    def coverage(self) -> Coverage:
        return self._fields.coverage()

    def ledger(
        self,
        ledger: Ledger,
        *,
        strict: bool,
        duration_s: float,
        disagreements: Iterable[Disagreement] = (),
    ) -> Footer:
        """Write the findings, the requirements, what explains them, and the footer."""
        for entry in ledger.entries:
            for finding in entry.findings:
                self._write("finding", self._long_bodies.within(finding_json(finding)))
            self._write("requirement", entry_json(entry))
        for disagreement in disagreements:
            self._write("disagreement", asdict(disagreement))
        counts = self._fields.counts()
        if counts:
            self._write("fields", {"fields": [asdict(count) for count in counts]})
        self._write("left", asdict(self.left))
        verdict = ledger.verdict(strict=strict)
        footer = Footer(
            verdict=verdict,
            exit_code=int(verdict.exit_code),
            duration_s=round(duration_s, 3),
            exchanges=self.exchanges,
            deliveries=self.deliveries,
            cut=ledger.cut,
            faults=ledger.faults,
            stale=ledger.stale,
            uncovered=ledger.uncovered,
            hooks=ledger.hooks,
            put_off=self.put_off,
            waited_s=round(self.waited_s, 3),
            cut_bodies=self.cut_bodies + self._long_bodies.cut,
            run_id=self._run_id,
        )
        self._write("footer", asdict(footer))
        return footer

    def _case(self, evidence: Evidence, repetition: int) -> bytes:
        packed = self._long_bodies.within(pack_evidence(evidence_json(evidence)))
        return _line("case", {**packed, "repetition": repetition})

    def _write(self, event: str, members: Mapping[str, Any]) -> None:
        self._write_line(_line(event, members))

    def _write_line(self, line: bytes) -> None:
        with self._lock:
            if self.failure is not None:
                return
            try:
                write_whole(self._stream, line)
            except OSError as error:
                self.failure = FileNotWritten(Path(str(self._stream.name)), error, PARTIAL)


def _line(event: str, members: Mapping[str, Any]) -> bytes:
    line = json.dumps({"event": event, **members}, separators=(",", ":"), allow_nan=False)
    return f"{line}\n".encode()


def new_run_id() -> str:
    return secrets.token_hex(8)


def run_path(place: Path) -> Path:
    """The file of the run in a folder; what is no folder is one itself, plain or packed."""
    try:
        is_file = place.exists() and not place.is_dir()
    except OSError:  # opening it says why
        is_file = True
    return place if is_file else place / NAME


@contextmanager
def open_run(path: Path) -> Iterator[Iterable[str]]:
    """The lines of a run file, plain or packed; raises NotARun for a broken pack, and OSError."""
    if is_packed(path):
        try:
            with open_packed(path, NAME) as stream:
                yield text_lines(stream, LARGEST_RUN, LONGEST_LINE)
        except BrokenPack as problem:
            raise NotARun(f"{path} cannot be used: {problem}") from None
    else:
        with given_file(path, LARGEST_RUN) as stream:
            yield text_lines(stream, LARGEST_RUN, LONGEST_LINE)


def read_run(path: Path) -> Run:
    """Read a finished run; raises CutOff for one without its footer, NotARun for anything else."""
    try:
        with open_run(path) as lines:
            return _run(path, lines)
    except OSError as error:
        raise NotARun(f"{path} cannot be read: {error.strerror or error}") from None
    except DAMAGED as error:
        raise NotARun(
            f"{path} holds no run of hookproof: {type(error).__name__}: {error}"
        ) from None


def _measured(text: str) -> float:
    """A number with a fraction; raises ValueError for one that no report can count with."""
    number = float(text)
    if not abs(number) <= LARGEST_NUMBER:
        raise ValueError(f"a number is beyond {LARGEST_NUMBER:,}")
    return number


def _counted(text: str) -> int:
    """The same of one without a fraction."""
    _measured(text)
    return int(text)


# None of them takes NaN and infinity, which are not JSON. Evidence may hold a long number, which a
# target has shown.
_EVIDENCE: Final = json.JSONDecoder(parse_constant=_measured)
_OUTCOME: Final = json.JSONDecoder(
    parse_float=_measured, parse_int=_counted, parse_constant=_measured
)


def parsed_lines(
    lines: Iterable[str], decoder: json.JSONDecoder = _EVIDENCE
) -> Iterator[dict[str, Any]]:
    """The event of each line; raises ValueError for one that is damaged.

    A last line that was not written to its end is left out.
    """
    for line in lines:
        try:
            event = decoder.decode(line)
        except ValueError:
            if line.endswith("\n"):
                raise
            return
        yield event


def _outcome(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The events of a run without its evidence, which makes up nearly all of the file, and which no
    report needs. Their texts can be written as UTF-8, and their numbers are such as a run measures
    and counts.
    """
    left = MOST_OUTCOME
    for line in lines:
        if line.startswith(EVIDENCE):
            continue
        left -= len(line)
        if left < 0:
            raise ValueError(f"it has more than {MOST_OUTCOME:,} bytes besides its evidence")
        for event in parsed_lines([line], _OUTCOME):
            yield _encodable(event) if _SURROGATE.search(line) else event


def _encodable(value: Any) -> Any:
    """A JSON value with half of a pair of surrogates, which a target may show, as an escape."""
    if isinstance(value, dict):
        return {_encodable(name): _encodable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    return value


def _confirm_usable(header: Header) -> None:
    """Raise ValueError for what this version does not know, though its type is right."""
    if not 0 <= header.started_at < LATEST:
        raise ValueError(f"started_at is no time: {header.started_at}")
    if header.profile not in {profile.key for profile in Profile}:
        raise ValueError(f"there is no profile {header.profile!r}")
    for entry in header.baseline:
        Expectation.from_json(entry)


def _run(path: Path, lines: Iterable[str]) -> Run:
    events: dict[str, list[Mapping[str, Any]]] = {}
    for event in _outcome(lines):
        events.setdefault(event.pop("event"), []).append(event)
    if not events:
        raise NotARun(f"{path} is cut off: the run ended before anything was gathered")
    if len(events.get("header", ())) != 1 or events["header"][0].get("format") != FORMAT:
        raise NotARun(
            f"{path} holds no run of this version of hookproof: it has no header of format {FORMAT}"
        )
    header = typed(Header, events["header"][0])
    _confirm_usable(header)
    if len(events.get("footer", ())) != 1:
        raise CutOff(path, header)
    footer = typed(Footer, events["footer"][0])
    if footer.run_id != header.run_id:
        raise NotARun(
            f"{path} holds parts of two runs, {header.run_id} and {footer.run_id}: each needs a"
            " folder of its own"
        )
    findings = [finding_of(event) for event in events.get("finding", ())]
    return Run(
        header=header,
        entries=tuple(entry_of(event, findings) for event in events.get("requirement", ())),
        footer=footer,
        fields=tuple(
            typed(FieldCount, count)
            for event in events.get("fields", ())
            for count in event["fields"]
        ),
        disagreements=tuple(typed(Disagreement, event) for event in events.get("disagreement", ())),
        left=next((typed(LeftBehind, event) for event in events.get("left", ())), LeftBehind()),
        experiments=tuple(typed(ExperimentTime, event) for event in events.get("experiment", ())),
    )


EXPERIMENT: Final = '{"event":"experiment"'


def usual_durations(path: Path) -> dict[str, float]:
    """The durations of the experiments of an earlier run, by name, in seconds; empty without a
    readable one.
    """
    try:
        with open_run(path) as lines:
            events = [json.loads(line) for line in lines if line.startswith(EXPERIMENT)]
        return {str(event["name"]): float(event["duration_s"]) for event in events}
    except (OSError, NotARun, *DAMAGED):
        return {}
