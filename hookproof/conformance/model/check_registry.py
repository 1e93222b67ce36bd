"""The registry of checks: which there are, what each judges, and which requirements it is bound to.

    @check("8-1")
    def an_endpoint_gets_no_more_than_its_limit(
        burst: RateLimitBurst, context: CheckContext
    ) -> Iterator[Judgement]: ...

A check is a pure function. The type of its first parameter says what it judges: a class of
observation, several (`A | B`), or `Exchange`. A check of exchanges is an oracle: it sees every
exchange of every experiment.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import UnionType
from typing import Any, Final, TypeVar, get_args, get_type_hints

from hookproof.conformance.model.evidence import Exchange, NotExaminedError, Observation
from hookproof.conformance.model.judgement import Judgement
from hookproof.spec.contract.service_contract import Contract, contract_for
from hookproof.spec.dialect.answers import with_answer
from hookproof.spec.dialect.assumptions import (
    OF_CONTRACT,
    as_acted_on,
    assumed_fields,
    opened,
    without_assumed,
)
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import SigningSecrets

# Where only one secret signs, nothing stands between two signatures.
ONE_SIGNATURE: Final = (SigningSecrets.NEWEST, SigningSecrets.OLDEST)


@dataclass(frozen=True, kw_only=True)
class CheckContext:
    """The rules by which evidence is judged.

    `examined_by` is the dialect under which the evidence was taken in, if it differs from
    `dialect`: signatures and secrets were examined under it, before they were masked.
    """

    dialect: Dialect
    contract: Contract
    examined_by: Dialect | None = None

    @cached_property
    def without_assumed(self) -> "CheckContext":
        """The same rules as far as they are known; itself if nothing is assumed."""
        if not assumed_fields(self.dialect):
            return self
        known = without_assumed(self.dialect)
        contract = contract_for(opened(self.dialect, reset=OF_CONTRACT))
        return CheckContext(
            dialect=known,
            contract=replace(contract, errors=replace(contract.errors, dialect=known)),
            examined_by=self.examined_by or self.dialect,
        )

    def with_known(self, field: str, value: object) -> "CheckContext":
        """The rules if an assumed answer were known to have this value."""
        dialect = with_answer(self.dialect, field.split("."), value)
        assumed = tuple(name for name in dialect.assumed if name != field)
        return replace(
            self,
            dialect=replace(dialect, assumed=assumed),
            examined_by=self.examined_by or self.dialect,
        )

    def require_same_signatures(self) -> None:
        """Raise NotExaminedError if signatures and secrets were examined by other rules."""
        self._require_examined_by(_signature_rules)

    def _require_examined_by(self, rules: Callable[[Dialect], object]) -> None:
        before = self._examined_by_other(rules)
        if before is not None:
            raise NotExaminedError(
                f"signatures and secrets were examined by the dialect {before.name}, and are masked"
                f" since; to judge them by {self.dialect.name}, run check again with that dialect"
            )

    def require_same_verification(
        self, *, advanced: bool, several: bool, out_of_time: bool, verified: bool
    ) -> None:
        """Raise NotExaminedError or Undecided if a delivery's signature was examined by rules other
        than those that are known.

        It may have `several` signatures; it may have been refused as `out_of_time`. Assumed rules
        by which some delivery of the format `verified` are known by that, except for what that one
        does not show.
        """
        rules = partial(
            _verification_rules,
            advanced=advanced,
            several=several,
            out_of_time=out_of_time,
            verified=verified,
        )
        self._require_examined_by(rules)

    def require_same_rules(self, requests: str, rules: Callable[[Dialect], object]) -> None:
        """Raise NotExaminedError if the requests of the run were made by other rules.

        `requests` names these requests, `rules` reads what they depend on from a dialect.
        """
        before = self._examined_by_other(rules)
        if before is not None:
            raise NotExaminedError(
                f"{requests} were made for the dialect {before.name}, which has other rules for"
                f" them than {self.dialect.name}; run check again with that dialect"
            )

    def _examined_by_other(self, rules: Callable[[Dialect], object]) -> Dialect | None:
        """The dialect under which the evidence was taken in, if it has other rules."""
        before = self.examined_by
        return before if before is not None and rules(before) != rules(self.dialect) else None


def _signature_rules(dialect: Dialect) -> object:
    return dialect.signatures, dialect.delivery.event_id_header


def _verification_rules(
    dialect: Dialect, *, advanced: bool, several: bool, out_of_time: bool, verified: bool
) -> object:
    """What the verification of one delivery's signature rests on."""
    secret, scheme = dialect.signatures.secret, dialect.signatures.scheme(advanced=advanced)
    delivery, templates = dialect.delivery, as_acted_on(scheme)
    shown = scheme
    if verified:  # which one signature does not show of the tolerance, and of a second one
        secret, shown, delivery = as_acted_on(secret), templates, as_acted_on(delivery)
    rules: list[object] = [shown.header, shown.timestamp_header, shown.hash, shown.encoding]
    rules += [shown.algorithm, shown.public_key]
    rules += [shown.signed, shown.value, shown.item]
    rules += [secret.prefix, secret.form, secret.prefix_in_key]
    if "{version}" in templates.item:
        rules.append(shown.versions)
    if "{id}" in f"{templates.signed}{templates.value}":
        rules.append(delivery.event_id_header)
    if out_of_time:
        rules += [shown.timestamp_unit, scheme.tolerance_s]
    if several and scheme.secrets not in ONE_SIGNATURE:
        rules += [scheme.separator, scheme.versions]
    return rules


