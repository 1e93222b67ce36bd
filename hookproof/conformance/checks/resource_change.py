"""Whether a request that should have had no effect had one: what it asked for is looked for.

What else differs between two looks at a resource need not be its doing: counts and states follow
from deliveries, the endpoints of a portal link from what others create, and jobs of the service
mark or remove secrets that earlier rolls have replaced.
"""

from collections.abc import Mapping
from typing import Any

from hookproof.conformance.checks.agreement import differences
from hookproof.conformance.checks.json_objects import objects_in
from hookproof.conformance.checks.portal_links import settings
from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import has_value, sent, shown
from hookproof.spec.dialect.model import Representation


def effect_of(
    tried: Exchange,
    before: Exchange | None,
    after: Exchange | None,
    context: CheckContext,
    authorized: Exchange | None = None,
) -> str:
    """What a roll or an update has done, in words: its secret, another new one or the end of the
    current one; the settings that it sent. Empty if nothing, or if an answer shows no resource.

    `authorized` is an earlier roll that was allowed; what it brought in may show later.
    """
    if before is None or after is None or not shown(before) or not shown(after):
        return ""
    if tried.operation_id == "expireEndpointSecret":
        return _rolled(tried, before, after, authorized, context.dialect.representation.mask)
    if tried.operation_id == "updatePortalLink":
        return _updated(tried, before, after, context.dialect.representation)
    return ""


def _rolled(
    tried: Exchange, before: Exchange, after: Exchange, authorized: Exchange | None, mask: str
) -> str:
    had, has, asked_for = _secrets(before), _secrets(after), sent(tried).get("secret")
    of_authorized = None if authorized is None else sent(authorized).get("secret")
    known_values = [of_authorized, *(secret.get("value") for secret in had)]
    known_uids = [secret.get("uid") for secret in (*had, *_secrets(authorized))]
    current_uids = [
        secret.get("uid")
        for secret in had
        if not has_value(secret.get("expires_at")) and of_authorized in (None, secret.get("value"))
    ]
    for secret in has:
        value, uid = secret.get("value"), secret.get("uid")
        if has_value(value) and value == asked_for and value not in known_values:
            return "the secret that it sent is among those of the endpoint"
        # What a roll ends may get another uid.
        tells = has_value(value) and value != mask
        if uid not in known_uids and not (tells and value in known_values):
            return f"the endpoint has a new secret, {uid}"
        if has_value(secret.get("expires_at")) and uid in current_uids:
            return f"the secret {uid} has an end now"
    return ""


def _updated(tried: Exchange, before: Exchange, after: Exchange, forms: Representation) -> str:
    had, has = settings(shown(before)), settings(shown(after))
    done = [
        name
        for name, value in sent(tried).items()
        if name in has
        and not differences([name], has, {name: value}, forms)
        and differences([name], had, has, forms)
    ]
    return f"{', '.join(done)} as it was sent" if done else ""


def _secrets(exchange: Exchange | None) -> list[Mapping[str, Any]]:
    return [] if exchange is None else objects_in(shown(exchange).get("secrets"))
