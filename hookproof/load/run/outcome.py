"""The outcome of one run: the figures of the report, computed from both sides of the ledger."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hookproof.load.latency import OverTime, quantiles, stretch_s, unpacked
from hookproof.load.ledger.balance import (
    NO_ACCOUNT,
    Account,
    Explanations,
    Limit,
    allowance_used,
    balance_endpoint,
    curve,
    most_in_window,
    pace,
)
from hookproof.load.ledger.draining import Drain
from hookproof.load.ledger.sending import MOST_SAMPLES, Sent
from hookproof.load.ledger.share import (
    LostWorker,
    RunResult,
    arrived_at_all,
    drained_s,
    sent_by_all,
)
from hookproof.load.profile.load_profile import LoadProfile
from hookproof.load.sidecar.api import Arrived, ArrivedAt
from hookproof.load.target.preparation import LoadPreparation

DISTRIBUTION: Final = (0, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.99, 100)
Figures = dict[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOutcome:
    """The figures of a run by name, and the rest of its report, ready for JSON.

    `requests` is how many were sent, those that were not answered included.
    """

    figures: Figures
    endpoints: tuple[dict[str, Any], ...]
    samples: Mapping[str, list[str]]
    over_time: Mapping[str, list[dict[str, Any]]]
    distribution: tuple[dict[str, float], ...]
    started_at: float
    interrupted: bool
    problem: str | None
    requests: int
    unanswered: int
    unsent: int
    drain: Drain
    lost_workers: tuple[LostWorker, ...] = ()
    table: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether it was interrupted before anything was sent."""
        return self.interrupted and not self.requests and not self.lost_workers


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ledger:
    """Both sides of all shares, and the account of each endpoint whose receiver was not lost."""

    preparation: LoadPreparation
    sent: Sent
    arrived: Arrived
    accounts: Mapping[str, Account]
    limit: Limit | None
    drain: Drain
    lost_workers: Sequence[LostWorker]

    @property
    def accepted(self) -> int:
        """Broadcasts accepted from workers that were not lost."""
        return self.sent.counts.get("accepted", 0)

    @property
    def accepted_of_lost(self) -> int:
        """Broadcasts accepted from the lost workers, according to their last message."""
        return sum(worker.accepted for worker in self.lost_workers)


def compute_outcome(
    preparation: LoadPreparation, profile: LoadProfile, gathered: RunResult
) -> LoadOutcome:
    """Balance the ledger of a run that is over."""
    ledger, length_s = _ledger(preparation, profile, gathered), stretch_s(profile.duration_s)
    sent, arrived, arriving = ledger.sent, ledger.arrived, unpacked(ledger.arrived.latencies)
    figures = {
        **_sent_figures(ledger),
        **_arrived_figures(ledger),
        "drain_s": drained_s(gathered.shares),
        **prefixed("delivery", quantiles(arriving)),
        **prefixed("receiver_lateness", quantiles(unpacked(*filter(None, [arrived.lateness])))),
        "receiver_cpu": arrived.cpu_share,
        "machine_idle": arrived.machine_idle,
        **_limit_figures(ledger),
        "knee": None,
    }
    missing = [
        f"{token}: {number}"
        for token, account in ledger.accounts.items()
        for number in account.missing
    ]
    kind = "pending" if gathered.drain.missing_may_come else "lost"
    return LoadOutcome(
        figures=figures,
        endpoints=tuple(_endpoints(ledger)),
        samples={
            **sent.samples,
            **arrived.samples,
            **({kind: missing[:MOST_SAMPLES]} if missing else {}),
        },
        over_time={
            "accepted": _over_time(sent, length_s),
            "delivered": _over_time(arrived, length_s),
        },
        distribution=tuple(_distribution(arriving)),
        started_at=gathered.started_at,
        interrupted=gathered.interrupted,
        problem=sent.problem,
        requests=sent.counts.get("requests", 0),
        unanswered=sent.counts.get("requests", 0) - sent.counts.get("done", 0),
        unsent=_unsent(profile, gathered, sent),
        drain=gathered.drain,
        lost_workers=tuple(gathered.lost_workers),
        table=gathered.table,
    )


def _unsent(profile: LoadProfile, gathered: RunResult, sent: Sent) -> int:
    """Slots in which nothing was sent although the target had asked for no pause."""
    if gathered.lost_workers:
        return 0
    counts = sent.counts
    return profile.shape.slots - counts.get("requests", 0) - counts.get("held_back", 0)


def _ledger(preparation: LoadPreparation, profile: LoadProfile, gathered: RunResult) -> _Ledger:
    sent, arrived = sent_by_all(gathered.shares, gathered.workers), arrived_at_all(gathered.shares)
    explanations = Explanations.of(preparation.settings.dialect)
    return _Ledger(
        preparation=preparation,
        sent=sent,
        arrived=arrived,
        accounts={
            endpoint.token: balance_endpoint(
                sent.broadcasts,
                arrived.endpoints[endpoint.token],
                limited=endpoint.limited,
                explanations=explanations,
                missing_may_come=gathered.drain.missing_may_come,
            )
            for endpoint in preparation.endpoints
            if endpoint.token in arrived.endpoints
        },
        limit=limit_of(profile),
        drain=gathered.drain,
        lost_workers=gathered.lost_workers,
    )


def limit_of(profile: LoadProfile) -> Limit | None:
    """The rate limit of the limited endpoints, if there are any."""
    wanted = profile.endpoints
    return (
        Limit(most=wanted.rate_limit, window_s=wanted.rate_limit_duration_s)
        if wanted.limited
        else None
    )


