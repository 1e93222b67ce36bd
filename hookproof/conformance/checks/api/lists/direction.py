"""Sections 4.4 and 4.7: the direction prev without a cursor."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, json_text, judged
from hookproof.conformance.observations.answer import items, refused, was_successful
from hookproof.conformance.observations.lists.parameters import BackFromNowhere
from hookproof.spec.dialect.vocabulary import PrevWithoutCursor

BACK_FROM_NOWHERE: Final = {"listPortalLinks": "4.4-17", "listSources": "4.7-16"}


@check(*BACK_FROM_NOWHERE.values())
def prev_without_a_cursor_is_answered_as_the_dialect_says(
    request: BackFromNowhere, context: CheckContext
) -> Iterator[Judgement]:
    """Which page came shows in its only resource; a refusal may have any status."""
    tried, rule = request.tried, context.dialect.paging.prev_without_cursor
    if tried is None or not rule.decided or request.first == request.last:
        return
    if not refused(tried) and not was_successful(tried):
        return
    uids = [item.get("uid") for item in items(tried)]
    outcomes = {
        PrevWithoutCursor.REFUSED: refused(tried),
        PrevWithoutCursor.FIRST_PAGE: uids[:1] == [request.first],
        PrevWithoutCursor.LAST_PAGE: uids[-1:] == [request.last],
        PrevWithoutCursor.EMPTY_PAGE: not refused(tried) and not uids,
    }
    yield judged(
        any(outcomes[allowed] for allowed in rule.allowed),
        BACK_FROM_NOWHERE[request.operation_id],
        "Direction prev without a cursor is not answered as the dialect says",
        expected=" or ".join(rule.allowed),
        actual=f"{tried.status} with {json_text(uids)}, of a list from {request.first} to"
        f" {request.last}",
        exchanges=[tried],
    )
