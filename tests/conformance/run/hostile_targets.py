"""Runs check, doctor, learn and load against targets that are hostile on the wire.

Run it as `python -m tests.conformance.run.hostile_targets [NAME]...`, or `make hostile`. Whatever a
target does, each command has to end within bounds of time and memory, with a documented exit code
and without a traceback; its last ten lines say what is wrong, and what it writes is small. A line
for each run goes to standard error. The exit code is 1 if anything is wrong.
"""

import argparse
import base64
import gzip
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from tests.conformance.command import command_line, environment
from tests.conformance.run.misbehaving_targets import (
    CHUNK,
    DEEP,
    HALF,
    HUGE_HEADER,
    MOVED,
    OPEN_HEAD,
    PAGE,
    Behaviour,
    closing,
    empty_pages,
    good_until,
    in_turn,
    misbehaving,
    repeats,
    says,
    says_and_closes,
    says_nothing,
)
from tests.conformance.scripted_target import response

# Far more than is needed on a busy machine; a hang or a leak is beyond it.
ENDS_WITHIN_S: Final = 240.0
MOST_MEMORY_BYTES: Final = 1024 * 1024 * 1024
MOST_WRITTEN_BYTES: Final = 10 * 1024 * 1024
LAST_LINES: Final = 10

JSON: Final = b"Content-Type: application/json\r\n"
ENVELOPE: Final = b'{"status":true,"message":"","data":{"content":[],"pagination":{}}}'
# A GiB of spaces in a MiB.
BOMB: Final = gzip.compress(b" " * 1024 * 1024) * 1024
GZIP: Final = b"Content-Encoding: gzip\r\n"


def raw(head: bytes, body: bytes = b"", *, line: bytes = b"HTTP/1.1 200 OK") -> bytes:
    return line + b"\r\n" + head + b"\r\n" + body


def sized(head: bytes, body: bytes) -> bytes:
    return raw(head + b"Content-Length: %d\r\n" % len(body), body)


# Nothing can be made of random bytes that takes less room.
NOISE: Final = memoryview(base64.b64encode(random.Random(18).randbytes(6 * 1024 * 1024)))
MIB: Final = 1024 * 1024


def send_json(connection: socket.socket, *pieces: bytes | memoryview) -> None:
    """Send one body without making it: a target of this process must not need its memory."""
    length = sum(map(len, pieces))
    for piece in (raw(JSON + b"Content-Length: %d\r\n" % length), *pieces):
        connection.sendall(piece)


def large_pages(connection: socket.socket, number: int, _head: bytes) -> None:
    """Valid pages of nearly 8 MiB, no two of which are equal."""
    begin = b'{"status":true,"message":"","data":{"content":[{"uid":"u%d","name":"' % number
    send_json(connection, begin, NOISE[number % 65536 :], b'"}],"pagination":{"per_page":20}}}')


def huge_texts(connection: socket.socket, number: int, _head: bytes) -> None:
    """A resource whose identifier and name have a MiB each, and other ones in each answer."""
    at = number % 65536
    fields = (b'{"uid":"', NOISE[at : at + MIB], b'","name":"', NOISE[at + MIB : at + 2 * MIB])
    begin = b'{"status":true,"message":"","data":'
    page = (b'","pagination":{},"content":[', *fields, b'"}]}}')
    send_json(connection, begin, *fields, *page)


def bomb_to_posts(connection: socket.socket, number: int, head: bytes) -> None:
    """Empty pages until the preflight is over, and then a bomb to whatever is posted."""
    is_post = head.startswith(b"POST") and number >= 4
    (says(sized(JSON + GZIP, BOMB)) if is_post else empty_pages)(connection, number, head)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostileTarget:
    """What it does, and words of which one is in the last lines of each command, or of this one."""

    behave: Behaviour
    says: str | Mapping[str, str]
    scheme: str = "http"

    def words(self, command: str) -> str:
        own = self.says if isinstance(self.says, str) else self.says.get(command)
        return "|".join(filter(None, (own, SAYS_TOO.get(command))))


