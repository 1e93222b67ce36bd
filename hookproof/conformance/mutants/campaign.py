"""A campaign: the clean server, every mutant and every conforming variant is run and judged.

First the clean server under each dialect, which must pass and shows what is exercised there. Then
the faults, under one dialect after another; the last dialect only for faults of which the dialects
before it have not detected everything. Where faults are named, the clean server runs under the
dialects alone that are needed for them.
"""

import socket
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final

from hookproof.conformance.checks import all_checks
from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.experiment_registry import Experiment, experiments_of
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.mutants.catalogue import (
    DIALECTS,
    TRY_EVERYTHING,
    FaultLists,
    ListedFault,
    NamedDialect,
    conforming_dialects,
    find_dialect,
    list_faults,
)
from hookproof.conformance.mutants.mutant_run import MutantRunOrder, MutantRunResult
from hookproof.conformance.mutants.results import NOT_RUN, Campaign, FaultOutcome, VariantOutcome
from hookproof.conformance.mutants.worker_pool import OnOutcome, WorkerPool
from hookproof.conformance.run.selection import SHOWN_BY, SHOWN_MOST_BY
from hookproof.process.exit_codes import CommandError
from hookproof.spec.catalogue import Catalogue, Requirement, load_catalogue

CLEAN: Final = "clean"
IPV6: Final = "::1"
# The experiment that costs as much as all others together: variants run it only with --full.
GENERATED: Final = "sweep"
CLEAN_DIFFERENCE: Final = "The reference server as it is."


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignSettings:
    """What the command line asks for.

    `patterns` name faults and variants, with `*` as a wildcard; without patterns all are tried.
    `full` runs every experiment, not only the relevant ones. Checks in `without` do not take part.
    """

    patterns: tuple[str, ...] = ()
    dialects: tuple[str, ...] = DIALECTS
    profile: Profile = Profile.STANDARD
    jobs: int = 2
    full: bool = False
    seed: int = 0
    without: tuple[str, ...] = ()
    variants: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignPlan:
    """What to run: `faults` holds the faults and variants under each dialect, by its name.

    Of `generated` faults each is tried, and survives if nothing that it violates is detected, be it
    because nothing exercises it.
    """

    settings: CampaignSettings
    dialects: tuple[NamedDialect, ...]
    faults: Mapping[str, tuple[ListedFault, ...]]
    checks: tuple[Check, ...]
    experiments: tuple[Experiment, ...]
    generated: bool = False

    def order(
        self, dialect: NamedDialect, deviations: Sequence[str], experiments: Iterable[str]
    ) -> MutantRunOrder:
        return MutantRunOrder(
            dialect=dialect.word,
            deviations=tuple(deviations),
            experiments=tuple(experiments),
            profile=self.settings.profile,
            seed=self.settings.seed,
            without=self.settings.without,
        )

    def order_mutant(self, dialect: NamedDialect, fault: ListedFault) -> MutantRunOrder:
        return self.order(dialect, fault.deviations, self.relevant_experiments(fault))

    def selects(self, name: str) -> bool:
        """Whether the command line asks for a fault or variant of this name."""
        return not self.settings.patterns or any(
            fnmatchcase(name, pattern) for pattern in self.settings.patterns
        )

    def named_faults(self, dialect: str) -> list[ListedFault]:
        """The faults that the command line asks for, and those that do not apply as well."""
        return [
            fault
            for fault in self.faults[dialect]
            if not fault.is_variant and self.selects(fault.name)
        ]

    def selected_faults(self, dialect: str) -> list[ListedFault]:
        return [fault for fault in self.named_faults(dialect) if fault.applies]

    @property
    def experiment_names(self) -> tuple[str, ...]:
        return tuple(experiment.name for experiment in self.experiments)

    def relevant_experiments(self, fault: ListedFault) -> tuple[str, ...]:
        if self.settings.full:
            return self.experiment_names
        relevant = relevant_experiments(
            fault, load_catalogue(), self.checks, self.experiments, self.settings.profile
        )
        return tuple(experiment.name for experiment in relevant)


def plan_campaign(settings: CampaignSettings) -> CampaignPlan:
    """Find everything that the settings ask for.

    Raises CommandError if that is nothing, or FileProblems for a dialect.
    """
    checks = all_checks()
    unknown = set(settings.without) - {check.name for check in checks}
    if unknown:
        raise CommandError(f"there is no check {', '.join(sorted(unknown))}")
    dialects = tuple(map(find_dialect, settings.dialects))
    plan = CampaignPlan(
        settings=settings,
        dialects=dialects,
        faults=FaultLists(dialects),
        checks=checks,
        experiments=tuple(
            experiment for experiment in all_experiments() if experiment.profile <= settings.profile
        ),
    )
    _refuse_unknown_patterns(plan)
    return plan


