"""The rules by which a curl command sends exactly what was sent before.

The commands themselves are written where they are shown: for a delivery in the dashboard, for an
exchange with a target in the reports of `hookproof check`. Each brings its own quoting.
"""

from collections.abc import Callable
from typing import Final

# Without them curl would remove `..` from a path and expand brackets and braces in it.
URL_AS_IT_IS: Final = ("--path-as-is", "-g")


def header_argument(name: str, value: str, quote: Callable[[str], str]) -> str:
    """The option for one header; `Name:` would make curl leave it out, `Name;` sends it empty."""
    return f"-H {quote(f'{name}: {value}' if value else f'{name};')}"


def omitted_header_argument(name: str, quote: Callable[[str], str]) -> str:
    """The option that keeps curl from adding a header of its own."""
    return f"-H {quote(f'{name}:')}"


def body_argument(quoted_body: str) -> str:
    """The option for a body.

    --data and --data-binary would read a file if the body begins with @.
    """
    return f"--data-raw {quoted_body}"
