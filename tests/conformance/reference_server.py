"""The reference server as a process of its own, from these sources or from a copy that a test may
break.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from hookproof.receiver.http.authority import Authority
from tests.quick_start.interpreter import quick_python
from tests.source_tree import ROOT

# Where `reference_server` writes its CA, as the receiver's settings in a target file beside it.
RECEIVER_SETTINGS = {"ca": "ca/ca.pem", "ca_key": "ca/ca.key"}


@contextmanager
def reference_server(
    folder: Path,
    sources: Path,
    *projects: str,
    options: tuple[str, ...] = (),
    trusts_ca: bool = True,
    stderr: int | None = None,
) -> Iterator[Any]:
    """The server from these sources, with a new CA in `folder`; yields the JSON that it prints when
    it is ready.

    Each project's key is its name after `key-`. `stderr` is where its log goes, a constant of
    subprocess such as DEVNULL.
    """
    Authority(folder / "ca")
    trust = ["--ca", str(folder / "ca" / "ca.pem")] if trusts_ca else []
    keys = [word for project in projects for word in ("--project", f"{project}=key-{project}")]
    interpreter = quick_python() if sources == ROOT else sys.executable
    command = [interpreter, "-P", "-m", "hookproof", "serve", "--port", "0", "--json"]
    process = subprocess.Popen(
        [*command, "--until-stdin-closes", *trust, *keys, *options],
        env={**os.environ, "PYTHONPATH": str(sources)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait(timeout=120)
        process.stdout.close()


def project_settings(*projects: str) -> list[dict[str, str]]:
    """The projects of a target file, with the keys that `reference_server` gives them."""
    return [{"id": project, "api_key": f"key-{project}"} for project in projects]


def write_target_file(folder: Path, url: str, *projects: str, **further: object) -> Path:
    """Write target.yaml for a reference server at this URL; `further` are more of its settings, of
    which None leaves one out.
    """
    settings = {
        "base_url": url,
        "dialect": "reference",
        **({"projects": project_settings(*projects)} if projects else {}),
        "receiver": RECEIVER_SETTINGS,
        **further,
    }
    path = folder / "target.yaml"
    given = {name: value for name, value in settings.items() if value is not None}
    path.write_text(yaml.safe_dump(given))
    return path
