"""Packed runs, right and wrong."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from click.testing import CliRunner, Result

from hookproof.cli import cli
from hookproof.conformance.results.packed.manifest import MANIFEST
from hookproof.conformance.results.packed.writing import packed_run
from hookproof.conformance.results.run_file import NAME
from tests.conformance.canned_run import failed, finished_run, passed

Members = list[tuple[ZipInfo, bytes]]


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def canned_pack(folder: Path) -> bytes:
    """A pack of a run and one of its reports."""
    source = folder / "source"
    source.mkdir(exist_ok=True)
    finished_run(source, passed(), failed())
    (source / "summary.md").write_text("A summary\n" * 100)
    return packed_run(source, [NAME, "summary.md"], "0.1.0")


def changed_pack(content: bytes, change: Callable[[Members], Members]) -> bytes:
    """The same pack with other members."""
    with ZipFile(io.BytesIO(content)) as archive:
        members = [(info, archive.read(info)) for info in archive.infolist()]
    changed = io.BytesIO()
    with ZipFile(changed, "w") as archive:
        for info, data in change(members):
            archive.writestr(info, data)
    return changed.getvalue()


def member(name: str, mode: int = 0o100644) -> ZipInfo:
    info = ZipInfo(name)
    info.compress_type = ZIP_DEFLATED
    info.external_attr = mode << 16
    return info


def with_manifest(content: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """The same pack with another manifest."""

    def changed(members: Members) -> Members:
        return [
            (info, _changed_manifest(data, change) if info.filename == MANIFEST else data)
            for info, data in members
        ]

    return changed_pack(content, changed)


def _changed_manifest(data: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    manifest = json.loads(data)
    change(manifest)
    return json.dumps(manifest).encode()
