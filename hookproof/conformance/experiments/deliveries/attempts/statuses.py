"""Every status in turn, from a few endpoints: which of them is attempted again (sections 1 and 6)?

Each endpoint gets as many events as it has statuses, so that every first attempt gets one; the
endpoint with successes behind failures gives them to second attempts.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from hookproof.conformance.experiments.deliveries.retry_waiting import MARGIN_S, waits
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.model.tolerances import LATE_S
from hookproof.conformance.observations.delivery.attempts.statuses import (
    AnsweredStatuses,
    counts_as_success,
)
from hookproof.conformance.observations.destinations import Destination
from hookproof.receiver.replies.script import Cut, Reply
from hookproof.spec.dialect.model import Dialect

EVENTS: Final = 5
SUCCESSES: Final = (200, 201, 202, 204, 206)
REDIRECTS: Final = (301, 302, 303, 307, 308)
# In as many groups as there are endpoints.
FAILURES: Final = (
    (400, 401, 403, 404, 408),
    (409, 410, 422, 425, 429),
    (500, 501, 502, 503, 504),
)
OK: Final = Reply()
RESET: Final = Reply(cut=Cut(at="before_answer", by="reset"), times=EVENTS)


async def every_status(scenario: Scenario) -> AnsweredStatuses:
    """Some events at once to endpoints that answer them with every status."""
    second_s, third_s = waits(scenario.context, 3)
    aside = await scenario.context.receiver.new_token()
    destinations = await scenario.create_all(
        *(
            scenario.destination(name, replies=[*replies, OK])
            for name, replies in scripts(aside.url).items()
        )
    )
    events = await asyncio.gather(
        *(scenario.broadcast(f"event {number}") for number in range(EVENTS))
    )
    await scenario.await_everywhere(destinations, *events)
    started = scenario.context.loop.time()
    # The margin is for what arrives late because other deliveries did.
    patience_s = second_s + scenario.context.distant(LATE_S) + MARGIN_S
    await asyncio.gather(
        *(
            scenario.await_arrival(destination, *events, count=2, timeout_s=patience_s)
            for destination in destinations
            if fails_first(destination, scenario.dialect)
        )
    )
    over = started + second_s + third_s + MARGIN_S
    # The dialect's own time: by then every further attempt would have been made.
    await asyncio.sleep(max(0.0, over - scenario.context.loop.time()))
    await scenario.trial.arrivals(aside.token, count=0, timeout_s=0)
    return await scenario.observe(AnsweredStatuses, aside=aside.token)


def scripts(aside_url: str) -> Mapping[str, Sequence[Reply]]:
    """What each destination answers its first attempts with, by its name."""
    location = (("Location", aside_url),)
    return {
        "succeeds": [Reply(status=status) for status in SUCCESSES],
        "fails, then succeeds": [
            Reply(status=500, times=EVENTS),
            *(Reply(status=status) for status in SUCCESSES),
        ],
        "redirects": [Reply(status=status, headers=location) for status in REDIRECTS],
        "resets": [RESET],
        **{
            f"fails with {statuses[0]} and others": [Reply(status=status) for status in statuses]
            for statuses in FAILURES
        },
    }


def fails_first(destination: Destination, dialect: Dialect) -> bool:
    """Whether every first attempt at a destination fails under the dialect."""
    if destination.name == "succeeds":
        return False
    if destination.name == "redirects":
        return counts_as_success(REDIRECTS[0], dialect.retry) == {False}
    return True
