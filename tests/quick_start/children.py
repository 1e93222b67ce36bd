"""Forks what hookproof starts from within the process of the tests, as `interpreter` does."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, overload

import pytest

from hookproof.conformance.cli import explain
from hookproof.conformance.mutants import catalogue
from hookproof.receiver.client import child_process
from tests.quick_start.interpreter import quick_hookproof


class QuickProgram(Sequence[str]):
    """The command line of hookproof, whose server starts only if somebody reads it."""

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        return quick_hookproof()[place]

    def __len__(self) -> int:
        return len(quick_hookproof())


USUAL_PROGRAM: Final = child_process.HOOKPROOF


@contextmanager
def quick_children() -> Iterator[None]:
    """What hookproof starts from within this process is forked, too."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (child_process, catalogue, explain):
            patch.setattr(module, "HOOKPROOF", QuickProgram())
        yield


@contextmanager
def usual_children() -> Iterator[None]:
    """In quick_children: a child that is killed is what serves, and not what stands in for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(child_process, "HOOKPROOF", USUAL_PROGRAM)
        yield
