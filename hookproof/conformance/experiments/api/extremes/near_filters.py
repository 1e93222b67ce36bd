"""Filters of portal links and sources, asked for a part and a prefix of a value, and for patterns
that match it; those of portal links for another case, too (sections 4.4 and 4.7).

Only what the dialect's way of comparing does not match is asked for.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.existing_resources import (
    find_changeable_links,
    kept_fields,
    put_back_afterwards,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.answer import items, shown
from hookproof.conformance.observations.lists.filters import NearFilter
from hookproof.conformance.observations.preparation import Preparation

FIELDS: Final = ("owner_id", "name")

ANOTHER_CASE: Final = "another case"

# How many characters are left out at an end, or stay before a wildcard.
CUT: Final = 3
# The same for the words of sources, which are short.
CUT_OF_WORD: Final = 1

# As long as a text in a query can be: servers of HTTP refuse a path of more than some 8 KiB.
LONG: Final = 4_000

# What stands for any text, or for any character, in some languages of queries.
WILDCARDS: Final = ("%", "_", "*", "?", ".")


@experiment("near_filters", observes=(NearFilter, Preparation), busy=True, sharing=Sharing.QUIET)
async def near_filters(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Give one portal link values of its own, ask for what is near to them, and put it back."""
    async with context.portal_links:
        preparation = context.trial("portal link to be filtered")
        existing = await find_changeable_links(context, preparation, pages=1)
        if existing.links:
            async with aclosing(_filter(context, preparation, existing.links[0])) as observed:
                async for observation in observed:
                    yield observation
        else:
            yield preparation.not_observed(NearFilter, existing.reason)
    async for observation in _ask_for_sources(context):
        yield observation


async def _filter(
    context: ExperimentContext, preparation: Trial, link: Mapping[str, Any]
) -> AsyncGenerator[Evidence, None]:
    """First with ordinary values, then with long ones, which may be refused."""
    bodies = RequestBodies.of(context)
    kept, place = kept_fields(bodies, link), {"portalLinkID": link["uid"]}
    async with put_back_afterwards(context, preparation, link):
        for role, length in (("prepare", 0), ("tried", LONG)):
            new = {field: context.word(field.title()).ljust(length, "x") for field in FIELDS}
            body = bodies.portal_link(**{**kept, **new})
            updated = await preparation.call("updatePortalLink", role=role, path=place, body=body)
            for field in FIELDS if updated.succeeded or not length else ():
                async for observation in _ask_for_near_values(context, link["uid"], field, length):
                    yield observation
    yield preparation.observe(Preparation)


async def _ask_for_near_values(
    context: ExperimentContext, uid: str, field: str, length: int
) -> AsyncIterator[Evidence]:
    """What is near to a long value differs from it in its last character alone."""
    paging = context.dialect.paging
    parameter = paging.owner_filter if field == "owner_id" else paging.name_filter
    if parameter is None:
        return  # the dialect has no such filter
    long = "long " if length else ""
    trial = context.trial(f"portal link to be filtered by {long}{field}")
    link = shown(await trial.call("getPortalLink", role="retrieve", path={"portalLinkID": uid}))
    value = link.get(field)
    if not isinstance(value, str) or not value:
        reason = (
            f"the portal link {uid} shows no {field} that a filter could ask for; one would help"
        )
        yield trial.not_observed(NearFilter, reason)
        return
    await trial.call("listPortalLinks", role="control", query={parameter: value})
    candidates = {"another end": f"{value[:-1]}y"} if length else _candidates(value, CUT)
    for near, wanted in _near_values(context, field, value, candidates):
        asked = context.trial(f"{near} of {long}{field}")
        asked.exchanges.extend(trial.exchanges)
        query = {parameter: wanted}
        await asked.call("listPortalLinks", role="tried", query=query)
        yield asked.observe(
            NearFilter, operation_id="listPortalLinks", query=query, field=field, near=near
        )


async def _ask_for_sources(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Ask for what is near to the provider and the type of the first source that has them.

    Whether case counts is open. A service may refuse what is no word of its own, or ignore it: an
    unrelated word shows that.
    """
    sources = context.trial("sources to be filtered")
    if lacking := context.why_unasked("listSources"):
        yield sources.not_observed(NearFilter, lacking)
        return
    listed = await sources.call("listSources", role="retrieve")
    for field in ("provider", "type"):
        source = next((item for item in items(listed) if item.get(field)), None)
        value = source[field] if source else None
        if not isinstance(value, str) or len(value) <= CUT:
            continue
        control = await sources.call("listSources", role="control", query={field: value})
        unrelated = {field: context.word("unrelated")}
        unlisted = await sources.call("listSources", role="unrelated", query=unrelated)
        candidates = _candidates(value, CUT_OF_WORD)
        candidates.pop(ANOTHER_CASE, None)
        for near, wanted in candidates.items():
            asked = context.trial(f"{near} for the {field} of sources")
            asked.exchanges.extend((listed, control, unlisted))
            query = {field: wanted}
            await asked.call("listSources", role="tried", query=query)
            yield asked.observe(
                NearFilter, operation_id="listSources", query=query, field=field, near=near
            )


def _patterns(value: str) -> Mapping[str, str]:
    """Patterns that match a value in some language of queries, and are not equal to it."""
    patterns = {sign: f"{value[:CUT]}{sign}{value[CUT + 1 :]}" for sign in WILDCARDS}
    return {
        f"a pattern with {sign}": pattern for sign, pattern in patterns.items() if pattern != value
    }


def _candidates(value: str, cut: int) -> dict[str, str]:
    """The values near to this one, by what they are; none is empty or the value itself."""
    near = {
        "a part": value[cut:-cut],
        "a prefix": value[:-cut],
        ANOTHER_CASE: value.swapcase(),
        **_patterns(value),
    }
    return {name: wanted for name, wanted in near.items() if wanted not in ("", value)}


def _near_values(
    context: ExperimentContext, field: str, value: str, candidates: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Those of the candidates that this value does not match, whatever the dialect allows."""
    paging = context.dialect.paging
    match = paging.owner_match if field == "owner_id" else paging.name_match
    for near, wanted in candidates.items():
        if match.decided and not any(how.matches(wanted, value) for how in match.allowed):
            yield near, wanted
