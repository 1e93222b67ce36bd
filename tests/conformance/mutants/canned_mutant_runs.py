"""Canned mutant runs for the worker pool, without a server."""

import os
import threading
from dataclasses import replace
from pathlib import Path

from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.generation.generators import KEPT_IN
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.mutants.mutant_run import Detection, MutantRunOrder, MutantRunResult
from hookproof.conformance.mutants.results import NOT_RUN, VariantOutcome
from hookproof.process.private_folder import private_folder

FOUND = Detection(
    check="an_endpoint_is_fetched_as_it_was_created",
    requirement="4.2-5",
    message="",
    expected="",
    actual="",
    experiment="an_experiment",
)


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


def detects_with_every_experiment(order: MutantRunOrder) -> MutantRunResult:
    """A run in which 4.2-5 is found violated by experiments that nobody would think of."""
    everything = {item.name for item in all_experiments() if item.profile <= order.profile}
    is_whole = set(order.experiments) == everything
    return replace(NOT_RUN, detections=(FOUND,) if is_whole else ())


def detects_the_second_time(order: MutantRunOrder) -> MutantRunResult:
    """A run in which 4.2-5 is found violated unless it is the first run of this mutant."""
    ran_before = Path(os.environ[KEPT_IN]) / "-".join(order.deviations)
    detections = (FOUND,) if order.deviations and ran_before.exists() else ()
    ran_before.touch()
    exercised_in = tuple((name, frozenset({"4.2-5"})) for name in order.experiments)
    return replace(NOT_RUN, detections=detections, exercised_in=exercised_in)


def never_ends(order: MutantRunOrder) -> MutantRunResult:
    """A run that has a private folder, prints its name and never ends."""
    with private_folder():
        print(order.dialect, flush=True)  # noqa: T201
        threading.Event().wait()
    raise AssertionError
