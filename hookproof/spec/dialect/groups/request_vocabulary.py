"""The closed word lists of what becomes of requests on which the document is silent.

Like those in `..vocabulary`, each class is the possible answers to one kind of question.
"""

from enum import StrEnum


class Acceptance(StrEnum):
    """Whether the service carries out a request of some kind, or refuses it."""

    TAKEN = "taken"
    REFUSED = "refused"


class PrevWithoutCursor(StrEnum):
    """The answer to a list request with the direction prev and no cursor (sections 4.4 and 4.7)."""

    FIRST_PAGE = "first_page"
    LAST_PAGE = "last_page"
    EMPTY_PAGE = "empty_page"
    REFUSED = "refused"
