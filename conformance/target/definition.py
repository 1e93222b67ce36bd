"""What is known of the server under test before the first request."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hookproof.spec.dialect.model import Dialect
from hookproof.target.file_schema import Presence
from hookproof.target.hooks.provision import Provision
from hookproof.target.settings import DEFAULT_REQUEST_S, ReceiverSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project of the target and its API key (section 5)."""

    id: str
    api_key: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """Timeouts in seconds: for one request, one delivery, a silence that proves absence, and the
    whole run.
    """

    request_s: float = DEFAULT_REQUEST_S
    delivery_s: float = 10.0
    quiet_s: float = 2.0
    total_s: float = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixtures:
    """Existing resources of a project: uids of portal links that the suites may change, and of
    sources.
    """

    portal_links: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The address of the target, its projects, and what it declares; `fixtures` are by project id.

    `egress_probes` are addresses of this machine that the target's requests must not reach.
    """

    base_url: str
    projects: tuple[Project, ...]
    dialect: Dialect
    receiver: ReceiverSettings = field(default_factory=ReceiverSettings)
    budgets: Budgets = Budgets()
    provision: Provision = field(default_factory=Provision)
    fixtures: Mapping[str, Fixtures] = field(default_factory=dict)
    capabilities: Mapping[str, Presence] = field(default_factory=dict)
    egress_probes: tuple[str, ...] = ()
