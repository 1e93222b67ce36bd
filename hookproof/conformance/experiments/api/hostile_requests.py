"""Hostile requests: bodies, media types, sizes, paths and methods of no ordinary client.

Sections 7 and 8. What is merely odd is observed for the oracles alone.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.valid_requests import (
    OPERATIONS_WITH_BODY,
    ValidRequests,
    hold_portal_links_for,
    portal_link_put_back,
    prepare_valid_requests,
    send_ordinary,
)
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.observations.preparation import OddRequest, Preparation
from hookproof.conformance.observations.requests.mistakes import (
    Bound,
    Mistake,
    MistakenRequest,
    RequestTried,
    RequestWithinBounds,
    RollWithoutBody,
    UndeclaredBody,
)
from hookproof.conformance.target.client import Key, encoded
from hookproof.spec.dialect.groups.requests import most

# What is made of an ordinary body so that it is no JSON, and nothing else of it is wrong.
NOT_JSON: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "truncated object": lambda body: body[:-1],
    "truncated text": lambda body: body[: body.rfind(b'"')],
    "words": lambda body: urlencode(json.loads(body)).encode(),
    "single quotes": lambda body: body.replace(b'"', b"'"),
    "NUL bytes": lambda body: bytes(len(body)),
    "markup": lambda body: b"<body>" + body + b"</body>",
}

# The first two are no JSON either, but a parser may take them all the same (RFC 8259, section 9):
# some read on only when they are asked to, and some replace what is no text.
ODD_JSON: Final = {
    "trailing words": b'{"name":"whole"} and more',
    "not UTF-8": b'{"name":"\xff\xfe\xfa"}',
    "nothing": b"",
    "null": b"null",
    "an array": b"[]",
    "a text": b'"text"',
    "a number": b"1e999",
    "deep array": b"[" * 10_000 + b"]" * 10_000,
    "deep object": b'{"data":' * 10_000 + b"1" + b"}" * 10_000,
    "deep and truncated": b'{"data":' * 10_000,
    "duplicate fields": b'{"name":"one","name":"two","url":"https://one.invalid/","url":7}',
    "lone surrogate": b'{"name":"\\ud800","url":"https://one.invalid/","event_type":"\\udfff"}',
    "NUL in a text": b'{"name":"a\\u0000b","url":"https://one.invalid/\\u0000","event_type":"a\\u0000b"}',
    "huge integer": b'{"http_timeout":' + b"9" * 400 + b',"expiration":' + b"9" * 400 + b"}",
    "huge exponent": b'{"http_timeout":1e400,"expiration":-1e999}',
    "not a number": b'{"http_timeout":NaN,"expiration":Infinity}',
}

MEDIA_TYPES: Final = ("text/plain", "application/x-www-form-urlencoded", "application/xml")

# A method for the path of each operation that destroys nothing, should the target know it after
# all.
OTHER_METHODS: Final = {
    "createEndpoint": "PATCH",
    "getEndpoint": "PATCH",
    "expireEndpointSecret": "PATCH",
    "listPortalLinks": "PATCH",
    "getPortalLink": "PATCH",
    "listSources": "PUT",
    "createBroadcastEvent": "PUT",
}

# The last part of the path of operations that retrieve one resource, and of those that list them.
RETRIEVED_AT: Final = {"endpoints": "getEndpoint", "portal-links": "getPortalLink"}
LISTED_AT: Final = {"sources": "listSources", "portal-links": "listPortalLinks"}

# Bodies are not made larger than this, in bytes.
LARGEST_SIZE: Final = 32 * 1024 * 1024

IN_FLIGHT = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class HostileRequest:
    """One request to send; `target` is its path, already percent-encoded.

    It `shows` what becomes of a mistake, at a bound, or of a request that has its own observation;
    None stands for what is merely odd. `media_type` is None for a body that is not declared.
    `beside` is the operation of which an ordinary request shows what a refusal is about.
    """

    shows: Mistake | Bound | type[RequestTried] | None
    name: str
    method: str
    target: str
    operation_id: str | None = None
    content: bytes | None = None
    media_type: str | None = "application/json"
    beside: str = ""


@experiment(
    "hostile",
    observes=(
        MistakenRequest,
        RequestWithinBounds,
        UndeclaredBody,
        RollWithoutBody,
        OddRequest,
        Preparation,
    ),
    busy=True,
)
async def hostile(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Send each request once."""
    trial = context.trial("resources to ask for")
    requests = await prepare_valid_requests(context, trial)
    yield trial.observe(Preparation)
    hostile_requests = [
        *_bodies(context, requests),
        *_sizes(context, requests),
        *_methods(requests),
        *_paths(context),
    ]
    concurrency_limit = asyncio.Semaphore(IN_FLIGHT)
    restored = context.trial("portal link as it was")
    async with portal_link_put_back(context, restored, requests):
        sendings = [_send(context, request, concurrency_limit) for request in hostile_requests]
        trials = await asyncio.gather(*sendings)
        # Once for all, and last: a quota that the others have used up shows there.
        ordinary = {
            operation_id: await send_ordinary(
                context, requests, operation_id, requests.body(operation_id)
            )
            for operation_id in dict.fromkeys(each.beside for each in hostile_requests)
            if operation_id
        }
        for request, trial in zip(hostile_requests, trials, strict=True):
            if request.beside:
                trial.exchanges.append(ordinary[request.beside])
            yield _observe(trial, request)
    yield restored.observe(Preparation)


