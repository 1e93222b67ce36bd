"""The faults that the command line names, and the list of all faults.

What defines them is imported where it is needed: a server without faults starts sooner.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import groupby
from typing import Any, Final

import msgspec

from hookproof.mockserver.faults.answering import FAULTS
from hookproof.mockserver.faults.catalogue import catalogue
from hookproof.mockserver.faults.live import ArmedFault, BadOrder, FaultOrder
from hookproof.mockserver.faults.operators.operator import AT
from hookproof.mockserver.faults.registry import Fault
from hookproof.mockserver.faults.renamed import RENAMED
from hookproof.spec.dialect.model import Dialect

_INDENT: Final = " " * 4
_RESPONDER_FAULTS: Final = (
    "Responder faults, which accept next=, rate=, seed=, path=, operation=\n"
    "(and delay_s=, status=, or member= and value=):"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenFaults:
    """Faults and variants of the catalogue, and orders for responder faults."""

    catalogued: Sequence[Fault] = ()
    orders: Sequence[FaultOrder] = ()


def parse_fault_options(
    faults: Sequence[str], variants: Sequence[str], dialect: Dialect
) -> ChosenFaults:
    """Parse the values of `--fault` and `--variant`.

    A responder fault accepts members of `FaultOrder`, as in `late:delay_s=2,rate=0.1`. A name with
    an @ is that of an operator's fault, as in `text_cut@createEndpoint.stored.name:length=64`.
    Raises BadOrder.
    """
    known = catalogue() if faults or variants else {}
    catalogued, orders = [], []
    for word in (*faults, *variants):
        name, _, members = word.partition(":")
        if name in FAULTS and word not in variants:
            orders.append(_order(name, members))
        elif AT in name and word not in variants:
            catalogued.append(_generated(word, dialect))
        elif name in known and known[name].is_variant is (word in variants):
            catalogued.append(_catalogued(known[name], members, dialect))
        else:
            raise BadOrder(_unknown_name(name, "variant" if word in variants else "fault"))
    return ChosenFaults(catalogued=catalogued, orders=orders)


def render_fault_list(dialect: Dialect, *, as_json: bool) -> str:
    """List all faults and variants, as text or JSON, with what applies under the dialect."""
    known = sorted(catalogue().values(), key=lambda item: (_title(item), item.name))
    if as_json:
        return json.dumps([item.describe(dialect) for item in known])
    lines = [_RESPONDER_FAULTS]
    lines += [f"{_INDENT}{name}  {_summary(kind)}" for name, kind in FAULTS.items()]
    for (_, title), members in groupby(known, key=_title):
        lines += ["", f"{title}:", *(f"{_INDENT}{_line(item, dialect)}" for item in members)]
    return "\n".join(lines)


def _title(item: Fault) -> tuple[bool, str]:
    """What a fault or variant stands under; variants come last."""
    title = "Variants (--variant)" if item.is_variant else item.area.replace("_", " ").capitalize()
    return item.is_variant, title


def _unknown_name(name: str, kind: str) -> str:
    if name in catalogue():
        other = "fault" if kind == "variant" else "variant"
        return f"{name} is a {other}, not a {kind}; give it by --{other}"
    if name in RENAMED:
        return f"the {kind} {name} is now called {RENAMED[name]}"
    near = get_close_matches(name, [*FAULTS, *catalogue()], n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"there is no {kind} {name!r}; {hint}--list-faults names all"


def _order(name: str, members: str) -> FaultOrder:
    pairs = [pair.partition("=") for pair in members.split(",") if pair]
    values: dict[str, Any] = {key: value for key, _, value in pairs}
    if "value" in values:
        values["value"] = _json_or_text(values["value"])
    try:
        order = msgspec.convert({"fault": name, **values}, type=FaultOrder, strict=False)
    except msgspec.ValidationError as problem:
        raise BadOrder(f"--fault {name}:{members}: {problem}") from None
    ArmedFault.of(order)
    return order


def _json_or_text(word: str) -> Any:
    try:
        return json.loads(word)
    except ValueError:
        return word


def _catalogued(item: Fault, members: str, dialect: Dialect) -> Fault:
    if members:
        raise BadOrder(f"{item.name} is on or off: it does not accept {members!r}")
    if not item.applies(dialect):
        raise BadOrder(f"{item.name} is not a fault under the dialect {dialect.name}")
    return item


def _generated(name: str, dialect: Dialect) -> Fault:
    from hookproof.mockserver.faults.operators.generation import (
        UnknownGeneratedFault,
        find_generated_fault,
    )

    try:
        item = find_generated_fault(name, dialect)
    except UnknownGeneratedFault as problem:
        raise BadOrder(f"{problem}; --list-generated names all") from None
    if not item.is_fault:
        reason = item.defect.equivalent or "no requirement calls it wrong"
        raise BadOrder(f"{name} is not a fault under the dialect {dialect.name}: {reason}")
    return item.fault()


def render_generated(dialect: Dialect, *, as_json: bool) -> str:
    """List what the operators make under the dialect; as text, the faults alone."""
    from hookproof.mockserver.faults.operators.generation import describe_generated

    described = describe_generated(dialect)
    if as_json:
        return json.dumps(described)
    return "\n".join(
        f"{item['name']}  {item['broken']} [{' '.join(item['violates'])}]"
        for item in described["faults"]
        if item["violates"] and not item["equivalent"]
    )


def _line(item: Fault, dialect: Dialect) -> str:
    elsewhere = "" if item.applies(dialect) else f" (not under {dialect.name})"
    violates = f" [{' '.join(item.violates)}]" if item.violates else ""
    return f"{item.name}  {item.broken}{violates}{elsewhere}"


def _summary(kind: type) -> str:
    return (kind.__doc__ or "").partition("\n")[0]