def prefixed(prefix: str, values: Mapping[str, float | None]) -> Figures:
    """Quantiles under the names of their figures."""
    return {f"{prefix}_{name}": value for name, value in values.items()}


def _sent_figures(ledger: _Ledger) -> Figures:
    sent, counts, span = ledger.sent, ledger.sent.counts, max(1e-3, ledger.sent.sending_s)
    refused_of_lost = sum(worker.refused for worker in ledger.lost_workers)
    return {
        "sent": counts.get("broadcasts", 0) + ledger.accepted_of_lost + refused_of_lost,
        "accepted": ledger.accepted + ledger.accepted_of_lost,
        "refused": counts.get("refused", 0) + refused_of_lost,
        **{name: counts.get(name, 0) for name in ("limited", "held_back", "errors")},
        "ingest_rps": ledger.accepted / span,
        "requests_rps": counts.get("done", 0) / span,
        **prefixed("ingest", quantiles(unpacked(sent.answering))),
        **prefixed("lateness", quantiles(unpacked(sent.lateness))),
        "waited": counts.get("waited", 0),
        "generator_cpu": sent.cpu_share,
    }


def _arrived_figures(ledger: _Ledger) -> Figures:
    """The figures of deliveries.

    Unaccounted are the deliveries of lost workers' broadcasts, and all those at lost workers'
    endpoints.
    """
    arrived, counts = ledger.arrived, ledger.arrived.counts
    accounts, endpoints = list(ledger.accounts.values()), len(ledger.preparation.endpoints)
    delivered = sum(account.delivered for account in accounts)
    pending = sum(account.pending for account in accounts)
    unaccounted = ledger.accepted_of_lost * endpoints + ledger.accepted * (
        endpoints - len(accounts)
    )
    until_s = ledger.sent.sending_s if arrived.last_s is None else arrived.last_s
    return {
        "expected": sum(account.expected for account in accounts) + unaccounted,
        "delivered": delivered,
        "lost": sum(account.lost for account in accounts),
        "pending": pending,
        "arriving_rps": ledger.drain.arriving_rps if pending else None,
        "explained": sum(account.explained for account in accounts),
        "unaccounted": unaccounted,
        "unexpected": counts.get("unexpected", 0)
        + sum(account.refused_and_arrived for account in accounts),
        **{
            name: counts.get(name, 0)
            for name in (
                "duplicated",
                "duplicated_by_receiver",
                "out_of_order",
                "unverifiable",
                "altered",
                "late",
            )
        },
        "delivery_rps": delivered / max(1e-3, until_s),
    }


def _limit_figures(ledger: _Ledger) -> Figures:
    limit, endpoints = ledger.limit, ledger.arrived.endpoints
    times = [
        endpoints[endpoint.token].times
        for endpoint in ledger.preparation.endpoints
        if endpoint.limited and endpoint.token in endpoints
    ]
    if limit is None or not any(times):
        return {"overshoot": None if limit else 0, "allowance_used": None, "fairness": None}
    began = min(min(arrivals) for arrivals in times if arrivals)
    paces = [pace(arrivals, began) for arrivals in times]
    backlog = ledger.accepted / max(1e-3, ledger.sent.sending_s) > limit.most / limit.window_s
    shares = [allowance_used(arrivals, limit, began) or 0.0 for arrivals in times]
    return {
        "overshoot": max(0, *(most_in_window(arrivals, limit) - limit.most for arrivals in times)),
        "allowance_used": min(shares) if backlog else None,
        "fairness": min(paces) / max(paces),
    }


def _endpoints(ledger: _Ledger) -> Iterator[dict[str, Any]]:
    began = min(
        (min(endpoint.times) for endpoint in ledger.arrived.endpoints.values() if endpoint.times),
        default=0.0,
    )
    for endpoint in ledger.preparation.endpoints:
        account = ledger.accounts.get(endpoint.token, NO_ACCOUNT)
        arrivals = ledger.arrived.endpoints.get(endpoint.token)
        unaccounted = ledger.accepted_of_lost + (ledger.accepted if arrivals is None else 0)
        yield {
            "endpoint": endpoint.token,
            "uid": endpoint.uid,
            "worker": endpoint.worker,
            "expected": account.expected + unaccounted,
            **{
                name: getattr(account, name)
                for name in ("delivered", "explained", "pending", "lost")
            },
            "unaccounted": unaccounted,
            "arrived": 0 if arrivals is None else arrivals.arrived,
            "limit": _limit_use(arrivals, ledger.limit, began) if endpoint.limited else None,
        }


def _limit_use(
    arrivals: ArrivedAt | None, limit: Limit | None, began: float
) -> dict[str, Any] | None:
    if limit is None or arrivals is None:
        return None
    return {
        "most": limit.most,
        "window_s": limit.window_s,
        "highest": most_in_window(arrivals.times, limit),
        "windows": curve(arrivals.times, limit, began),
    }


def _over_time(side: Sent | Arrived, length_s: float) -> list[dict[str, Any]]:
    over_time = OverTime(length_s=length_s)
    over_time.add(side.over_time)
    return [dict(point) for point in over_time.points()]


def _distribution(latencies: Any) -> list[dict[str, float]]:
    if not latencies.get_total_count():
        return []
    return [
        {"percentile": share, "seconds": latencies.get_value_at_percentile(share) / 1e6}
        for share in DISTRIBUTION
    ]