def _refuse_unknown_patterns(plan: CampaignPlan) -> None:
    faults = plan.faults[plan.dialects[0].name]
    renamed = {former: fault.name for fault in faults for former in fault.former_names}
    for pattern in plan.settings.patterns:
        if pattern in renamed:
            raise CommandError(f"the fault {pattern} is now called {renamed[pattern]}")
    names = [fault.name for fault in faults] + [dialect.name for dialect in conforming_dialects()]
    if not any(map(plan.selects, names)):
        raise CommandError(
            f"no fault is named {' or '.join(plan.settings.patterns)};"
            " `hookproof serve --list-faults` names all"
        )


def run_campaign(plan: CampaignPlan, on_outcome: OnOutcome) -> Campaign:
    """Run everything, or as much as there is time for until an interrupt."""
    started = time.monotonic()
    with WorkerPool(plan.settings.jobs, on_outcome) as pool:
        _run_mutants(plan, pool)
        if plan.settings.variants:
            _run_variants(plan, pool)
    tried_everywhere = set(DIALECTS) <= set(plan.settings.dialects) and not plan.generated
    complete = tried_everywhere and not pool.interrupted
    return campaign_of(
        plan, pool, started, complete=complete, whole=complete and not plan.settings.patterns
    )


def campaign_of(
    plan: CampaignPlan, pool: WorkerPool, started: float, *, complete: bool, whole: bool
) -> Campaign:
    """The campaign with the outcomes of the pool; `started` is a monotonic time in seconds."""
    return Campaign(
        outcomes=tuple(item for item in pool.outcomes if isinstance(item, FaultOutcome)),
        variants=tuple(item for item in pool.outcomes if isinstance(item, VariantOutcome)),
        checks=tuple(
            check.name for check in plan.checks if check.name not in plan.settings.without
        ),
        complete=complete,
        whole=whole,
        interrupted=pool.interrupted,
        duration_s=time.monotonic() - started,
    )


def _run_clean_servers(
    plan: CampaignPlan, dialects: Iterable[NamedDialect], pool: WorkerPool
) -> dict[str, MutantRunResult]:
    """Run the clean server with every experiment that any fault needs, and every check.

    What it exercises, by the name of the dialect, is what can be claimed.
    """
    orders = {}
    for dialect in dialects:
        needed = {
            name
            for fault in plan.selected_faults(dialect.name)
            for name in plan.relevant_experiments(fault)
        }
        chosen = [
            name for name in plan.experiment_names if name in needed or not plan.settings.patterns
        ]
        subject = VariantOutcome(
            name=CLEAN, dialect=dialect.name, difference=CLEAN_DIFFERENCE, result=NOT_RUN
        )
        if chosen:
            orders[subject] = replace(plan.order(dialect, (), chosen), without=())
    return {outcome.dialect: outcome.result for outcome in pool.run_all(orders)}


def _run_mutants(plan: CampaignPlan, pool: WorkerPool) -> None:
    """Run every fault under each dialect in which something of it can be detected.

    That is what the experiments for the fault exercise against the clean server.
    """
    rest = _tried_for_the_rest(plan.dialects)
    everything = [dialect for dialect in plan.dialects if dialect not in rest]
    tried = everything if plan.settings.patterns else plan.dialects
    clean = _run_clean_servers(plan, tried, pool)
    orders: dict[FaultOutcome, MutantRunOrder] = {}
    for dialect in everything:
        orders |= _order_mutants(plan, dialect, clean.get(dialect.name, NOT_RUN))
    outcomes = list(pool.run_all(orders))
    for dialect in everything:
        _run_survivors_again(plan, dialect, pool)
    for dialect in rest:
        # The list of each dialect takes half a second: those of the first name the same faults.
        if not plan.generated and not _left(plan.named_faults(plan.dialects[0].name), outcomes):
            break
        left = _left(plan.selected_faults(dialect.name), outcomes)
        if left and dialect.name not in clean:
            clean |= _run_clean_servers(plan, [dialect], pool)
        orders = {
            subject: order
            for subject, order in _order_mutants(
                plan, dialect, clean.get(dialect.name, NOT_RUN)
            ).items()
            if subject.claims - _detected(subject.fault, outcomes)
        }
        outcomes += pool.run_all(orders)
        _run_survivors_again(plan, dialect, pool)


def _tried_for_the_rest(dialects: Sequence[NamedDialect]) -> Sequence[NamedDialect]:
    """The dialects for what those before have not detected: the last one, if it is not alone."""
    return dialects[TRY_EVERYTHING:] or dialects[1:][-1:]


