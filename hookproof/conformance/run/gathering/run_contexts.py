"""The contexts of the experiments of one run: what they share, and what is their own."""

import asyncio
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass

from hookproof.conformance.experiments.backlog import Backlog
from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.support.seeding import Seeding
from hookproof.conformance.generation.generators import RequestGenerators
from hookproof.conformance.run.gathering.shared_hold import SharedHold
from hookproof.conformance.run.plan import RunPlan
from hookproof.conformance.target.client import ApiClient
from hookproof.conformance.target.definition import Project
from hookproof.conformance.target.environment import Environment
from hookproof.target.hooks.provision import Provision


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContexts:
    """What the experiments of a run share; `locks` are by project id."""

    plan: RunPlan
    environment: Environment
    provision: Provision
    seeding: Seeding
    backlog: Backlog
    generators: RequestGenerators
    locks: Mapping[str, asyncio.Lock]
    loop: asyncio.AbstractEventLoop

    def of(
        self, name: str, api: ApiClient, projects: tuple[Project, ...], attempt: str = ""
    ) -> ExperimentContext:
        """The context of an experiment; another `attempt` at it draws other random values."""
        plan, target = self.plan, self.environment.target
        return ExperimentContext(
            experiment=name,
            nonce=plan.nonce,
            api=api,
            receiver=self.environment.receiver,
            answering_url=self.environment.answering_url,
            projects=projects,
            dialect=plan.dialect,
            contract=plan.contract,
            profile=plan.profile,
            budgets=target.budgets.over(self.environment.round_trip_s),
            random=random.Random(f"{plan.seed}:{name}{attempt}"),
            clock=time.time,
            loop=self.loop,
            portal_links=SharedHold(self.locks[projects[0].id]),
            provision=self.provision,
            fixtures=target.fixtures,
            capabilities=target.capabilities,
            ends_tls=not target.receiver.http,
            egress_probes=target.egress_probes,
            seeding=self.seeding,
            backlog=self.backlog,
            generators=self.generators,
            round_trip_s=self.environment.round_trip_s,
        )
