"""Sections 1 to 4 over sequences of operations: answers agree with a model of what was done.

The model is built from the exchanges in their order: what the answers to creations and updates
showed is what must be shown from then on, until something is done to that resource again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hookproof.conformance.checks.agreement import agreement, echoes
from hookproof.conformance.checks.configuration import LEFT_BY_ROLL, fetched_as_created
from hookproof.conformance.checks.portal_links import (
    SETTINGS,
    UPDATED,
    is_member,
    members,
    repeats_a_uid,
)
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import (
    items,
    pagination,
    path_parameters,
    refused,
    shown,
    shown_uid,
    shows_every_uid,
)
from hookproof.conformance.observations.shown_secret import secret_uids
from hookproof.conformance.subjects.sequences.evidence import ModeledOperations
from hookproof.spec.dialect.model import Representation


@dataclass(slots=True)
class _Endpoint:
    """What is known of an endpoint: its creation, its last roll, and rolls of others since.

    `last` is the creation until the endpoint is rolled. `fetched` is its last retrieval,
    `fetched_before` the last one before its last roll, and `fetched_before_others` the last one
    before the first of those of others.
    """

    created: Exchange
    last: Exchange
    fetched: Exchange | None = None
    fetched_before: Exchange | None = None
    fetched_before_others: Exchange | None = None
    others_rolled: list[Exchange] = field(default_factory=list)


@dataclass(slots=True)
class _Link:
    """What is known of a portal link.

    `known_from` is the answer to its last update, and `updated` is true; or else the answer that
    showed it first. `retrieved` is its last retrieval since then: that, and no answer to an update,
    shows what is stored. `others_updated` are the updates of others since `retrieved`, and `alone`
    is whether there was none since `known_from`. `owners` are the owners that the portal link had,
    the present one last.
    """

    known_from: Exchange
    updated: bool = False
    retrieved: Exchange | None = None
    others_updated: list[Exchange] = field(default_factory=list)
    alone: bool = True
    owners: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class _Model:
    """The resources of one sequence by their uid; `whole` is whether all pages since the last list
    could be read.
    """

    forms: Representation
    endpoints: dict[str, _Endpoint] = field(default_factory=dict)
    links: dict[str, _Link] = field(default_factory=dict)
    pages: list[Exchange] = field(default_factory=list)
    whole: bool = True


LIST: Final = "listPortalLinks"
ENDPOINTS: Final = ("2.6-2", "2.6-3", "2.6-4", "4.6-10", "4.6-11")


@check(
    "4.2-5",
    "4.2-6",
    "4.3-11",
    "4.3-14",
    *UPDATED.values(),
    "4.6-9",
    "4.6-12",
    *ENDPOINTS,
    "2.6-7",
    "4.4-14",
)
def a_sequence_agrees_with_its_model(
    operations: ModeledOperations, context: CheckContext
) -> Iterator[Judgement]:
    """Whatever else was done in between."""
    model = _Model(forms=context.dialect.representation)
    for exchange in operations.exchanges:
        operation_id = exchange.operation_id or ""
        if operation_id == LIST:
            yield from _listed(model, exchange)
        if operation_id not in _READINGS or refused(exchange):
            continue
        path = path_parameters(exchange, context.contract.operations[operation_id].path)
        uid = path.get("endpointID") or path.get("portalLinkID") or shown_uid(exchange)
        if uid is not None and shown(exchange) and shown_uid(exchange) in (uid, None):
            yield from _READINGS[operation_id](model, exchange, uid)
        else:
            _forget(model, operation_id)


def _forget(model: _Model, operation_id: str) -> None:
    """What a request may have changed is not known any more if its answer does not tell."""
    if operation_id == "expireEndpointSecret":
        model.endpoints.clear()
    elif operation_id == "updatePortalLink":
        model.links.clear()


def _created(model: _Model, exchange: Exchange, uid: str) -> Iterator[Judgement]:
    model.endpoints[uid] = _Endpoint(created=exchange, last=exchange)
    yield from ()


def _rolled(model: _Model, exchange: Exchange, uid: str) -> Iterator[Judgement]:
    for other, endpoint in model.endpoints.items():
        if other != uid:
            if not endpoint.others_rolled:
                endpoint.fetched_before_others = endpoint.fetched
            endpoint.others_rolled.append(exchange)
    known = model.endpoints.get(uid)
    if known is not None:
        if known.last is not known.created:
            yield _rolled_alike(model, known.last, known.last, exchange)
        known.last = exchange
        known.fetched_before = known.fetched
        known.others_rolled.clear()


def _fetched(model: _Model, exchange: Exchange, uid: str) -> Iterator[Judgement]:
    known = model.endpoints.get(uid)
    if known is None:
        return
    known.fetched = exchange
    if known.last is known.created:
        yield from _fetched_unrolled(model, known, exchange)
    elif known.fetched_before is not None:
        yield _rolled_alike(model, known.fetched_before, known.last, exchange)


def _fetched_unrolled(model: _Model, known: _Endpoint, exchange: Exchange) -> Iterator[Judgement]:
    yield fetched_as_created(known.created, exchange, model.forms)
    rolled = bool(known.others_rolled)
    before = (known.fetched_before_others if rolled else None) or known.created
    same = sorted(secret_uids(before)) == sorted(secret_uids(exchange))
    if not secret_uids(before):
        return
    if rolled and before is known.created and not same and not _brought_in(known, exchange):
        return  # what the answers of two operations show differently, no roll need have changed
    yield judged(
        same,
        "4.3-14" if rolled else "4.2-6",
        "An endpoint that was not rolled is fetched with other secrets than before",
        expected=secret_uids(before),
        actual=secret_uids(exchange),
        exchanges=[before, *known.others_rolled[-1:], exchange],
    )


def _brought_in(known: _Endpoint, fetched: Exchange) -> bool:
    """Whether an endpoint is fetched with a secret that the roll of another one showed."""
    of_others = {uid for roll in known.others_rolled for uid in secret_uids(roll)}
    return not of_others.isdisjoint(secret_uids(fetched))


def _rolled_alike(model: _Model, before: Exchange, roll: Exchange, now: Exchange) -> Judgement:
    """Two answers of one operation, with a roll between them.

    What the answers of two operations show differently, no roll has changed (4.2-5).
    """
    return agreement(
        "4.3-11",
        "A roll changes the configuration of an endpoint",
        LEFT_BY_ROLL,
        shown(before),
        shown(now),
        dict.fromkeys([before, roll, now]),
        model.forms,
    )


def _updated(model: _Model, exchange: Exchange, uid: str) -> Iterator[Judgement]:
    message = "The answer to an update does not show the {field} that was sent"
    yield from echoes(exchange, exchange, message)
    for other, link in model.links.items():
        if other != uid:
            link.others_updated.append(exchange)
            link.alone = False
    owners = model.links[uid].owners if uid in model.links else []
    model.links[uid] = _Link(
        known_from=exchange, updated=True, owners=_with_owner(owners, exchange)
    )


def _retrieved(model: _Model, exchange: Exchange, uid: str) -> Iterator[Judgement]:
    """An update that is not stored, and then that of another, leave open what changed the portal
    link.
    """
    known = model.links.setdefault(uid, _Link(known_from=exchange))
    if known.retrieved is not None and known.others_updated:
        yield _same_settings("4.6-12", known, known.retrieved, exchange, shown(exchange))
    elif known.updated and known.alone:
        yield _same_settings("4.6-9", known, known.known_from, exchange, shown(exchange))
    known.retrieved = exchange
    known.others_updated.clear()
    known.owners = _with_owner(known.owners, exchange)
    yield from _endpoints_of_owner(model, known, exchange)


def _same_settings(
    requirement: str, known: _Link, before: Exchange, exchange: Exchange, now: Mapping[str, Any]
) -> Judgement:
    return agreement(
        requirement,
        "A portal link is shown otherwise than the last answer about it showed",
        SETTINGS,
        shown(before),
        now,
        [before, *known.others_updated[-1:], exchange],
    )


def _endpoints_of_owner(model: _Model, link: _Link, exchange: Exchange) -> Iterator[Judgement]:
    """Each endpoint with an owner is in the portal links of that owner, and in no others."""
    owner = shown(exchange).get("owner_id")
    if not isinstance(owner, str) or not owner:
        return  # shown as another type, which 4.5-3 judges
    created = [endpoint.created for endpoint in model.endpoints.values()]
    for uid, endpoint in model.endpoints.items():
        of_endpoint = shown(endpoint.created).get("owner_id")
        if not isinstance(of_endpoint, str) or not of_endpoint:
            continue  # shown as another type, which 4.1-7 judges
        belongs = of_endpoint == owner
        if not belongs:
            requirement = "4.6-11" if of_endpoint in link.owners[:-1] else "2.6-3"
        elif endpoint.created.sent_at > link.known_from.sent_at:
            requirement = "2.6-4"
        else:
            requirement = "4.6-10" if link.updated else "2.6-2"
        is_there = is_member(exchange, endpoint.created, created)
        if is_there is None:
            continue
        problem = "lacks an endpoint of its owner" if belongs else "has a foreign endpoint"
        yield judged(
            is_there is belongs,
            requirement,
            f"A portal link {problem}",
            expected=f"{'with' if belongs else 'without'} {uid}",
            actual=members(exchange),
            exchanges=[endpoint.created, link.known_from, exchange],
        )


def _listed(model: _Model, exchange: Exchange) -> Iterator[Judgement]:
    """Judged on the last page of a walk, all of whose pages could be read."""
    model.pages.append(exchange)
    model.whole = model.whole and bool(shown(exchange)) and shows_every_uid(exchange)
    if pagination(exchange).get("has_next_page") is True:
        return
    pages, model.pages = model.pages, []
    whole, model.whole = model.whole, True
    if whole:
        yield from _compare_with_list(model, pages)


def _compare_with_list(model: _Model, pages: Sequence[Exchange]) -> Iterator[Judgement]:
    listed = {str(item.get("uid")): item for page in pages for item in items(page)}
    shows_each_once = not any(map(repeats_a_uid, pages))
    for uid, link in model.links.items():
        if uid not in listed and not shows_each_once:
            continue
        yield judged(
            uid in listed,
            "4.4-14",
            "A portal link that can be retrieved is not in the list",
            expected=uid,
            actual=sorted(listed),
            exchanges=[link.known_from, *pages],
        )
        if uid in listed and link.retrieved is not None and not link.others_updated:
            yield _same_settings("2.6-7", link, link.retrieved, pages[-1], listed[uid])


def _with_owner(owners: list[Any], exchange: Exchange) -> list[Any]:
    owner = shown(exchange).get("owner_id")
    return owners if owners and owners[-1] == owner else [*owners, owner]


_READINGS: Final = {
    "createEndpoint": _created,
    "expireEndpointSecret": _rolled,
    "getEndpoint": _fetched,
    "updatePortalLink": _updated,
    "getPortalLink": _retrieved,
}
