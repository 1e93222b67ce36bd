"""A campaign: every server gets its trial, several at a time, and what came of them is told as it
comes.

First the clean server under each dialect, which must be acquitted and shows what is exercised
there. Then the faults, under one dialect after the other: the last dialect is for those alone that
the ones before it could not convict of all.
"""

import asyncio
import socket
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final

from hookproof.conformance.experiments.context import Experiment, all_experiments
from hookproof.conformance.model.check_registry import Check, all_checks
from hookproof.conformance.mutants.catalogue import (
    DIALECTS,
    Fault,
    Spoken,
    faults_under,
    innocent_dialects,
    spoken,
)
from hookproof.conformance.mutants.mutant_run import TrialOrder
from hookproof.conformance.mutants.relevant_experiments import mattering
from hookproof.conformance.mutants.results import NOTHING, Acquittal, Campaign, Outcome
from hookproof.conformance.mutants.worker_pool import Courtroom, Told
from hookproof.conformance.target.definition import Profile
from hookproof.process.exit_codes import CommandError
from hookproof.spec.catalogue import load_catalogue

CLEAN: Final = "clean"
IPV6: Final = "::1"
# The experiment that costs as much as all others together: innocents go through it with --full
# alone.
GENERATED: Final = "sweep"
CLEAN_DIFFERENCE: Final = "The reference server as it is."


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the command line asks for. `patterns` name faults and innocents, `*` is wild; none of
    them means all.

    `full` starts every experiment, not only those that can matter; checks in `without` take no
    part.
    """

    patterns: tuple[str, ...] = ()
    dialects: tuple[str, ...] = DIALECTS
    profile: Profile = Profile.STANDARD
    jobs: int = 2
    full: bool = False
    seed: int = 0
    without: tuple[str, ...] = ()
    innocents: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Docket:
    """What is to be tried: the faults under each dialect, and the variants among them."""

    settings: Settings
    speaking: tuple[Spoken, ...]
    faults: Mapping[str, tuple[Fault, ...]]
    checks: tuple[Check, ...]
    experiments: tuple[Experiment, ...]

    def order(
        self, speaking: Spoken, deviations: Sequence[str], experiments: Iterable[str]
    ) -> TrialOrder:
        """The order for one trial."""
        return TrialOrder(
            dialect=speaking.word,
            deviations=tuple(deviations),
            experiments=tuple(experiments),
            profile=self.settings.profile,
            seed=self.settings.seed,
            without=self.settings.without,
        )

    def named(self, name: str) -> bool:
        """Whether the command line asks for a fault or an innocent of this name."""
        return not self.settings.patterns or any(
            fnmatchcase(name, one) for one in self.settings.patterns
        )

    @property
    def everything(self) -> tuple[str, ...]:
        """The names of all experiments of the profile."""
        return tuple(one.name for one in self.experiments)

    def mattering(self, fault: Fault) -> tuple[str, ...]:
        """The experiments for a fault."""
        if self.settings.full:
            return self.everything
        catalogue = load_catalogue()
        found = mattering(fault, catalogue, self.checks, self.experiments, self.settings.profile)
        return tuple(one.name for one in found)


def docket(settings: Settings) -> Docket:
    """Everything that the settings ask for; raises CommandError if that is nothing, or FileProblems for
    a dialect.
    """
    checks = all_checks()
    unknown = set(settings.without) - {check.name for check in checks}
    if unknown:
        raise CommandError(f"there is no check {', '.join(sorted(unknown))}")
    speaking = tuple(map(spoken, settings.dialects))
    told = asyncio.run(_told(speaking))
    asked = Docket(
        settings=settings,
        speaking=speaking,
        faults=dict(zip((one.name for one in speaking), told, strict=True)),
        checks=checks,
        experiments=tuple(one for one in all_experiments() if one.profile <= settings.profile),
    )
    names = [fault.name for faults in asked.faults.values() for fault in faults]
    if not any(map(asked.named, [*names, *(one.name for one in innocent_dialects())])):
        raise CommandError(
            f"no fault is named {' or '.join(settings.patterns)}; `hookproof serve --list-faults` names all"
        )
    return asked


async def _told(speaking: Sequence[Spoken]) -> list[tuple[Fault, ...]]:
    return list(await asyncio.gather(*map(faults_under, speaking)))


def carried_out(asked: Docket, told: Told) -> Campaign:
    """Try everything, or as much as there is time for until an interrupt."""
    started = time.monotonic()
    with Courtroom(asked.settings.jobs, told) as court:
        clean = _clean(asked, court)
        _mutants(asked, {one.dialect: one.result.exercised for one in clean}, court)
        if asked.settings.innocents:
            _innocents(asked, court)
    complete = set(DIALECTS) <= set(asked.settings.dialects) and not court.interrupted
    return campaign_of(
        asked, court, started, complete=complete, whole=complete and not asked.settings.patterns
    )


def campaign_of(
    asked: Docket, court: Courtroom, started: float, *, complete: bool, whole: bool
) -> Campaign:
    """The campaign that is over."""
    return Campaign(
        outcomes=tuple(one for one in court.over if isinstance(one, Outcome)),
        acquittals=tuple(one for one in court.over if isinstance(one, Acquittal)),
        checks=tuple(
            check.name for check in asked.checks if check.name not in asked.settings.without
        ),
        complete=complete,
        whole=whole,
        interrupted=court.interrupted,
        duration_s=time.monotonic() - started,
    )


def _clean(asked: Docket, court: Courtroom) -> list[Acquittal]:
    """The clean server with every experiment that any fault needs, and every check: it shows what
    can be claimed.
    """
    orders = {}
    for speaking in asked.speaking:
        names = {
            name for fault in _on_trial(asked, speaking.name) for name in asked.mattering(fault)
        }
        chosen = [name for name in asked.everything if name in names or not asked.settings.patterns]
        subject = Acquittal(
            name=CLEAN, dialect=speaking.name, difference=CLEAN_DIFFERENCE, result=NOTHING
        )
        if chosen:
            orders[subject] = replace(asked.order(speaking, (), chosen), without=())
    return list(court.tried_all(orders))


def _mutants(asked: Docket, exercised: Mapping[str, frozenset[str]], court: Courtroom) -> None:
    """Every fault that is one, under each dialect in which something of it can be seen."""
    found: list[Outcome] = []
    for speaking in asked.speaking:
        last = len(asked.speaking) > 1 and speaking is asked.speaking[-1]
        orders = {}
        for fault in _on_trial(asked, speaking.name):
            claims = exercised.get(speaking.name, frozenset()).intersection(fault.violates)
            seen = frozenset().union(
                *(one.result.convicted for one in found if one.fault.name == fault.name)
            )
            if claims - seen if last else claims:
                subject = Outcome(fault=fault, dialect=speaking.name, claims=claims, result=NOTHING)
                orders[subject] = asked.order(
                    speaking, ("--fault", fault.name), asked.mattering(fault)
                )
        found += court.tried_all(orders)


def _innocents(asked: Docket, court: Courtroom) -> None:
    """Every variant under the first dialect, and the clean server under each innocent dialect.

    A variant that only an innocent dialect allows is tried together with it.
    """
    first, orders = asked.speaking[0], {}
    experiments = [name for name in asked.everything if asked.settings.full or name != GENERATED]
    plain = {fault.name for fault in asked.faults[first.name] if fault.innocent and fault.applies}
    differences = {fault.name: fault.broken for fault in asked.faults[first.name]}
    words = {name: ("--variant", name) for name in sorted(plain)}
    if _has_ipv6():
        words["ipv6"], differences["ipv6"] = (
            ("--host", IPV6),
            "The API is served at an IPv6 address.",
        )
    for name, deviations in words.items():
        if asked.named(name):
            subject = Acquittal(
                name=name, dialect=first.name, difference=differences[name], result=NOTHING
            )
            orders[subject] = asked.order(first, deviations, experiments)
    speaking = [one for one in innocent_dialects() if asked.named(one.name)]
    for one, faults in zip(speaking, asyncio.run(_told(speaking)), strict=True):
        further = [
            fault.name
            for fault in faults
            if fault.innocent and fault.applies and fault.name not in plain
        ]
        subject = Acquittal(
            name=one.name, dialect=one.name, difference=one.dialect.summary, result=NOTHING
        )
        orders[subject] = asked.order(
            one, [word for name in further for word in ("--variant", name)], experiments
        )
    deque(court.tried_all(orders), maxlen=0)


def _has_ipv6() -> bool:
    try:
        with socket.create_server((IPV6, 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def _on_trial(asked: Docket, dialect: str) -> list[Fault]:
    return [
        one
        for one in asked.faults[dialect]
        if one.applies and not one.innocent and asked.named(one.name)
    ]
