"""What setup.py makes of the README for an index, which has none of the files that it links."""

import runpy
from typing import Final

import pytest

from tests.source_tree import ROOT

PAGES: Final = "https://example.org/hookproof/blob/v1.0.0"
readme_for_an_index: Final = runpy.run_path(str(ROOT / "setup.py"))["readme_for_an_index"]


@pytest.mark.parametrize(
    ("link", "published", "not_published"),
    [
        ("[a page](docs/a.md)", f"[a page]({PAGES}/docs/a.md)", "a page"),
        ("[a part](docs/a.md#part)", f"[a part]({PAGES}/docs/a.md#part)", "a part"),
        ("[`code`](LICENSE)", f"[`code`]({PAGES}/LICENSE)", "`code`"),
        ("[here](#part)", "[here](#part)", "[here](#part)"),
        (
            "[away](https://example.net/)",
            "[away](https://example.net/)",
            "[away](https://example.net/)",
        ),
    ],
)
def test_a_relative_link_leads_to_the_pages_of_the_version_or_is_text(
    link: str, published: str, not_published: str
) -> None:
    assert readme_for_an_index(f"See {link}, too.", PAGES) == f"See {published}, too."
    assert readme_for_an_index(f"See {link}, too.", "") == f"See {not_published}, too."
