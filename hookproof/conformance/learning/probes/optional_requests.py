"""Requests that a service may take or refuse: what becomes of each (sections 2.4, 4 and 7)."""

from collections.abc import Sequence
from typing import Final

from hookproof.conformance.experiments.api.refusals import OTHER_DATA
from hookproof.conformance.learning.probes.access import miss_undecided
from hookproof.conformance.learning.probes.required import with_null
from hookproof.conformance.learning.session import (
    BROADCAST,
    CREATE,
    ORDINARY,
    ROLL,
    ProbeSession,
)
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import (
    accepted_or_refused,
    shown_uid,
)
from hookproof.conformance.observations.requests.endpoint_urls import FIELDS, UnusualUrls, UrlKind
from hookproof.spec.dialect.groups.request_vocabulary import Acceptance

ROLL_REQUIRES: Final = "requests.expire_endpoint_secret_requires"
NO_OPTIONAL: Final = "no request is taken without the fields that could be null"
SOME_NULL: Final = "null is taken in some fields and refused in others"
NULL_UNLIKE: Final = "null is taken, but not as if the field were left out"
SOME_DATA: Final = "data of one kind that is no object is taken, and of another refused"
SOME_UNDECLARED: Final = "some operations take such a body, and others refuse it"
PLAIN_REFUSED: Final = "an endpoint with a plain URL at a reserved name is not created"
DIFFERENT: Final = "of several such URLs some are taken and others refused"


async def probe_optional_requests(
    session: ProbeSession, created: Exchange | None, null_updates: Sequence[tuple[Exchange, str]]
) -> None:
    """Learn what becomes of unusual requests, where none of them is sure to be refused.

    `null_updates` are updates of a portal link with null in a field, as `with_null` returns them.
    """
    uid = None if created is None else shown_uid(created)
    await probe_other_data(session)
    await probe_undeclared(session, uid)
    await _probe_null(session, uid, null_updates)
    if uid is not None:
        await _probe_roll_without_body(session, uid)


def see_taken(session: ProbeSession, field: str, answer: Exchange) -> None:
    """Learn from an answer whether such requests are taken or refused."""
    if accepted_or_refused(answer):
        meaning = Acceptance.TAKEN if answer.succeeded else Acceptance.REFUSED
        session.answers.see(field, meaning.value, shown_by=answer)
    else:
        miss_undecided(session, field, answer)


async def probe_other_data(session: ProbeSession) -> None:
    # That an object is taken as data, the broadcasts before have shown.
    answers = [
        await session.call(
            BROADCAST, f"with {kind} as data", body=session.bodies.broadcast(data=value)
        )
        for kind, value in OTHER_DATA.items()
    ]
    _see_alike(session, "requests.other_data", answers, SOME_DATA)


async def probe_undeclared(session: ProbeSession, uid: str | None) -> None:
    """Bodies without a Content-Type, of each operation that can be called without a portal link."""
    bodies = {CREATE: session.endpoint, BROADCAST: session.bodies.broadcast}
    if uid is not None:
        bodies[ROLL] = session.bodies.roll
    answers: list[Exchange] = []
    for operation_id, body in bodies.items():
        path = {"endpointID": uid} if operation_id == ROLL and uid else None
        declared = await session.call(operation_id, ORDINARY, path=path, body=body())
        if declared.succeeded:
            answers.append(
                await session.call(
                    operation_id,
                    "without a Content-Type",
                    path=path,
                    body=body(),
                    is_declared=False,
                )
            )
    if answers:
        _see_alike(session, "requests.undeclared_body", answers, SOME_UNDECLARED)


async def _probe_null(
    session: ProbeSession, uid: str | None, updates: Sequence[tuple[Exchange, str]]
) -> None:
    """Null in place of optional fields, where a request is taken without any of them."""
    field = "requests.null_fields"
    tried = [
        *await with_null(session, CREATE, session.endpoint()),
        *await with_null(session, BROADCAST, session.bodies.broadcast()),
        *updates,
    ]
    if uid is not None:
        roll = session.bodies.roll()
        tried += await with_null(session, ROLL, roll, path={"endpointID": uid})
    differing = next((difference for _, difference in tried if difference), "")
    if not tried:
        session.answers.miss(field, NO_OPTIONAL)
    elif differing:
        session.answers.miss(field, f"{NULL_UNLIKE}: {differing}")
    else:
        _see_alike(session, field, [answer for answer, _ in tried], SOME_NULL)


async def _probe_roll_without_body(session: ProbeSession, uid: str) -> None:
    field = "requests.roll_without_body"
    if session.answers.value(ROLL_REQUIRES):
        session.answers.miss(field, "a roll without all of its fields is refused anyway")
        return
    see_taken(
        session, field, await session.call(ROLL, "without any body", path={"endpointID": uid})
    )


async def probe_endpoint_urls(session: ProbeSession) -> None:
    """Learn which URLs are taken, where a plain one is. The endpoints are disabled."""
    urls = UnusualUrls(session.word)
    plain = await _create_with(session, "with a plain URL", urls.plain())
    if not plain.succeeded:
        for name in FIELDS.values():
            session.answers.miss(f"requests.{name}", PLAIN_REFUSED)
        return
    ported = await _create_with(session, _with(UrlKind.OTHER_PORT), urls.ported())
    tried = {
        UrlKind.OTHER_PORT: [ported],
        **{
            kind: [await _create_with(session, _with(kind), url) for url in unusual]
            for kind, unusual in {
                **urls.beside_plain(),
                **urls.addresses(with_port=ported.succeeded),
            }.items()
        },
    }
    for kind, answers in tried.items():
        _see_alike(session, f"requests.{FIELDS[kind]}", answers, DIFFERENT)


def _see_alike(
    session: ProbeSession, field: str, answers: Sequence[Exchange], different: str
) -> None:
    """Learn from several answers, where all are alike, whether such requests are taken."""
    odd = next((each for each in answers if not accepted_or_refused(each)), None)
    if odd is not None:
        miss_undecided(session, field, odd)
    elif len({answer.succeeded for answer in answers}) > 1:
        session.answers.miss(field, different)
    else:
        see_taken(session, field, answers[0])


def _with(kind: UrlKind) -> str:
    return f"whose URL has {kind}"


async def _create_with(session: ProbeSession, role: str, url: str) -> Exchange:
    return await session.call(CREATE, role, body=session.endpoint(url=url))
