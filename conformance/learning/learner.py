"""Learns a dialect: probes of the API, then deliveries to a receiver, then experiments of `check`
whose evidence is judged under each answer that is possible.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from hookproof.conformance.learning.deliveries.learning import (
    learn_from_deliveries,
    read_late_retries,
)
from hookproof.conformance.learning.gathering import experiments_for, gather_evidence
from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.learning.probes.access import KEY_FORMAT
from hookproof.conformance.learning.probing import probe_api
from hookproof.conformance.learning.regrading import learn_by_regrading
from hookproof.conformance.learning.session import CREATE, ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.gathered_evidence import Gathered
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.target.definition import Target
from hookproof.conformance.target.environment import open_environment
from hookproof.conformance.target.preflight import with_fresh_projects
from hookproof.process.exit_codes import CommandError, ExitCode

# How long the API, deliveries and experiments are asked at most, in seconds each, so that a target
# that answers slowly ends a run with less that is learned.
MOST_S: Final = {Profile.QUICK: 40.0, Profile.STANDARD: 90.0, Profile.DEEP: 300.0}
LATE: Final = "there was no time left to ask; --profile deep has more of it"

# How long retries are waited for, in seconds.
MOST_RETRYING_S: Final = {Profile.QUICK: 0.0, Profile.STANDARD: 20.0, Profile.DEEP: 120.0}

Result = TypeVar("Result")

# Is called with what is being asked.
Progress = Callable[[str], None]


@dataclass(slots=True)
class EndpointCount:
    """How many endpoints were created at the target, and how many of them may receive."""

    created: int = 0
    active: int = 0

    def note(self, exchange: Exchange) -> None:
        if exchange.operation_id == CREATE and exchange.succeeded:
            body = exchange.request_json
            self.created += 1
            self.active += not (isinstance(body, dict) and body.get("is_disabled"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What was learned, and what that left behind at the target."""

    answers: LearnedAnswers
    exchanges: int
    endpoints: EndpointCount


def learn_target(
    target: Target, extends: str, profile: Profile, note: Progress = lambda _what: None
) -> Learned:
    """Learn the dialect of a target, over the one that it is given with; raises CommandError."""
    answers = LearnedAnswers(extends, target.dialect)
    session = ProbeSession(target=target, answers=answers)
    exchanges = asyncio.run(_learn(session, profile, note))
    endpoints = EndpointCount()
    for exchange in exchanges:
        endpoints.note(exchange)
    return Learned(answers=answers, exchanges=len(exchanges), endpoints=endpoints)


async def _learn(session: ProbeSession, profile: Profile, note: Progress) -> list[Exchange]:
    """Learn everything, and return all exchanges."""
    session.target = await with_fresh_projects(session.target, 0)
    try:
        note("asking the API")
        await _within(session, profile, probe_api(session))
        async with open_environment(session.target) as environment:
            note("watching deliveries")
            gathered = await _within(
                session,
                profile,
                learn_from_deliveries(
                    session,
                    environment.receiver,
                    quick=profile is Profile.QUICK,
                    most_s=MOST_RETRYING_S[profile],
                ),
            )
            if profile is Profile.QUICK:
                return session.exchanges
            evidence = await _experiment(session, profile, note)
            if gathered is not None:
                await read_late_retries(session, gathered)
            return [*session.exchanges, *_exchanges(evidence.values())]
    finally:
        await session.close()


async def _within(
    session: ProbeSession, profile: Profile, work: Coroutine[Any, Any, Result]
) -> Result | None:
    """Do this as far as there is time; raises CommandError if not even the key could be tried."""
    try:
        async with asyncio.timeout(MOST_S[profile]):
            return await work
    except TimeoutError:
        if not session.answers.is_seen(KEY_FORMAT):
            raise CommandError(
                f"target unreachable: {session.target.base_url} answers too slowly to be learned",
                ExitCode.UNREACHABLE,
            ) from None
        for field in session.answers.fields:
            if not session.answers.is_seen(field) and not session.answers.has_reason(field):
                session.answers.miss(field, LATE)
        return None


async def _experiment(
    session: ProbeSession, profile: Profile, note: Progress
) -> Mapping[str, Gathered]:
    """Run experiments under the dialect learned so far, and learn from what they show.

    The receiver of the probes stays open meanwhile, since retries may still come.
    """
    answers = session.answers
    names = ", ".join(each.name for each in experiments_for(answers, profile))
    note(f"experiments: {names or 'none are needed'}")
    dialect = answers.dialect
    budgets = replace(session.target.budgets, total_s=MOST_S[profile])
    target = replace(session.target, dialect=dialect, budgets=budgets)
    evidence = await asyncio.to_thread(gather_evidence, target, answers, profile)
    note("judging the evidence under each answer")
    learn_by_regrading(answers, evidence, dialect)
    return evidence


def _exchanges(evidence: Iterable[Gathered]) -> list[Exchange]:
    return [
        exchange
        for gathered in evidence
        for observation in gathered.observations
        for exchange in observation.exchanges
    ]
