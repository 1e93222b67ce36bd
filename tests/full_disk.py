"""Commands none of whose files can grow beyond a size: to them the disk is full.

Python writes bytecode without looking whether all of it was taken, and a module whose bytecode was
cut off can be imported by nobody afterwards. So such a command, and what it starts, writes none.
"""

import sys

_LIMITED = (
    "import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}));"
    " os.environ['PYTHONDONTWRITEBYTECODE'] = '1'; os.execv(sys.argv[1], sys.argv[1:])"
)


def with_files_of(size: int) -> tuple[str, ...]:
    """The words before a command that let none of its files have more than so many bytes."""
    return (sys.executable, "-c", _LIMITED.format(size))