def hostile(
    behave: Behaviour, says: str | Mapping[str, str], scheme: str = "http"
) -> HostileTarget:
    return HostileTarget(behave=behave, says=says, scheme=scheme)


# Of a run that had no time left to judge what it had gathered.
CUT: Final = "The run ended before all was tried"
# What each command says of answers that succeed whatever is asked, and of those that are no JSON.
NOT_CREATED: Final = "answered 200, where the dialect expects 201"
ALIKE: Final = {
    "check": "every request is answered alike",
    "learn": "was answered 200 and not refused",
    "load": NOT_CREATED,
}
NO_JSON: Final = {**ALIKE, "check": "no answer is JSON", "learn": "no answer is JSON"}

TARGETS: Final[dict[str, HostileTarget]] = {
    "closes every connection": hostile(says_and_closes(b""), "isconnected"),
    "never answers": hostile(says_nothing, "no answer|nothing within|no whole answer"),
    "drips": hostile(repeats(HALF, b" ", 0.05), "no answer|nothing within|no whole answer"),
    "answers half": hostile(says_and_closes(HALF), "[Pp]ayload"),
    "answers garbage": hostile(says_and_closes(b"\x00\xff\x17 no HTTP\r\n\r\n"), "HTTP"),
    "never ends its body": hostile(repeats(OPEN_HEAD, CHUNK), "longer than"),
    "sends a huge header": hostile(says_and_closes(HUGE_HEADER), "400|header"),
    "floods with headers": hostile(
        repeats(b"HTTP/1.1 200 OK\r\n", b"X-Flood: more\r\n" * 1000), "400|header|no answer"
    ),
    "says 1xx without end": hostile(
        repeats(b"", b"HTTP/1.1 102 Processing\r\n\r\n", 0.01), "no answer|nothing within|no whole"
    ),
    "promises less than it sends": hostile(
        says(raw(JSON + b"Content-Length: 2\r\n", b"{}" + b"x" * 1000)), "envelope|HTTP|Bad"
    ),
    "promises a negative length": hostile(
        says_and_closes(raw(JSON + b"Content-Length: -5\r\n", b"{}")), "400|Content-Length"
    ),
    "promises two lengths": hostile(
        says_and_closes(raw(JSON + b"Content-Length: 2\r\nContent-Length: 9\r\n", b"{}")),
        "400|Content-Length",
    ),
    "has a length and chunks": hostile(
        says_and_closes(
            raw(
                JSON + b"Content-Length: 9\r\nTransfer-Encoding: chunked\r\n",
                b"2\r\n{}\r\n0\r\n\r\n",
            )
        ),
        "400|envelope|Transfer-Encoding",
    ),
    "has chunks of no size": hostile(
        says_and_closes(raw(JSON + b"Transfer-Encoding: chunked\r\n", b"zz\r\n{}\r\n")),
        "chunk|400|Payload|Transfer",
    ),
    "answers with a bomb": hostile(says(sized(JSON + GZIP, BOMB)), NO_JSON),
    "says gzip and is not": hostile(says(sized(JSON + GZIP, ENVELOPE)), ALIKE),
    "has an encoding of its own": hostile(
        says(sized(JSON + b"Content-Encoding: br\r\n", b"\x8b\x02\x80{}\x03")),
        NO_JSON,
    ),
    "writes in UTF-16": hostile(
        says(sized(JSON, ENVELOPE.decode().encode("utf-16"))),
        NO_JSON,
    ),
    "writes no UTF-8": hostile(
        says(sized(JSON, b'{"data":"\xff\xfe\xed\xa0\x80"}')),
        NO_JSON,
    ),
    "has an unknown charset": hostile(
        says(sized(b"Content-Type: application/json; charset=klingon\r\n", ENVELOPE)),
        ALIKE,
    ),
    "speaks plain HTTP where TLS is expected": hostile(
        says_and_closes(response(200)), "SSL", "https"
    ),
    "speaks TLS where plain HTTP is expected": hostile(
        says_and_closes(b"\x15\x03\x01\x00\x02\x02\x28"), "HTTP|isconnected"
    ),
    "redirects in a circle": hostile(says(MOVED), "redirect|302"),
    "redirects elsewhere": hostile(
        says(
            raw(b"Location: file:///etc/passwd\r\nContent-Length: 0\r\n", line=b"HTTP/1.1 307 Away")
        ),
        "redirect|307",
    ),
    "speaks HTTP/1.0": hostile(
        says_and_closes(raw(JSON, ENVELOPE, line=b"HTTP/1.0 200 OK")),
        ALIKE,
    ),
    "speaks HTTP/0.9": hostile(says_and_closes(b"<html>hello</html>\r\n\r\n"), "HTTP"),
    "speaks HTTP/2": hostile(
        says_and_closes(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00"), "HTTP|isconnected"
    ),
    "switches protocols": hostile(
        says(raw(b"Upgrade: h2c\r\nConnection: Upgrade\r\n", line=b"HTTP/1.1 101 Switching")),
        "101|no answer|nothing within|no whole|every request|isconnected",
    ),
    "closes after some answers": hostile(
        good_until(12, says_and_closes(b"")),
        {
            "check": "the target stopped answering after",
            "learn": "stopped answering|isconnected",
            "load": NOT_CREATED,
        },
    ),
    "changes its mind": hostile(
        good_until(
            8, in_turn(says(response(500)), says_and_closes(HALF), empty_pages, says(MOVED))
        ),
        {
            "check": f"stopped answering|A valid request did not succeed|and [0-9]+ more|{CUT}",
            "learn": "was answered (500|302|ClientPayloadError)",
            "load": f"{NOT_CREATED}|answered (500|302)",
        },
    ),
    "closes each connection without a word": hostile(
        closing(empty_pages), {**ALIKE, "check": f"DOES NOT CONFORM|{CUT}"}
    ),
    "nests without end": hostile(says(DEEP), NO_JSON),
    "has a number of a million digits": hostile(
        says(sized(JSON, b'{"status":true,"data":' + b"9" * 1_000_000 + b"}")),
        ALIKE,
    ),
    "sends large valid pages": hostile(
        large_pages,
        {"check": "answers are too long", "learn": "answers are too long", "load": NOT_CREATED},
    ),
    "has huge identifiers and names": hostile(
        huge_texts,
        {
            "check": "answers are too long|A created endpoint has no",
            "learn": "answers are too long",
            "load": NOT_CREATED,
        },
    ),
    "answers with a bomb to what is posted": hostile(
        bomb_to_posts,
        {**ALIKE, "check": f"a JSON object|as the dialect says|{CUT}"},
    ),
    "answers with a page": hostile(
        says(PAGE), dict.fromkeys(("check", "learn"), "but text/html") | {"load": NOT_CREATED}
    ),
    "answers with escapes for terminals": hostile(
        says(
            raw(
                b"Content-Length: 12\r\nContent-Type: \x1b[2Jtext\r\n",
                b"\x1b]0;owned\x07..",
                line=b"HTTP/1.1 500 \x1b[31mred",
            )
        ),
        "500|400",
    ),
}

COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "check": ("check", "--target", "target.yaml", "--profile", "quick", "--out", "out"),
    "doctor": ("doctor", "--target", "target.yaml"),
    "learn": ("learn", "--target", "target.yaml", "--profile", "quick", "--out", "out"),
    "load": (
        *("load", "smoke", "--target", "target.yaml", "--duration", "1", "--drain", "1"),
        *("--out", "out"),
    ),
}
# What a command may say in place of that: the doctor asks little of a target.
SAYS_TOO: Final = {"doctor": r"the envelope of section 2\.1|the receiver's CA"}
# What each may end with; 70 is a fault of hookproof itself, and nothing here conforms.
CODES: Final = {
    "check": (1, 3, 4, 64),
    "doctor": (4, 64),
    "learn": (0, 3, 4, 64),
    "load": (1, 3, 4, 64),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended; `memory_bytes` is what it or one of its children had at most."""

    code: int
    seconds: float
    memory_bytes: int
    said: str


def run_against(folder: Path, target: HostileTarget, command: str) -> tuple[Ended, list[str]]:
    """Run a command against a target; how it ended, and what is wrong with that."""
    with misbehaving(target.behave, scheme=target.scheme) as url:
        (folder / "target.yaml").write_text(
            yaml.safe_dump(
                {
                    "base_url": url,
                    "projects": [{"id": "p1", "api_key": "secret-key"}],
                    "budgets": {"request_s": 2, "delivery_s": 2, "quiet_s": 1, "total_s": 12},
                }
            )
        )
        ended = _run(folder, COMMANDS[command])
    return ended, list(_problems(folder, ended, target, command))


def _run(folder: Path, words: tuple[str, ...]) -> Ended:
    said, began = folder / "said.txt", time.monotonic()
    with said.open("wb") as stream:
        process = subprocess.Popen(
            command_line(*words),
            cwd=folder,
            env=environment(PYTHONWARNINGS=""),  # as a user has it
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
        )
        killer = _killed_late(process)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        killer.cancel()
    return Ended(
        code=process.returncode,
        seconds=time.monotonic() - began,
        memory_bytes=usage.ru_maxrss * 1024,
        said=said.read_text(errors="replace"),
    )


def _killed_late(process: subprocess.Popen[bytes]) -> threading.Timer:
    killer = threading.Timer(ENDS_WITHIN_S, process.kill)
    killer.daemon = True
    killer.start()
    return killer


def _problems(folder: Path, ended: Ended, target: HostileTarget, command: str) -> Iterator[str]:
    if ended.code not in CODES[command]:
        yield f"exit code {ended.code}"
    if "Traceback" in ended.said:
        yield "a traceback"
    if "\x1b" in ended.said:
        yield "an escape sequence"
    if ended.memory_bytes > MOST_MEMORY_BYTES:
        yield f"{ended.memory_bytes >> 20} MiB of memory"
    words = target.words(command)
    if not re.search(words, "\n".join(ended.said.splitlines()[-LAST_LINES:])):
        yield f"the last lines do not say {words}"
    out = folder / "out"
    written = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    if written > MOST_WRITTEN_BYTES:
        yield f"{written >> 20} MiB of files"


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def main() -> int:
    options = argparse.ArgumentParser(description="Run commands against hostile targets.")
    options.add_argument("names", nargs="*", metavar="NAME", help="Targets; all by default.")
    options.add_argument("--command", choices=COMMANDS, action="append", help="Only this command.")
    options.add_argument("--said", action="store_true", help="Show the last lines of each run.")
    given = options.parse_args()
    wrong = runs = 0
    for name in given.names or TARGETS:
        for command in given.command or COMMANDS:
            with tempfile.TemporaryDirectory(prefix="hookproof-hostile-") as folder:
                ended, problems = run_against(Path(folder), TARGETS[name], command)
            runs, wrong = runs + 1, wrong + bool(problems)
            what = "; ".join(problems) or "as it should be"
            figures = f"{ended.code}, {ended.seconds:.0f} s, {ended.memory_bytes >> 20} MiB"
            say(f"{command} of a target that {name}: {figures}: {what}")
            if problems or given.said:
                say("".join(f"    {line}\n" for line in ended.said.splitlines()[-LAST_LINES:]))
    say(f"{runs} runs against {len(given.names or TARGETS)} targets: {wrong} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
