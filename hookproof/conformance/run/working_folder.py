"""The folder of a run, and one inside it for what only the run needs: the CA, the certificates of
sockets, caches.

A run that is killed so leaves nothing elsewhere. The next run into the same folder removes the
remains.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from hookproof.conformance.reports.formats import REPORTS
from hookproof.conformance.results.run_file import NAME
from hookproof.process.exit_codes import CommandError

WORKING: Final = ".working"


def clear_folder(out: Path) -> Path:
    """Return the path of run.jsonl in a folder without the reports of an earlier run.

    Otherwise these could be mistaken for the reports of this run.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name in (NAME, *REPORTS):
            (out / name).unlink(missing_ok=True)
        (out / NAME).touch()
    except OSError as error:
        raise CommandError(f"--out {out} cannot be written to: {error.strerror or error}") from None
    return out / NAME


@contextmanager
def working_folder(out: Path) -> Iterator[Path]:
    """Let this process and its children create temporary files inside `out`.

    The folder is removed at the end of the context.
    """
    folder = out.resolve() / WORKING
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    variable, default = os.environ.get("TMPDIR"), tempfile.tempdir
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    try:
        yield folder
    finally:
        tempfile.tempdir = default
        if variable is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = variable
        shutil.rmtree(folder, ignore_errors=True)
