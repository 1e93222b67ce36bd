"""The faults that operators make, as `hookproof serve --list-generated --json` lists them: which of
them a campaign tries, alone or several in one server.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Final

from hookproof.conformance.checks import all_checks
from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.mutants.campaign import CampaignPlan, CampaignSettings
from hookproof.conformance.mutants.catalogue import (
    ListedFault,
    NamedDialect,
    find_dialect,
    list_generated,
)
from hookproof.process.exit_codes import CommandError

# What separates the operator from the place in a generated fault's name.
AT: Final = "@"
BESIDE: Final = " + "


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedOrder:
    """What the command line asks for.

    `operators` and `places` are patterns, as `names` are; a fault matches one of each that are
    given. `size` is that of the sample, None for all. Each server has `at_once` faults.
    """

    names: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    size: int | None = None
    at_once: int = 1

    @property
    def asks_for_faults(self) -> bool:
        return bool(self.names or self.operators or self.places or self.size)

    def selects(self, item: Mapping[str, Any]) -> bool:
        asked = ((self.names, "name"), (self.operators, "operator"), (self.places, "place"))
        return all(
            not patterns or any(fnmatchcase(item[member], pattern) for pattern in patterns)
            for patterns, member in asked
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorSummary:
    """What an operator makes under a dialect.

    `faults` are at `places`; `equivalent` servers cannot be told from the clean one, and of
    `unnamed` ones no requirement says that they are wrong.
    """

    name: str
    group: str
    sentence: str
    applies_to: str
    places: int
    faults: int
    equivalent: int
    unnamed: int


def summarize_operators(dialect: NamedDialect, order: GeneratedOrder) -> list[OperatorSummary]:
    """The operators that make a fault or an equivalent at the places that are asked for."""
    listed = list_generated(dialect)
    made = [item for item in listed["faults"] if order.selects(item)]
    return [
        _summarize(operator, [item for item in made if item["operator"] == operator["name"]])
        for operator in listed["operators"]
        if any(item["operator"] == operator["name"] for item in made)
    ]


def _summarize(operator: Mapping[str, str], made: Sequence[Mapping[str, Any]]) -> OperatorSummary:
    faults = [item for item in made if _is_fault(item)]
    equivalent = sum(bool(item["equivalent"]) for item in made)
    return OperatorSummary(
        **operator,
        places=len({item["place"] for item in faults}),
        faults=len(faults),
        equivalent=equivalent,
        unnamed=len(made) - len(faults) - equivalent,
    )


def plan_generated(settings: CampaignSettings, order: GeneratedOrder) -> CampaignPlan:
    """A campaign with generated faults alone; raises CommandError if none matches."""
    dialects = tuple(map(find_dialect, settings.dialects))
    faults = {
        dialect.name: tuple(_choose(list_generated(dialect), order, settings.seed))
        for dialect in dialects
    }
    names = tuple(dict.fromkeys(fault.name for chosen in faults.values() for fault in chosen))
    if not names:
        raise CommandError(
            "no generated fault matches; `hookproof mutants --list-operators` shows what there is"
        )
    return CampaignPlan(
        settings=replace(settings, patterns=names, variants=False),
        dialects=dialects,
        faults=faults,
        checks=all_checks(),
        experiments=tuple(
            experiment for experiment in all_experiments() if experiment.profile <= settings.profile
        ),
        generated=True,
    )


def _choose(listed: Mapping[str, Any], order: GeneratedOrder, seed: int) -> Iterable[ListedFault]:
    """The sample that the seed decides, in its order; without a size all, by name."""
    groups = {operator["name"]: operator["group"] for operator in listed["operators"]}
    matching = sorted(
        (item for item in listed["faults"] if _is_fault(item) and order.selects(item)),
        key=lambda item: str(item["name"]),
    )
    if order.size is not None or order.at_once > 1:
        random.Random(seed).shuffle(matching)
    size = len(matching) if order.size is None else order.size * order.at_once
    faults = [_listed(item, groups[item["operator"]]) for item in matching[:size]]
    if order.at_once == 1:
        return faults
    starts = range(0, len(faults) - order.at_once + 1, order.at_once)
    return [_compound(faults[start : start + order.at_once]) for start in starts]


def _is_fault(item: Mapping[str, Any]) -> bool:
    return bool(item["violates"]) and not item["equivalent"]


def _listed(item: Mapping[str, Any], group: str) -> ListedFault:
    return ListedFault(
        name=item["name"],
        former_names=(),
        broken=item["broken"],
        violates=tuple(item["violates"]),
        seen="",
        area=group,
        replaces="",
        is_variant=False,
        applies=True,
        shows_in=(),
    )


def _compound(parts: Sequence[ListedFault]) -> ListedFault:
    violates = dict.fromkeys(name for part in parts for name in part.violates)
    return replace(
        parts[0],
        name=BESIDE.join(part.name for part in parts),
        broken=BESIDE.join(part.broken for part in parts),
        violates=tuple(violates),
        area="compounds",
        parts=tuple(parts),
    )
