"""With what `make image` builds: programs that only write down how they were called take the places
of the builders.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ci import image

PROGRAM = (
    '#!/bin/sh\necho "$(basename "$0") $*" >> {log}\n[ "$1" != info ] || exit {info}\necho a==1\n'
)
CALLED = ("--tag hookproof:", "--build-arg BASE=ours ")


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Runs `make image` where these builders are there, each with the exit code of its `info`."""

    def making(**builders: int) -> list[str]:
        log = tmp_path / "log"
        log.touch()
        for name, info in builders.items():
            (tmp_path / name).write_text(PROGRAM.format(log=log, info=info))
            (tmp_path / name).chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
        monkeypatch.setenv("BASE", "ours")
        known = {name: image.BUILDERS[name] for name in builders}
        monkeypatch.setattr(image, "BUILDERS", known)
        monkeypatch.setattr(image, "DIST", tmp_path / "dist")
        monkeypatch.setattr(image, "write_bill_of_materials", Path.write_text)
        monkeypatch.setattr(
            image.image_replay, "main", lambda _: log.write_text("replayed\n") and 0
        )
        assert image.main() == 0
        return log.read_text().splitlines()

    return making


@pytest.mark.parametrize("builder", ["buildah", "podman", "docker"])
def test_the_image_is_built_with_what_is_there_and_gets_an_sbom(
    builder: str, made: Callable[..., list[str]], tmp_path: Path
) -> None:
    built = made(**{builder: 0})[1]
    assert built.startswith(f"{builder} build ")
    assert all(each in f"{built} " for each in CALLED)
    assert ("--format docker" in built) == (builder != "docker")  # OCI's format has no HEALTHCHECK
    (bill,) = (tmp_path / "dist").iterdir()
    assert "a==1" in bill.read_text()


def test_without_a_builder_that_works_the_steps_are_replayed(
    made: Callable[..., list[str]],
) -> None:
    assert made(docker=1) == ["replayed"]
