"""Which fields a request needs: those without which it is refused (section 4.9)."""

from collections.abc import Awaitable, Callable, Iterable

from hookproof.conformance.learning.learned_answers import in_words
from hookproof.conformance.learning.probes.access import miss_undecided, see_status
from hookproof.conformance.learning.session import ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import refused

# Sends the request without the field of this name.
TryWithout = Callable[[str], Awaitable[Exchange]]
# Sends the request with the fields of these names alone.
TryWith = Callable[[tuple[str, ...]], Awaitable[Exchange]]


async def learn_required(
    session: ProbeSession,
    field: str,
    names: Iterable[str],
    try_without: TryWithout,
    *,
    whole: Exchange,
) -> tuple[str, ...]:
    """The names of the fields without which the request does not succeed, in order.

    They are what the dialect's `field` has; it is only assumed if the target said neither yes nor
    no to one of the requests. `whole` is the request that has all fields, and succeeded.
    """
    required, odd, tried = [], None, 0
    for name in names:
        answer, tried = await try_without(name), tried + 1
        if refused(answer):
            see_status(session, "errors.invalid_value", answer)
        elif not answer.succeeded:
            odd = answer
        if not answer.succeeded:
            required.append(name)
    if odd is None:
        session.answers.see(field, required, shown_by=whole, count=tried)
    else:
        reason = f"{in_words(odd)} is neither a success nor a refusal"
        session.answers.assume(field, required, reason)
    return tuple(required)


async def learn_one_of(
    session: ProbeSession,
    field: str,
    required: tuple[str, ...],
    optional: Iterable[str],
    try_with: TryWith,
) -> None:
    """Learn of which of the fields that are not required by themselves a request needs one."""
    bare = await try_with(required)
    if bare.succeeded:
        session.answers.see(field, [], shown_by=bare)
    if not refused(bare):
        return
    enough: dict[str, Exchange] = {}
    for name in optional:
        answer = await try_with((*required, name))
        if answer.succeeded:
            enough[name] = answer
        elif not refused(answer):
            miss_undecided(session, field, answer)
            return
    if len(enough) > 1:
        session.answers.see(field, list(enough), shown_by=bare, count=len(enough))
    else:
        session.answers.miss(field, "no two fields are each enough for what is required")
