"""SIGTERM and SIGHUP end a command as ctrl-C does, with its clean-up and what it has gathered."""

import signal
from types import FrameType
from typing import Final

STOPPING: Final = (signal.SIGTERM, signal.SIGHUP)


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


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    signal.raise_signal(signal.SIGINT)
