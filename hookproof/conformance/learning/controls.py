"""The control of every probe: an ordinary request of the same operation, in the same state.

A refusal says something of what was asked only if the request would have been taken without it. An
operation that nobody may call, since a licence, a quota or a role is missing, refuses everything.
"""

from collections.abc import Awaitable, Mapping
from typing import TypeVar

from hookproof.conformance.learning.learned_answers import LearnedAnswer
from hookproof.conformance.learning.session import ProbeSession, see_refusals
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import accepted_or_refused, refused

Result = TypeVar("Result")


async def controlled(session: ProbeSession, probe: Awaitable[Result]) -> Result:
    """Probe, and forget what it learned of operations that it saw refuse something, and that refuse
    an ordinary request as well.
    """
    before, count = session.answers.seen(), len(session.exchanges)
    result = await probe
    asked = session.exchanges[count:]
    for operation in dict.fromkeys(each.operation_id for each in asked if refused(each)):
        if operation is not None and _is_in_doubt(asked, operation):
            control = await session.ordinary(operation)
            if control is None or not control.succeeded:
                _forget(session, operation, control, before, asked)
    return result


def _is_in_doubt(asked: list[Exchange], operation: str) -> bool:
    """Whether the last thing that an operation did was not to take a request.

    What it took at last, it would have taken before, if not for what was asked.
    """
    return not [each for each in asked if each.operation_id == operation][-1].succeeded


def _forget(
    session: ProbeSession,
    operation: str,
    control: Exchange | None,
    before: Mapping[str, LearnedAnswer],
    asked: list[Exchange],
) -> None:
    """Forget what was learned in the meantime of this operation, or of nobody knows which."""
    reason = uncontrolled(operation, control)
    session.drop_refusals([each for each in asked if each.operation_id == operation])
    for field, answer in session.answers.seen().items():
        if answer != before.get(field) and answer.operation in (operation, None):
            session.answers.forget(field, reason)
            if session.refusals.get(field):
                see_refusals(session, field)


def uncontrolled(operation: str, control: Exchange | None) -> str:
    """Why nothing is learned from what an operation refuses."""
    if control is None:
        return f"no ordinary request of {operation} is known that it takes"
    is_about_it = accepted_or_refused(control)
    verb = "refuses an ordinary request too" if is_about_it else "does not answer an ordinary one"
    return f"{operation} {verb} ({control.status or control.problem})"
