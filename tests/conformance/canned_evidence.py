"""Evidence written by hand, of targets that conform and of targets that do not.

creation = observation(Creation, exchange("create", "createEndpoint", data={...}), url=...)
verdict("4.1-3", creation) is Verdict.FAIL
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from hookproof.conformance.checks import all_checks
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import (
    Evidence,
    Exchange,
    NotExaminedError,
    NotObserved,
    Observation,
)
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.run.intake import Intake
from hookproof.conformance.target.definition import Project
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.answer import Undecided
from hookproof.spec.dialect.reader import load_dialect
from tests.spec.dialect_variants import variant

BASE_URL = "http://target.invalid"
NOW = 1_800_000_000.0
NOT_GIVEN: Any = object()


@cache
def context(dialect_name: str = "reference") -> CheckContext:
    """What checks judge evidence by, under a shipped dialect."""
    dialect = load_dialect(dialect_name)
    return CheckContext(dialect=dialect, contract=contract_for(dialect))


def context_with(answers: Mapping[str, Any]) -> CheckContext:
    """The same under the reference dialect with other answers, by their dotted names."""
    dialect = variant(answers)
    return CheckContext(dialect=dialect, contract=contract_for(dialect))


def exchange(
    role: str = "create",
    operation_id: str | None = "createEndpoint",
    *,
    dialect: str = "reference",
    status: int | None = NOT_GIVEN,
    data: Any = NOT_GIVEN,
    body: Any = NOT_GIVEN,
    request: Any = None,
    request_body: bytes | None = None,
    path: Mapping[str, str] | None = None,
    query: str = "",
    method: str | None = None,
    url: str | None = None,
    key: str = "own",
    project: str = "p1",
    request_headers: Iterable[tuple[str, str]] = (("Authorization", "Bearer key-one"),),
    response_headers: Iterable[tuple[str, str]] = (("Content-Type", "application/json"),),
    problem: str | None = None,
    sent_at: float = NOW,
    duration_s: float = 0.01,
) -> Exchange:
    """One exchange. `data` is put into an envelope; `body` is the whole response, as JSON or as raw
    bytes.

    Without `status` it is the operation's success status under the dialect, or None with a
    `problem`.
    """
    operation = context(dialect).contract.operations[operation_id] if operation_id else None
    filled_path = operation.path if operation else "/"
    for name, value in {"projectID": project, **(path or {})}.items():
        filled_path = filled_path.replace("{" + name + "}", value)
    if status is NOT_GIVEN:
        status = operation.success.value if operation and problem is None else None
    if body is NOT_GIVEN and status is None:
        body = b""
    elif body is NOT_GIVEN:
        content = {} if data is NOT_GIVEN else data
        body = {"message": "done", "status": True, "data": content}
    return Exchange(
        role=role,
        operation_id=operation_id,
        project=project,
        key=key,
        method=method or (operation.method if operation else "GET"),
        url=url or f"{BASE_URL}{filled_path}{query}",
        request_headers=tuple(request_headers),
        request_body=request_body if request is None else json.dumps(request).encode(),
        status=status,
        response_headers=tuple(response_headers) if status is not None else (),
        response_body=body if isinstance(body, bytes) else json.dumps(body).encode(),
        problem=problem,
        sent_at=sent_at,
        duration_s=duration_s,
    )


def delivery(
    token: str = "t1",  # noqa: S107
    *,
    body: bytes = b"{}",
    headers: Iterable[tuple[str, str]] = (("Content-Type", "application/json"),),
    sequence: int = 1,
    method: str = "POST",
    path: str | None = None,
    arrived_at: float = NOW,
    completed_after: float | None = 0.001,
    peer_port: int = 40000,
    client_certificate: str | None = None,
    status: int | None = 200,
) -> ReceivedDelivery:
    """One delivery as the receiver records it.

    `arrived_at` is in Unix seconds; the monotonic clock is 0 at NOW. `completed_after` is in
    seconds after the arrival, None if it was never answered.
    """
    return ReceivedDelivery(
        token=token,
        sequence=sequence,
        method=method,
        path=path or f"/{token}",
        headers=tuple(headers),
        body=body,
        arrived_at=arrived_at,
        arrived_monotonic=arrived_at - NOW,
        completed_monotonic=None if completed_after is None else arrived_at - NOW + completed_after,
        peer_port=peer_port,
        client_certificate=client_certificate,
        status=status,
    )


Observed = TypeVar("Observed", bound=Observation)


@dataclass(frozen=True, slots=True, kw_only=True)
class CannedObservation(Observation):
    """An observation for tests of what happens to observations of any class."""

    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherObservation(Observation):
    """An observation of another class than CannedObservation."""


def observation(
    kind: type[Observed],
    /,
    *exchanges: Exchange,
    deliveries: Iterable[ReceivedDelivery] = (),
    experiment: str = "canned",
    name: str = "canned",
    **fields: Any,
) -> Observed:
    """An observation of this class with these exchanges, in order."""
    return kind(
        experiment=experiment,
        name=name,
        exchanges=exchanges,
        deliveries=tuple(deliveries),
        **fields,
    )


def seen(*exchanges: Exchange, **more: Any) -> CannedObservation:
    """A canned observation with these exchanges, in order."""
    return observation(CannedObservation, *exchanges, **more)


def missing(reason: str, observed: str = "CannedObservation") -> NotObserved:
    """An observation that could not be made."""
    return NotObserved(experiment="canned", name="canned", observation=observed, reason=reason)


def intake(keep: Callable[[Evidence], None] = lambda _: None, *keys: str) -> Intake:
    """An intake that masks these keys of the projects p1, p2 and so on."""
    projects = [Project(id=f"p{number}", api_key=key) for number, key in enumerate(keys, 1)]
    dialect = context().dialect
    return Intake(Mask(projects, dialect), dialect, keep)


Judged = Observation | Exchange
Rules = str | Mapping[str, Any] | CheckContext


def judgements(
    requirements: str, evidence: Judged, rules: Rules = "reference"
) -> Iterator[Judgement]:
    """What the checks that judge evidence of this type say of these requirements.

    `requirements` are identifiers, separated by spaces; LookupError if one of them has no such
    check. `rules` are a shipped dialect, answers of the reference dialect by their dotted names, or
    a context.
    """
    context = _context(rules)
    wanted = requirements.split()
    for check in checks_bound_to(wanted, evidence):
        for said in check.judge(evidence, context):
            if said.requirement in wanted:
                yield said


def verdicts(requirements: str, evidence: Judged, rules: Rules = "reference") -> dict[str, Verdict]:
    """The worst verdict on each of these requirements of which something is said.

    What a check raises is raised, unless others say something of each requirement.
    """
    context, wanted = _context(rules), requirements.split()
    worst: dict[str, Verdict] = {}
    raised = None
    for check in checks_bound_to(wanted, evidence):
        try:
            judged = list(check.judge(evidence, context))
        except (NotExaminedError, Undecided) as error:
            raised = error
        else:
            for said in judged:
                if said.requirement in wanted:
                    before = worst.get(said.requirement, said.verdict)
                    worst[said.requirement] = max(said.verdict, before)
    if raised and {*wanted} - {*worst}:
        raise raised
    return worst


def verdict(requirement: str, evidence: Judged, rules: Rules = "reference") -> Verdict | None:
    """The worst verdict on this requirement, None if nothing is said of it."""
    return verdicts(requirement, evidence, rules).get(requirement)


def all_verdicts(evidence: Judged, rules: Rules = "reference") -> dict[str, Verdict]:
    """The worst verdict on each requirement of which anything is said."""
    judged = [requirement for check in checks_of(evidence) for requirement in check.requirements]
    return verdicts(" ".join(judged), evidence, rules)


def checks_of(evidence: Judged) -> list[Check]:
    """The checks of this class of observation, or the oracles of a single exchange."""
    return _checks_of_class(type(evidence))


@cache
def _checks_of_class(kind: type) -> list[Check]:
    return [check for check in all_checks() if issubclass(kind, check.evidence)]


def checks_bound_to(requirements: Collection[str], evidence: Judged) -> list[Check]:
    """Those of them that are bound to these requirements; LookupError if one has none."""
    checks = [check for check in checks_of(evidence) if {*requirements} & {*check.requirements}]
    if unjudged := {*requirements}.difference(*(check.requirements for check in checks)):
        raise LookupError(f"no check judges {type(evidence).__name__} for {sorted(unjudged)}")
    return checks


def _context(rules: Rules) -> CheckContext:
    if isinstance(rules, CheckContext):
        return rules
    return context(rules) if isinstance(rules, str) else context_with(rules)
