"""Text of strangers for terminals and messages: no escape sequences, no passwords of URLs."""

import re
from typing import Final

HIDDEN: Final = "***"
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


def without_passwords(text: str) -> str:
    """A text in which no URL shows a user and a password."""
    return _USER_INFORMATION.sub(f"{HIDDEN}@", text)


def message_text(text: str) -> str:
    """A message as it is shown to a person, whoever wrote parts of it."""
    return printable_lines(without_passwords(text))
