"""What a receiver that was late does to a verdict that hangs on time."""

import asyncio
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hookproof.conformance.experiments.backlog import Backlog
from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.subjects.timeouts.evidence import GivenTimeout
from hookproof.process.lateness import STEP_S, LatenessMeter
from hookproof.receiver.client.control_api import ReceiverClient
from tests.conformance.canned_deliveries import destination, ending, event, observed, sent
from tests.conformance.canned_evidence import verdicts
from tests.receiver.receiver_thread import ReceiverThread, receiver_thread

# More than the time by which tolerances widen at most.
BLOCKED_S = 1.3
SILENT = destination("silent", http_timeout=2)


async def observation(receiver: ReceiverThread) -> DeliveryObservation:
    """What a scenario observes beside a receiver that was blocked; our own loop was not."""
    async with ReceiverClient(receiver.control) as client:
        token = (await client.new_token()).token
        scenario = Scenario.__new__(Scenario)
        scenario.context = cast(
            "ExperimentContext",
            SimpleNamespace(clock=time.time, backlog=Backlog(), round_trip_s=0.0),
        )
        scenario.trial = Trial(
            experiment="any",
            name="any",
            api=cast("Any", None),
            receiver=client,
            project=cast("Any", None),
        )
        scenario.destinations, scenario.events = [replace(SILENT, token=token)], []
        scenario.marker_stem = "event"
        scenario._lateness = LatenessMeter(asyncio.get_running_loop(), lambda: 0.0)
        receiver.block(BLOCKED_S)
        try:
            return await scenario.observe(DeliveryObservation)
        finally:
            scenario.close()


def test_a_time_that_a_late_receiver_took_is_no_failure_and_says_why() -> None:
    with receiver_thread() as receiver:
        late_s = asyncio.run(observation(receiver)).late_s
    assert late_s >= BLOCKED_S - STEP_S
    given_up_late = observed(
        GivenTimeout,
        SILENT,
        ending(sent(event(), SILENT), closed=60.0),
        timeout_s=2,
        patient_s=6,
        slow_s=2.5,
    )

    assert verdicts("8-7 8-9 8-19", given_up_late) == {"8-7": Verdict.FAIL}
    with pytest.raises(NotExaminedError, match=f"this machine was late by {late_s * 1000:.0f} ms"):
        verdicts("8-7 8-9 8-19", replace(given_up_late, late_s=late_s))
