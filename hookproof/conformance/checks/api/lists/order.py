"""Sections 4.4 and 4.7: the order of a list."""

from collections.abc import Iterator
from typing import Any, Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, json_text, judged, violated
from hookproof.conformance.observations.lists.walk import Item, PageWalk
from hookproof.conformance.observations.timestamp import unix_seconds
from hookproof.spec.dialect.vocabulary import SortKey

ASCENDING, DESCENDING = "ASC", "DESC"
DEFAULT_ORDER: Final = {"listPortalLinks": "4.4-7", "listSources": "4.7-7"}
OPPOSITE: Final = {"listPortalLinks": "4.4-8", "listSources": "4.7-8"}
SORT_KEY: Final = {"listPortalLinks": "4.4-15", "listSources": "4.7-14"}


@check(*DEFAULT_ORDER.values(), *OPPOSITE.values())
def sort_is_descending_by_default_and_ascending_is_its_reverse(
    observed: PageWalk, context: CheckContext
) -> Iterator[Judgement]:
    """Resources that the sort key does not tell apart may change places.

    A sorted list on one page that has room for all lacks none of them. A full page may have others
    behind it, where the walk without sort ended early (2.2-10). What a filter leaves is in the same
    order as in the whole list, if it is known what that is by; what it leaves is judged elsewhere.
    """
    walk = observed.walked()
    if walk is None or not walk.complete or walk.sort is None:
        return
    if walk.leaves_out and not context.dialect.paging.sort_key.decided:
        return  # equals in it may change places, and nobody knows which they are
    shown = set(walk.uids)
    listed = [item for item in walk.listed if not walk.leaves_out or str(item.get("uid")) in shown]
    missing = sorted({str(item.get("uid")) for item in listed} - shown)
    has_room = (walk.per_page or 0) > max(len(listed), len(walk.uids))
    if missing and len(walk.pages) == 1 and has_room:
        yield violated(
            OPPOSITE[walk.operation_id],
            "A sorted list lacks a resource",
            expected="the same resources in both orders",
            actual=f"without {json_text(missing)} for sort={walk.sort}",
            exchanges=walk.exchanges(),
        )
    if sorted(walk.uids) != sorted(str(item.get("uid")) for item in listed):
        return  # what is missing on more pages or comes twice is judged by section 2.2
    keys = [_key(item, context) for item in listed]
    actual = [_key(item, context) for page in walk.pages for item in page.items]
    ascending = walk.sort == ASCENDING
    yield judged(
        actual == (keys[::-1] if ascending else keys),
        (OPPOSITE if ascending else DEFAULT_ORDER)[walk.operation_id],
        "ASC is not the reverse of DESC"
        if ascending
        else "Without sort the order is not that of DESC",
        expected=keys[::-1] if ascending else keys,
        actual=actual,
        exchanges=walk.exchanges(),
    )


@check(*SORT_KEY.values())
def the_order_is_that_of_the_sort_key(
    observed: PageWalk, context: CheckContext
) -> Iterator[Judgement]:
    """Names may be ordered with regard to case or without: the document does not say."""
    walk = observed.walked()
    if walk is None or walk.leaves_out or not context.dialect.paging.sort_key.decided:
        return
    keys = [_key(item, context) for page in walk.pages for item in page.items]
    texts = [key for key in keys if isinstance(key, str)]
    moments = [key for key in keys if isinstance(key, float)]
    if len(keys) not in (len(texts), len(moments)):
        return
    readings: list[list[Any]] = [texts, [text.casefold() for text in texts]] if texts else [moments]
    yield judged(
        any(reading == sorted(reading, reverse=walk.sort != ASCENDING) for reading in readings),
        SORT_KEY[walk.operation_id],
        "The list is not in the order of the dialect's sort key",
        expected=f"{walk.sort or DESCENDING} by {context.dialect.paging.sort_key.value}",
        actual=keys,
        exchanges=walk.exchanges(),
    )


def _key(item: Item, context: CheckContext) -> Any:
    """What a resource is sorted by; by its uid where the dialect does not say."""
    sort_key, forms = context.dialect.paging.sort_key, context.dialect.representation.timestamp
    if not sort_key.decided:
        return item.get("uid")
    value = item.get(sort_key.value)
    if sort_key.value is SortKey.CREATED_AT and forms.decided:
        return unix_seconds(value, forms.value)
    return value
