"""Asks the server for a process that is ready, and is that process to whoever started this one.

It starts hundreds of times, so it is run without site, and imports little more than what the
interpreter has imported already.
"""

import _signal
import _socket
import marshal
import os
import sys

FORWARDED = (_signal.SIGHUP, _signal.SIGINT, _signal.SIGQUIT, _signal.SIGTERM)
# What the server answers in place of an exit status if the command has to start as usual.
REFUSED = -1


def main() -> None:
    """Run `launcher.py SOCKET INTERPRETER ARGUMENT...`."""
    path, *command = sys.argv[1:]
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    server.connect(path)
    ignored = {number for number in FORWARDED if _signal.getsignal(number) == _signal.SIG_IGN}
    _send_request(server, command[1:], ignored)
    for number in {*FORWARDED} - ignored:
        _signal.signal(number, lambda number, _frame: _send_signal(server, number))
    status = int.from_bytes(server.recv(4), sys.byteorder, signed=True)
    if status == REFUSED:
        for number in {*FORWARDED} - ignored:
            _signal.signal(number, _signal.SIG_DFL)
        os.execv(command[0], command)  # noqa: S606
    _end_with(os.waitstatus_to_exitcode(status))


def _send_request(server: _socket.socket, arguments: list[str], ignored: set[int]) -> None:
    """Send what makes a process: standard streams, folder, arguments and variables."""
    umask = os.umask(0)
    os.umask(umask)
    request = marshal.dumps((arguments, dict(os.environ), umask, ignored))
    folder = os.open(".", os.O_RDONLY)
    descriptors = b"".join(each.to_bytes(4, sys.byteorder) for each in (0, 1, 2, folder))
    passed = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptors)
    server.sendmsg([len(request).to_bytes(4, sys.byteorder)], [passed])
    server.sendall(request)
    os.close(folder)


def _send_signal(server: _socket.socket, number: int) -> None:
    server.send(bytes([number]))


def _end_with(code: int) -> None:
    """End as the process did; a negative code is the number of the signal that killed it."""
    if code < 0:
        if -code != _signal.SIGKILL:
            _signal.signal(-code, _signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main()
