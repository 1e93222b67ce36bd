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

from hookproof.receiver.http.authority import Authority


@contextmanager
def reference_server(
    folder: Path,
    sources: Path,
    *projects: str,
    options: tuple[str, ...] = (),
    stderr: int | None = None,
) -> Iterator[Any]:
    """The server from these sources, trusting the CA in `folder`; yields what it says when it is
    ready.

    Each project's key is its name after `key-`. `stderr` is where its log goes, in the words of
    subprocess.
    """
    Authority(folder / "ca")
    pairs = [word for project in projects for word in ("--project", f"{project}=key-{project}")]
    command = [
        sys.executable,
        "-P",
        "-m",
        "hookproof",
        "serve",
        "--port",
        "0",
        "--json",
        "--until-stdin-closes",
    ]
    process = subprocess.Popen(
        [*command, "--ca", str(folder / "ca" / "ca.pem"), *pairs, *options],
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
