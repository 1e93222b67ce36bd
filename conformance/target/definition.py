"""The server under test, as far as it is known before the first request."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hookproof.conformance.target.hooks.provision import Provision
from hookproof.spec.dialect.model import Dialect
from hookproof.target.file_schema import Presence
from hookproof.target.settings import ReceiverSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project of the target and a key that opens it (section 5)."""

    id: str
    api_key: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """The longest waits, in seconds: for one request, one delivery, a silence that proves absence,
    the whole run.
    """

    request_s: float = 10.0
    delivery_s: float = 10.0
    quiet_s: float = 2.0
    total_s: float = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixtures:
    """What a project holds for the suites: identifiers of portal links that they may change, and of
    sources.
    """

    portal_links: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where the target is, who may call it, and what it says of itself; `fixtures` are named by
    project.

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
