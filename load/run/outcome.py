"""One run's outcome: both sides of the ledger made into the figures of the report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hookproof.load.latency import OverTime, quantiles, stretch_s, unpacked
from hookproof.load.ledger.balance import NO_ACCOUNT, Account, Excuses, balanced
from hookproof.load.ledger.rate_limit import Limit, curve, highest, pace, used
from hookproof.load.ledger.sending import Sent
from hookproof.load.ledger.share import Gathered, LostWorker, arrived_at_all, drained_s, sent_by_all
from hookproof.load.profile.load_profile import Profile
from hookproof.load.sidecar.api import Arrived, ArrivedAt
from hookproof.load.target.preparation import Stage

DISTRIBUTION: Final = (0, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.99, 100)
Figures = dict[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run came to: its figures by name, and all that the report shows beside them, ready for
    JSON.
    """

    figures: Figures
    endpoints: tuple[dict[str, Any], ...]
    samples: Mapping[str, list[str]]
    over_time: Mapping[str, list[dict[str, Any]]]
    distribution: tuple[dict[str, float], ...]
    started_at: float
    interrupted: bool
    problem: str | None
    unanswered: int
    unsent: int
    lost_workers: tuple[LostWorker, ...] = ()
    table: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    """A run in one: both sides of all shares, and the account of each endpoint whose receiver is
    still there.
    """

    stage: Stage
    sent: Sent
    arrived: Arrived
    accounts: Mapping[str, Account]
    limit: Limit | None
    lost_workers: Sequence[LostWorker]

    @property
    def accepted(self) -> int:
        """Broadcasts of the workers that are there."""
        return self.sent.counts.get("accepted", 0)

    @property
    def last_said(self) -> int:
        """Broadcasts that were accepted of the lost workers, by their last word."""
        return sum(one.accepted for one in self.lost_workers)


def outcome_of(stage: Stage, profile: Profile, gathered: Gathered) -> Outcome:
    """Balance a run that is over."""
    whole, length_s = _whole(stage, profile, gathered), stretch_s(profile.duration_s)
    sent, arrived, arriving = whole.sent, whole.arrived, unpacked(whole.arrived.latencies)
    figures = {
        **_sent_figures(whole),
        **_arrived_figures(whole),
        "drain_s": drained_s(gathered.shares),
        **prefixed("delivery", quantiles(arriving)),
        **_limit_figures(whole),
        "knee": None,
    }
    lost = [
        f"{token}: {number}" for token, one in whole.accounts.items() for number in one.lost_samples
    ]
    return Outcome(
        figures=figures,
        endpoints=tuple(_endpoints(whole)),
        samples={**sent.samples, **arrived.samples, **({"lost": lost[:5]} if lost else {})},
        over_time={
            "accepted": _over_time(sent, length_s),
            "delivered": _over_time(arrived, length_s),
        },
        distribution=tuple(_distribution(arriving)),
        started_at=gathered.started_at,
        interrupted=gathered.interrupted,
        problem=sent.problem,
        unanswered=sent.counts.get("requests", 0) - sent.counts.get("done", 0),
        unsent=0 if gathered.lost_workers else profile.shape.slots - sent.counts.get("requests", 0),
        lost_workers=tuple(gathered.lost_workers),
        table=gathered.table,
    )


def _whole(stage: Stage, profile: Profile, gathered: Gathered) -> _Whole:
    sent, arrived = sent_by_all(gathered.shares, gathered.workers), arrived_at_all(gathered.shares)
    excuses = Excuses.of(stage.settings.dialect)
    return _Whole(
        stage=stage,
        sent=sent,
        arrived=arrived,
        accounts={
            one.token: balanced(
                sent.broadcasts, arrived.endpoints[one.token], limited=one.limited, excuses=excuses
            )
            for one in stage.endpoints
            if one.token in arrived.endpoints
        },
        limit=limit_of(profile),
        lost_workers=gathered.lost_workers,
    )


def limit_of(profile: Profile) -> Limit | None:
    """The rate limit of the limited endpoints, if there are any."""
    wanted = profile.endpoints
    return (
        Limit(most=wanted.rate_limit, window_s=wanted.rate_limit_duration_s)
        if wanted.limited
        else None
    )


def prefixed(prefix: str, values: Mapping[str, float | None]) -> Figures:
    """Quantiles under the names that figures have."""
    return {f"{prefix}_{name}": value for name, value in values.items()}


