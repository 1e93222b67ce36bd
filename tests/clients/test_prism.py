"""Prism, as a proxy that validates, finds nothing in what the reference server answers."""

import json
import re
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Final

from tests.clients.tools import tool
from tests.conformance.command import run_command
from tests.conformance.reference_server import reference_server, write_target_file
from tests.source_tree import ROOT

PROJECTS: Final = ("p1", "p2")
KEY: Final = {"Authorization": "Bearer key-p1", "Content-Type": "application/json"}
LISTENS: Final = re.compile(r"is listening on (http://\S+)")
# A busy machine may leave something untried.
CONFORMED: Final = (0, 3)
IN_ANSWER: Final = "Violation: response"
ANSWERED: Final = "Received forward response"
# A path that is not UTF-8 ends Prism 5.14.2.
GUARD: Final = """
const decode = decodeURIComponent;
globalThis.decodeURIComponent = (text) => {
  try { return decode(text); } catch { return text; }
};
"""


@contextmanager
def prism(folder: Path, upstream: str) -> Iterator[tuple[str, list[str]]]:
    """The URL of the proxy in front of a server with its document, and the lines of its log."""
    document, guard = folder / "document.json", folder / "guard.cjs"
    document.write_bytes(urllib.request.urlopen(f"{upstream}/openapi.json").read())
    guard.write_text(GUARD)
    command = ("node", "--require", str(guard), tool("prism"), "proxy", "--host", "127.0.0.1")
    process = subprocess.Popen(
        [*command, "--port", "0", str(document), upstream],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines: list[str] = []
    urls: SimpleQueue[str] = SimpleQueue()

    def read() -> None:
        for line in process.stdout or ():
            lines.append(line)
            if found := LISTENS.search(line):
                urls.put(found[1])

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield urls.get(timeout=120), lines
    finally:
        process.terminate()
        process.wait(timeout=120)
        reader.join(timeout=120)
        assert process.stdout is not None
        process.stdout.close()


def test_prism_finds_nothing_in_the_answers_of_a_whole_check(tmp_path: Path) -> None:
    tool("prism")
    with (
        reference_server(tmp_path, ROOT, *PROJECTS) as addresses,
        prism(tmp_path, addresses["api"]) as (url, lines),
    ):
        target = write_target_file(tmp_path, url, *PROJECTS)
        words = ("--target", str(target), "--profile", "quick", "--level", "stated")
        done = run_command(tmp_path, "check", *words)
    assert done.code in CONFORMED, done.out + done.err
    assert sum(ANSWERED in line for line in lines) > 500
    assert [line for line in lines if IN_ANSWER in line] == []


def test_prism_finds_what_is_wrong_in_an_answer(tmp_path: Path) -> None:
    tool("prism")
    with (
        reference_server(tmp_path, ROOT, "p1", options=("--fault", "data_as_text")) as addresses,
        prism(tmp_path, addresses["api"]) as (url, lines),
    ):
        path = f"{url}/api/v1/projects/p1/events/broadcast"
        body = json.dumps({"event_type": "order.paid", "data": {}}).encode()
        assert urllib.request.urlopen(urllib.request.Request(path, body, KEY)).status == 201
    assert [line for line in lines if f"{IN_ANSWER}.body.data.data" in line] != []
