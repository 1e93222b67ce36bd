"""Where trials are held: several at a time, each in a process of its own, until all are over or
somebody interrupts.

What was tried by then is kept. An interrupt lets the trials under way end, and begins no other.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import replace
from types import TracebackType
from typing import Final, Self, TypeVar

from hookproof.conformance.mutants.mutant_run import TrialOrder, TrialResult, tried
from hookproof.conformance.mutants.results import Acquittal, Outcome
from hookproof.process.exit_codes import ExitCode

Subject = TypeVar("Subject", Outcome, Acquittal)

# Is called with each trial as it is over.
Told = Callable[[Outcome | Acquittal], None]

Try = Callable[[TrialOrder], TrialResult]

ORPHANED: Final = int(ExitCode.INTERNAL_ERROR)


class Courtroom:
    """Holds `jobs` trials at a time: a context manager at which an interrupt of its block ends.

    `interrupted` says that there was one, `over` has all trials until then.
    """

    def __init__(self, jobs: int, told: Told, *, hold: Try = tried) -> None:
        self.interrupted = False
        self.over: list[Outcome | Acquittal] = []
        self._told = told
        self._hold = hold
        self._pool = ProcessPoolExecutor(
            jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_begin
        )
        self._under_way: dict[Future[TrialResult], Outcome | Acquittal] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        self._pool.shutdown(cancel_futures=True)
        self.interrupted = kind is not None and issubclass(kind, KeyboardInterrupt)
        if self.interrupted:
            for future, subject in self._under_way.items():
                if not future.cancelled() and future.exception() is None:
                    self._keep(replace(subject, result=future.result()))
        return self.interrupted

    def tried_all(self, orders: Mapping[Subject, TrialOrder]) -> Iterator[Subject]:
        """Each subject with its result, as soon as there is one."""
        futures = {
            self._pool.submit(self._hold, order): subject for subject, order in orders.items()
        }
        self._under_way.update(futures)
        for future in as_completed(futures):
            ended = replace(futures[future], result=future.result())
            del self._under_way[future]
            self._keep(ended)
            yield ended

    def _keep(self, ended: Outcome | Acquittal) -> None:
        self.over.append(ended)
        self._told(ended)


def _begin() -> None:
    """Leave interrupts to the process that holds the court, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(ORPHANED)
