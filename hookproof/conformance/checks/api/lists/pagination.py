"""Section 2.2: the pagination object, on every page of every list."""

import re
from collections.abc import Iterator
from typing import Any, Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import LISTS, has_value, items, pagination, shown
from hookproof.spec.dialect.vocabulary import CursorForm

FLAGS: Final = {"2.2-3": "has_next_page", "2.2-4": "has_prev_page"}
CURSORS: Final = {"2.2-6": "next_page_cursor", "2.2-7": "prev_page_cursor"}


@check("2.2-1", "2.2-2")
def a_list_holds_content_and_pagination(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """An array and an object."""
    for member, kind, requirement in (("content", list, "2.2-1"), ("pagination", dict, "2.2-2")):
        if _is_page(exchange):
            yield judged(
                isinstance(shown(exchange).get(member), kind),
                requirement,
                f"The data of a list has no {member} of its type",
                expected="an array" if kind is list else "an object",
                actual=shown(exchange).get(member, "absent"),
                exchanges=[exchange],
            )


@check(*FLAGS, "2.2-5")
def pages_have_both_flags_and_per_page(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """Two booleans and an integer; `true` is not an integer."""
    for requirement, member in {**FLAGS, "2.2-5": "per_page"}.items():
        if _is_page(exchange):
            value = pagination(exchange).get(member, "absent")
            fits = isinstance(value, bool) if requirement in FLAGS else _is_integer(value)
            yield judged(
                fits,
                requirement,
                f"The pagination of a list has no {member} of its type",
                expected="a boolean" if requirement in FLAGS else "an integer",
                actual=value,
                exchanges=[exchange],
            )


@check(*CURSORS)
def a_cursor_is_a_string_wherever_it_has_a_value(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """Null, empty and absent cursors have no value."""
    for requirement, member in CURSORS.items():
        cursor = pagination(exchange).get(member)
        if _is_page(exchange) and has_value(cursor):
            yield judged(
                isinstance(cursor, str),
                requirement,
                f"{member} is not a string",
                expected="a string",
                actual=cursor,
                exchanges=[exchange],
            )


@check("2.2-8")
def a_page_holds_no_more_than_its_per_page(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """per_page counts what a page can hold."""
    most = pagination(exchange).get("per_page")
    if _is_page(exchange) and isinstance(most, int):
        yield judged(
            len(items(exchange)) <= most,
            "2.2-8",
            "A page holds more resources than its per_page",
            expected=f"at most {most}",
            actual=len(items(exchange)),
            exchanges=[exchange],
        )


@check("2.2-16")
def a_cursor_has_the_dialects_form(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """Any text is an opaque cursor; an identifier has the form of identifiers."""
    form = context.dialect.paging.cursor_form
    listed = LISTS.get(exchange.operation_id or "")
    patterns = context.dialect.representation.identifier_patterns(listed or "")
    if listed is None or not form.decided or not patterns:
        return
    for member in CURSORS.values():
        cursor = pagination(exchange).get(member)
        if _is_page(exchange) and isinstance(cursor, str) and cursor:
            fits = CursorForm.OPAQUE in form.allowed or any(
                re.search(pattern, cursor) for pattern in patterns
            )
            yield judged(
                fits,
                "2.2-16",
                f"{member} has another form than the dialect's",
                expected=form.value.value,
                actual=cursor,
                exchanges=[exchange],
            )


def _is_page(exchange: Exchange) -> bool:
    return exchange.operation_id in LISTS and exchange.succeeded


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
