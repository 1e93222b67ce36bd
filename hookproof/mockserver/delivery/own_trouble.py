"""What this machine lacks for the moment, which says nothing of an endpoint: a delivery waits."""

import errno
import socket
import sqlite3
from typing import Final

_ERRORS: Final = frozenset(
    {
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.ENOBUFS,
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EROFS,
        errno.EAGAIN,
    }
)
# No name server answers; or the look-up itself lacks memory or descriptors.
_LOOKUP_ERRORS: Final = frozenset({socket.EAI_AGAIN, socket.EAI_MEMORY, socket.EAI_SYSTEM})
_STORE_ERRORS: Final = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_BUSY,
    }
)


class OwnTrouble(Exception):
    """An attempt could not be made for want of something of this machine; it does not count."""


def is_own_trouble(error: BaseException) -> bool:
    """Whether an error shows that this machine lacks descriptors, memory, space or a resolver."""
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _STORE_ERRORS
    if isinstance(error, socket.gaierror):
        return error.errno in _LOOKUP_ERRORS
    if isinstance(error, OSError):
        return error.errno in _ERRORS
    return isinstance(error, MemoryError)
