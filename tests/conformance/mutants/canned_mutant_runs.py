"""Canned mutant runs for the worker pool, without a server."""

import threading

from hookproof.conformance.model.profile import Profile
from hookproof.conformance.mutants.mutant_run import MutantRunOrder, MutantRunResult
from hookproof.conformance.mutants.results import NOT_RUN, VariantOutcome


def orders(*names: str) -> dict[VariantOutcome, MutantRunOrder]:
    """A server and an order for each name; the order carries the name as its dialect."""
    return {
        VariantOutcome(
            name=name, dialect="reference", difference="", result=NOT_RUN
        ): MutantRunOrder(
            dialect=name, deviations=(), experiments=(), profile=Profile.QUICK, seed=0, without=()
        )
        for name in names
    }


def ends_at_once(order: MutantRunOrder) -> MutantRunResult:
    """A run that ends at once and exercises the name that its order carries."""
    return MutantRunResult(
        detections=(), exercised=frozenset({order.dialect}), problems=(), duration_s=0.0
    )


def never_ends(order: MutantRunOrder) -> MutantRunResult:
    """A run that prints its name and never ends."""
    print(order.dialect, flush=True)  # noqa: T201
    threading.Event().wait()
    raise AssertionError
