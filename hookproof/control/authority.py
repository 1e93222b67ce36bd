"""The authority of a URL, and what a Host header holds, in their grammar (RFC 3986, section 3.2).

`urllib.parse` takes what stands before the last `]` for the host, whatever stands around it, and
drops tabs and line breaks: what it splits may lead elsewhere than other software, and people, read.
"""

import re
from typing import Final
from urllib.parse import SplitResult

_AUTHORITY: Final = re.compile(
    r"""
    (?: [^\[\]@]* @ )?                                      # user information
    (?: \[ [0-9A-Za-z:.%_~-]+ \] | [^\x00-\x20\x7f\[\]@:\\^`{|}<>"]+ )   # an address, or a name
    (?: : [0-9]* )?
    """,
    re.VERBOSE,
)


def is_authority(text: str) -> bool:
    """Whether a text is a host, with user information and a port or without."""
    return _AUTHORITY.fullmatch(text) is not None


def is_well_formed(url: str, parts: SplitResult) -> bool:
    """Whether the authority of a URL that was split is one, and stands in the URL as it is."""
    return is_authority(parts.netloc) and parts.netloc in url
