"""The faults that the command line names, and the list of those that there are."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import groupby
from typing import Any, Final

import msgspec

from hookproof.mockserver.faults.answering import FAULTS
from hookproof.mockserver.faults.live import Armed, BadOrder, Order
from hookproof.mockserver.faults.registry import Fault, catalogue
from hookproof.spec.dialect.model import Dialect

_NARROW: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenFaults:
    """What to do wrong: faults and variants of the catalogue, and orders to spoil answers."""

    catalogued: Sequence[Fault] = ()
    orders: Sequence[Order] = ()


def chosen_faults(faults: Sequence[str], variants: Sequence[str], dialect: Dialect) -> ChosenFaults:
    """What these words name; an answering fault takes members of `Order`,
    `late:delay_s=2,rate=0.1`.

    Raises BadOrder.
    """
    known = catalogue()
    catalogued, orders = [], []
    for word in (*faults, *variants):
        name, _, members = word.partition(":")
        if name in FAULTS and word not in variants:
            orders.append(_order(name, members))
        elif name in known and known[name].innocent is (word in variants):
            catalogued.append(_catalogued(known[name], members, dialect))
        else:
            kind = "variant" if word in variants else "fault"
            near = get_close_matches(name, [*FAULTS, *known], n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise BadOrder(f"there is no {kind} {name!r}; {hint}--list-faults names all")
    return ChosenFaults(catalogued=catalogued, orders=orders)


def listed_faults(dialect: Dialect, *, as_json: bool) -> str:
    """Every fault and variant, as text or as one JSON array; whether it applies is told for this
    dialect.
    """
    known = sorted(catalogue().values(), key=lambda one: (one.innocent, one.area, one.name))
    if as_json:
        return json.dumps([one.described(dialect) for one in known])
    lines = ["Answering faults, which take next=, rate=, seed=, path= (and delay_s= or status=):"]
    lines += [f"{'':{_NARROW}}{name}  {_summary(kind)}" for name, kind in FAULTS.items()]
    for (innocent, area), members in groupby(known, key=lambda one: (one.innocent, one.area)):
        lines += [
            "",
            f"{'Variants (--variant)' if innocent else area.replace('_', ' ').capitalize()}:",
        ]
        lines += [f"{'':{_NARROW}}{_line(one, dialect)}" for one in members]
    return "\n".join(lines)


def _order(name: str, members: str) -> Order:
    pairs = [pair.partition("=") for pair in members.split(",") if pair]
    given: dict[str, Any] = {key: value for key, _, value in pairs}
    try:
        order = msgspec.convert({"fault": name, **given}, type=Order, strict=False)
    except msgspec.ValidationError as problem:
        raise BadOrder(f"--fault {name}:{members}: {problem}") from None
    Armed.of(order)
    return order


def _catalogued(one: Fault, members: str, dialect: Dialect) -> Fault:
    if members:
        raise BadOrder(f"{one.name} is there or not: it takes no {members!r}")
    if not one.applies(dialect):
        raise BadOrder(f"{one.name} is no fault under the dialect {dialect.name}")
    return one


def _line(one: Fault, dialect: Dialect) -> str:
    elsewhere = "" if one.applies(dialect) else f" (not under {dialect.name})"
    violates = f" [{' '.join(one.violates)}]" if one.violates else ""
    return f"{one.name}  {one.broken}{violates}{elsewhere}"


def _summary(kind: type) -> str:
    return (kind.__doc__ or "").partition("\n")[0]
