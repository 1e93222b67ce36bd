"""The largest values that are accepted (section 8).

They are searched from above, since a refused request leaves nothing behind.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from hookproof.conformance.learning.candidates import candidates
from hookproof.conformance.learning.probes.access import see_status
from hookproof.conformance.learning.probes.rolls import roll
from hookproof.conformance.learning.session import BROADCAST, CREATE, ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import refused, shown_uid
from hookproof.conformance.target.client import encoded
from hookproof.spec.dialect.groups.requests import UNBOUNDED

Try = Callable[[int], Awaitable[Exchange]]

ENDPOINT_NUMBERS: Final = ("http_timeout", "rate_limit", "rate_limit_duration")
NOT_FOUND: Final = "no value is accepted beside a larger one that is refused"


async def probe_number_bounds(session: ProbeSession, created: Exchange) -> None:
    """Learn the largest http_timeout, rate_limit, rate_limit_duration and expiration."""
    for name in ENDPOINT_NUMBERS:

        async def create(value: int, name: str = name) -> Exchange:
            body = session.endpoint(**{"rate_limit": 1, name: value})
            return await session.call(CREATE, f"with {name} {value}", body=body)

        await _learn_largest(session, f"requests.{name}_maximum", create)
    uid = shown_uid(created)
    if uid is None:
        return

    async def roll_with(value: int) -> Exchange:
        secret = session.bodies.secret()
        return await roll(
            session, uid, f"with an expiration of {value}", expiration=value, secret=secret
        )

    await _learn_largest(session, "requests.expiration_maximum", roll_with)


async def _learn_largest(session: ProbeSession, field: str, tried: Try) -> None:
    beyond = await tried(UNBOUNDED)
    if beyond.succeeded:
        session.answers.see(field, None, shown_by=beyond)
        return
    found = await largest_accepted(_numbers(field, session), tried)
    if found is None:
        session.answers.miss(field, NOT_FOUND)
    else:
        largest, proof = found
        session.answers.see(field, largest, shown_by=proof)


def _numbers(field: str, session: ProbeSession) -> list[int]:
    """The candidates for a bound, largest first."""
    tried = candidates(field, session.answers.extended)
    return sorted((value for value in tried if value is not None), reverse=True)


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


async def probe_size_limit(session: ProbeSession) -> None:
    """Learn the largest body, by bodies that are refused for something else if they are read."""
    answers = session.answers
    values = _numbers("requests.size_limit", session)
    huge = await session.call(
        CREATE, f"of {values[0]} bytes, half of it", raw_body=_broken(values[0])
    )
    broken = answers.value("errors.malformed_body")
    apart = refused(huge) and huge.status != broken
    _see_refusal_of_half(session, huge, apart=apart)

    async def tried(size: int) -> Exchange:
        if apart:
            return await session.call(CREATE, f"of {size} bytes, cut", raw_body=_broken(size))
        body = _padded(encoded(session.bodies.broadcast()), size)
        return await session.call(BROADCAST, f"of {size} bytes", raw_body=body)

    def is_read(answer: Exchange) -> bool:
        return answer.status == broken if apart else answer.succeeded

    smallest_refused, largest = values[0], 0
    too_large: Exchange | None = None
    for size in values:
        answer = await tried(size)
        if is_read(answer):
            largest = size
            break
        smallest_refused, too_large = size, answer
    following = largest + 1
    while largest and smallest_refused - largest > 1:
        if is_read(await tried(following)):
            largest = following
        else:
            smallest_refused = following
        following = (largest + smallest_refused) // 2
    if largest and too_large is not None and not apart:
        see_status(session, "errors.body_too_large", too_large)
    if largest and smallest_refused > largest:
        answers.see(
            "requests.size_limit",
            largest,
            shown_by=f"{largest} bytes are read, {smallest_refused} are refused",
        )
    elif largest:
        shown_by = f"{largest} bytes are read, the most that were tried"
        answers.see("requests.size_limit", None, shown_by=shown_by)
    else:
        answers.miss("requests.size_limit", NOT_FOUND)


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
