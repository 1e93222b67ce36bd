"""What is known of the server under test before the first request."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Self

from hookproof.conformance.model.tolerances import way_s
from hookproof.spec.dialect.model import Dialect
from hookproof.target.connection import DIRECT, ApiConnection
from hookproof.target.file_schema import Presence
from hookproof.target.hooks.provision import Provision
from hookproof.target.settings import DEFAULT_REQUEST_S, ReceiverSettings

USUAL_RUN_S: Final = 120.0
# About how many requests of a run wait for the one before, and so for its answer.
REQUESTS_IN_TURN: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project of the target and its API key (section 5)."""

    id: str
    api_key: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """Timeouts in seconds: for one request, one delivery, a silence that proves absence, and the
    whole run, for which None stands for the usual time. Not more than `requests_per_s` are sent to
    the API, if that is a number.
    """

    request_s: float = DEFAULT_REQUEST_S
    delivery_s: float = 10.0
    quiet_s: float = 2.0
    total_s: float | None = None
    requests_per_s: float | None = None

    def of_the_run(self, answer_s: float = 0.0, requests: float = 0.0) -> float:
        """The time for the whole run; the usual one is longer for a target that takes `answer_s` to
        answer, and where about so many requests are sent slowly.
        """
        usual_s = USUAL_RUN_S + REQUESTS_IN_TURN * answer_s + self.sending_s(requests)
        return usual_s if self.total_s is None else self.total_s

    def over(self, round_trip_s: float) -> Self:
        """The timeouts for deliveries of a target that is so far away."""
        longer_s = way_s(round_trip_s)
        return replace(self, delivery_s=self.delivery_s + longer_s, quiet_s=self.quiet_s + longer_s)

    def sending_s(self, requests: float) -> float:
        """How long so many requests take because no more are sent at a time."""
        return requests / self.requests_per_s if self.requests_per_s else 0.0


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
    connection: ApiConnection = DIRECT
    receiver: ReceiverSettings = field(default_factory=ReceiverSettings)
    budgets: Budgets = Budgets()
    provision: Provision = field(default_factory=Provision)
    fixtures: Mapping[str, Fixtures] = field(default_factory=dict)
    capabilities: Mapping[str, Presence] = field(default_factory=dict)
    egress_probes: tuple[str, ...] = ()

    @property
    def is_verified(self) -> bool:
        """Whether the certificate of the API is verified, if it has one."""
        return self.connection.verifies(self.base_url)