Judge = Callable[[Any, CheckContext], Iterator[Judgement]]
_Judge = TypeVar("_Judge", bound=Judge)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check; `evidence` are the types of what it judges."""

    name: str
    requirements: tuple[str, ...]
    evidence: tuple[type, ...]
    judge: Judge

    @property
    def is_oracle(self) -> bool:
        """Whether it judges single exchanges, of every experiment."""
        return self.evidence == (Exchange,)

    def judges(self, observation: type) -> bool:
        return self.is_oracle or issubclass(observation, self.evidence)

    def judgements(self, observation: Observation, context: CheckContext) -> Iterator[Judgement]:
        """The judgements on one observation, or on each of its exchanges."""
        if self.is_oracle:
            for exchange in observation.exchanges:
                yield from self.judge(exchange, context)
        elif isinstance(observation, self.evidence):
            yield from self.judge(observation, context)


_checks: dict[str, Check] = {}


def check(*requirements: str, judges: Sequence[type] = ()) -> Callable[[_Judge], _Judge]:
    """Register a function as the check of its name; raises ValueError or TypeError.

    `judges` are the types of its evidence, where its first parameter does not say them.
    """

    def register(judge: _Judge) -> _Judge:
        name = judge.__name__
        if name in _checks:
            raise ValueError(f"two checks are named {name}")
        if not requirements:
            raise ValueError(f"the check {name} is bound to no requirement")
        _checks[name] = Check(
            name=name,
            requirements=requirements,
            evidence=tuple(judges) or _evidence(judge),
            judge=judge,
        )
        return judge

    return register


def registered_checks() -> tuple[Check, ...]:
    """The checks of all modules that were imported, in order of name."""
    return tuple(_checks[name] for name in sorted(_checks))


def _evidence(judge: Judge) -> tuple[type, ...]:
    first = next(iter(inspect.signature(judge).parameters))
    hint = get_type_hints(judge).get(first)
    types = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    if types != (Exchange,) and not all(
        isinstance(each, type) and issubclass(each, Observation) for each in types
    ):
        raise TypeError(
            f"the first parameter of the check {judge.__name__} is to be typed as Exchange or as"
            " classes of Observation"
        )
    return types
