"""Unfinished: requests whose body stops halfway, or is far too long to be read to its end (sections 7 and 8).

Facts of a case: `about`; `operation_id`; `promised`, the Content-Length; `sent`, the bytes of the body that were sent.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from conformance.client import Key
from conformance.evidence import Case
from conformance.experiments.bench import Bench, experiment
from conformance.experiments.valid_requests import OPERATIONS_WITH_BODY, ValidRequests, valid_requests
from conformance.raw_request import unfinished_request
from conformance.target import Profile

HALF = b'{"name":'
HALFWAY = "stops halfway"
PROMISED_BYTES: Final = {HALFWAY: 100, "far too long": 64 * 1024 * 1024}
"""What is tried, and the length of the body that the request promises."""
PIECE = b" " * 65_536
TOO_PATIENT = "the target waits for the rest of a request longer than budgets.request_s; give it more in target.yaml"


@experiment("unfinished", profile=Profile.STANDARD)
async def unfinished(bench: Bench) -> AsyncIterator[Case]:
    """Both for every operation with a body, all at once."""
    trial = bench.trial("resources to ask for")
    requests = await valid_requests(bench, trial)
    yield trial.case()
    limit = bench.dialect.requests.size_limit
    tries = [
        _tried(bench, requests, operation_id, about)
        for operation_id in filter(requests.can_call, OPERATIONS_WITH_BODY)
        for about, promised in PROMISED_BYTES.items()
        if about == HALFWAY or promised > limit
    ]
    for case in await asyncio.gather(*tries):
        yield case


async def _tried(bench: Bench, requests: ValidRequests, operation_id: str, about: str) -> Case:
    trial = bench.trial(f"{operation_id}, {about}")
    promised = PROMISED_BYTES[about]
    exchange, sent = await unfinished_request(
        bench.api.base_url,
        role="unfinished",
        operation_id=operation_id,
        project=trial.project,
        method=bench.contract.operations[operation_id].method,
        target=requests.target(operation_id),
        headers=bench.api.headers(trial.project, Key.OWN, has_body=True),
        promised=promised,
        pieces=_halfway() if about == HALFWAY else _blanks(promised),
        timeout_s=bench.budgets.request_s,
    )
    trial.exchanges.append(exchange)
    if exchange.status is None and about == HALFWAY:
        return trial.obstacle(TOO_PATIENT)
    facts = {"about": about, "operation_id": operation_id, "promised": promised, "sent": sent}
    return trial.case(facts=facts)


async def _halfway() -> AsyncIterator[bytes]:
    yield HALF


async def _blanks(total: int) -> AsyncIterator[bytes]:
    for _ in range(total // len(PIECE)):
        yield PIECE
