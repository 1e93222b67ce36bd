"""One run's outcome: both sides of the ledger made into the figures of the report."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hdrh.histogram import HdrHistogram

from load.allowance import Limit, curve, highest, pace, used
from load.balance import Account, Excuses, balanced
from load.latency import quantiles
from load.profile import Profile
from load.sending import Sent
from load.sidecar_api import Arrived
from load.stage import Stage

DISTRIBUTION: Final = (0, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.99, 100)
Figures = dict[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run came to: its figures by name, and all that the report shows beside them, ready for JSON."""

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


def outcome_of(stage: Stage, profile: Profile, sent: Sent, arrived: Arrived) -> Outcome:
    """Balance a run that is over."""
    excuses, limit = Excuses.of(stage.site.dialect), limit_of(profile)
    accounts = {
        one.token: balanced(sent.broadcasts, arrived.endpoints[one.token], limited=one.limited, excuses=excuses)
        for one in stage.endpoints
    }
    arriving: Any = HdrHistogram.decode(arrived.latencies)
    figures = {
        **_sent_figures(sent),
        **_arrived_figures(sent, arrived, list(accounts.values())),
        **prefixed("delivery", quantiles(arriving)),
        **_limit_figures(stage, sent, arrived, limit),
        "knee": None,
    }
    lost = [f"{token}: {number}" for token, one in accounts.items() for number in one.lost_samples]
    return Outcome(
        figures=figures,
        endpoints=tuple(_endpoints(stage, arrived, accounts, limit)),
        samples={**sent.samples, **arrived.samples, **({"lost": lost[:5]} if lost else {})},
        over_time={"accepted": sent.over_time, "delivered": arrived.over_time},
        distribution=tuple(_distribution(arriving)),
        started_at=sent.started_at,
        interrupted=sent.interrupted,
        problem=sent.problem,
        unanswered=sent.counts.get("requests", 0) - sent.counts.get("done", 0),
        unsent=profile.shape.slots - sent.counts.get("requests", 0),
    )


def limit_of(profile: Profile) -> Limit | None:
    """The rate limit of the limited endpoints, if there are any."""
    wanted = profile.endpoints
    return Limit(most=wanted.rate_limit, window_s=wanted.rate_limit_duration_s) if wanted.limited else None


def prefixed(prefix: str, values: Mapping[str, float | None]) -> Figures:
    """Quantiles under the names that figures have."""
    return {f"{prefix}_{name}": value for name, value in values.items()}


def _sent_figures(sent: Sent) -> Figures:
    counts, span = sent.counts, max(1e-3, sent.ended_at - sent.started_at)
    return {
        "sent": len(sent.broadcasts),
        "accepted": counts.get("accepted", 0),
        "refused": counts.get("refused", 0),
        "errors": counts.get("errors", 0),
        "ingest_rps": counts.get("accepted", 0) / span,
        "requests_rps": counts.get("done", 0) / span,
        **prefixed("ingest", quantiles(HdrHistogram.decode(sent.answering))),
        **prefixed("lateness", quantiles(HdrHistogram.decode(sent.lateness))),
        "waited": counts.get("waited", 0),
        "generator_cpu": sent.cpu_share,
    }


def _arrived_figures(sent: Sent, arrived: Arrived, accounts: list[Account]) -> Figures:
    counts, delivered = arrived.counts, sum(one.delivered for one in accounts)
    until = arrived.last_at or sent.ended_at
    return {
        "expected": sum(one.expected for one in accounts),
        "delivered": delivered,
        "lost": sum(one.lost for one in accounts),
        "explained": sum(one.explained for one in accounts),
        "unexpected": counts.get("unexpected", 0) + sum(one.refused_and_arrived for one in accounts),
        **{name: counts.get(name, 0) for name in ("duplicated", "out_of_order", "unverifiable", "altered", "late")},
        "delivery_rps": delivered / max(1e-3, until - sent.started_at),
        "drain_s": max(0.0, until - sent.ended_at) if arrived.last_at is not None else None,
    }


def _limit_figures(stage: Stage, sent: Sent, arrived: Arrived, limit: Limit | None) -> Figures:
    times = [arrived.endpoints[one.token].times for one in stage.endpoints if one.limited]
    if limit is None or not any(times):
        return {"overshoot": None if limit else 0, "allowance_used": None, "fairness": None}
    began = min(min(one) for one in times if one)
    paces = [pace(one, began) for one in times]
    wanted = sent.counts.get("accepted", 0) / max(1e-3, sent.ended_at - sent.started_at)
    backlog = wanted > limit.most / limit.window_s
    shares = [used(one, limit, began) or 0.0 for one in times]
    return {
        "overshoot": max(0, *(highest(one, limit) - limit.most for one in times)),
        "allowance_used": min(shares) if backlog else None,
        "fairness": min(paces) / max(paces),
    }


def _endpoints(
    stage: Stage, arrived: Arrived, accounts: Mapping[str, Account], limit: Limit | None
) -> list[dict[str, Any]]:
    first = [min(arrived.endpoints[one.token].times, default=None) for one in stage.endpoints if one.limited]
    began = min((time for time in first if time is not None), default=0.0)
    told = []
    for one in stage.endpoints:
        account, here = accounts[one.token], arrived.endpoints[one.token]
        row: dict[str, Any] = {
            "endpoint": one.token,
            "uid": one.uid,
            **{name: getattr(account, name) for name in ("expected", "delivered", "explained", "lost")},
            "arrived": here.arrived,
            "limit": None,
        }
        if one.limited and limit is not None:
            row["limit"] = {
                "most": limit.most,
                "window_s": limit.window_s,
                "highest": highest(here.times, limit),
                "windows": curve(here.times, limit, began),
            }
        told.append(row)
    return told


def _distribution(latencies: Any) -> list[dict[str, float]]:
    if not latencies.get_total_count():
        return []
    return [{"percentile": share, "seconds": latencies.get_value_at_percentile(share) / 1e6} for share in DISTRIBUTION]
