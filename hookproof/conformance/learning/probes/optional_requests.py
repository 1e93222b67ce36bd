"""Requests that a service may take or refuse: what becomes of each (sections 2.4, 4 and 7).

They are the rows of the table of questions, sent and read as `check` does.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from hookproof.conformance.checks.reading import Reading, reading
from hookproof.conformance.experiments.support.valid_requests import ValidRequests
from hookproof.conformance.learning.learned_answers import NAME
from hookproof.conformance.learning.probes.access import miss_undecided
from hookproof.conformance.learning.session import CREATE, ROLL, UPDATE, ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import shown_uid, was_accepted
from hookproof.conformance.observations.mistakes import ORDINARY, RequestTried
from hookproof.conformance.subjects.questions.evidence import (
    QUESTIONS,
    URL_FIELDS,
    WITH_BODY,
    Asked,
    NullField,
    Question,
    UrlKind,
    asked_in,
)
from hookproof.conformance.subjects.questions.experiment import UnusualUrls
from hookproof.spec.dialect.vocabulary import Acceptance

NO_ORDINARY: Final = "no request is taken that differs from such a one in nothing else"
SOME_TAKEN: Final = "some such requests are taken, and others refused"
TAKEN_UNLIKE: Final = "they are taken, but not as if the field were left out"


async def probe_optional_requests(
    session: ProbeSession, created: Exchange | None, null_updates: Sequence[RequestTried]
) -> None:
    """Learn what becomes of unusual requests, where none of them is sure to be refused.

    `null_updates` are the updates of a portal link with null in a field; it is as it was again.
    """
    uid, answers = None if created is None else shown_uid(created), session.answers
    for kind, question in asked_in("refusals", "hostile").items():
        field = question.says
        # What 0 means is learned elsewhere, and so is what a portal link shows.
        if not isinstance(field, str) or question.status or answers.is_seen(field):
            continue
        if question.not_applicable and question.not_applicable[0](answers.dialect):
            answers.miss(field, question.not_applicable[1])
        elif not answers.has_reason(field):
            asked = await ask(session, question, {*WITH_BODY} - {UPDATE}, uid)
            if asked:
                updates = null_updates if kind is NullField else ()
                see_reading(session, question, [*asked, *updates])


async def ask(
    session: ProbeSession, question: Question, operations: Collection[str], uid: str | None = None
) -> list[RequestTried]:
    """Send the requests of a row, of these operations, and then the ordinary ones beside them.

    `uid` is of an endpoint that they can be about. The names of the observations are the roles
    that the requests have in the report.
    """
    assert question.asks is not None, "the row has requests"
    requests = _valid_requests(session, uid)
    asked = [
        each
        for each in question.asks(requests)
        if each.operation_id in operations and requests.can_call(each.operation_id or "")
    ]
    tried = [await _send(session, requests, each, each.body) for each in asked]
    ordinary: dict[tuple[str | None, ...], Exchange] = {}
    evidence: list[RequestTried] = []
    for each, exchange in zip(asked, tried, strict=True):
        plain = Asked(each.asks, "an ordinary request", each.operation_id)
        body = each.ordinary or requests.body(each.operation_id or "") or {}
        key = (each.operation_id, *sorted(body))
        if key not in ordinary:
            ordinary[key] = await _send(session, requests, plain, body)
        evidence.append(_beside(exchange, ordinary[key], field=each.field))
    return evidence


def _valid_requests(session: ProbeSession, uid: str | None) -> ValidRequests:
    """The ordinary requests as they are learned so far."""
    link = session.paths.get(UPDATE)
    return ValidRequests(
        bodies=session.bodies,
        contract=session.contract,
        project=session.project,
        endpoint_id=uid,
        portal_link=None if link is None else {"uid": link["portalLinkID"]},
        missing=dict.fromkeys(("endpointID", "portalLinkID"), "there is none"),
        why_unasked=lambda _operation_id: "",
        own_bodies={
            CREATE: session.endpoint,
            ROLL: session.bodies.roll,
            UPDATE: lambda: session.link_body,
        },
    )


async def _send(
    session: ProbeSession, requests: ValidRequests, asked: Asked, body: object
) -> Exchange:
    other_type = asked.media_type not in (None, "application/json")
    return await session.call(
        asked.operation_id or "",
        f"{asked.about}: {asked.field}".removesuffix(": "),
        path=requests.path(asked.operation_id or ""),
        body=body,
        raw_body=asked.content,
        is_declared=asked.media_type is not None,
        headers=[("Content-Type", str(asked.media_type))] if other_type else (),
    )


def _beside(tried: Exchange, ordinary: Exchange, field: str = "") -> RequestTried:
    """Both as `check` observes them, under the role of the first one."""
    return RequestTried(
        experiment=NAME,
        name=tried.role,
        exchanges=(replace(tried, role="tried"), replace(ordinary, role=ORDINARY)),
        operation_id=tried.operation_id,
        field=field,
    )


def see_reading(
    session: ProbeSession, question: Question, evidence: Sequence[RequestTried]
) -> None:
    """Learn the answer to a row if all requests tell the same, beside ordinary ones."""
    field, answers = str(question.says), session.answers
    read: dict[Reading, Exchange] = {}
    for each in evidence:
        tried, ordinary = each.exchanges
        if not was_accepted(ordinary):
            continue
        told = reading(tried, ordinary) or Reading.OTHERWISE
        read.setdefault(told, replace(tried, role=each.name))
        unlike = question.taken_over(tried, ordinary, each.field)
        if told is Reading.TAKEN and unlike:
            answers.miss(field, f"{TAKEN_UNLIKE}: {unlike}")
            return
    if Reading.OTHERWISE in read:
        miss_undecided(session, field, read[Reading.OTHERWISE])
    elif len(read) != 1:
        answers.miss(field, SOME_TAKEN if read else NO_ORDINARY)
    else:
        words = {Reading.TAKEN: question.taken_as, Reading.REFUSED: Acceptance.REFUSED.value}
        ((told, shown_by),) = read.items()
        answers.see(field, words[told], shown_by=shown_by)


def read_beside(session: ProbeSession, field: str, asked: RequestTried) -> Reading | None:
    """Whether a request was taken or refused; None if that shows neither, which is noted."""
    tried, ordinary = asked.exchanges
    read = reading(tried, ordinary)
    if read is None:
        session.answers.miss(field, NO_ORDINARY)
    elif read is Reading.OTHERWISE:
        miss_undecided(session, field, replace(tried, role=asked.name))
        return None
    return read


async def probe_endpoint_urls(session: ProbeSession) -> None:
    """Learn which URLs are taken, where a plain one is. The endpoints are disabled."""
    urls = UnusualUrls(session.word)

    async def create(role: str, url: str) -> Exchange:
        return await session.call(CREATE, role, body=session.endpoint(url=url))

    def with_kind(kind: UrlKind) -> str:
        return f"whose URL has {kind}"

    plain = await create("with a plain URL", urls.plain())
    if not plain.succeeded:
        for field in URL_FIELDS.values():
            session.answers.miss(field, NO_ORDINARY)
        return
    ported = await create(with_kind(UrlKind.OTHER_PORT), urls.ported())
    unusual = {**urls.beside_plain(), **urls.addresses(with_port=ported.succeeded)}
    tried = {UrlKind.OTHER_PORT: [ported]}
    for kind, every in unusual.items():
        tried[kind] = [await create(with_kind(kind), url) for url in every]
    for kind, answers in tried.items():
        see_reading(session, QUESTIONS[kind], [_beside(each, plain) for each in answers])
