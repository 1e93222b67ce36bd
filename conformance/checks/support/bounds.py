"""The bounds of a dialect, at whose edges and beyond which requests are tried (section 8)."""

from typing import Final

from hookproof.spec.dialect.groups.requests import FREE_TEXTS
from hookproof.spec.dialect.model import Dialect

NO_SIZE_LIMIT: Final = "The dialect has no size limit."
NO_LONGEST: Final = "The dialect names no longest texts."
NO_DEEPEST: Final = "The dialect has no deepest nesting."
NO_LARGEST_PAGE: Final = "The dialect has no largest page."


def bounds(dialect: Dialect) -> tuple[int | None, ...]:
    """Every bound of a number or of a body that a request is measured by."""
    rules = dialect.requests
    return (
        rules.size_limit,
        rules.http_timeout_minimum,
        rules.http_timeout_maximum,
        rules.rate_limit_maximum,
        rules.rate_limit_duration_maximum,
        rules.expiration_maximum,
        rules.expiration_minimum,
        *(rules.text_maximum_of.get(name) for name in FREE_TEXTS),
    )
