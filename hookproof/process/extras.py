"""The extras of the distribution, which only some commands need, and how to install one."""

import json
import shlex
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from hookproof.process.exit_codes import CommandError

# The modules that an extra brings; `hookproof` alone has none of them.
EXTRAS: Final = {
    "check": ("schemathesis", "hypothesis", "covertable", "aiosmtpd", "requests"),
    "load": ("locust", "hdrh", "requests"),
    "mcp": ("mcp",),
}


def is_installed(extra: str) -> bool:
    return all(find_spec(module) is not None for module in EXTRAS[extra])


def require_extra(extra: str, what: str) -> None:
    """Raise CommandError, which says what to install for `what`, if the extra is missing."""
    if not is_installed(extra):
        raise CommandError(
            f"`{what}` needs packages that are not installed: {how_to_install(extra)}"
        )


def how_to_install(extra: str) -> str:
    """A command of pip that gets the extra from where hookproof itself was installed from.

    It never names the project alone: an index may have something else under that name.
    """
    origin = _origin()
    if origin is None:
        return f"in a clone of hookproof, pip install '.[{extra}]'"
    parts = urlsplit(origin)
    if parts.scheme == "file":
        return f"pip install {shlex.quote(f'{unquote(parts.path)}[{extra}]')}"
    return f"pip install {shlex.quote(f'hookproof[{extra}] @ {origin}')}"


def _origin() -> str | None:
    """The folder, file or repository from which hookproof was installed, as a URL (PEP 610).

    None if it came from an index, or if nobody wrote down where it came from. A folder in which we
    are is `.`, as people write it.
    """
    try:
        written = json.loads(distribution("hookproof").read_text("direct_url.json") or "{}")
        url: str = written.get("url", "")
        vcs = written.get("vcs_info")
        if vcs:
            return f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
        if urlsplit(url).scheme == "file" and Path(unquote(urlsplit(url).path)) == Path.cwd():
            return "file:."
    except (PackageNotFoundError, OSError, ValueError, KeyError, AttributeError, TypeError):
        return None
    return url or None
