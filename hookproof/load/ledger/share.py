"""What the workers of a run send back, and how their shares are added.

Counts add up, histograms are merged, and percentiles are never averaged. Every time in a share
counts from the start by its own worker's clock, so that clocks of different machines are never
compared.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from hookproof.load.latency import OverTime, Stretch, unpacked
from hookproof.load.latency import packed as packed_histogram
from hookproof.load.ledger.draining import Drain
from hookproof.load.ledger.sending import MOST_SAMPLES, Sent
from hookproof.load.sidecar.api import Arrived


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """Both sides of the ledger as one worker recorded them; `worker` is counted from 0."""

    worker: int
    sent: Sent
    arrived: Arrived


class LostWorker(msgspec.Struct, frozen=True, kw_only=True):
    """A worker that was lost; the counts of broadcasts are those of its last message.

    `after_s` is when that was noticed, in seconds since the start of the run.
    """

    worker: int
    name: str
    after_s: float
    accepted: int
    refused: int


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a run: the shares of its workers, and what is known of the lost ones.

    `table` is Locust's own table of requests and deliveries, as CSV, and `drain` how the wait for
    deliveries ended.
    """

    started_at: float
    workers: int
    shares: list[Share]
    lost_workers: list[LostWorker]
    interrupted: bool
    drain: Drain
    table: str


def sent_by_all(shares: Sequence[Share], workers: int) -> Sent:
    """The sending side of all shares, by the run's numbers; a missing share counts as unsent."""
    all_sent = [share.sent for share in shares]
    lengths = [
        (len(share.sent.broadcasts) - 1) * workers + share.worker + 1
        for share in shares
        if share.sent.broadcasts
    ]
    broadcasts = bytearray(max(lengths, default=0))
    for share in shares:
        count = len(share.sent.broadcasts)
        broadcasts[share.worker : share.worker + workers * count : workers] = share.sent.broadcasts
    return Sent(
        broadcasts=bytes(broadcasts),
        counts=_sums(sent.counts for sent in all_sent),
        samples=_samples(sent.samples for sent in all_sent),
        answering=_merged(sent.answering for sent in all_sent),
        lateness=_merged(sent.lateness for sent in all_sent),
        over_time=_stretches(sent.over_time for sent in all_sent),
        started_at=min((sent.started_at for sent in all_sent), default=0.0),
        sending_s=max((sent.sending_s for sent in all_sent), default=0.0),
        cpu_share=max((sent.cpu_share for sent in all_sent), default=0.0),
        problem=next((sent.problem for sent in all_sent if sent.problem is not None), None),
        created=[answer for sent in all_sent for answer in sent.created],
        event=next((sent.event for sent in all_sent if sent.event), b""),
    )


def arrived_at_all(shares: Sequence[Share]) -> Arrived:
    """The arrival side of all shares; each endpoint is in one of them."""
    all_arrived = [share.arrived for share in shares]
    return Arrived(
        endpoints={
            token: endpoint
            for arrived in all_arrived
            for token, endpoint in arrived.endpoints.items()
        },
        counts=_sums(arrived.counts for arrived in all_arrived),
        samples=_samples(arrived.samples for arrived in all_arrived),
        latencies=_merged(arrived.latencies for arrived in all_arrived),
        over_time=_stretches(arrived.over_time for arrived in all_arrived),
        last_s=max(
            (arrived.last_s for arrived in all_arrived if arrived.last_s is not None), default=None
        ),
        cpu_share=max(_known(arrived.cpu_share for arrived in all_arrived), default=None),
        machine_idle=min(_known(arrived.machine_idle for arrived in all_arrived), default=None),
        lateness=_merged(arrived.lateness for arrived in all_arrived if arrived.lateness),
    )


def drained_s(shares: Sequence[Share]) -> float | None:
    """The longest time from a worker's last answer to the last arrival at its receiver.

    None without arrivals.
    """
    waits = (
        max(0.0, share.arrived.last_s - share.sent.sending_s)
        for share in shares
        if share.arrived.last_s is not None
    )
    return max(waits, default=None)


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _sums(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in counts:
        total.update(part)
    return dict(total)


def _samples(samples: Iterable[Mapping[str, list[str]]]) -> dict[str, list[str]]:
    together: dict[str, list[str]] = {}
    for part in samples:
        for kind, some in part.items():
            together[kind] = [*together.get(kind, ()), *some][:MOST_SAMPLES]
    return together


def _merged(texts: Iterable[str]) -> str:
    return packed_histogram(unpacked(*texts))


def _stretches(parts: Iterable[Sequence[Stretch]]) -> list[Stretch]:
    whole = OverTime(length_s=1.0)  # the length does not matter: every worker counts alike
    for part in parts:
        whole.add(part)
    return whole.packed()
