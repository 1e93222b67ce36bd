"""Whether a resource was changed by a request that should have had no effect."""

from typing import Any

from hookproof.conformance.checks.api.resources.endpoint import CONFIGURATION
from hookproof.conformance.checks.api.resources.portal_link import members, settings
from hookproof.conformance.checks.support.agreement import differences
from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import SHOWS, Kind, shown


def has_changed(before: Exchange | None, after: Exchange | None, context: CheckContext) -> bool:
    """Whether two answers about one resource differ in what requests set; counts and states follow
    from deliveries. False if one of them shows no resource.
    """
    if before is None or after is None or not shown(before) or not shown(after):
        return False
    left, right = _set_by_requests(before), _set_by_requests(after)
    return bool(differences(left, left, right, context.dialect.representation))


def _set_by_requests(exchange: Exchange) -> dict[str, Any]:
    if SHOWS[exchange.operation_id or ""] is Kind.PORTAL_LINK:
        return {**settings(shown(exchange)), "endpoints": sorted(members(exchange))}
    return {name: shown(exchange).get(name) for name in (*CONFIGURATION, "secrets")}
