"""Runs mutants in worker processes, several at a time, until all are done or an interrupt comes.

After an interrupt no other run starts, and those under way have a moment to finish; a further one
ends them at once. The results until then are kept.
"""

import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from queue import SimpleQueue
from types import TracebackType
from typing import Final, Self, TypeVar

from hookproof.conformance.generation.generators import KEPT_IN
from hookproof.conformance.mutants.mutant_run import MutantRunOrder, MutantRunResult, run_mutant
from hookproof.conformance.mutants.results import FaultOutcome, VariantOutcome
from hookproof.process.exit_codes import ExitCode
from hookproof.process.private_folder import private_folder
from hookproof.process.stop_signals import STOPPING, calling_each_time, put_off, raising_once

Subject = TypeVar("Subject", FaultOutcome, VariantOutcome)

# Called with each outcome as soon as its run is done.
OnOutcome = Callable[[FaultOutcome | VariantOutcome], None]

RunMutant = Callable[[MutantRunOrder], MutantRunResult]

# How long runs may go on after an interrupt, in seconds: a whole one takes up to half a minute.
FINISHED_WITHIN_S: Final = 2.0

ORPHANED: Final = int(ExitCode.INTERNAL_ERROR)


class WorkerPool:
    """Runs `jobs` mutants at a time; a context manager that catches an interrupt of its block.

    `interrupted` says whether there was one. `outcomes` holds all outcomes until then.
    """

    def __init__(self, jobs: int, on_outcome: OnOutcome, *, run: RunMutant = run_mutant) -> None:
        self.interrupted = False
        self.outcomes: list[FaultOutcome | VariantOutcome] = []
        self._on_outcome = on_outcome
        self._run = run
        self._ended = ExitStack()
        self._folder = self._ended.enter_context(private_folder())
        self._pool = ProcessPoolExecutor(
            jobs,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_start_worker,
            initargs=(str(self._folder),),
        )
        self._under_way: dict[Future[MutantRunResult], FaultOutcome | VariantOutcome] = {}

    def __enter__(self) -> Self:
        # A second interrupt may come before __exit__ has begun.
        self._ended.enter_context(raising_once(self._end_runs))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        self.interrupted = kind is not None and issubclass(kind, KeyboardInterrupt)
        # Nothing is raised here: Python takes a thread for ended once its join was interrupted.
        with calling_each_time(self._end_runs), self._runs_limited():
            self._pool.shutdown(cancel_futures=True)
        self._ended.close()
        if self.interrupted:
            for future, subject in self._under_way.items():
                if future.done() and not future.cancelled() and future.exception() is None:
                    self._keep(replace(subject, result=future.result()))
        return self.interrupted

    def run_all(self, orders: Mapping[Subject, MutantRunOrder]) -> Iterator[Subject]:
        """Yield each subject with its result, as soon as its run is done.

        The queue of those that are done takes no lock that an interrupt could leave locked.
        """
        done: SimpleQueue[Future[MutantRunResult]] = SimpleQueue()
        with put_off():
            futures = {
                self._pool.submit(self._run, order): subject for subject, order in orders.items()
            }
            self._under_way.update(futures)
            for future in futures:
                future.add_done_callback(done.put)
        for _ in futures:
            future = done.get()
            outcome = replace(futures[future], result=future.result())
            del self._under_way[future]
            self._keep(outcome)
            yield outcome

    @contextmanager
    def _runs_limited(self) -> Iterator[None]:
        """End the runs that were interrupted, if they take longer than a moment."""
        timer = threading.Timer(FINISHED_WITHIN_S, _kill_workers)
        timer.daemon = True
        if self.interrupted:
            timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _end_runs(self) -> None:
        self.interrupted = True
        _kill_workers()

    def _keep(self, outcome: FaultOutcome | VariantOutcome) -> None:
        self.outcomes.append(outcome)
        self._on_outcome(outcome)


def _kill_workers() -> None:
    """What they have started ends when its standard input closes."""
    for worker in multiprocessing.active_children():
        worker.kill()


def _start_worker(folder: str) -> None:
    """Leave the signals to stop to the parent process, and end with it, however it ends.

    The temporary files of workers are in this folder, and go with it even where a worker is killed;
    they share there what the runs generate, unless another folder is named for that.
    """
    os.environ.setdefault(KEPT_IN, folder)
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    # The socket of a fork server.
    multiprocessing.current_process()._config["tempdir"] = folder  # type: ignore[attr-defined]  # noqa: SLF001
    for number in (signal.SIGINT, *STOPPING):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(ORPHANED)
