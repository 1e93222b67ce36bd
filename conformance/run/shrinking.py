"""Shrinks what was found: smaller requests are sent as long as the same check says the same of
them.

Only what an oracle found is tried. An oracle judges one exchange alone, so a smaller request is as
good a proof as the one that was met first; what other checks judge are cases of experiments that
send no more than they need. Nothing is sent unless something failed. The smaller exchange takes the
place of the proof and changes nothing else: what other checks would say of it is never asked.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.support.existing_resources import put_back, uid_of
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.grading.root_cause import root_cause
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.model.ledger import Entry, Finding, Ledger
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.run.intake import Intake
from hookproof.conformance.run.smaller_request import Parts, smaller_parts
from hookproof.conformance.target.client import Key
from hookproof.conformance.target.definition import Project

ROLE: Final = "shrink"
# The role of requests whose bytes no client sends.
UNFINISHED: Final = "unfinished"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that the pass may cost. Requests decide; the time, in seconds, is for a target that
    answers slowly.
    """

    requests_each: int = 60
    requests: int = 600
    total_s: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """A finding with the smaller proof, and how many requests that took."""

    finding: Finding
    requests: int


# Gives what an experiment works with, in a project.
Benches = Callable[[Project], ExperimentContext]


@dataclass(slots=True, kw_only=True)
class Shrinking:
    """The pass over the findings of a ledger; `made` holds what was found so far, whenever it is
    interrupted.
    """

    checks: Sequence[Check]
    context: CheckContext
    projects: Sequence[Project]
    intake: Intake
    limits: Limits = Limits()
    made: list[Shrunk] = field(default_factory=list)
    _sent: int = 0

    def candidates(self, ledger: Ledger) -> tuple[tuple[Finding, Check], ...]:
        """The findings whose request may become smaller, in the order of the ledger."""
        oracles = {check.name: check for check in self.checks if check.is_oracle}
        return tuple(
            (finding, oracles[finding.check])
            for entry in ledger.entries
            for finding in entry.findings
            if finding.check in oracles and not finding.shrunk and _can_shrink(finding)
        )

    def work(self, ledger: Ledger) -> Callable[[Benches], Coroutine[Any, Any, None]] | None:
        """What to do at the target, or None if there is nothing to shrink."""
        found = self.candidates(ledger)
        if not found:
            return None

        async def shrink(contexts: Benches) -> None:
            try:
                async with asyncio.timeout(self.limits.total_s):
                    for finding, check in found:
                        await self._shrink(finding, check, contexts)
            except TimeoutError:
                return

        return shrink

    async def _shrink(self, finding: Finding, check: Check, contexts: Benches) -> None:
        (exchange,) = finding.exchanges
        project = next((one for one in self.projects if one.id == exchange.project), None)
        if project is None:
            return
        context = contexts(project)
        async with context.portal_links, _left_as_it_was(context, exchange):
            await self._search(finding, check, context, project)

    async def _search(
        self, finding: Finding, check: Check, context: ExperimentContext, project: Project
    ) -> None:
        smallest, sent = finding, 0
        further = True
        while further:
            further = False
            (exchange,) = smallest.exchanges
            for parts in smaller_parts(_parts(exchange), _kept(exchange, context)):
                if sent >= self.limits.requests_each or self._sent >= self.limits.requests:
                    return
                sent, self._sent = sent + 1, self._sent + 1
                tried = await _sent(context, project, exchange, parts, self.intake.in_clear)
                found = proved_by(smallest, self.intake.exchange(tried), check, self.context)
                if found is not None:
                    smallest, further = found, True
                    self._keep(Shrunk(finding=found, requests=sent))
                    break

    def _keep(self, shrunk: Shrunk) -> None:
        self.made = [one for one in self.made if key_of(one.finding) != key_of(shrunk.finding)] + [
            shrunk
        ]


def proved_by(
    finding: Finding, exchange: Exchange, check: Check, context: CheckContext
) -> Finding | None:
    """The finding with this exchange as its proof, or None if the check does not say the same of
    it.
    """
    observation = Observation(
        experiment=finding.experiment, name=finding.case, exchanges=(exchange,)
    )
    try:
        for said in check.judgements(observation, context):
            if (
                said.verdict is Verdict.FAIL
                and (said.requirement, said.message) == (finding.requirement, finding.message)
                and root_cause(said, observation, context) == finding.cause
            ):
                return replace(
                    finding,
                    exchanges=said.exchanges,
                    expected=said.expected,
                    actual=said.actual,
                    shrunk=True,
                )
    except Exception:  # noqa: BLE001 a check that breaks on the smaller case did not say the same of it
        return None
    return None


def key_of(finding: Finding) -> tuple[str, str, str]:
    """What tells a finding from all others of a run: its requirement, its check, its message."""
    return finding.requirement, finding.check, finding.message


def with_smaller_proofs(ledger: Ledger, smaller: Sequence[Finding]) -> Ledger:
    """The ledger with the proofs of these findings in place of those that it had."""
    known = {key_of(one): one for one in smaller}
    return replace(ledger, entries=tuple(_with(entry, known) for entry in ledger.entries))


def shrunk_again(
    ledger: Ledger, stored: Sequence[Finding], checks: Sequence[Check], context: CheckContext
) -> Ledger:
    """The ledger with the smaller proofs that a run stored, as far as its checks still say the same
    of them.
    """
    named = {check.name: check for check in checks}
    known = {key_of(one): one for entry in ledger.entries for one in entry.findings}
    found = (
        proved_by(known[key_of(one)], one.exchanges[0], named[one.check], context)
        for one in stored
        if key_of(one) in known
    )
    return with_smaller_proofs(ledger, [one for one in found if one is not None])


def _with(entry: Entry, known: dict[tuple[str, str, str], Finding]) -> Entry:
    return replace(entry, findings=tuple(known.get(key_of(one), one) for one in entry.findings))


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


def _kept(exchange: Exchange, context: ExperimentContext) -> frozenset[str]:
    """Members of a body that stay: what keeps broadcasts away from a new endpoint
    (`RequestBodies.quiet_fields`).
    """
    body = exchange.request_json
    if exchange.operation_id != "createEndpoint" or not isinstance(body, dict):
        return frozenset()
    quiet = RequestBodies.of(context).quiet_fields()
    return frozenset(name for name, value in quiet.items() if body.get(name) == value)


async def _sent(
    context: ExperimentContext,
    project: Project,
    exchange: Exchange,
    parts: Parts,
    in_clear: Callable[[bytes], bytes],
) -> Exchange:
    """Send these parts of a masked request, with the key and the credentials that it had."""
    key = Key(exchange.key)
    keys = dict(context.api.headers(project, key, has_body=False))
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
        content=None if parts.content is None else in_clear(parts.content),
        headers=headers,
        key=key,
    )


@asynccontextmanager
async def _left_as_it_was(context: ExperimentContext, exchange: Exchange) -> AsyncIterator[None]:
    """Put a portal link back after the block if the requests within it update it."""
    if exchange.operation_id != "updatePortalLink":
        yield
        return
    uid = unquote(urlsplit(exchange.url).path.rpartition("/")[2])
    trial = context.trial("portal link as it was")
    before = await trial.call("getPortalLink", role=ROLE, path={"portalLinkID": uid})
    try:
        yield
    finally:
        if uid_of(before) is not None:
            await put_back(context, trial, before.data)
