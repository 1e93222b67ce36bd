"""Builds the image of the Dockerfile with what there is, and its SBOM, as `make image`.

buildah and podman need no daemon. Where neither is there, nor docker with its daemon, the steps are
replayed as `make image-replay` does, which makes no image.

The SBOM names the packages of Python; those of the base are the base's own.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

import click

from tests.ci import image_replay
from tests.source_tree import ROOT

DIST: Final = ROOT / "dist"
# OCI's own format has no HEALTHCHECK.
WITH_HEALTH: Final = ("--format", "docker")
BUILDERS: Final = {"buildah": WITH_HEALTH, "podman": WITH_HEALTH, "docker": ()}


def main() -> int:
    version: str = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    builder = next(filter(is_usable, BUILDERS), None)
    if builder is None:
        click.echo(
            "image: neither buildah nor podman is there, nor docker with its daemon: replaying"
        )
        return image_replay.main([])
    image = f"hookproof:{version}"
    arguments = [*BUILDERS[builder], "--tag", image, "--tag", "hookproof:latest"]
    if base := os.environ.get("BASE"):
        arguments += ["--build-arg", f"BASE={base}"]
    if subprocess.run([builder, "build", *arguments, "."], cwd=ROOT, check=False).returncode != 0:
        click.echo(f"image: {builder} could not build it; what it printed says why", err=True)
        return 1
    DIST.mkdir(exist_ok=True)
    bill = DIST / f"hookproof-image-{version}.cdx.json"
    write_bill_of_materials(bill, installed_in(builder, image))
    click.echo(f"image: {builder} has built {image}; its SBOM is dist/{bill.name}")
    return 0


def is_usable(builder: str) -> bool:
    """Whether it is there; docker is a client, which needs its daemon."""
    if shutil.which(builder) is None:
        return False
    return subprocess.run([builder, "info"], capture_output=True, check=False).returncode == 0


def installed_in(builder: str, image: str) -> str:
    """What pip finds in the image, a package and its version in a line."""
    freeze = ("/opt/hookproof/bin/python", "-m", "pip", "freeze")
    if builder != "buildah":
        return output(builder, "run", "--rm", "--entrypoint", freeze[0], image, *freeze[1:])
    container = output("buildah", "from", image).strip()
    try:
        return output("buildah", "run", container, "--", *freeze)
    finally:
        output("buildah", "rm", container)


def output(*command: str) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def write_bill_of_materials(path: Path, installed: str) -> None:
    # What came from the folder of the sources is hookproof itself, which the SBOM is about.
    lines = [line for line in installed.splitlines() if not line.startswith("hookproof @")]
    options = ("--pyproject", "pyproject.toml", "--output-reproducible", "--output-file", str(path))
    subprocess.run(
        [sys.executable, "-m", "cyclonedx_py", "requirements", *options, "-"],
        cwd=ROOT,
        input="\n".join(lines),
        text=True,
        check=True,
    )


if __name__ == "__main__":
    sys.exit(main())
