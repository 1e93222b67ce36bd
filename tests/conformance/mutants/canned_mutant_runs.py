"""Trials that are none, for the processes that hold trials."""

import threading

from hookproof.conformance.model.profile import Profile
from hookproof.conformance.mutants.mutant_run import TrialOrder, TrialResult
from hookproof.conformance.mutants.results import NOTHING, Acquittal


def orders(*names: str) -> dict[Acquittal, TrialOrder]:
    """A server and a trial of each name, which its order carries as the dialect."""
    return {
        Acquittal(name=name, dialect="reference", difference="", result=NOTHING): TrialOrder(
            dialect=name, deviations=(), experiments=(), profile=Profile.QUICK, seed=0, without=()
        )
        for name in names
    }


def at_once(order: TrialOrder) -> TrialResult:
    """A trial that is over at once and exercises the name that its order carries."""
    return TrialResult(
        convictions=(), exercised=frozenset({order.dialect}), problems=(), duration_s=0.0
    )


def for_ever(order: TrialOrder) -> TrialResult:
    """A trial that says its name and never ends."""
    print(order.dialect, flush=True)  # noqa: T201
    threading.Event().wait()
    raise AssertionError