async def _send(
    context: ExperimentContext, request: HostileRequest, concurrency_limit: asyncio.Semaphore
) -> Trial:
    trial = context.trial(f"{request.name}, {request.operation_id or request.target[:80]}")
    is_declared = request.content is not None and request.media_type is not None
    declared = [("Content-Type", request.media_type or "")] if is_declared else []
    async with concurrency_limit, hold_portal_links_for(context, request.operation_id or ""):
        trial.exchanges.append(
            await context.api.send(
                operation_id=request.operation_id,
                role="odd" if request.shows is None else "tried",
                project=trial.project,
                method=request.method,
                target=request.target,
                content=request.content,
                headers=context.api.headers(trial.project, Key.OWN, False, declared),
                key=Key.OWN,
            )
        )
    return trial


def _observe(trial: Trial, request: HostileRequest) -> Evidence:
    match request.shows:
        case Mistake() as mistake:
            return trial.observe(
                MistakenRequest, operation_id=request.operation_id, mistake=mistake
            )
        case Bound() as bound:
            return trial.observe(
                RequestWithinBounds, operation_id=request.operation_id, bound=bound
            )
        case type() as observes:
            return trial.observe(observes, operation_id=request.operation_id)
        case None:
            return trial.observe(OddRequest)


def broken_bodies(body: bytes) -> Iterator[tuple[str, bytes]]:
    """What NOT_JSON makes of a body, by its name; of one without members there is less."""
    for name, spoil in NOT_JSON.items():
        content = spoil(body)
        if content and not _is_json(content):
            yield name, content


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except ValueError:
        return False
    return True


def _bodies(context: ExperimentContext, requests: ValidRequests) -> Iterator[HostileRequest]:
    """Sections 2.1 and 7: what is not JSON, odd JSON, and JSON with another media type."""
    for operation_id in filter(requests.can_call, OPERATIONS_WITH_BODY):
        place: dict[str, Any] = {
            "operation_id": operation_id,
            "method": context.contract.operations[operation_id].method,
            "target": requests.target(operation_id),
            "beside": operation_id,
        }
        for name, content in broken_bodies(encoded(requests.body(operation_id))):
            yield HostileRequest(shows=Mistake.NOT_JSON, name=name, content=content, **place)
        for name, content in ODD_JSON.items():
            yield HostileRequest(shows=None, name=name, content=content, **place)
        for media_type in MEDIA_TYPES:
            yield HostileRequest(
                shows=Mistake.MEDIA_TYPE,
                name=media_type,
                media_type=media_type,
                content=encoded(requests.body(operation_id)),
                **place,
            )
        yield HostileRequest(
            shows=UndeclaredBody,
            name="not declared",
            media_type=None,
            content=encoded(requests.body(operation_id)),
            **place,
        )
        if operation_id == "expireEndpointSecret":
            yield HostileRequest(
                shows=RollWithoutBody,
                name="no body",
                **place,
            )


