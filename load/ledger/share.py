"""What the workers of a run bring back, and how their shares are made one.

Figures add up, histograms are merged, and no percentile is ever averaged. Every time in a share
counts from the start by its own worker's clock, so that clocks of different machines are never
compared.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from hookproof.load.latency import OverTime, Stretch, unpacked
from hookproof.load.latency import packed as packed_histogram
from hookproof.load.ledger.sending import MOST_SAMPLES, Sent
from hookproof.load.sidecar.api import Arrived


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """Both sides of the ledger as one worker saw them; `worker` is its number, counted from 0."""

    worker: int
    sent: Sent
    arrived: Arrived


class LostWorker(msgspec.Struct, frozen=True, kw_only=True):
    """A worker that fell silent: its number and name, when that was noticed, and what it had last
    said.

    `after_s` is seconds since the start of the run; `accepted` and `refused` are broadcasts.
    """

    worker: int
    name: str
    after_s: float
    accepted: int
    refused: int


class Gathered(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of a run when it is over: the shares of the workers that are, and the last words
    of the others.

    `table` is Locust's own table of requests and deliveries, as CSV.
    """

    started_at: float
    workers: int
    shares: list[Share]
    lost_workers: list[LostWorker]
    interrupted: bool
    table: str


def sent_by_all(shares: Sequence[Share], workers: int) -> Sent:
    """The sending side of all shares; broadcasts stand at their number again, those of a missing
    share as unsent.
    """
    all_sent = [share.sent for share in shares]
    lengths = [
        (len(one.sent.broadcasts) - 1) * workers + one.worker + 1
        for one in shares
        if one.sent.broadcasts
    ]
    broadcasts = bytearray(max(lengths, default=0))
    for share in shares:
        count = len(share.sent.broadcasts)
        broadcasts[share.worker : share.worker + workers * count : workers] = share.sent.broadcasts
    return Sent(
        broadcasts=bytes(broadcasts),
        counts=_sums(one.counts for one in all_sent),
        samples=_samples(one.samples for one in all_sent),
        answering=_merged(one.answering for one in all_sent),
        lateness=_merged(one.lateness for one in all_sent),
        over_time=_stretches(one.over_time for one in all_sent),
        started_at=min((one.started_at for one in all_sent), default=0.0),
        sending_s=max((one.sending_s for one in all_sent), default=0.0),
        cpu_share=max((one.cpu_share for one in all_sent), default=0.0),
        problem=next((one.problem for one in all_sent if one.problem is not None), None),
    )


def arrived_at_all(shares: Sequence[Share]) -> Arrived:
    """The arrival side of all shares; each endpoint is of one of them."""
    all_arrived = [share.arrived for share in shares]
    return Arrived(
        endpoints={
            token: endpoint for one in all_arrived for token, endpoint in one.endpoints.items()
        },
        counts=_sums(one.counts for one in all_arrived),
        samples=_samples(one.samples for one in all_arrived),
        latencies=_merged(one.latencies for one in all_arrived),
        over_time=_stretches(one.over_time for one in all_arrived),
        last_s=max((one.last_s for one in all_arrived if one.last_s is not None), default=None),
    )


def drained_s(shares: Sequence[Share]) -> float | None:
    """From a worker's last answer to the last arrival at its own receiver; the longest, None
    without arrivals.
    """
    waits = (
        max(0.0, share.arrived.last_s - share.sent.sending_s)
        for share in shares
        if share.arrived.last_s is not None
    )
    return max(waits, default=None)


def _sums(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def _samples(samples: Iterable[Mapping[str, list[str]]]) -> dict[str, list[str]]:
    together: dict[str, list[str]] = {}
    for one in samples:
        for kind, some in one.items():
            together[kind] = [*together.get(kind, ()), *some][:MOST_SAMPLES]
    return together


def _merged(texts: Iterable[str]) -> str:
    return packed_histogram(unpacked(*texts))


def _stretches(parts: Iterable[Sequence[Stretch]]) -> list[Stretch]:
    whole = OverTime(length_s=1.0)  # places are counted, and every worker counts them alike
    for part in parts:
        whole.add(part)
    return whole.packed()
