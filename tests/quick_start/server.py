"""Forks processes that have imported hookproof already, which takes each process half a second.

Run as `server.py FOLDER`. It writes `python` into the folder, a program that stands in for this
interpreter: given `-P -m MODULE ARGUMENT...` for a module of FORKED it is a process forked from the
server; given anything else, or variables by which the interpreter would behave otherwise, it is the
interpreter. What hookproof itself starts by `sys.executable` is started so too. The server prints a
line when it is ready, and ends, with all that it forked, when its standard input closes.
"""

import atexit
import gc
import importlib
import marshal
import os
import pkgutil
import re
import runpy
import selectors
import shlex
import signal
import socket
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn, Self

import hookproof
from tests.quick_start import launcher
from tests.source_tree import ROOT

OPTIONS: Final = ["-P", "-m"]
FORKED: Final = {
    "hookproof",
    "hookproof.load.sidecar.process",
    "tests.process.signalled_command",
}
# Modules that run as a process of their own, or change what others import.
NOT_IMPORTED: Final = re.compile("__main__|locust|process$|contract_requests|generation.worker")
STREAMS: Final = (0, 1, 2)
# Variables that are read as the interpreter starts, or as modules are imported. Of what is forked
# every warning is an error, whatever PYTHONWARNINGS says.
READ_AT_START: Final = re.compile("PYTHON(?!PATH$|WARNINGS$)|LANG|LC_|LD_|MALLOC|SSL_CERT_|TZ$")


def main() -> None:
    folder = Path(sys.argv[1])
    interpreter, sys.executable = sys.executable, str(folder / "python")
    import_hookproof()
    server = ForkServer(folder / "socket")
    words = [interpreter, "-I", "-S", launcher.__file__, str(folder / "socket"), interpreter]
    write_program(folder / "python", f'exec {shlex.join(words)} "$@"')
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    request = server.run()
    if request is not None:
        request.take_effect()
        run_as_main(request.module)


def import_hookproof() -> None:
    """Import what commands import, also what they import late, and read what all of them read."""
    for module in pkgutil.walk_packages(hookproof.__path__, "hookproof."):
        if not NOT_IMPORTED.search(module.name):
            importlib.import_module(module.name)
    # Not before: modules keep the name of the interpreter as they are imported.
    from hookproof.conformance.reports.html import report_templates
    from hookproof.spec.catalogue import load_catalogue
    from hookproof.spec.openapi_document import openapi_document

    load_catalogue()
    openapi_document()
    report_templates().get_template("report.html")
    # No process that is forked needs to look for garbage here, and so it writes less to the memory
    # that it shares with this one.
    gc.collect()
    gc.freeze()


def run_as_main(module: str) -> NoReturn:
    """Run the module and end. To take all others apart would take longer than many a command."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = int(end.code or 0)
    else:
        code = 0
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def write_program(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o700)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What makes a process; `descriptors` are its standard streams and its current folder."""

    arguments: list[str]
    variables: dict[str, str]
    umask: int
    ignored_signals: set[int]
    descriptors: list[int]

    @classmethod
    def read(cls, connection: socket.socket) -> Self | None:
        """The request of a launcher, None if it has ended meanwhile."""
        head, descriptors, _, _ = socket.recv_fds(connection, 4, len(STREAMS) + 1)
        size = int.from_bytes(head, sys.byteorder)
        content = connection.recv(size, socket.MSG_WAITALL)
        if not head or len(content) < size:
            close_all(descriptors)
            return None
        arguments, variables, umask, ignored = marshal.loads(content)  # noqa: S302
        return cls(
            arguments=arguments,
            variables=variables,
            umask=umask,
            ignored_signals=ignored,
            descriptors=descriptors,
        )

    @property
    def module(self) -> str:
        return self.arguments[len(OPTIONS)]

    def can_be_forked(self) -> bool:
        """Whether a fork of this process does the same as a process that starts."""
        paths = filter(None, self.variables.get("PYTHONPATH", "").split(os.pathsep))
        return (
            self.arguments[: len(OPTIONS)] == OPTIONS
            and self.module in FORKED
            and {*paths} <= {str(ROOT)}
            and read_at_start(self.variables) == read_at_start(dict(os.environ))
        )

    def take_effect(self) -> None:
        """Make this process the one that is asked for."""
        for number in launcher.FORWARDED:
            signal.signal(
                number, signal.SIG_IGN if number in self.ignored_signals else signal.SIG_DFL
            )
        if signal.SIGINT not in self.ignored_signals:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        *streams, folder = self.descriptors
        for stream, given in zip(STREAMS, streams, strict=True):
            os.dup2(given, stream)
        os.fchdir(folder)
        close_all(self.descriptors)
        sys.stdout.reconfigure(line_buffering=sys.stdout.isatty())
        os.umask(self.umask)
        os.environ.clear()
        os.environ.update(self.variables)
        tempfile.tempdir = None  # it depends on the variables
        sys.argv = self.arguments[len(OPTIONS) :]


class ForkServer:
    def __init__(self, path: Path) -> None:
        self._forked: dict[int, socket.socket] = {}
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(socket.SOMAXCONN)
        self._ended, self._wakes = socket.socketpair()
        self._ended.setblocking(False)
        self._wakes.setblocking(False)
        self._selector = selectors.DefaultSelector()
        for source in (self._listener, self._ended, sys.stdin):
            self._selector.register(source, selectors.EVENT_READ)

    def run(self) -> Request | None:
        """Returns None when standard input closes, and in every forked process its request."""
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(self._wakes.fileno())
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is sys.stdin:
                    for process in self._forked:
                        os.kill(process, signal.SIGKILL)
                    self._close()
                    return None
                if key.fileobj is self._ended:
                    self._report_ends()
                elif key.fileobj is self._listener:
                    request = self._fork()
                    if request is not None:
                        self._close()
                        return request
                elif key.fileobj in self._forked.values():  # it may have ended in this round
                    self._forward(key.fileobj)

    def _fork(self) -> Request | None:
        """Fork a process for the next launcher; its request in that process, None in this one."""
        connection, _ = self._listener.accept()
        request = Request.read(connection)
        if request is None:
            connection.close()
            return None
        process = os.fork() if request.can_be_forked() else None
        if process == 0:
            connection.close()
            return request
        close_all(request.descriptors)
        if process is None:
            _send_status(connection, launcher.REFUSED)
        else:
            self._forked[process] = connection
            self._selector.register(connection, selectors.EVENT_READ)
        return None

    def _report_ends(self) -> None:
        self._ended.recv(4096)
        with suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if process == 0:
                    return
                connection = self._forked.pop(process)
                with suppress(KeyError):
                    self._selector.unregister(connection)
                _send_status(connection, status)

    def _forward(self, connection: socket.socket) -> None:
        """Pass on signals to the process of this launcher; kill it if its launcher was killed."""
        [process] = [each for each, asks in self._forked.items() if asks is connection]
        numbers = connection.recv(64)
        for number in numbers or [signal.SIGKILL]:
            os.kill(process, number)
        if not numbers:
            self._selector.unregister(connection)

    def _close(self) -> None:
        """Leave nothing open, neither in this process nor in one that was forked."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        for each in (self._listener, self._ended, self._wakes, *self._forked.values()):
            each.close()


def read_at_start(variables: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if READ_AT_START.match(name)}


def close_all(descriptors: list[int]) -> None:
    for each in descriptors:
        os.close(each)


def _send_status(connection: socket.socket, status: int) -> None:
    with connection, suppress(BrokenPipeError):
        connection.sendall(status.to_bytes(4, sys.byteorder, signed=True))


if __name__ == "__main__":
    main()