def _sizes(context: ExperimentContext, requests: ValidRequests) -> Iterator[HostileRequest]:
    """Section 8: one byte above the limit for each operation, and exactly the limit for a
    broadcast.
    """
    limit = most(context.dialect.requests.size_limit)
    if limit >= LARGEST_SIZE:
        return
    for operation_id in filter(requests.can_call, OPERATIONS_WITH_BODY):
        yield HostileRequest(
            shows=Mistake.TOO_LARGE,
            name="one byte too many",
            operation_id=operation_id,
            method=context.contract.operations[operation_id].method,
            target=requests.target(operation_id),
            content=_padded(encoded(requests.body(operation_id)), limit + 1),
            beside=operation_id,
        )
    yield HostileRequest(
        shows=Bound.SIZE,
        name="as large as allowed",
        operation_id="createBroadcastEvent",
        method="POST",
        target=requests.target("createBroadcastEvent"),
        content=_padded(encoded(requests.body("createBroadcastEvent")), limit),
        beside="createBroadcastEvent",
    )


def _padded(body: bytes, size: int) -> bytes:
    """The same JSON text, with white space up to this size."""
    return body[:-1] + b" " * max(0, size - len(body)) + body[-1:]


def _methods(requests: ValidRequests) -> Iterator[HostileRequest]:
    for operation_id, method in OTHER_METHODS.items():
        if requests.can_call(operation_id):
            target = requests.target(operation_id)
            body = requests.body(operation_id)
            yield HostileRequest(
                shows=Mistake.METHOD,
                name=method,
                method=method,
                target=target,
                content=b"{}" if body is None else encoded(body),
                beside=operation_id,
            )


def _paths(context: ExperimentContext) -> Iterator[HostileRequest]:
    """Section 7: paths outside the eight operations, and identifiers that no service assigns."""
    project = f"/api/v1/projects/{quote(context.projects[0].id, safe='')}"
    listed = next((name for name in LISTED_AT.values() if not context.why_unasked(name)), "")
    for target, shows in (
        (f"/{context.word('nowhere')}", None),  # whoever answers there, the dialect is not about it
        (f"/api/v1/{context.word('nowhere')}", Mistake.PATH),
        (f"{project}/{context.word('other')}", Mistake.PATH),
    ):
        yield HostileRequest(
            shows=shows,
            name="path outside",
            method="GET",
            target=target,
            beside=listed if shows is not None else "",
        )
    odd_identifiers = (
        "%2F",
        "..%2F..%2Fetc%2Fpasswd",
        "%00",
        "%ff%fe",
        "%F0%9F%98%80",
        "x" * 4000,
        "%0d%0aX-Injected:%20yes",
        "'--",
    )
    for identifier in odd_identifiers:
        for kind, operation_id in RETRIEVED_AT.items():
            target = f"{project}/{kind}/{identifier}"
            if not context.why_unasked(operation_id):
                yield HostileRequest(shows=None, name="odd identifier", method="GET", target=target)
    for query in (
        "?perPage=9999999999999999999999",
        "?sort=%00&direction=%ff",
        "?next_page_cursor=" + "A" * 4000,
    ):
        for kind, operation_id in LISTED_AT.items():
            target = f"{project}/{kind}{query}"
            if not context.why_unasked(operation_id):
                yield HostileRequest(shows=None, name="odd query", method="GET", target=target)
