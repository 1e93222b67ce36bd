"""The first request to a target: can it be reached, and does it take the keys?

Without this, a wrong key would convict a target of every requirement there is.
"""

from typing import Final

from conformance.client import ApiClient
from conformance.refusal import ExitCode, Refusal
from conformance.target import Target
from spec.dialect import Dialect

FIRST_OPERATION: Final = "listSources"
"""It changes nothing and needs nothing to exist."""


async def check_access(target: Target, api: ApiClient) -> None:
    """Call one operation for each project; raises Refusal if the target is out of reach or refuses a key."""
    for project in target.projects:
        exchange = await api.call(FIRST_OPERATION, role="preflight", project=project)
        if exchange.status is None:
            raise Refusal(
                f"target unreachable: {target.base_url}: {exchange.problem}; is it running, and is the URL right?",
                ExitCode.UNREACHABLE,
            )
        if exchange.status in _refusals(target.dialect) and not exchange.succeeded:
            raise Refusal(
                f"the target refused the key of project {project.id!r} with {exchange.status} (GET {exchange.url});"
                f" check the key and the project, and that the dialect {target.dialect.name} is the target's"
            )


def _refusals(dialect: Dialect) -> set[int]:
    """The statuses by which a target that speaks the dialect refuses a key (section 5)."""
    answers = dialect.authentication
    refusals = (answers.missing_key_status, answers.wrong_key_status, answers.foreign_key_status)
    return {status for answer in refusals for status in answer.allowed}
