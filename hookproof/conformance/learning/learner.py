"""Learns a dialect: probes of the API, then deliveries to a receiver, then experiments of `check`
whose evidence is judged under each answer that is possible.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

from hookproof.conformance.learning.deliveries.learning import (
    learn_from_deliveries,
    read_late_retries,
    require_trust,
)
from hookproof.conformance.learning.deliveries.listener import DeliverySession
from hookproof.conformance.learning.deliveries.rest import come_to_rest
from hookproof.conformance.learning.gathering import (
    evidence_runner,
    experiments_for,
    gather_evidence,
)
from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.learning.probes.access import KEY_FORMAT
from hookproof.conformance.learning.probing import approach, probe_api
from hookproof.conformance.learning.regrading import learn_by_regrading
from hookproof.conformance.learning.session import ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.gathered_evidence import Gathered
from hookproof.conformance.model.ledger import LeftBehind
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.tolerances import LONGEST_ROUND_TRIP_S
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.run.plan import REQUESTS
from hookproof.conformance.target.definition import Target
from hookproof.conformance.target.environment import Environment, open_environment
from hookproof.conformance.target.pacing import LimitedForGood
from hookproof.conformance.target.preflight import with_fresh_projects
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.stop_signals import run_until_stopped
from hookproof.spec.dialect.model import Dialect
from hookproof.target.hooks.removable_endpoints import AFTER_RUN, REMOVE

# How long the API, deliveries and experiments are asked at most, in seconds each, so that a target
# that answers slowly ends a run with less that is learned.
MOST_S: Final = {Profile.QUICK: 40.0, Profile.STANDARD: 90.0, Profile.DEEP: 300.0}
INTERRUPTED: Final = "learning was interrupted before this was asked"
LATE: Final = "there was no time left to ask; --profile deep has more of it"

# About how many requests the probes send, which takes longer if they may not come fast.
PROBES: Final = 600
# About how many of them wait for the one before, which takes longer where that is under way for
# long.
IN_TURN: Final = 450

# How long retries are waited for, in seconds.
MOST_RETRYING_S: Final = {Profile.QUICK: 0.0, Profile.STANDARD: 20.0, Profile.DEEP: 120.0}

Result = TypeVar("Result")

# Is called with what is being asked.
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What was learned, and what that left behind at the target.

    One that was `interrupted` has learned only a part of what it can. In words, if anything:
    `limit`, what the target's limit of its API did to it; `outage`, how it stopped answering;
    `no_deliveries`, why none arrived, although they were looked for; `hooks`, which hooks of the
    user failed. Whose answers taught it is certain if the certificate of the API was `verified`.
    """

    answers: LearnedAnswers
    exchanges: int
    left: LeftBehind
    interrupted: bool = False
    limit: str = ""
    outage: str = ""
    no_deliveries: str = ""
    hooks: tuple[str, ...] = ()
    verified: bool = True


def learn_target(
    target: Target, extends: str, profile: Profile, note: Progress = lambda _what: None
) -> Learned:
    """Learn the dialect of a target, over the one that it is given with.

    Raises CommandError, and KeyboardInterrupt if it was interrupted before anything was learned.
    """
    answers = LearnedAnswers(extends, target.dialect)
    session = ProbeSession(target=target, answers=answers)
    interrupted, outage = False, ""
    try:
        outage = run_until_stopped(partial(_learn, session, profile, note))
    except KeyboardInterrupt:
        interrupted = True
        if not answers.is_seen(KEY_FORMAT):
            raise
        _miss_the_rest(answers, INTERRUPTED)
    mask = take_out_credentials(session)
    session.hook_failures.mask(mask.text)
    return Learned(
        answers=answers,
        exchanges=len(session.exchanges),
        left=session.endpoints.left_behind().masked(mask.text),
        interrupted=interrupted,
        limit=session.pacing.words,
        outage=outage,
        no_deliveries=mask.text(session.no_deliveries),
        hooks=session.hook_failures.words,
        verified=target.is_verified,
    )


def take_out_credentials(session: ProbeSession) -> Mask:
    """Mask keys, and each credential that an exchange shows, in all that was learned; returns what
    masks the rest that is written.
    """
    mask = Mask.of(session.target, session.answers.extended)
    mask.leave_answers_of(session.answers.dialect)
    for exchange in session.exchanges:
        mask.learn_exchange(exchange)
    session.hook_failures.mask(mask.quotation)
    session.answers.mask(mask.text, mask.quotation)
    return mask


