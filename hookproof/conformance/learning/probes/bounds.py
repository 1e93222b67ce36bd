"""The largest values that are accepted (section 8).

They are searched from above, since a refused request leaves nothing behind.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from hookproof.conformance.experiments.support.payloads import nested
from hookproof.conformance.learning.candidates import candidates
from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.learning.probes.access import miss_undecided, see_status
from hookproof.conformance.learning.probes.rolls import roll
from hookproof.conformance.learning.session import BROADCAST, CREATE, ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import accepted_or_refused, refused, shown, shown_uid
from hookproof.conformance.target.client import encoded
from hookproof.spec.dialect.groups.requests import DEEP, UNBOUNDED

Try = Callable[[int], Awaitable[Exchange]]

ENDPOINT_NUMBERS: Final = ("http_timeout", "rate_limit", "rate_limit_duration")
# The texts that are tried, with a length that few services refuse if they limit it nowhere. An
# event_type may be in a header.
TEXTS: Final[Mapping[str, tuple[Sequence[str], int]]] = {
    CREATE: (("name", "description", "owner_id"), 70_000),
    BROADCAST: (("event_type", "idempotency_key"), 4_096),
}
SIZE_LIMIT: Final = "requests.size_limit"
TEXT_FIELD: Final = "requests.text_maximum_of"
# A bound that was not met may be beyond.
NONE_MET: Final = "none up to {} was met"
NOT_FOUND: Final = "no value is accepted beside a larger one that is refused"


async def probe_number_bounds(session: ProbeSession, created: Exchange) -> None:
    """Learn the largest http_timeout, rate_limit, rate_limit_duration and expiration."""
    for name in ENDPOINT_NUMBERS:

        async def create(value: int, name: str = name) -> Exchange:
            body = session.endpoint(**{"rate_limit": 1, name: value})
            return await session.call(CREATE, f"with {name} {value}", body=body)

        await _learn_largest(session, f"requests.{name}_maximum", create, name)
    uid = shown_uid(created)
    if uid is None:
        return

    async def roll_with(value: int) -> Exchange:
        secret = session.bodies.secret()
        return await roll(
            session, uid, f"with an expiration of {value}", expiration=value, secret=secret
        )

    await _learn_largest(session, "requests.expiration_maximum", roll_with)


async def _learn_largest(
    session: ProbeSession, field: str, tried: Try, member: str | None = None
) -> None:
    """`member` is where an answer shows the number."""
    beyond = await tried(UNBOUNDED)
    kept = shown(beyond).get(member or "", UNBOUNDED)
    if beyond.succeeded and kept != UNBOUNDED:
        session.answers.miss(field, f"{UNBOUNDED} is taken and shown as {kept}")
        return
    if beyond.succeeded:
        session.answers.assume(field, None, NONE_MET.format(UNBOUNDED))
        return
    _see_largest(session, field, await largest_accepted(_numbers(field, session), tried))


def _see_largest(session: ProbeSession, field: str, found: tuple[int, Exchange] | None) -> None:
    if found is None:
        session.answers.miss(field, NOT_FOUND)
    else:
        largest, proof = found
        session.answers.see(field, largest, shown_by=proof)


def _numbers(field: str, session: ProbeSession) -> list[int]:
    """The candidates for a bound, largest first."""
    tried = candidates(field, session.answers.extended)
    return sorted((value for value in tried if isinstance(value, int)), reverse=True)


async def largest_accepted(values: Sequence[int], tried: Try) -> tuple[int, Exchange] | None:
    """The largest value that is accepted, and the refusal of the next one; `values` are tried
    first, from the largest on. None if the largest of them is accepted, or none at all.
    """
    refused_one: tuple[int, Exchange] | None = None
    for value in values:
        answer = await tried(value)
        if answer.succeeded:
            return None if refused_one is None else await _edge(value, refused_one, tried)
        if not refused(answer):
            return None
        refused_one = (value, answer)
    return None


async def _edge(
    accepted: int, refused_one: tuple[int, Exchange], tried: Try
) -> tuple[int, Exchange] | None:
    """By halves, the next value after an accepted one first: services choose round numbers."""
    following = accepted + 1
    while refused_one[0] - accepted > 1:
        answer = await tried(following)
        if answer.succeeded:
            accepted = following
        elif refused(answer):
            refused_one = (following, answer)
        else:
            return None
        following = (accepted + refused_one[0]) // 2
    return accepted, refused_one[1]


async def probe_nesting(session: ProbeSession) -> None:
    """Learn how deeply data can be nested."""
    field = "requests.nesting_maximum"

    async def tried(levels: int) -> Exchange:
        body = session.bodies.broadcast(data=nested(levels))
        return await session.call(BROADCAST, f"with data of {levels} levels", body=body)

    deep = await tried(DEEP)
    if deep.succeeded:
        session.answers.miss(field, NONE_MET.format(f"{DEEP} levels"))
    elif refused(deep):
        _see_largest(session, field, await largest_accepted(_numbers(field, session), tried))
    else:
        miss_undecided(session, field, deep)


async def probe_text_lengths(session: ProbeSession) -> None:
    """Learn the longest texts, of fields in which a very long one is refused."""
    found: dict[str, int] = {}
    proofs: list[Exchange] = []
    for operation_id, (names, length) in TEXTS.items():

        async def tried(
            length: int, names: Sequence[str], operation_id: str = operation_id
        ) -> Exchange:
            texts = {name: session.word("long").ljust(length, "x") for name in names}
            is_endpoint = operation_id == CREATE
            body = session.endpoint(**texts) if is_endpoint else session.bodies.broadcast(**texts)
            role = f"with {' and '.join(names)} of {length} characters"
            return await session.call(operation_id, role, body=body)

        together = await tried(length, names)
        proofs.append(together)
        for name in names if refused(together) else ():

            async def alone(length: int, name: str = name) -> Exchange:
                return await tried(length, [name])

            edge = await largest_accepted(_numbers(TEXT_FIELD, session), alone)
            if edge is not None and await _is_read(session, operation_id, edge[1]):
                found[name] = edge[0]
                proofs.insert(0, edge[1])
    if any(map(accepted_or_refused, proofs)):
        session.answers.see(TEXT_FIELD, found, shown_by=proofs[0], count=max(1, len(found)))


async def _is_read(session: ProbeSession, operation_id: str, refusal: Exchange) -> bool:
    """Whether an ordinary body is taken that is as long as one that was refused for its text."""
    is_endpoint = operation_id == CREATE
    body = session.endpoint() if is_endpoint else session.bodies.broadcast()
    padded = _padded(encoded(body), len(refusal.request_body or b""))
    return (await session.call(operation_id, "as long as that", raw_body=padded)).succeeded


async def probe_size_limit(session: ProbeSession) -> None:
    """Learn the largest body, by bodies that are refused for something else if they are read."""
    answers, values = session.answers, _numbers(SIZE_LIMIT, session)
    huge = await session.call(
        CREATE, f"of {values[0]} bytes, half of it", raw_body=_broken(values[0])
    )
    broken = answers.value("errors.malformed_body")
    apart = broken is not None and refused(huge) and huge.status != broken
    _see_refusal_of_half(session, huge, apart=apart)
    # Whether a body is read, by the status of its answer.
    statuses = {broken: True, huge.status: False} if apart else {}

    async def tried(size: int) -> Exchange:
        if apart:
            return await session.call(CREATE, f"of {size} bytes, cut", raw_body=_broken(size))
        body = _padded(encoded(session.bodies.broadcast()), size)
        return await session.call(BROADCAST, f"of {size} bytes", raw_body=body)

    def is_read(answer: Exchange) -> bool | None:
        """None if the answer does not say it."""
        if apart:
            return statuses.get(answer.status)
        return answer.succeeded if accepted_or_refused(answer) else None

    found = await _largest_read(values, tried, is_read)
    if isinstance(found, Exchange):
        miss_undecided(session, SIZE_LIMIT, found)
        return
    largest, smallest_refused, too_large = found
    if largest and too_large is not None and not apart:
        see_status(session, "errors.body_too_large", too_large)
    _see_size_limit(answers, largest, smallest_refused)


async def _largest_read(
    sizes: Sequence[int], tried: Try, is_read: Callable[[Exchange], bool | None]
) -> tuple[int, int, Exchange | None] | Exchange:
    """The largest size that is read, 0 for none, the next one, and its refusal, if there is one;
    or the answer that does not say it. `sizes` are tried first, from the largest on.
    """
    largest, smallest_refused, refusal = 0, sizes[0], None
    below = iter(sizes)
    following: int | None = next(below)
    while following is not None:
        answer = await tried(following)
        was_read = is_read(answer)
        if was_read is None:
            return answer
        if was_read:
            largest = following
        else:
            smallest_refused, refusal = following, answer
        following = next(below, None) if not largest else _between(largest, smallest_refused)
        if was_read and largest in sizes and largest + 1 < smallest_refused:
            following = largest + 1  # services choose round numbers
    return largest, smallest_refused, refusal


def _between(largest: int, smallest_refused: int) -> int | None:
    middle = (largest + smallest_refused) // 2
    return middle if largest < middle < smallest_refused else None


def _see_size_limit(answers: LearnedAnswers, largest: int, smallest_refused: int) -> None:
    if not largest:
        answers.miss(SIZE_LIMIT, NOT_FOUND)
    elif smallest_refused > largest:
        shown_by = f"{largest} bytes are read, {smallest_refused} are refused"
        answers.see(SIZE_LIMIT, largest, shown_by=shown_by)
    else:
        answers.assume(SIZE_LIMIT, None, NONE_MET.format(f"{largest} bytes"))


def _see_refusal_of_half(session: ProbeSession, huge: Exchange, *, apart: bool) -> None:
    field = "errors.body_too_large"
    if apart or not refused(huge):
        see_status(session, field, huge)
    else:
        session.answers.miss(field, "a large body is refused as one that is no JSON")


def _broken(size: int) -> bytes:
    """A body of this size that is no JSON."""
    return b'{"name":"' + b"x" * (size - 9)


def _padded(body: bytes, size: int) -> bytes:
    """The same JSON text, with white space up to this size."""
    return body[:-1] + b" " * max(0, size - len(body)) + body[-1:]
