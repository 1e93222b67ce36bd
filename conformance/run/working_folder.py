"""The folder for what only the run needs: the CA, the certificates of sockets, caches.

It is inside `--out`, so that a run that is killed leaves nothing elsewhere. The next run into the
same folder removes the remains.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

NAME: Final = ".working"


@contextmanager
def working_folder(out: Path) -> Iterator[Path]:
    """Let this process and its children create temporary files inside `out`.

    The folder is removed at the end of the context.
    """
    folder = out.resolve() / NAME
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