def _miss_the_rest(answers: LearnedAnswers, reason: str) -> None:
    """Give this reason for what was not asked."""
    for field in answers.fields:
        if not answers.is_seen(field) and not answers.has_reason(field):
            answers.miss(field, reason)


async def _learn(session: ProbeSession, profile: Profile, note: Progress) -> str:
    """Learn everything; how the target stopped answering, in words, if it did."""
    async with session.endpoints.cleaned_up(session.target.provision, session.hook_failures):
        try:
            session.target = await with_fresh_projects(session.target, 0)
            await _learn_all(session, profile, note)
            return await session.find_outage()
        finally:
            await session.close()


async def _learn_all(session: ProbeSession, profile: Profile, note: Progress) -> None:
    async with open_environment(session.target) as environment:
        session.answering_url = environment.answering_url
        note("asking the API")
        await _within(session, profile, approach(session))
        await _within(session, profile, require_trust(session, environment.receiver))
        await _within(session, profile, probe_api(session))
        note("watching deliveries")
        delivery = DeliverySession(session=session, receiver=environment.receiver)
        gathered = await _within(
            session,
            profile,
            learn_from_deliveries(
                delivery, quick=profile is Profile.QUICK, most_s=MOST_RETRYING_S[profile]
            ),
        )
        if profile is not Profile.QUICK:
            await _experiment(session, profile, note, environment)
            if gathered is not None:
                await read_late_retries(session, gathered)
        note("waiting for the last deliveries")
        await come_to_rest(delivery)


async def _within(
    session: ProbeSession, profile: Profile, work: Coroutine[Any, Any, Result]
) -> Result | None:
    """Do this as far as there is time, and as the target lets itself be called; raises CommandError
    if not even the key could be tried.
    """
    try:
        async with asyncio.timeout(time_for(session, profile, PROBES)):
            return await work
    except LimitedForGood as limited:
        if not session.answers.is_seen(KEY_FORMAT):
            raise
        _miss_the_rest(session.answers, str(limited))
        return None
    except TimeoutError:
        if not session.answers.is_seen(KEY_FORMAT):
            raise CommandError(
                f"target unreachable: {session.target.base_url} answers too slowly to be learned",
                ExitCode.UNREACHABLE,
            ) from None
        _miss_the_rest(session.answers, LATE)
        return None


def time_for(session: ProbeSession, profile: Profile, requests: float) -> float:
    """The time for a part of the questions in which about so many requests are sent; a target that
    is far away gets more.
    """
    round_trip_s = min(session.round_trip_s, LONGEST_ROUND_TRIP_S)
    sending_s = session.target.budgets.sending_s(requests)
    return MOST_S[profile] + sending_s + IN_TURN * round_trip_s


async def _experiment(
    session: ProbeSession, profile: Profile, note: Progress, environment: Environment
) -> None:
    """Run experiments under the dialect learned so far, and learn from what they show.

    They share the receiver of the probes, to which retries may still come. What was gathered until
    an interrupt counts.
    """
    answers = session.answers
    names = ", ".join(each.name for each in experiments_for(answers, profile))
    note(f"experiments: {names or 'none are needed'}")
    dialect = answers.dialect
    budgets = session.target.budgets
    most_s = time_for(session, profile, REQUESTS[profile])
    target = replace(
        session.target,
        dialect=dialect,
        budgets=replace(budgets, total_s=most_s),
        provision=session.target.provision.without(AFTER_RUN, REMOVE),
    )
    runner = evidence_runner(target, answers, profile, environment)
    gathering = asyncio.create_task(asyncio.to_thread(gather_evidence, runner, dialect))
    try:
        evidence = await asyncio.shield(gathering)
    except asyncio.CancelledError:
        runner.stop(INTERRUPTED)
        _learn_from(session, await gathering, dialect)
        raise
    finally:
        session.pacing.add(runner.pacing)
        session.endpoints.add(runner.endpoints)
        session.hook_failures.add(runner.hook_failures)
    note("judging the evidence under each answer")
    _learn_from(session, evidence, dialect)


def _learn_from(session: ProbeSession, evidence: Mapping[str, Gathered], dialect: Dialect) -> None:
    session.exchanges += _exchanges(evidence.values())
    learn_by_regrading(session.answers, evidence, dialect)


def _exchanges(evidence: Iterable[Gathered]) -> list[Exchange]:
    return [
        exchange
        for gathered in evidence
        for observation in gathered.observations
        for exchange in observation.exchanges
    ]
