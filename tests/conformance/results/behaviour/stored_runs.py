"""Runs with stored evidence, written by hand."""

from pathlib import Path

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.ledger import Entry, Ledger
from hookproof.conformance.results.behaviour.behaviour import Behaviour, read_behaviour
from hookproof.conformance.results.run_file import NAME, Header, RunWriter
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_evidence import NOW, CannedObservation, delivery, exchange
from tests.conformance.canned_run import header, passed


def observed(
    *seen: Exchange | ReceivedDelivery, experiment: str = "round_trip", name: str = "one"
) -> CannedObservation:
    return CannedObservation(
        experiment=experiment,
        name=name,
        exchanges=tuple(each for each in seen if isinstance(each, Exchange)),
        deliveries=tuple(each for each in seen if isinstance(each, ReceivedDelivery)),
    )


def stored_run(
    folder: Path,
    *observations: CannedObservation,
    entries: tuple[Entry, ...] = (),
    run_header: Header | None = None,
) -> Path:
    """The folder of a run that holds these observations."""
    folder.mkdir(exist_ok=True)
    with (folder / NAME).open("wb", buffering=0) as stream:
        writer = RunWriter(stream, run_header or header())
        for observation in observations:
            writer.evidence(observation)
        ledger = Ledger(entries=entries or (passed(),))
        writer.ledger(ledger, strict=False, duration_s=1.0)
    return folder


def behaviour_of(folder: Path, *observations: CannedObservation) -> Behaviour:
    return read_behaviour(stored_run(folder, *observations) / NAME)


def broadcast(
    data: object, *, at_s: float = 0.0, took_s: float = 0.01, status: int = 201
) -> Exchange:
    """A broadcast that was sent at a time after NOW."""
    return exchange(
        "send",
        "createBroadcastEvent",
        status=status,
        request={"event_type": "a.b", "data": data},
        sent_at=NOW + at_s,
        duration_s=took_s,
    )


def arrival(body: bytes, at_s: float, token: str = "t1") -> ReceivedDelivery:  # noqa: S107
    return delivery(token, body=body, arrived_at=NOW + at_s)
