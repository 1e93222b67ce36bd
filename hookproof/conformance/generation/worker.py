"""The process that generates the requests and sequences of a run.

    HYPOTHESIS_STORAGE_DIRECTORY=FOLDER python -m hookproof.conformance.generation.worker

Generation takes milliseconds per request and holds the interpreter, so it must not share one with
experiments that measure time.

A line of standard input is a job, with a number of its sender's: `{"job": int, "generate":
"requests" | "linked" | "sequences", "arguments": {...}}`. The arguments are those of the function
in GENERATORS. A line of standard output begins with the number of the job, and has one of what it
generates, as JSON; `N !REASON` says that the job has failed, and `N` alone that it has ended;
`N ?TEXT` comes first where less is generated than usual.
Standard input stays open as long as the output is wanted. Of several jobs the one that has written
least comes next, so that a few sequences need not wait for thousands of requests.
"""

import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hookproof.conformance.generation.contract_requests import generate_linked, generate_requests
from hookproof.conformance.generation.stateful_model import generate_sequences
from hookproof.conformance.generation.unpublished_interfaces import (
    ignore_local_constants,
    save_codec_tables,
    why_only_fuzzing,
)
from hookproof.process.messages import print_document
from hookproof.process.private_folder import private_folders_kept
from hookproof.process.standard_streams import end_with_parent

GENERATORS: Final[Mapping[str, Callable[..., Iterator[Any]]]] = {
    "requests": generate_requests,
    "linked": generate_linked,
    "sequences": generate_sequences,
}
FAILED: Final = "!"
LESS: Final = "?"


@dataclass(slots=True)
class _Job:
    number: int
    generated: Iterator[Any]
    written: int = 0

    def write_next(self) -> bool:
        """Write one line; whether more may follow."""
        try:
            text = json.dumps(next(self.generated))
        except StopIteration:
            text = ""
        except Exception as error:  # noqa: BLE001 a job that fails must not end the others
            text = FAILED + " ".join(f"{type(error).__name__}: {error}".split())
        self.written += 1
        print_document(f"{self.number} {text}")
        return bool(text) and not text.startswith(FAILED)


def main() -> None:
    """Generate what the jobs on standard input ask for, until it closes."""
    with ExitStack() as kept:
        storage = Path(os.environ["HYPOTHESIS_STORAGE_DIRECTORY"])
        try:
            kept.enter_context(private_folders_kept(storage))
        except FileNotFoundError:
            return  # who wanted the output was killed
        _generate()


def _generate() -> None:
    save_codec_tables()
    ignore_local_constants()
    arrived: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_read_jobs, args=(arrived,), daemon=True).start()
    jobs: list[_Job] = []
    while True:
        while not jobs or not arrived.empty():
            given = arrived.get()
            generate = GENERATORS[given["generate"]]
            jobs.append(_Job(given["job"], generate(**given["arguments"])))
            if generate is generate_requests and (why := why_only_fuzzing()) is not None:
                print_document(f"{given['job']} {LESS}{why}")
        job = min(jobs, key=lambda each: each.written)
        if not job.write_next():
            jobs.remove(job)


def _read_jobs(arrived: "queue.SimpleQueue[dict[str, Any]]") -> None:
    for line in iter(sys.stdin.readline, ""):
        arrived.put(json.loads(line))
    end_with_parent()


if __name__ == "__main__":
    main()
