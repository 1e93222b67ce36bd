"""Constraints on the values of a dialect's fields, beyond their types."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Placeholder:
    """The text contains `{name}`."""

    name: str


@dataclass(frozen=True, slots=True)
class Range:
    """The number is between the two, both included."""

    minimum: float
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """The text matches a regular expression, which `words` describe."""

    pattern: str
    words: str


SUCCESS: Final = Range(200, 299)
REFUSAL: Final = Range(400, 499)
STATUS: Final = Range(200, 499)
COUNT: Final = Range(1)
AMOUNT: Final = Range(0)
# What is sent to a target is not shorter, or less deep.
TEXT_LENGTH: Final = Range(40)
NESTING: Final = Range(16, 127)
HEADER: Final = Shape(r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", "the name of a header")
MEDIA_TYPE: Final = Shape(
    r"^[!#$&^_.+0-9A-Za-z-]+/[!#$&^_.+0-9A-Za-z-]+$", "a media type without parameters"
)
PARAMETER: Final = Shape(r"^[0-9A-Za-z._~-]+$", "the name of a query parameter")
ONE_WORD: Final = Shape(r"^[0-9a-z][0-9a-z-]*$", "a word of small letters, digits and hyphens")
IDENTIFIER: Final = Shape(
    r"^([0-9A-Za-z_:~-]|\[[0-9A-Za-z_-]+\](\{[0-9]{1,3}(,[0-9]{1,3})?\})?)+$",
    "letters, digits, _, :, ~, - and sets of them such as [0-9a-z]{22} or [0-9a-z]{10,30}",
)
PRINTABLE: Final = Shape(r"^[ -~]*$", "printable ASCII text")
HEADER_TEXT: Final = Shape(
    r"^[!-~]([ !-~]*[!-~])?$", "printable ASCII text without blanks at its ends"
)
