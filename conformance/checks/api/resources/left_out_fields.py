"""Section 4.6: fields that an update of a portal link leaves out."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import has_value, sent, shown
from hookproof.conformance.observations.resources.portal_link import PortalLinkUpdate
from hookproof.spec.dialect.vocabulary import LeftOut

FIELDS: Final = ("name", "owner_id", "can_manage_endpoint", "auth_type")
# What may show the same value when it was cleared: a default, or a name that every link needs.
NEVER_EMPTY: Final = ("name", "can_manage_endpoint", "auth_type")


@check("4.6-15")
def a_field_that_is_left_out_is_kept_or_cleared(
    updated: PortalLinkUpdate, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says; what cannot be empty may show any value when it was cleared."""
    before, update, after = updated.before, updated.update, updated.after
    rule = context.dialect.requests.update_left_out
    if before is None or update is None or after is None or not rule.decided:
        return
    if not (update.succeeded and shown(before) and shown(after)):
        return
    for field in FIELDS:
        was, is_now = shown(before).get(field), shown(after).get(field)
        # What had no value shows no difference.
        if field not in sent(update) and has_value(was) and was is not False:
            outcome = LeftOut.KEPT if is_now == was else LeftOut.CLEARED
            if is_now == was and not rule.allows(outcome) and field in NEVER_EMPTY:
                continue
            yield judged(
                outcome in rule.allowed,
                "4.6-15",
                f"An update that leaves out {field} does not treat it as the dialect says",
                expected=" or ".join(rule.allowed),
                actual=f"{was!r} became {is_now!r}",
                exchanges=[before, update, after],
            )
