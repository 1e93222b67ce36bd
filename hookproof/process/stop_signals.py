"""SIGTERM and SIGHUP end a command as ctrl-C does, with its clean-up and what it has gathered.

An interrupt raises KeyboardInterrupt, except where a command says otherwise: `calling` lets it do
something else, and `held_back` lets the command finish what takes a moment. No interrupt is lost
between the two: one that was held back before a `calling` block is called there.
"""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import FrameType
from typing import Any, Final, TypeVar

STOPPING: Final = (signal.SIGTERM, signal.SIGHUP)

# If a finalizer takes longer, it is interrupted again.
FINALIZED_WITHIN_S: Final = 0.01

Handler = Callable[[int, FrameType | None], object]
_Result = TypeVar("_Result")


def end_as_by_interrupt() -> None:
    """Treat the stopping signals as interrupts, unless the caller wants them ignored (nohup)."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell starts its background jobs so. Ctrl-C stays without effect, but an interrupt of
        # our own is handled as everywhere.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in STOPPING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)
    sys.unraisablehook = _interrupt_again


def _interrupt_again(unraisable: "sys.UnraisableHookArgs") -> None:
    """Interrupt once more where an interrupt came in a finalizer, which would lose it: Python shows
    a traceback and goes on. What is raised before the finalizer has ended would be lost as well.
    """
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        signal.signal(signal.SIGALRM, _interrupt)
        signal.setitimer(signal.ITIMER_REAL, FINALIZED_WITHIN_S)
    else:
        sys.__unraisablehook__(unraisable)


def end_at_once_with(code: int) -> None:
    """Let every signal to stop end the process with this code, which nothing can change any more.

    Without this, one that comes while the interpreter ends would leave a traceback or kill it.
    """
    for number in (signal.SIGINT, *STOPPING):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda _number, _frame: os._exit(code))
    # In the last moments handlers are replaced by the default, which would kill the process.
    atexit.register(_ignore_all)


def _ignore_all() -> None:
    for number in (signal.SIGINT, *STOPPING):
        signal.signal(number, signal.SIG_IGN)


def calling(act: Callable[[], object]) -> AbstractContextManager[None]:
    """Let the first interrupt within the block call `act` instead of raising; a second one raises.

    Has no effect outside the main thread, where no signal is handled.
    """

    def handle(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        act()

    return _interrupts_handled_by(handle)


def calling_each_time(act: Callable[[], object]) -> AbstractContextManager[None]:
    """Let every interrupt within the block call `act`, otherwise as `calling`."""
    return _interrupts_handled_by(lambda _number, _frame: act())


def raising_once(act: Callable[[], object]) -> AbstractContextManager[None]:
    """Let the first interrupt within the block raise, and every further one call `act` instead,
    otherwise as `calling`: what ends because of the first one is not itself cut off.
    """
    raised = False

    def handle(_number: int, _frame: FrameType | None) -> None:
        nonlocal raised
        if raised:
            act()
        else:
            raised = True
            raise KeyboardInterrupt

    return _interrupts_handled_by(handle)


def run_until_stopped(main: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
    """What a coroutine returns; the first interrupt cancels it and raises KeyboardInterrupt.

    As asyncio.run, which leaves a traceback where an interrupt comes while it makes its loop.
    """
    import asyncio  # a fifth of the time that `hookproof --help` would take

    interrupted = threading.Event()
    running: list[asyncio.Task[Any]] = []

    def interrupt() -> None:
        interrupted.set()
        for task in running:
            with suppress(RuntimeError):  # its loop is closed: all has ended
                task.get_loop().call_soon_threadsafe(task.cancel)

    async def run() -> _Result:
        running.extend(filter(None, [asyncio.current_task()]))
        if interrupted.is_set():
            raise asyncio.CancelledError
        return await main()

    with calling(interrupt):
        try:
            return asyncio.run(run())
        except asyncio.CancelledError:
            if not interrupted.is_set():
                raise
    raise KeyboardInterrupt


def held_back() -> AbstractContextManager[None]:
    """Let interrupts within the block have no effect, except on a block of `calling` within it that
    begins later. What is around such blocks has to end by itself, and soon.
    """
    return _interrupts_handled_by(_HeldBack())


@contextmanager
def put_off() -> Iterator[None]:
    """Let interrupts within the block take effect at its end.

    One that is raised while Python code takes a lock leaves that locked, and nobody unlocks it.
    """
    interrupts: list[int] = []
    with _interrupts_handled_by(lambda number, _frame: interrupts.append(number)):
        yield
    for number in interrupts:
        signal.raise_signal(number)


class _HeldBack:
    def __init__(self) -> None:
        self._interrupted = False

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        self._interrupted = True

    def take(self) -> bool:
        """Whether there was an interrupt since this was asked last."""
        interrupted, self._interrupted = self._interrupted, False
        return interrupted


@contextmanager
def _interrupts_handled_by(handle: Handler) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handle)
    try:
        if isinstance(before, _HeldBack) and before.take():
            handle(signal.SIGINT, None)
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    # A terminal that is closed may send SIGHUP twice, and a service manager SIGTERM after it. Only
    # ctrl-C is pressed again by someone who does not want to wait.
    for other in STOPPING:
        if signal.getsignal(other) is _interrupt:
            signal.signal(other, lambda _number, _frame: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    signal.raise_signal(signal.SIGINT)
