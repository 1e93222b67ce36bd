"""Text of strangers for terminals and messages: no escape sequences, no passwords of URLs."""

import re
from typing import Final

HIDDEN: Final = "***"
# In characters of a line. One that quotes a text of any length loses its middle: what it begins
# with says what is wrong, and its end what to do.
LONGEST_LINE: Final = 1000
KEPT_AT_THE_END: Final = 300
# What stands before the host in a URL (RFC 3986, section 3.2.1), up to the last @ of it.
_USER_INFORMATION: Final = re.compile(r"(?<=//)[^/?#\s]*@")


def printable(text: str) -> str:
    """A text in one line, whose control characters and lone surrogates are written as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def printable_lines(text: str) -> str:
    """The same for a text that may contain line breaks and tabs."""
    return "\n".join(
        "\t".join(map(printable, line.split("\t")))
        for line in text.replace("\r\n", "\n").split("\n")
    )


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def without_passwords(text: str) -> str:
    """A text in which no URL shows a user and a password."""
    return _USER_INFORMATION.sub(f"{HIDDEN}@", text)


def message_text(text: str) -> str:
    """A message as it is shown to a person, whoever wrote parts of it, and how long they are."""
    shown = printable_lines(without_passwords(text))
    return shown if len(shown) <= LONGEST_LINE else "\n".join(map(cut_line, shown.split("\n")))


def cut_line(line: str) -> str:
    """A line of at most LONGEST_LINE characters; it says how many are left out."""
    if len(line) <= LONGEST_LINE:
        return line
    said = f" …({len(line) - LONGEST_LINE:,} characters more)… "
    begin = LONGEST_LINE - KEPT_AT_THE_END - len(said)
    return f"{line[:begin]}{said}{line[-KEPT_AT_THE_END:]}"
