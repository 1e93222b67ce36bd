"""What the templates of all pages have in common."""

import pytest
from jinja2 import UndefinedError

from hookproof.pages import page_source, page_templates

PACKAGE = "hookproof.load.reports"


def test_what_a_template_prints_is_escaped_and_is_what_finalize_makes_of_it() -> None:
    printed = page_templates(PACKAGE, repr).from_string("<p>{{ text }}</p>").render(text="<b>")
    assert printed == "<p>&#39;&lt;b&gt;&#39;</p>"


def test_a_name_that_a_page_was_not_given_is_an_error() -> None:
    template = page_templates(PACKAGE).from_string("{{ forgotten }}")
    with pytest.raises(UndefinedError, match="forgotten"):
        template.render()


def test_files_of_a_page_are_read_as_they_are() -> None:
    templates = page_templates(PACKAGE)
    style, twice = (page_source(templates, *["page.css"] * count) for count in (1, 2))
    assert twice == 2 * style
    assert style.startswith("\n:root {")
