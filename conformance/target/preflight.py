"""The first request to a target: can it be reached, and does it accept the keys?

Without this, a wrong key would make a target fail every requirement.
"""

import asyncio
from dataclasses import replace
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.target.client import ApiClient
from hookproof.conformance.target.definition import Project, Target
from hookproof.conformance.target.hooks.provision import HookFailed
from hookproof.conformance.target.project_assignment import projects_needed
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.spec.dialect.model import Dialect

# It changes nothing and needs nothing to exist.
FIRST_OPERATION: Final = "listSources"


async def check_access(target: Target, api: ApiClient) -> None:
    """Call one operation for each project; raises CommandError if the target cannot be reached or
    refuses a key.
    """
    first, *others = target.projects
    _raise_if_refused(target, first, await _probe(api, first))
    for project, exchange in zip(
        others, await asyncio.gather(*(_probe(api, project) for project in others)), strict=True
    ):
        _raise_if_refused(target, project, exchange)


async def with_fresh_projects(target: Target, experiments: int) -> Target:
    """The target with as many projects as this number of experiments needs, if a hook creates them;
    raises CommandError.
    """
    missing = projects_needed(experiments) - len(target.projects)
    if not target.provision.has("fresh_project") or missing <= 0:
        return target
    try:
        created = await asyncio.gather(*(target.provision.fresh_project() for _ in range(missing)))
    except HookFailed as failure:
        raise CommandError(str(failure)) from None
    return replace(target, projects=(*target.projects, *(Project(**fields) for fields in created)))


def out_of_time(target: Target) -> str:
    """The message for a target that used up the time of the run before anything could begin."""
    budget = f"the time budget of {target.budgets.total_s:g} s"
    return f"target unreachable: {target.base_url}: no answer within {budget}"


async def _probe(api: ApiClient, project: Project) -> Exchange:
    return await api.call(FIRST_OPERATION, role="preflight", project=project)


def _raise_if_refused(target: Target, project: Project, exchange: Exchange) -> None:
    if exchange.status is None:
        raise CommandError(
            f"target unreachable: {target.base_url}: {exchange.problem};"
            " is it running, and is the URL right?",
            ExitCode.UNREACHABLE,
        )
    if exchange.status in refusal_statuses(target.dialect) and not exchange.succeeded:
        raise CommandError(
            f"the target refused the key of project {project.id!r} with {exchange.status}"
            f" (GET {exchange.url}); check the key and the project,"
            f" and that the dialect {target.dialect.name} is the target's"
        )


def refusal_statuses(dialect: Dialect) -> set[int]:
    """The statuses with which a target of this dialect refuses a key (section 5)."""
    answers = dialect.authentication
    refusals = (answers.missing_key_status, answers.wrong_key_status, answers.foreign_key_status)
    return {status for answer in refusals for status in answer.allowed}
