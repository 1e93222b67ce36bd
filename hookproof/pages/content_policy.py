"""The Content Security Policy of a report page, which is one file without a server.

It permits the page's own style and script by their hashes (CSP level 3, section 6.7.3) and nothing
else: what a target wrote cannot be executed, nor styled, even if it were not escaped.
"""

import base64
import hashlib
from collections.abc import Sequence
from html import escape


def policy_element(*, styles: Sequence[str], scripts: Sequence[str] = ()) -> str:
    """The meta element for a page whose style and script elements have exactly these texts."""
    directives = (
        "default-src 'none'",
        f"style-src {_sources(styles)}",
        f"script-src {_sources(scripts)}",
        "base-uri 'none'",
        "form-action 'none'",
    )
    content = escape("; ".join(directives), quote=False)
    return f'<meta http-equiv="Content-Security-Policy" content="{content}">'


def _sources(texts: Sequence[str]) -> str:
    hashes = (hashlib.sha256(text.encode()).digest() for text in texts)
    return " ".join(f"'sha256-{base64.b64encode(each).decode()}'" for each in hashes) or "'none'"
