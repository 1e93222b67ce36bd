"""A receiver as its users run it: a process, and senders that write raw bytes to its sockets."""

import asyncio
import contextlib
import json
import queue
import socket
import ssl
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from hookproof.receiver.client.control_api import ReceiverClient
from tests.quick_start.interpreter import quick_hookproof
from tests.source_tree import ROOT

T = TypeVar("T")

# Unclosed sockets and files are warnings, and here a warning is an error. This is for receivers
# that tests watch as processes; the others are forked.
COMMAND = [sys.executable, "-W", "error", "-m", "hookproof"]
DEADLINE_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverProcess:
    process: subprocess.Popen[bytes]
    url: str
    control: str
    ca: str | None
    log: "queue.Queue[str]"

    def call(self, operation: Callable[[ReceiverClient], Awaitable[T]]) -> T:
        """Call the control API through the client."""

        async def call_with_client() -> T:
            async with ReceiverClient(self.control) as client:
                return await operation(client)

        return asyncio.run(call_with_client())

    def call_over_http(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, str]:
        """Call the control API without the client; return the status and the answer's body."""
        request = urllib.request.Request(
            self.control + path, method=method, data=body, headers=dict(headers or {})
        )
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.read().decode()

    def new_token(self) -> str:
        return self.call(lambda client: client.new_token()).token

    @contextlib.contextmanager
    def connection(
        self, *, certificate: Path | None = None, name: str | None = None
    ) -> Iterator[socket.socket]:
        """A connection to the listener, with TLS if it has TLS; trusts the receiver's CA."""
        parts = urlsplit(self.url)
        with socket.create_connection((parts.hostname, parts.port), timeout=DEADLINE_S) as plain:
            if self.ca is None:
                yield plain
                return
            context = ssl.create_default_context(cafile=self.ca)
            if certificate:
                context.load_cert_chain(certificate)
            with context.wrap_socket(plain, server_hostname=name or parts.hostname) as secured:
                yield secured

    def exchange(self, request: bytes, *, certificate: Path | None = None) -> bytes:
        """Send raw bytes and read until the receiver closes."""
        with self.connection(certificate=certificate) as connection:
            connection.sendall(request)
            return read_to_end(connection)

    def post(self, path: str, body: bytes = b"", *, headers: bytes = b"") -> bytes:
        head = b"POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n" % (
            path.encode(),
            len(body),
        )
        return self.exchange(head + headers + b"\r\n" + body)

    def next_log_line(self) -> str:
        return self.log.get(timeout=DEADLINE_S)


@contextlib.contextmanager
def receiver(*arguments: str, forked: bool = True) -> Iterator[ReceiverProcess]:
    """A running receiver; asserts that it ends with exit code 0."""
    process = start(*arguments, forked=forked)
    log: queue.Queue[str] = queue.Queue()
    assert process.stdin is not None
    assert process.stdout is not None
    reader = threading.Thread(target=_read_log, args=(process, log))
    reader.start()
    try:
        line = process.stdout.readline()
        assert line, f"the receiver did not start: {log.get(timeout=DEADLINE_S)}"
        ready = json.loads(line)
        yield ReceiverProcess(
            process=process, url=ready["url"], control=ready["control"], ca=ready["ca"], log=log
        )
        process.stdin.close()
        assert process.wait(DEADLINE_S) == 0
    finally:
        process.kill()
        process.wait()
        reader.join()
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def start(*arguments: str, forked: bool = True) -> subprocess.Popen[bytes]:
    """A receiver; one that is not `forked` is itself the process that is returned."""
    start_hookproof = quick_hookproof() if forked else COMMAND
    command = [*start_hookproof, "receive", "--json", "--until-stdin-closes", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of hookproof to its end."""
    return subprocess.run(
        [*quick_hookproof(), *arguments],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=DEADLINE_S,
    )


def empty_post(token: str) -> bytes:
    """A POST without a body, after which the connection stays open."""
    return f"POST /{token} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n".encode()


def read_to_end(connection: socket.socket) -> bytes:
    received = b""
    while True:
        try:
            chunk = connection.recv(2**16)
        except (ConnectionResetError, ssl.SSLEOFError):
            return received
        if not chunk:
            return received
        received += chunk


def _read_log(process: subprocess.Popen[bytes], log: "queue.Queue[str]") -> None:
    assert process.stderr is not None
    for line in process.stderr:
        log.put(line.decode().rstrip())
