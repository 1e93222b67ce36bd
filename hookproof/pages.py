"""What the HTML reports have in common: templates, styles as classes, and a policy by hashes.

Nothing here imports anything of the project.
"""

import base64
import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from html import escape

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def page_templates(package: str, finalize: Callable[[object], object] | None = None) -> Environment:
    """The templates in the folder of a package.

    What they print is escaped, so that no stranger's text is markup, and `finalize` is applied to
    it. Each is compiled once, which takes longer than to fill it in.
    """
    return Environment(
        loader=PackageLoader(package, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )


def page_source(templates: Environment, *names: str) -> str:
    """These files of a page, one after the other, as they are."""
    assert templates.loader is not None
    loader = templates.loader
    return "".join(f"\n{loader.get_source(templates, name)[0]}" for name in names)


class StyleRules:
    """Collects declarations while a page is rendered; each gets a class of its own.

    A policy by hashes forbids style attributes.
    """

    def __init__(self) -> None:
        self._classes: dict[str, str] = {}

    def class_of(self, declarations: str) -> str:
        """The class of an element with these declarations, for example `width: 10%`."""
        return self._classes.setdefault(declarations, f"s{len(self._classes) + 1}")

    def text(self) -> str:
        """The rules of all classes."""
        return "".join(f".{name} {{ {rule} }}\n" for rule, name in self._classes.items())


def policy_element(*, styles: Sequence[str], scripts: Sequence[str] = ()) -> str:
    """The meta element with the policy of a page whose style and script elements have these texts.

    It permits them by their hashes (CSP level 3, section 6.7.3) and nothing else: what a target
    wrote cannot be executed, nor styled, even if it were not escaped.
    """
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
