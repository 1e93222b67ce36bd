"""URLs that a service may refuse for what they lead to or look like (sections 2.3 and 8).

Each is tried beside one that differs in a single thing. The endpoints are disabled.
"""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.answer import was_accepted
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.observations.requests.endpoint_urls import (
    UnusualUrls,
    UnusualUrlTried,
    UrlKind,
    answer_to,
)
from hookproof.conformance.observations.requests.mistakes import UnansweredVisit
from hookproof.receiver.replies.script import Reply

CREATE: Final = "createEndpoint"


@experiment(
    "endpoint_urls",
    observes=(UnusualUrlTried, UnansweredVisit, Preparation),
    busy=True,
    sharing=Sharing.QUIET,
)
async def endpoint_urls(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Create endpoints with URLs of the kinds on which the dialect has an answer.

    Who leaves them open is not sent what may look like an attack.
    """
    if context.dialect.delivery.failed_visit.decided and not context.why_unasked(CREATE):
        yield await _unanswered(context)
    asked = [kind for kind in UrlKind if answer_to(kind, context.dialect.requests).decided]
    if not asked or context.why_unasked(CREATE):
        return
    bodies = RequestBodies.of(context)
    urls = UnusualUrls(context.word)
    first = context.trial(f"endpoint whose URL has {UrlKind.OTHER_PORT}")
    takes_ports = was_accepted(await _create(first, bodies, urls.ported()))
    planned = [
        (kind, url, is_beside_ported)
        for is_beside_ported, unusual in (
            (False, urls.beside_plain()),
            (takes_ports, urls.addresses(with_port=takes_ports)),
        )
        for kind in asked
        for url in unusual.get(kind, ())
    ]
    trials = await asyncio.gather(*(_try(context, bodies, kind, url) for kind, url, _ in planned))
    # Last, since a quota of endpoints that the others have used up shows there.
    preparation = context.trial("endpoints with ordinary URLs")
    plain = await _create(preparation, bodies, urls.plain())
    ported = await _create(preparation, bodies, urls.ported()) if takes_ports else plain
    yield preparation.observe(Preparation)
    if UrlKind.OTHER_PORT in asked:
        yield _observe(first, UrlKind.OTHER_PORT, plain)
    for trial, (kind, _, is_beside_ported) in zip(trials, planned, strict=True):
        yield _observe(trial, kind, ported if is_beside_ported else plain)


async def _unanswered(context: ExperimentContext) -> Evidence:
    """An endpoint whose URL answers no visit with a 2xx, beside one whose URL does."""
    bodies, trial = RequestBodies.of(context), context.trial("endpoint that answers no visit")
    for role, replies in (("tried", [Reply(status=500)]), ("answered", [Reply()])):
        token = await context.receiver.new_token()
        await context.receiver.script(token.token, replies, visits=True)
        await trial.call(CREATE, role=role, body=bodies.quiet_endpoint(url=token.url))
    return trial.observe(UnansweredVisit, operation_id=CREATE, field="url")


async def _try(context: ExperimentContext, bodies: RequestBodies, kind: UrlKind, url: str) -> Trial:
    trial = context.trial(f"endpoint whose URL has {kind}: {url}")
    await _create(trial, bodies, url)
    return trial


async def _create(trial: Trial, bodies: RequestBodies, url: str) -> Exchange:
    return await trial.call(CREATE, role="tried", body=bodies.quiet_endpoint(url=url))


def _observe(trial: Trial, kind: UrlKind, plain: Exchange) -> UnusualUrlTried:
    role = UnusualUrlTried.role_of_ordinary
    trial.exchanges.append(dataclasses.replace(plain, role=role))
    return trial.observe(UnusualUrlTried, operation_id=CREATE, field="url", kind=kind)
