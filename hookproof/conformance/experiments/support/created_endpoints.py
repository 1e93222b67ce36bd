"""The uid of a created endpoint: from the answer to its creation, or found again (2.6 and 2.8).

An endpoint may be there although the answer to its creation shows no uid. The portal link of its
owner and an event that reaches it show it too; its URL, which no other endpoint has, tells it
there. Nothing more is sent to a target whose creations show the uid.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.existing_resources import (
    find_changeable_links,
    give_owner,
    outcome,
    put_back_afterwards,
    why_no_uid,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import has_value, sent, shown, shown_uid
from hookproof.conformance.target.definition import Project
from hookproof.spec.dialect.vocabulary import AppIdMeaning, SecretDisplay

# The role of requests that are sent to find an endpoint again.
FINDING: Final = "find"

# The role of a creation in place of which the same endpoint was created with an owner.
UNUSED: Final = "without uid"

Link = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedEndpoint:
    """A creation and the uid of its endpoint; `reason` says why none is known."""

    answer: Exchange
    uid: str | None
    reason: str = ""


async def create_endpoint(
    context: ExperimentContext,
    trial: Trial,
    *,
    role: str,
    body: Mapping[str, Any],
    link: Link | None = None,
) -> CreatedEndpoint:
    """Create an endpoint whose uid is needed (section 4.1).

    Where the answer shows none, it is looked for in a portal link, for which it needs an owner: a
    body without one is sent again with one. Whoever holds the portal links gives one of them as
    `link`, and puts it back.
    """
    answer = await trial.call("createEndpoint", role=role, body=body)
    uid = shown_uid(answer)
    if uid is not None or not answer.succeeded:
        reason = "" if uid else f"{why_no_uid(answer)}; a success of it would help"
        return CreatedEndpoint(answer=answer, uid=uid, reason=reason)
    if not _owner(context, answer):
        with_owner = {**body, "owner_id": context.word("owner")}
        again = await trial.call("createEndpoint", role=UNUSED, body=with_owner)
        if again.succeeded:
            trial.rename(answer, UNUSED)
            answer = trial.rename(again, role)
    return await find_in_portal_link(context, trial, answer, link=link)


async def find_in_portal_link(
    context: ExperimentContext,
    trial: Trial,
    answer: Exchange,
    *,
    link: Link | None = None,
) -> CreatedEndpoint:
    """Find an endpoint in a portal link that is given its owner for as long (section 2.6)."""
    if answer.project != trial.project.id:
        return _not_found(answer, "it is of a project whose portal links are not changed here")
    if not _owner(context, answer):
        return _not_found(answer, "it has no owner whose portal link could show it")
    if link is not None:
        found = await _show(context, trial, answer, link)
        # Else the portal link would show the endpoint for its owner wherever it is told to.
        await give_owner(trial, RequestBodies.of(context), link, context.word("owner"))
        return found
    async with context.portal_links:
        existing = await find_changeable_links(context, trial, pages=1)
        if not existing.links:
            return _not_found(answer, existing.reason)
        async with put_back_afterwards(context, trial, existing.links[0]):
            return await _show(context, trial, answer, existing.links[0])


async def _show(
    context: ExperimentContext, trial: Trial, answer: Exchange, link: Link
) -> CreatedEndpoint:
    await give_owner(trial, RequestBodies.of(context), link, _owner(context, answer))
    retrieved = await trial.call("getPortalLink", role=FINDING, uid=link["uid"])
    uid = uid_in_records([retrieved], sent(answer).get("url"))
    if uid is not None:
        return CreatedEndpoint(answer=answer, uid=uid)
    return _not_found(
        answer,
        f"a portal link that was given its owner does not show it (getPortalLink was answered"
        f" {outcome(retrieved)})",
    )


def _owner(context: ExperimentContext, creation: Exchange) -> str:
    """The owner that an endpoint was given, under either name (section 9); empty without one."""
    meaning, body = context.dialect.requests.app_id, sent(creation)
    is_alias = meaning.decided and meaning.value is AppIdMeaning.OWNER_ALIAS
    return body.get("owner_id") or (body.get("appID") if is_alias else "") or ""


def uid_in_records(answers: Iterable[Exchange], url: object) -> str | None:
    """The uid of the one endpoint with this URL in portal links and events; None if they show none
    or several (sections 2.6 and 2.8).
    """
    uids = {
        record["uid"]
        for answer in answers
        for record in _records(answer)
        if has_value(url) and record.get("url") == url
        if isinstance(record.get("uid"), str) and record["uid"]
    }
    return uids.pop() if len(uids) == 1 else None


def _records(answer: Exchange) -> Iterator[Mapping[str, Any]]:
    for member in ("endpoints_metadata", "endpoint_metadata"):
        records = shown(answer).get(member)
        for record in records if isinstance(records, list) else ():
            if isinstance(record, dict):
                yield record


def shown_secret(answer: Exchange) -> str | None:
    """The value of the last secret of the endpoint in an answer, if it shows any (section 2.4)."""
    secrets = answer.data.get("secrets") if isinstance(answer.data, dict) else None
    last = secrets[-1] if isinstance(secrets, list) and secrets else None
    value = last.get("value") if isinstance(last, dict) else None
    return value if isinstance(value, str) and value else None


async def find_secret(
    context: ExperimentContext, trial: Trial, created: Exchange, project: Project
) -> tuple[str | None, str | None]:
    """The uid of a new endpoint, and the secret that the service generated, from whichever answer
    shows it (section 2.4): a retrieval may show a mask instead of it.
    """
    uid = shown_uid(created)
    if context.dialect.representation.secrets_shown.allowed != (SecretDisplay.ALWAYS,):
        return uid, None
    if uid is None:
        uid = (await find_in_portal_link(context, trial, created)).uid
    if uid is None:
        return None, None
    fetched = await trial.call("getEndpoint", role="fetch", uid=uid, project=project)
    return uid, shown_secret(fetched)


def _not_found(answer: Exchange, reason: str) -> CreatedEndpoint:
    return CreatedEndpoint(answer=answer, uid=None, reason=f"{why_no_uid(answer)}, and {reason}")
