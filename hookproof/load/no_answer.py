"""Why a request got no answer, in words, whatever client has sent it."""

import os
import socket
import ssl
from collections.abc import Iterator
from errno import errorcode


def no_answer_reason(error: BaseException, within_s: float) -> str:
    """What the first of the errors behind this one says; an answer may take `within_s` seconds."""
    behind = list(_errors_behind(error))
    for each in behind:
        if isinstance(each, ssl.SSLError):  # numbers, also of what it causes, are of OpenSSL
            said = (getattr(each, name, None) for name in ("verify_message", "reason"))
            return next(filter(None, said), str(each))
    for each in behind:
        if isinstance(each, TimeoutError):
            return f"nothing within {within_s:g} s"
        if isinstance(each, socket.gaierror) and each.strerror:
            return each.strerror.lower()
        if isinstance(each, OSError) and each.errno is not None and each.errno in errorcode:
            return os.strerror(each.errno).lower()
    return str(error) or type(error).__name__


def _errors_behind(error: BaseException) -> Iterator[BaseException]:
    each: BaseException | None = error
    while each is not None:
        yield each
        each = each.__cause__ or each.__context__
