"""Before a run: one endpoint at the target that points at a receiver token, made through the API alone.

Only operations of the document are used (sections 4.1 and 4.8), written as the target's dialect says.
"""

import asyncio
import ssl
from dataclasses import dataclass
from typing import Any, Final

import aiohttp

from load.plan import Plan
from load.profile import Profile
from receiver.client import ReceiverClient
from spec.contract import Contract, contract_for
from spec.dialect import Dialect

TIMEOUT_S: Final = 10.0


class Unreachable(Exception):
    """The target gave no answer at all."""


class Refused(Exception):
    """The target answered, but it does not take what a run needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where the target is, and how it is spoken to."""

    base_url: str
    project: str
    api_key: str
    dialect: Dialect

    @property
    def headers(self) -> dict[str, str]:
        """The headers of every call (section 5)."""
        written = self.dialect.authentication.key_format
        return {"Authorization": written.replace("{key}", self.api_key), "Content-Type": "application/json"}


async def arrange(site: Site, profile: Profile, control_url: str) -> Plan:
    """Make the token and the endpoint; raises Unreachable or Refused in words for the user."""
    contract = contract_for(site.dialect)
    async with ReceiverClient(control_url) as receiver:
        token = await receiver.new_token()
    await create_endpoint(site, contract, token.url)
    await asyncio.sleep(site.dialect.delivery.visible_within_s)  # a new endpoint may receive only after this long
    return Plan(
        base_url=site.base_url.rstrip("/"),
        path=path_of(contract, "createBroadcastEvent", site.project),
        headers=site.headers,
        accepted_statuses=tuple(site.dialect.success.created.allowed),
        witness_url=f"{control_url.rstrip('/')}/tokens/{token.token}/deliveries",
        visit_methods=tuple(visit.upper() for visit in site.dialect.delivery.creation_visit.allowed),
        rate=profile.rate,
        duration_s=profile.duration_s,
        users=profile.users,
        drain_s=profile.drain_s,
    )


async def create_endpoint(site: Site, contract: Contract, url: str) -> None:
    """Create the endpoint that receives the run's deliveries."""
    body: dict[str, Any] = {"name": "hookproof load", "owner_id": "hookproof-load", "url": url}
    where = site.base_url.rstrip("/") + path_of(contract, "createEndpoint", site.project)
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(where, json=body, headers=site.headers, allow_redirects=False) as answer,
        ):
            status, text = answer.status, await answer.text(errors="replace")
    except (aiohttp.ClientError, TimeoutError, ssl.SSLError, OSError) as error:
        raise Unreachable(f"{site.base_url} does not answer: {error or type(error).__name__}") from None
    if not 200 <= status < 300:  # noqa: PLR2004
        shown = " ".join(text.split())[:200]
        raise Refused(f"{where} answered {status} to the creation of an endpoint: {shown}")


def path_of(contract: Contract, operation_id: str, project: str) -> str:
    """The path of an operation within a project."""
    return contract.operations[operation_id].path.replace("{projectID}", project)
