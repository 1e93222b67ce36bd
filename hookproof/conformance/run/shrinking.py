"""Shrinks findings: sends smaller requests as long as the same check reports the same failure.

Only findings of oracles are shrunk. An oracle judges one exchange alone, so a smaller request is as
good a proof as the original one. Other checks judge experiments that send no more than they need.
Nothing is sent unless something failed. The smaller exchange replaces the proof and changes nothing
else: no other check judges it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.support.existing_resources import put_back
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.grading.assumptions import standing
from hookproof.conformance.grading.root_cause import root_cause
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.model.judgement import quoting
from hookproof.conformance.model.ledger import Entry, Finding, FindingKey, Ledger
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.answer import shown_uid
from hookproof.conformance.run.plan import ContextFactory, FollowUp
from hookproof.conformance.run.smaller_request import Parts, smaller_parts
from hookproof.conformance.target.client import Key
from hookproof.conformance.target.definition import Project

ROLE: Final = "shrink"
# The role of requests that are not sent to their end.
UNFINISHED: Final = "unfinished"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrinkLimits:
    """The most that shrinking may cost.

    The numbers of requests are the usual limit; the time is for a target that answers slowly.
    """

    requests_each: int = 60
    requests: int = 600
    total_s: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrunkFinding:
    """A finding with the smaller proof, and how many requests that took."""

    finding: Finding
    requests: int


@dataclass(slots=True, kw_only=True)
class Shrinking:
    """The shrinking of a ledger's findings. `shrunk` is complete so far after an interrupt too.

    `quoted` masks what findings quote.
    """

    checks: Sequence[Check]
    context: CheckContext
    projects: Sequence[Project]
    quoted: Callable[[Any], Any] = lambda value: value
    limits: ShrinkLimits = ShrinkLimits()
    shrunk: list[ShrunkFinding] = field(default_factory=list)
    _requests: int = 0

    def candidates(self, ledger: Ledger) -> tuple[tuple[Finding, Check], ...]:
        """The findings whose request may become smaller, in the order of the ledger."""
        oracles = {check.name: check for check in self.checks if check.is_oracle}
        return tuple(
            (finding, oracles[finding.check])
            for entry in ledger.entries
            for finding in entry.findings
            if finding.check in oracles and not finding.shrunk and _can_shrink(finding)
        )

    def follow_up(self, ledger: Ledger) -> FollowUp | None:
        """The work to do at the target, or None if there is nothing to shrink."""
        candidates = self.candidates(ledger)
        if not candidates:
            return None

        async def shrink(contexts: ContextFactory) -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.limits.total_s):
                    for finding, check in candidates:
                        await self._shrink(finding, check, contexts)

        return shrink

    async def _shrink(self, finding: Finding, check: Check, contexts: ContextFactory) -> None:
        (exchange,) = finding.exchanges
        by_id = {project.id: project for project in self.projects}
        project = by_id.get(exchange.project)
        if project is None:
            return
        context = contexts(project)
        async with context.portal_links, _restored(context, exchange):
            await self._search(finding, check, context, project)

    async def _search(
        self, finding: Finding, check: Check, context: ExperimentContext, project: Project
    ) -> None:
        smallest, sent = finding, 0
        has_shrunk = True
        while has_shrunk:
            has_shrunk = False
            (exchange,) = smallest.exchanges
            for parts in smaller_parts(_parts(exchange), _required_members(exchange, context)):
                if sent >= self.limits.requests_each or self._requests >= self.limits.requests:
                    return
                sent, self._requests = sent + 1, self._requests + 1
                answered = await _send(context, project, exchange, parts)
                with quoting(self.quoted):
                    proved = prove(smallest, answered, check, self.context)
                if proved is not None:
                    smallest, has_shrunk = proved, True
                    self._record(ShrunkFinding(finding=proved, requests=sent))
                    break

    def _record(self, shrunk: ShrunkFinding) -> None:
        key = shrunk.finding.key
        others = [known for known in self.shrunk if known.finding.key != key]
        self.shrunk = [*others, shrunk]


def prove(
    finding: Finding, exchange: Exchange, check: Check, context: CheckContext
) -> Finding | None:
    """The finding with this exchange as its proof; None if the check does not report it there."""
    observation = Observation(
        experiment=finding.experiment, name=finding.case, exchanges=(exchange,)
    )
    try:
        judgements = list(check.judgements(observation, context))
        for judgement in standing(check, observation, judgements, context).judgements:
            if (
                judgement.verdict is Verdict.FAIL
                and judgement.requirement == finding.requirement
                and judgement.message == finding.message
                and root_cause(judgement, observation, context) == finding.cause
            ):
                return replace(
                    finding,
                    exchanges=judgement.exchanges,
                    expected=judgement.expected,
                    actual=judgement.actual,
                    shrunk=True,
                )
    except Exception:  # noqa: BLE001 a check that raises on the smaller request reports no failure
        return None
    return None


def replace_proofs(ledger: Ledger, smaller: Sequence[Finding]) -> Ledger:
    """The ledger with these findings in place of those with the same keys."""
    by_key = {finding.key: finding for finding in smaller}
    return replace(
        ledger, entries=tuple(_replace_findings(entry, by_key) for entry in ledger.entries)
    )


def reapply_shrinking(
    ledger: Ledger, stored: Sequence[Finding], checks: Sequence[Check], context: CheckContext
) -> Ledger:
    """The ledger with the smaller proofs that a run stored.

    A stored proof that its check no longer reports as the same failure is left out.
    """
    by_name = {check.name: check for check in checks}
    known = {finding.key: finding for entry in ledger.entries for finding in entry.findings}
    proved = (
        prove(known[finding.key], finding.exchanges[0], by_name[finding.check], context)
        for finding in stored
        if finding.key in known
    )
    return replace_proofs(ledger, [finding for finding in proved if finding is not None])


def _replace_findings(entry: Entry, by_key: dict[FindingKey, Finding]) -> Entry:
    findings = (by_key.get(finding.key, finding) for finding in entry.findings)
    return replace(entry, findings=tuple(findings))


def _can_shrink(finding: Finding) -> bool:
    if len(finding.exchanges) != 1 or finding.deliveries:
        return False
    (exchange,) = finding.exchanges
    answered = exchange.status is not None and exchange.role != UNFINISHED
    return answered and next(smaller_parts(_parts(exchange)), None) is not None


def _parts(exchange: Exchange) -> Parts:
    query = urlsplit(exchange.url).query
    return Parts(
        query=tuple(query.split("&")) if query else (),
        headers=exchange.request_headers,
        content=exchange.request_body,
    )


def _required_members(exchange: Exchange, context: ExperimentContext) -> frozenset[str]:
    """The members of a body that keep broadcasts away from a new endpoint."""
    body = exchange.request_json
    if exchange.operation_id != "createEndpoint" or not isinstance(body, dict):
        return frozenset()
    quiet = RequestBodies.of(context).quiet_fields()
    return frozenset(name for name, value in quiet.items() if body.get(name) == value)


async def _send(
    context: ExperimentContext,
    project: Project,
    exchange: Exchange,
    parts: Parts,
) -> Exchange:
    """Send a request made of these parts, with the original key."""
    key = Key(exchange.key)
    keys = dict(context.api.headers(project, key, has_json=False))
    headers = [
        (name, keys.get("Authorization", value) if name.lower() == "authorization" else value)
        for name, value in parts.headers
    ]
    target = exchange.url.removeprefix(context.api.base_url).partition("?")[0]
    return await context.api.send(
        operation_id=exchange.operation_id,
        role=exchange.role,
        project=project,
        method=exchange.method,
        target=target + (f"?{'&'.join(parts.query)}" if parts.query else ""),
        content=parts.content,
        headers=headers,
        key=key,
    )


@asynccontextmanager
async def _restored(context: ExperimentContext, exchange: Exchange) -> AsyncIterator[None]:
    """Restore a portal link at the end of the context, if the requests update one."""
    if exchange.operation_id != "updatePortalLink":
        yield
        return
    uid = unquote(urlsplit(exchange.url).path.rpartition("/")[2])
    trial = context.trial("portal link as it was")
    before = await trial.call("getPortalLink", role=ROLE, path={"portalLinkID": uid})
    try:
        yield
    finally:
        if shown_uid(before) is not None:
            await put_back(context, trial, before.data)
