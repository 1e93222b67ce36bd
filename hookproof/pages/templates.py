"""Pages from templates: what a template prints is escaped, so that no stranger's text is markup."""

from collections.abc import Callable
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def page_templates(package: str, finalize: Callable[[object], object] | None = None) -> Environment:
    """The templates in the folder of a package. Each is compiled once, which takes longer than to
    fill it in; `finalize` is applied to all that they print.
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
