"""What pyproject.toml cannot say by itself: the README as an index shows it, and the addresses.

The links of the README are relative, as readers of a clone need them. On an index they would lead
nowhere, so they lead to `repository` of [tool.hookproof] in pyproject.toml. While that is empty,
they are text.
"""

import re
import tomllib
from pathlib import Path
from typing import Final

from setuptools import setup

LINK: Final = re.compile(r"\[(?P<text>[^\]]*)\]\((?!https?://|#)(?P<path>[^)\s]+)\)")
HERE: Final = Path(__file__).parent


def readme_for_an_index(text: str, pages: str) -> str:
    """`pages` is the address of the folder of the README, without a slash at its end."""
    return LINK.sub(rf"[\g<text>]({pages}/\g<path>)" if pages else r"\g<text>", text)


if __name__ == "__main__":
    settings = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))
    repository = settings["tool"]["hookproof"]["repository"].rstrip("/")
    # The pages of this version, as GitHub, GitLab and Forgejo show them.
    pages = f"{repository}/blob/v{settings['project']['version']}" if repository else ""
    addresses = {
        "Source": repository,
        "Documentation": f"{pages}/docs/tutorial.md",
        "Changelog": f"{pages}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    setup(
        long_description=readme_for_an_index((HERE / "README.md").read_text("utf-8"), pages),
        long_description_content_type="text/markdown",
        project_urls=addresses if repository else {},
    )
