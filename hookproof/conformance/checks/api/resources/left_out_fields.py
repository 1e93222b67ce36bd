"""Section 4.6: fields that an update of a portal link leaves out."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, json_text, judged
from hookproof.conformance.observations.answer import has_value, sent, shown
from hookproof.conformance.observations.resources.portal_link import (
    ParallelUpdates,
    PortalLinkUpdate,
)
from hookproof.spec.dialect.vocabulary import LeftOut
from hookproof.spec.field_roles import Role, fields_with

FIELDS: Final = fields_with("PortalLink", Role.GIVEN)
# What may be empty when it was cleared; others show a default, or a name that every link needs.
MAY_BE_EMPTY: Final = "owner_id"


@check("4.6-15")
def a_field_that_is_left_out_is_kept_or_cleared(
    updated: PortalLinkUpdate | ParallelUpdates, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says; what cannot be empty may show any value when it was cleared."""
    if isinstance(updated, ParallelUpdates):
        yield from kept_beside_others(updated, context)
        return
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
            if is_now == was and not rule.allows(outcome) and field != MAY_BE_EMPTY:
                continue
            yield judged(
                outcome in rule.allowed,
                "4.6-15",
                f"An update that leaves out {field} does not treat it as the dialect says",
                expected=" or ".join(rule.allowed),
                actual=f"{json_text(was)} became {json_text(is_now)}",
                exchanges=[before, update, after],
            )


def kept_beside_others(updated: ParallelUpdates, context: CheckContext) -> Iterator[Judgement]:
    """Whether updates at once keep each other's fields: where the dialect keeps what an update
    leaves out, the order of two updates of different fields makes no difference.

    A field that is not even changed by an update of it alone shows nothing.
    """
    if context.dialect.requests.update_left_out.allowed != (LeftOut.KEPT,):
        return
    before, after = updated.before, updated.after
    for field in updated.fields:
        update, (alone, after_alone) = updated.at_once(field), updated.alone(field)
        if not (before and update and after and alone and after_alone):
            continue
        if not (update.succeeded and alone.succeeded and shown(after)):
            continue
        if shows_value(before, field, update) or not shows_value(after_alone, field, alone):
            continue
        yield judged(
            shows_value(after, field, update),
            "4.6-15",
            f"An update that leaves out {field} takes back what another one gives it meanwhile",
            expected=sent(update).get(field),
            actual=shown(after).get(field),
            exchanges=[before, update, after],
        )


def shows_value(answer: Exchange, field: str, update: Exchange) -> bool:
    """Whether an answer shows what an update gives a field; endpoints may be shown among others."""
    value, given = shown(answer).get(field), sent(update).get(field)
    if isinstance(given, list):
        return isinstance(value, list) and all(each in value for each in given)
    return value == given
