"""Whether a resource was changed by a request that should have had no effect."""

from typing import Any

from hookproof.conformance.checks.api.resources.endpoint import CONFIGURATION
from hookproof.conformance.checks.api.resources.portal_link import settings
from hookproof.conformance.checks.support.agreement import differences
from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import SHOWS, Kind, shown
from hookproof.spec.dialect.model import Representation


def has_changed(before: Exchange | None, after: Exchange | None, context: CheckContext) -> bool:
    """Whether two answers about one resource differ in what requests set; counts and states follow
    from deliveries, the endpoints of a portal link from what others create, and a secret that is
    gone has expired. False if one of them shows no resource.
    """
    if before is None or after is None or not shown(before) or not shown(after):
        return False
    forms = context.dialect.representation
    left, right = _set_by_requests(before), _set_by_requests(after)
    if "secrets" in right:
        left["secrets"] = _shown_before(left["secrets"], right["secrets"], forms)
    return bool(differences(left, left, right, forms))


def _shown_before(secrets: Any, later: Any, forms: Representation) -> Any:
    """Those of the later secrets that were there: a request that rolls them adds one."""
    if not isinstance(secrets, list) or not isinstance(later, list):
        return secrets
    name = "secret"
    return [
        one
        for one in later
        if any(not differences([name], {name: one}, {name: other}, forms) for other in secrets)
    ]


def _set_by_requests(exchange: Exchange) -> dict[str, Any]:
    if SHOWS[exchange.operation_id or ""] is Kind.PORTAL_LINK:
        return settings(shown(exchange))
    return {name: shown(exchange).get(name) for name in (*CONFIGURATION, "secrets")}