def _sent_figures(whole: _Whole) -> Figures:
    sent, counts, span = whole.sent, whole.sent.counts, max(1e-3, whole.sent.sending_s)
    refused_of_lost = sum(one.refused for one in whole.lost_workers)
    return {
        "sent": counts.get("broadcasts", 0) + whole.last_said + refused_of_lost,
        "accepted": whole.accepted + whole.last_said,
        "refused": counts.get("refused", 0) + refused_of_lost,
        "errors": counts.get("errors", 0),
        "ingest_rps": whole.accepted / span,
        "requests_rps": counts.get("done", 0) / span,
        **prefixed("ingest", quantiles(unpacked(sent.answering))),
        **prefixed("lateness", quantiles(unpacked(sent.lateness))),
        "waited": counts.get("waited", 0),
        "generator_cpu": sent.cpu_share,
    }


def _arrived_figures(whole: _Whole) -> Figures:
    """The ledger; unaccounted are the deliveries of lost workers' broadcasts, and all at their
    endpoints.
    """
    counts, accounts, arrived = whole.arrived.counts, list(whole.accounts.values()), whole.arrived
    endpoints, delivered = len(whole.stage.endpoints), sum(one.delivered for one in accounts)
    unaccounted = whole.last_said * endpoints + whole.accepted * (endpoints - len(accounts))
    until_s = whole.sent.sending_s if arrived.last_s is None else arrived.last_s
    return {
        "expected": sum(one.expected for one in accounts) + unaccounted,
        "delivered": delivered,
        "lost": sum(one.lost for one in accounts),
        "explained": sum(one.explained for one in accounts),
        "unaccounted": unaccounted,
        "unexpected": counts.get("unexpected", 0)
        + sum(one.refused_and_arrived for one in accounts),
        **{
            name: counts.get(name, 0)
            for name in ("duplicated", "out_of_order", "unverifiable", "altered", "late")
        },
        "delivery_rps": delivered / max(1e-3, until_s),
    }


def _limit_figures(whole: _Whole) -> Figures:
    limit, endpoints = whole.limit, whole.arrived.endpoints
    times = [
        endpoints[one.token].times
        for one in whole.stage.endpoints
        if one.limited and one.token in endpoints
    ]
    if limit is None or not any(times):
        return {"overshoot": None if limit else 0, "allowance_used": None, "fairness": None}
    began = min(min(one) for one in times if one)
    paces = [pace(one, began) for one in times]
    backlog = whole.accepted / max(1e-3, whole.sent.sending_s) > limit.most / limit.window_s
    shares = [used(one, limit, began) or 0.0 for one in times]
    return {
        "overshoot": max(0, *(highest(one, limit) - limit.most for one in times)),
        "allowance_used": min(shares) if backlog else None,
        "fairness": min(paces) / max(paces),
    }


def _endpoints(whole: _Whole) -> Iterator[dict[str, Any]]:
    began = min(
        (min(one.times) for one in whole.arrived.endpoints.values() if one.times), default=0.0
    )
    for one in whole.stage.endpoints:
        account, here = (
            whole.accounts.get(one.token, NO_ACCOUNT),
            whole.arrived.endpoints.get(one.token),
        )
        unaccounted = whole.last_said + (whole.accepted if here is None else 0)
        yield {
            "endpoint": one.token,
            "uid": one.uid,
            "worker": one.worker,
            "expected": account.expected + unaccounted,
            **{name: getattr(account, name) for name in ("delivered", "explained", "lost")},
            "unaccounted": unaccounted,
            "arrived": 0 if here is None else here.arrived,
            "limit": _limited(here, whole.limit, began)
            if one.limited and here is not None
            else None,
        }


def _limited(here: ArrivedAt, limit: Limit | None, began: float) -> dict[str, Any] | None:
    if limit is None:
        return None
    return {
        "most": limit.most,
        "window_s": limit.window_s,
        "highest": highest(here.times, limit),
        "windows": curve(here.times, limit, began),
    }


def _over_time(side: Sent | Arrived, length_s: float) -> list[dict[str, Any]]:
    whole = OverTime(length_s=length_s)
    whole.add(side.over_time)
    return [dict(one) for one in whole.told()]


def _distribution(latencies: Any) -> list[dict[str, float]]:
    if not latencies.get_total_count():
        return []
    return [
        {"percentile": share, "seconds": latencies.get_value_at_percentile(share) / 1e6}
        for share in DISTRIBUTION
    ]
