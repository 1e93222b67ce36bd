"""Makes all that a release consists of and needs no network, as `make release`: in dist/ the wheel,
the sdist, an SBOM and checksums. Then it says what is left to a person.

It refuses a version that the changelog does not begin with or that is tagged already, and changes
that are not committed: the archives are made of the commit.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click

from tests.project.test_installed_wheel import Installation, build_sdist, build_wheel
from tests.source_tree import ROOT

DIST: Final = ROOT / "dist"
CHECKSUMS: Final = "SHA256SUMS"
PUBLISH_FIRST: Final = """\
  0. Nobody owns the name on an index yet, and `repository` in pyproject.toml is empty: decide where
     the project is published, write that down, commit it, and run this again.
"""
# Jobs name the second tag, which moves with each release of a major version.
REMAINING: Final = """\
  1. git tag --sign v{version} && git tag --force {major}
     git push origin v{version} && git push --force origin {major}
  2. twine upload dist/*.whl dist/*.tar.gz
  3. make image, and push hookproof:{version} to a registry
  4. a release on the page of the project, with the section of CHANGELOG.md and the files in dist/
"""


class Refused(Exception):
    """What was made is not fit for a release; the message says why."""


def main() -> int:
    described = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    version: str = described["project"]["version"]
    repository: str = described["tool"]["hookproof"]["repository"]
    found = list(problems(version))
    try:
        made = [] if found else make_archives(version)
    except Refused as refusal:
        found = [str(refusal)]
    for problem in found:
        click.echo(f"release: {problem}", err=True)
    if found:
        return 1
    click.echo("\n".join([f"dist/ has release {version}:", *(f"  {path.name}" for path in made)]))
    major = f"v{version.partition('.')[0]}"
    remaining = REMAINING.format(version=version, major=major)
    click.echo(f"\nWhat is left to a person:\n{'' if repository else PUBLISH_FIRST}{remaining}")
    return 0


def problems(version: str) -> Iterator[str]:
    """What stands in the way of a release, each with what to do about it."""
    newest = newest_release((ROOT / "CHANGELOG.md").read_text("utf-8"))
    if newest != version:
        yield (
            f"CHANGELOG.md begins with {newest} and pyproject.toml has {version}: give the release"
            " its heading, `## [VERSION] - DATE`, and its version"
        )
    if written := git("status", "--porcelain"):
        names = ", ".join(line.split(maxsplit=1)[1] for line in written.splitlines())
        yield f"these changes are not committed: {names}"
    if git("tag", "--list", f"v{version}"):
        yield f"v{version} is tagged already: the next release needs the next version"


def newest_release(changelog: str) -> str:
    """The first heading of a release, without its date; `Unreleased` is one."""
    found = re.search(r"^## \[([^\]]+)\]", changelog, re.MULTILINE)
    return found[1] if found else "no release"


def make_archives(version: str) -> list[Path]:
    """Make everything of the commit, which is the time of all files, and check it."""
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    os.environ["SOURCE_DATE_EPOCH"] = git("log", "-1", "--format=%ct")
    with tempfile.TemporaryDirectory(prefix="hookproof-release-") as name:
        sources = Path(name, f"hookproof-{version}")
        prefix = f"--prefix={sources.name}/"
        archive = subprocess.run(
            ["git", "archive", prefix, "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, check=True
        )
        subprocess.run(["tar", "--extract"], cwd=name, input=archive.stdout, check=True)
        sdist = build_sdist(sources, DIST)
        wheel = build_wheel(sdist, DIST)  # so that it is what others make of the sdist
        check("twine", "check", "--strict", wheel, sdist)
        installation = Installation(Path(name), wheel, "all")
        check("pip", "--python", installation.python, "check")
        bill = DIST / f"hookproof-{version}.cdx.json"
        write_bill_of_materials(bill, installation.python)
    made = [wheel, sdist, bill]
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made]
    (DIST / CHECKSUMS).write_text("".join(lines))
    return [*made, DIST / CHECKSUMS]


def write_bill_of_materials(path: Path, python: Path) -> None:
    """An SBOM of what `hookproof[all]` installs: versions, licences, who needs what."""
    described = ("--pyproject", ROOT / "pyproject.toml", "--output-reproducible")
    check("cyclonedx_py", "environment", *described, "--output-file", path, python)


def check(module: str, *arguments: str | Path) -> None:
    """Run a module of Python; raises Refused with what it has to say if it fails."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if outcome.returncode != 0:
        raise Refused(f"{module} failed: {outcome.stdout}{outcome.stderr}".strip())


def git(*arguments: Any) -> str:
    command = ["git", *map(str, arguments)]
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return outcome.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
