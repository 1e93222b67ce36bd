"""Evidence made by hand, so that a check can be shown a target that keeps its word and one that
does not.

case(exchange("create", "createEndpoint", data={...}), facts={"url": ...})
verdicts(url_comes_back, case(...)) == {"4.1-3": Verdict.FAIL}
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.case import Case
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.reader import load_dialect

BASE_URL = "http://target.invalid"
NOW = 1_800_000_000.0
NOTHING: Any = object()


@cache
def context(dialect_name: str = "reference") -> CheckContext:
    """What evidence is measured against under a shipped dialect."""
    dialect = load_dialect(dialect_name)
    return CheckContext(dialect=dialect, contract=contract_for(dialect))


def exchange(
    role: str = "create",
    operation_id: str | None = "createEndpoint",
    *,
    dialect: str = "reference",
    status: int | None = NOTHING,
    data: Any = NOTHING,
    body: Any = NOTHING,
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
    filled = operation.path if operation else "/"
    for name, value in {"projectID": project, **(path or {})}.items():
        filled = filled.replace("{" + name + "}", value)
    if status is NOTHING:
        status = operation.success.value if operation and problem is None else None
    if body is NOTHING:
        body = (
            b""
            if status is None
            else {"message": "done", "status": True, "data": {} if data is NOTHING else data}
        )
    return Exchange(
        role=role,
        operation_id=operation_id,
        project=project,
        key=key,
        method=method or (operation.method if operation else "GET"),
        url=url or f"{BASE_URL}{filled}{query}",
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
    """One delivery as the receiver kept it; `arrived_at` is in unix seconds, the monotonic clock
    runs with it.
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


def case(
    *exchanges: Exchange,
    deliveries: Iterable[ReceivedDelivery] = (),
    facts: Mapping[str, Any] | None = None,
    experiment: str = "canned",
    name: str = "canned",
) -> Case:
    """A case with these exchanges, in order."""
    return Case(
        experiment=experiment,
        name=name,
        exchanges=exchanges,
        deliveries=tuple(deliveries),
        facts=dict(facts or {}),
    )


def verdicts(
    judge: Callable[[Any, CheckContext], Iterator[Judgement]],
    evidence: Observation | Exchange,
    dialect: str = "reference",
) -> dict[str, Verdict]:
    """The worst verdict of a check per requirement, on an observation or an exchange."""
    worst: dict[str, Verdict] = {}
    for judgement in judge(evidence, context(dialect)):
        worst[judgement.requirement] = max(
            judgement.verdict, worst.get(judgement.requirement, judgement.verdict)
        )
    return worst
