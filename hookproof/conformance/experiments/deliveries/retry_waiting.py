"""How long further attempts are waited for (section 1 leaves retries open; a dialect has the
schedule).
"""

import asyncio
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.model.evidence import PreconditionFailed
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.tolerances import EARLY_S, LATE_S, for_attempt
from hookproof.conformance.observations.deliveries import waited_s
from hookproof.conformance.observations.destinations import Destination, Event
from hookproof.spec.dialect.answer import Undecided
from hookproof.spec.dialect.retry_schedule import is_scheduled, wait_before

# How often the receiver is asked whether the service has given up: it cannot report that by itself.
STEP_S: Final = 0.1

# How long to wait after a further attempt is due before its absence counts.
MARGIN_S: Final = 1.0

# The longest schedule that is waited out, by profile.
PATIENCE_S: Final = {Profile.QUICK: 6.0, Profile.STANDARD: 6.0, Profile.DEEP: 60.0}


def waits(
    context: ExperimentContext, attempts: int, *, patience_s: float | None = None
) -> tuple[float, ...]:
    """The longest waits before the second attempt up to the last, in seconds.

    `patience_s` is how long they may be together, by default that of the profile. Raises
    PreconditionFailed if the dialect does not decide them, or if they are too long together.
    """
    try:
        longest = tuple(
            wait_before(context.dialect.retry, attempt).longest_s
            for attempt in range(2, attempts + 1)
        )
    except Undecided:
        raise PreconditionFailed(
            "the dialect does not decide when a failed delivery is attempted again"
            " (retry.initial_s, retry.factor, retry.maximum_s)"
        ) from None
    at_most_s = PATIENCE_S[context.profile]
    if sum(longest) > max(at_most_s, patience_s or 0.0):
        raise PreconditionFailed(
            f"{attempts} attempts take up to {sum(longest):.0f} s, too long to wait; try the deep"
            " profile"
        )
    return longest


def waits_or_patience(
    context: ExperimentContext, attempts: int, *, patience_s: float | None = None
) -> tuple[float, ...]:
    """The same; where the dialect decides how many attempts there are and not when, equal parts of
    what is waited for at most. What has not come by then is missing by no rule.
    """
    retry = context.dialect.retry
    if is_scheduled(retry) or not retry.attempts.decided:
        return waits(context, attempts, patience_s=patience_s)
    further = attempts - 1
    at_most_s = max(PATIENCE_S[context.profile], patience_s or 0.0)
    return (at_most_s / max(1, further),) * further


def wait_for_another(context: ExperimentContext) -> float | None:
    """How long after a failure the second attempt follows at most, in seconds, if the dialect says
    so.
    """
    attempts = context.dialect.retry.attempts
    if not attempts.decided or attempts.value == 1:
        return None
    try:
        return sum(waits(context, 2))
    except PreconditionFailed:
        return None


async def await_end(
    scenario: Scenario, destination: Destination, event: Event, timeout_s: float
) -> None:
    """Wait until the service has given up the first attempt, or certainly should have.

    The more late this machine was meanwhile, the longer that takes to be certain.
    """
    context = scenario.context
    began = context.loop.time()
    while context.loop.time() < began + timeout_s + for_attempt(LATE_S, scenario):
        attempts = await scenario.await_arrival(destination, event, timeout_s=0)
        if not attempts or waited_s(attempts, timeout_s, context.distant(EARLY_S)) is not None:
            return
        await asyncio.sleep(STEP_S)