def _order_mutants(
    plan: CampaignPlan, dialect: NamedDialect, clean: MutantRunResult
) -> dict[FaultOutcome, MutantRunOrder]:
    """The orders for faults of which something can be claimed under a dialect."""
    orders = {}
    for fault in plan.selected_faults(dialect.name):
        exercised = clean.exercised_by(plan.relevant_experiments(fault))
        violated = frozenset(fault.violates)
        claims = violated if plan.generated else exercised & violated
        if claims:
            subject = FaultOutcome(fault=fault, dialect=dialect.name, claims=claims, result=NOT_RUN)
            orders[subject] = plan.order_mutant(dialect, fault)
    return orders


def _left(faults: Iterable[ListedFault], outcomes: Sequence[FaultOutcome]) -> bool:
    """Whether any of these faults violates what no run has detected."""
    return any(frozenset(fault.violates) - _detected(fault, outcomes) for fault in faults)


def _detected(fault: ListedFault, outcomes: Iterable[FaultOutcome]) -> frozenset[str]:
    """The requirements that runs with this fault found violated."""
    return frozenset().union(
        *(item.result.detected for item in outcomes if item.fault.name == fault.name)
    )


def _run_survivors_again(plan: CampaignPlan, dialect: NamedDialect, pool: WorkerPool) -> None:
    """Try what has survived again, alone: what a machine that is late cannot tell is no failure of
    a target. What operators made is tried with every experiment, since it may show anywhere.
    """
    survived = [
        outcome
        for outcome in pool.outcomes
        if isinstance(outcome, FaultOutcome) and outcome.dialect == dialect.name
        # A run that shows a flaw of the suites stays as it is.
        if outcome.undetected and not (outcome.false_positives or outcome.result.problems)
    ]
    for outcome in survived:
        order = plan.order_mutant(dialect, outcome.fault)
        if plan.generated:
            order = replace(order, experiments=plan.experiment_names)
        deque(pool.run_all({replace(outcome, result=NOT_RUN): order}), maxlen=0)
        pool.outcomes.remove(outcome)


def _run_variants(plan: CampaignPlan, pool: WorkerPool) -> None:
    """Run every variant under the first dialect, and the clean server under conforming dialects.

    A variant that only a conforming dialect allows is tried together with it.
    """
    first, orders = plan.dialects[0], {}
    experiments = [
        name for name in plan.experiment_names if plan.settings.full or name != GENERATED
    ]
    listed = [fault for fault in plan.faults[first.name] if fault.is_variant and fault.applies]
    servers = {
        fault.name: (("--variant", fault.name), fault.broken)
        for fault in sorted(listed, key=lambda fault: fault.name)
    }
    if _has_ipv6():
        servers["ipv6"] = (("--host", IPV6), "The API is served at an IPv6 address.")
    for name, (deviations, difference) in servers.items():
        if plan.selects(name):
            subject = VariantOutcome(
                name=name, dialect=first.name, difference=difference, result=NOT_RUN
            )
            orders[subject] = plan.order(first, deviations, experiments)
    orders |= _order_conforming_dialects(plan, set(servers), experiments)
    deque(pool.run_all(orders), maxlen=0)


def _order_conforming_dialects(
    plan: CampaignPlan, known: set[str], experiments: Sequence[str]
) -> dict[VariantOutcome, MutantRunOrder]:
    orders = {}
    for dialect in conforming_dialects():
        if not plan.selects(dialect.name):
            continue
        further = [
            fault.name
            for fault in list_faults(dialect)
            if fault.is_variant and fault.applies and fault.name not in known
        ]
        subject = VariantOutcome(
            name=dialect.name,
            dialect=dialect.name,
            difference=dialect.dialect.summary,
            result=NOT_RUN,
        )
        deviations = [word for name in further for word in ("--variant", name)]
        orders[subject] = plan.order(dialect, deviations, experiments)
    return orders


def _has_ipv6() -> bool:
    try:
        with socket.create_server((IPV6, 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def relevant_experiments(
    fault: ListedFault,
    catalogue: Catalogue,
    checks: Sequence[Check],
    experiments: Sequence[Experiment],
    profile: Profile,
) -> tuple[Experiment, ...]:
    """The experiments of the profile in which the fault can be detected."""
    names = set(fault.shows_in) or {
        name
        for requirement in fault.violates
        for check in checks
        if requirement in check.requirements
        for name in (
            _oracle_experiments(catalogue.requirements[requirement])
            if check.is_oracle
            else experiments_of(check, experiments)
        )
    }
    return tuple(
        experiment
        for experiment in experiments
        if experiment.profile <= profile and experiment.name in names
    )


def _oracle_experiments(requirement: Requirement) -> Iterator[str]:
    yield from SHOWN_MOST_BY.get(requirement.section, ())
    for operation_id in requirement.operations:
        yield SHOWN_BY[operation_id]
