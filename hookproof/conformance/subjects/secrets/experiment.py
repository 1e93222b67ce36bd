"""Roll answers: what a roll shows, at once and when the endpoint is fetched again (section 4.3)."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.created_endpoints import create_endpoint
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.subjects.secrets.evidence import (
    AT_ONCE,
    FETCH_AGAIN,
    ROLL_AGAIN,
    ExpiredSecret,
    RollAnswer,
    RollsAtOnce,
    shows_values,
)
from hookproof.spec.dialect.groups.requests import least_expiration

# How much later than it should an old secret may expire, since a service may count whole seconds.
EXPIRY_S = 2.0
LONGEST_WAIT_S = 5.0
# How often rolls are repeated where one does not show, and for how long at most, in seconds.
REPEATED = 19
REPEATED_S = 10.0
# How many pairs of rolls are sent at the same time, and after how many seconds an endpoint that
# does not show both is fetched again.
PAIRS = 6
LATER_S = 1.0


@experiment(
    "roll_answers", observes=(RollAnswer, RollsAtOnce, ExpiredSecret), sharing=Sharing.QUIET
)
async def roll_answers(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Roll with both fields given, a second time, without expiration, without a secret, twice at
    the same time, and until the old one has expired.
    """
    bodies = RequestBodies.of(context)
    required = context.dialect.requests.expire_endpoint_secret_requires
    least = max(1, least_expiration(context.dialect.requests))
    expiration = bodies.lasting_expiration()
    yield await _roll_and_fetch(
        context, bodies, "everything given", [{"secret": bodies.secret(), "expiration": expiration}]
    )
    twice = [
        {"secret": bodies.secret(), "expiration": amount}
        for amount in (expiration, max(least, expiration // 2))
    ]
    yield await _roll_and_fetch(context, bodies, "rolled twice", twice)
    if "expiration" not in required:
        yield await _roll_and_fetch(
            context, bodies, "without expiration", [{"secret": bodies.secret()}]
        )
    if "secret" not in required:
        yield await _roll_and_fetch(context, bodies, "without secret", [{"expiration": expiration}])
    yield await _roll_at_once(context, bodies)
    yield await _roll_and_wait(context, bodies)


async def _roll_and_fetch(
    context: ExperimentContext, bodies: RequestBodies, name: str, rolls: list[dict[str, Any]]
) -> Evidence:
    """Roll one endpoint while another stays as it is."""
    trial = context.trial(name)
    first, other = bodies.secret(), bodies.secret()
    rolled, untouched = [
        await create_endpoint(context, trial, role=role, body=bodies.quiet_endpoint(secret=secret))
        for role, secret in (("create", first), ("create other", other))
    ]
    if rolled.uid is None:
        return trial.not_observed(RollAnswer, rolled.reason)
    if untouched.uid is not None:
        await _fetch(trial, untouched.uid, "fetch other before")
    await _fetch(trial, rolled.uid, "fetch before")
    for fields in rolls:
        await trial.call("expireEndpointSecret", role="roll", uid=rolled.uid, body=fields)
    await _fetch(trial, rolled.uid, "fetch")
    so_far = trial.observe(RollAnswer, given=())
    if not all(is_shown for is_shown, _, _ in so_far.shown_rolls(context.dialect)):
        await _repeat(context, bodies, trial, rolled.uid, rolls)
    if untouched.uid is not None:
        await _fetch(trial, untouched.uid, "fetch other")
    given = (first, *(fields["secret"] for fields in rolls if "secret" in fields))
    return trial.observe(RollAnswer, given=given)


async def _repeat(
    context: ExperimentContext,
    bodies: RequestBodies,
    trial: Trial,
    uid: str,
    rolls: list[dict[str, Any]],
) -> None:
    """Roll in the same way again and again: a roll that is lost always is another finding than one
    that a race loses, which says how often.
    """
    until = context.loop.time() + REPEATED_S
    for _ in range(REPEATED):
        if context.loop.time() > until:
            return
        for number, fields in enumerate(rolls, start=1):
            fresh = {**fields, "secret": bodies.secret()} if "secret" in fields else fields
            role = ROLL_AGAIN if number == len(rolls) else "roll before that"
            await trial.call("expireEndpointSecret", role=role, uid=uid, body=fresh)
        await _fetch(trial, uid, FETCH_AGAIN)


async def _roll_at_once(context: ExperimentContext, bodies: RequestBodies) -> Evidence:
    """Roll one endpoint twice in turn, and if it shows both secrets, twice at the same time."""
    trial = context.trial("rolled twice at the same time")
    body = bodies.quiet_endpoint(secret=bodies.secret())
    created = await create_endpoint(context, trial, role="create", body=body)
    if created.uid is None:
        return trial.not_observed(RollsAtOnce, created.reason)
    uid, by_value = created.uid, shows_values(context.dialect)

    async def roll(role: str) -> Exchange:
        fields = {"secret": bodies.secret(), "expiration": bodies.lasting_expiration()}
        return await trial.call("expireEndpointSecret", role=role, uid=uid, body=fields)

    def are_both_shown() -> bool | None:
        return trial.observe(RollsAtOnce).pairs[-1].are_shown(by_value=by_value)

    await _fetch(trial, created.uid, "fetch before")
    for place in ("first", "second"):
        await roll(f"roll {place}, in turn")
    await _fetch(trial, created.uid, "fetch after both")
    for _ in range(PAIRS if are_both_shown() else 0):
        await asyncio.gather(roll(AT_ONCE), roll(AT_ONCE))
        await _fetch(trial, created.uid, "fetch after both")
        if are_both_shown() is False:
            await asyncio.sleep(LATER_S)  # not synchronisation: a copy may be behind
            await _fetch(trial, created.uid, "fetch again after both")
    return trial.observe(RollsAtOnce)


async def _roll_and_wait(context: ExperimentContext, bodies: RequestBodies) -> Evidence:
    """Roll with the shortest expiration, and fetch the endpoint when it is over."""
    trial = context.trial("old secret expired")
    window_s = bodies.expiration() * context.dialect.rolling.expiration_unit.in_seconds
    if window_s > LONGEST_WAIT_S:
        reason = f"the shortest expiration lasts {window_s:g} s, which is too long to be waited for"
        return trial.not_observed(ExpiredSecret, reason)
    body = bodies.quiet_endpoint(secret=bodies.secret())
    rolled = await create_endpoint(context, trial, role="create", body=body)
    if rolled.uid is None:
        return trial.not_observed(ExpiredSecret, rolled.reason)
    fields = {"secret": bodies.secret(), "expiration": bodies.expiration()}
    await trial.call("expireEndpointSecret", role="roll", uid=rolled.uid, body=fields)
    await asyncio.sleep(window_s + EXPIRY_S)  # the dialect's own time
    await _fetch(trial, rolled.uid, "fetch")
    return trial.observe(ExpiredSecret)


async def _fetch(trial: Trial, uid: str, role: str) -> None:
    await trial.call("getEndpoint", role=role, uid=uid)
