"""Unfinished requests: the body stops halfway, or is far too long to be read to its end.

Sections 7 and 8.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.support.existing_resources import outcome
from hookproof.conformance.experiments.support.valid_requests import (
    OPERATIONS_WITH_BODY,
    ValidRequests,
    prepare_valid_requests,
)
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.mistakes import HalfRequest, OverlongRequest
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.target.client import Key
from hookproof.conformance.target.raw_request import is_waiting, unfinished_request
from hookproof.spec.dialect.groups.requests import most

HALF = b'{"name":'
HALFWAY = "stops halfway"
# What is tried, and the length of the body that the request promises.
PROMISED_BYTES: Final = {HALFWAY: 100, "far too long": 64 * 1024 * 1024}
PIECE = b" " * 65_536
TOO_PATIENT: Final = (
    "the target waits for the rest of a request longer than budgets.request_s; give it more in"
    " target.yaml"
)


@experiment(
    "unfinished",
    observes=(HalfRequest, OverlongRequest, Preparation),
    profile=Profile.STANDARD,
)
async def unfinished(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Both for every operation with a body, all at once."""
    trial = context.trial("resources to ask for")
    requests = await prepare_valid_requests(context, trial)
    yield trial.observe(Preparation)
    limit = most(context.dialect.requests.size_limit)
    sendings = [
        _send_unfinished(context, requests, operation_id, about)
        for operation_id in filter(requests.can_call, OPERATIONS_WITH_BODY)
        for about, promised in PROMISED_BYTES.items()
        if about == HALFWAY or promised > limit
    ]
    for observation in await asyncio.gather(*sendings):
        yield observation


async def _send_unfinished(
    context: ExperimentContext, requests: ValidRequests, operation_id: str, about: str
) -> Evidence:
    trial = context.trial(f"{operation_id}, {about}")
    promised = PROMISED_BYTES[about]

    async def send() -> tuple[Exchange, int]:
        return await unfinished_request(
            context.api.base_url,
            role="unfinished",
            operation_id=operation_id,
            project=trial.project,
            method=context.contract.operations[operation_id].method,
            target=requests.target(operation_id),
            headers=context.api.headers(trial.project, Key.OWN, has_json=True),
            promised=promised,
            pieces=_halfway() if about == HALFWAY else _blanks(promised),
            timeout_s=context.budgets.request_s,
            connection=context.api.connection,
        )

    exchange, sent = await context.api.in_turn(send, lambda result: result[0])
    trial.exchanges.append(exchange)
    if exchange.status is None and about == HALFWAY:
        return trial.not_observed(HalfRequest, TOO_PATIENT)
    if sent < promised and about != HALFWAY and is_waiting(exchange):
        return trial.not_observed(
            OverlongRequest,
            f"the target neither refused a long body of {operation_id} nor read on within the"
            f" {context.budgets.request_s:g} s of budgets.request_s; give it more in target.yaml",
        )
    if sent == 0 and about != HALFWAY:
        return trial.not_observed(
            OverlongRequest,
            f"the target read nothing of a long body of {operation_id}, which was answered"
            f" {outcome(exchange)}; it was perhaps too busy",
        )
    kind = HalfRequest if about == HALFWAY else OverlongRequest
    return trial.observe(kind, operation_id=operation_id, promised=promised, sent=sent)


async def _halfway() -> AsyncIterator[bytes]:
    yield HALF


async def _blanks(total: int) -> AsyncIterator[bytes]:
    for _ in range(total // len(PIECE)):
        yield PIECE
