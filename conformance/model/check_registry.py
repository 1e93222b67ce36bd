"""The register of checks: which exist, which experiment's cases they judge, which requirements they
are bound to.

A check is a pure function of a case, or of a single exchange, and the yardstick. One that judges
exchanges is an oracle: it sees every exchange of every experiment.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps

from hookproof.conformance.model.evidence import Case, Exchange
from hookproof.conformance.model.verdict import Judgement
from hookproof.spec.contract.service_contract import Contract
from hookproof.spec.dialect.model import Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckContext:
    """What evidence is measured against."""

    dialect: Dialect
    contract: Contract


Judge = Callable[[Case, CheckContext], Iterator[Judgement]]
ExchangeJudge = Callable[[Exchange, CheckContext], Iterator[Judgement]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check. `experiments` is empty for an oracle, which judges all of them."""

    name: str
    requirements: tuple[str, ...]
    experiments: tuple[str, ...]
    judge: Judge


_checks: dict[str, Check] = {}


def check(*requirements: str, experiments: tuple[str, ...]) -> Callable[[Judge], Judge]:
    """Register a function that judges each case of the named experiments."""

    def register(judge: Judge) -> Judge:
        _add(
            Check(
                name=judge.__name__, requirements=requirements, experiments=experiments, judge=judge
            )
        )
        return judge

    return register


def oracle(*requirements: str) -> Callable[[ExchangeJudge], ExchangeJudge]:
    """Register a function that judges each exchange of every experiment."""

    def register(judge: ExchangeJudge) -> ExchangeJudge:
        @wraps(judge)
        def judge_case(case: Case, context: CheckContext) -> Iterator[Judgement]:
            for exchange in case.exchanges:
                yield from judge(exchange, context)

        _add(
            Check(name=judge.__name__, requirements=requirements, experiments=(), judge=judge_case)
        )
        return judge

    return register


def all_checks() -> tuple[Check, ...]:
    """Every check of the modules beside this one, in order of name."""
    package = importlib.import_module("hookproof.conformance.checks")
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    return tuple(_checks[name] for name in sorted(_checks))


def _add(new: Check) -> None:
    if new.name in _checks:
        raise ValueError(f"two checks are named {new.name}")
    if not new.requirements:
        raise ValueError(f"the check {new.name} is bound to no requirement")
    _checks[new.name] = new
