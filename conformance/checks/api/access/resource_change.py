"""Whether a resource was changed by a request that should have had no effect."""

from hookproof.conformance.checks.api.resources.endpoint import CONFIGURATION
from hookproof.conformance.checks.api.resources.portal_link import members, settings
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import SHOWS, Kind, shown


def has_changed(before: Exchange, after: Exchange) -> bool:
    """Whether two answers about one resource differ in what requests set; counts and states follow
    from deliveries.
    """
    return _set_by_requests(before) != _set_by_requests(after)


def _set_by_requests(exchange: Exchange) -> dict[str, object]:
    if SHOWS[exchange.operation_id or ""] is Kind.PORTAL_LINK:
        return {**settings(shown(exchange)), "endpoints": sorted(members(exchange))}
    return {name: shown(exchange).get(name) for name in (*CONFIGURATION, "secrets")}
