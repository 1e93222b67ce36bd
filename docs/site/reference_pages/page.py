"""A page of the site, and the templates from which those of the reference are made."""

import html
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES: Final = Path(__file__).parent / "templates"

# What has a meaning in Markdown, or in the cell of a table.
_SIGNS: Final = re.compile(r"[\\`*_{}\[\]|~#]")
_CODE_SPAN: Final = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferencePage:
    """A file of the site under its path there; the title of one that is no page is not shown."""

    path: str
    title: str
    text: str


def render(path: str, title: str, template: str, **values: Any) -> ReferencePage:
    """A page from a template."""
    text = _environment().get_template(template).render(title=title, **values)
    return ReferencePage(path=path, title=title, text=text)


def plain(text: object) -> str:
    """A text that Markdown shows as it is, in one line; what stands in backticks is code."""
    parts = _CODE_SPAN.split(" ".join(str(text).split()))
    return "".join(code(part) if at % 2 else _entities(part) for at, part in enumerate(parts))


def code(text: object) -> str:
    """A text as code, also in the cell of a table, where a span in backticks may not have |.

    Lines may break after underscores and dots, where names of many words are readable.
    """
    breaking = re.sub(r"(&#95;|\.)(?=\w)", r"\1<wbr>", _entities(str(text)))
    return f"<code>{breaking}</code>"


def _entities(text: str) -> str:
    return _SIGNS.sub(lambda sign: f"&#{ord(sign[0])};", html.escape(text, quote=False))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 # Markdown, in which `plain` and `code` escape
    )
    environment.filters.update(plain=plain, code=code)
    return environment
