"""Broadcast answers: what the event in the answer to a broadcast shows (sections 2.8, 4.8)."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.existing_resources import fetch_list
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.experiments.support.telling_texts import (
    event_texts,
    find_accepted,
    texts,
)
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.observations.resources.broadcast_answer import (
    BroadcastWithField,
    BroadcastWithPayload,
    BroadcastWithQuery,
    BroadcastWithTellingQuery,
    BroadcastWithTellingTexts,
    EventBesideSources,
    HeaderTextTried,
)
from hookproof.spec.dialect.vocabulary import EventQuery, EventSource, HeaderText

PAYLOADS: Final[dict[str, Any]] = {
    "empty object": {},
    "nested": {"a": {"b": [{"c": None}, [], {}]}},
    "texts": {
        "empty": "",
        "accents": "Grüße",
        "beyond the basic plane": "😀",
        "escapes": 'tab\t quote" \\ /',
    },
    "numbers": {
        "zero": 0,
        "negative": -1,
        "fraction": 0.1,
        "beyond a double's integers": 9007199254740993,
    },
    "order of keys": {"z": 1, "a": 2, "m": 3},
    "text of numbers": {"number": "007", "literal": "null"},
}


# Two parameters, one of them with characters that a query cannot carry as they are.
QUERY: Final = {"shop": "example", "note": "one & two"}


# How many pages of the list of sources are read at most to find the one that an event names.
SOURCE_PAGES: Final = 5

# For each kind of text beyond ASCII, a value that needs it.
HEADER_TEXTS: Final = {HeaderText.LATIN_1: "Grüße", HeaderText.ANY: "配送"}


@experiment(
    "broadcast_answers",
    observes=(
        BroadcastWithField,
        BroadcastWithPayload,
        BroadcastWithQuery,
        BroadcastWithTellingQuery,
        BroadcastWithTellingTexts,
        EventBesideSources,
        HeaderTextTried,
        Preparation,
    ),
    busy=True,
)
async def broadcast_answers(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast once for each field and each payload."""
    bodies = RequestBodies.of(context)
    for field in ("event_type", "idempotency_key", "custom_headers"):
        trial = context.trial(f"broadcast with {field}")
        body = bodies.broadcast(**{field: bodies.event_value(field)})
        await trial.call("createBroadcastEvent", role="create", body=body)
        yield trial.observe(BroadcastWithField, field=field)
    trial = context.trial("broadcast with acknowledged_at")
    await _broadcast_with_a_time(trial, bodies)
    yield trial.observe(BroadcastWithField, field="acknowledged_at")
    for name, data in PAYLOADS.items():
        trial = context.trial(f"broadcast with data: {name}")
        # Not escaped, so that there are bytes beyond ASCII.
        raw_body = json.dumps(bodies.broadcast(data=data), ensure_ascii=False).encode()
        await trial.call("createBroadcastEvent", role="create", raw_body=raw_body)
        yield trial.observe(BroadcastWithPayload)
    async for observation in _with_telling_texts(context, bodies):
        yield observation
    if context.dialect.representation.event_query.prefers(EventQuery.REQUEST):
        trial = context.trial("broadcast with a query")
        body = bodies.broadcast()
        await trial.call("createBroadcastEvent", role="create", body=body, query=QUERY)
        yield trial.observe(BroadcastWithQuery)
        trial = context.trial("broadcast with a query whose texts tell")
        query = {"note": texts(bodies.word("query"))[0]}
        await trial.call("createBroadcastEvent", role="tried", body=bodies.broadcast(), query=query)
        yield trial.observe(BroadcastWithTellingQuery)
    names_source = context.dialect.representation.event_source.prefers(EventSource.LISTED)
    if names_source and not context.why_lacking("sources"):
        trial = context.trial("broadcast beside the sources")
        await fetch_list(trial, "listSources", pages=SOURCE_PAGES)
        await trial.call("createBroadcastEvent", role="create", body=bodies.broadcast())
        yield trial.observe(EventBesideSources)
    if context.dialect.requests.header_text.decided:
        for needs, value in HEADER_TEXTS.items():
            trial = context.trial(f"broadcast with a header that needs {needs}")
            body = bodies.broadcast(custom_headers={"X-Note": value})
            await trial.call("createBroadcastEvent", role="tried", body=body)
            yield trial.observe(HeaderTextTried, needs=needs)


async def _broadcast_with_a_time(trial: Trial, bodies: RequestBodies) -> None:
    """Broadcast with acknowledged_at in one form after another until one is taken.

    The one to be judged is that, or the first if there is none.
    """
    tried = []
    for time in bodies.timestamps():
        body = bodies.broadcast(acknowledged_at=time)
        tried.append(await trial.call("createBroadcastEvent", role="tried", body=body))
        if tried[-1].succeeded:
            break
    trial.rename(tried[-1] if tried[-1].succeeded else tried[0], "create")


async def _with_telling_texts(
    context: ExperimentContext, bodies: RequestBodies
) -> AsyncIterator[Evidence]:
    """Broadcast with every text that the target accepts, all at once."""
    probe = context.trial("texts of events that a target accepts")

    async def broadcast(values: Mapping[str, Any]) -> Exchange:
        key = {"idempotency_key": bodies.word("probe")} if "idempotency_key" in values else {}
        if key:  # the key itself stays new
            key["idempotency_key"] += values["idempotency_key"]
        body = bodies.broadcast(**{**values, **key})
        return await probe.call("createBroadcastEvent", role="probe", body=body)

    accepted = await find_accepted(event_texts(bodies), broadcast)
    yield probe.observe(Preparation)
    trial = context.trial("broadcast with texts that tell")
    await trial.call("createBroadcastEvent", role="create", body=bodies.broadcast(**accepted))
    yield trial.observe(BroadcastWithTellingTexts)
