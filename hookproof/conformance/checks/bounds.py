"""The bounds of a dialect, at whose edges and beyond which requests are tried (section 8)."""

from typing import Final

from hookproof.spec.dialect.model import Dialect

NO_SIZE_LIMIT: Final = "The dialect has no size limit."
NO_LONGEST: Final = "The dialect names no longest texts."
NO_DEEPEST: Final = "The dialect has no deepest nesting."
NO_LARGEST_PAGE: Final = "The dialect has no largest page."


def bounds(dialect: Dialect, field: str) -> tuple[int | None, ...]:
    """What a number or a text in this field is measured by; without a field, what a body is."""
    rules = dialect.requests
    if not field:
        return (rules.size_limit,)
    names = (f"{field}_{edge}" for edge in ("minimum", "maximum"))
    numbers = [getattr(rules, name) for name in names if hasattr(type(rules), name)]
    return (*numbers, rules.text_maximum_of.get(field))
