"""Verifiers are graded by the vectors: wrong ones are found, and it is said what they do wrong."""

import asyncio
import http.server
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import psutil
import pytest

from hookproof.receiver.vectors import verifiers
from hookproof.receiver.vectors.corpus import build_corpus
from hookproof.receiver.vectors.grading import (
    NO_ANSWER,
    GradedVector,
    VerifierAnswer,
    meanings,
    mistakes,
    variation,
)
from hookproof.receiver.vectors.vector import Vector
from hookproof.receiver.vectors.verifiers import CommandVerifier, UrlVerifier, grade, shown
from tests.conformance.scripted_target import closed_port
from tests.receiver.receiver_process import COMMAND, run
from tests.receiver.vectors.test_vector_corpus import reason_of
from tests.source_tree import ROOT

CORPUS = build_corpus()
REFERENCE = ("vectors", "--dialect", "reference", "--format", "simple")
EXAMPLE = ROOT / "docs" / "examples" / "verify_standard_webhooks.py"

# A verifier of the simple format of the reference dialect. {equal} compares two texts.
VERIFIER = """
import base64, hmac, json, sys

vector = json.load(sys.stdin)
scheme = vector["scheme"]
header = scheme["header"].lower()
found = [value for name, value in vector["headers"] if name.lower() == header]
body = base64.b64decode(vector["body_b64"])

def signature(secret):
    digest = hmac.new(secret.encode(), body, scheme["hash"]).digest()
    return digest.hex() if scheme["encoding"] == "hex" else base64.b64encode(digest).decode()

def equal(sent, expected):
    return {equal}

secrets = vector["secrets"]{further}
sys.exit(not (len(found) == 1 and any(equal(found[0], signature(each)) for each in secrets)))
"""


def script(
    folder: Path, equal: str = "sent == expected", further: str = "", *, text: str = ""
) -> str:
    """The command that runs such a verifier, or another program."""
    path = folder / "verifier.py"
    path.write_text(text or VERIFIER.format(equal=equal, further=further))
    return f"{sys.executable} {path}"


def answered(answer: Callable[[Vector], bool | None]) -> list[str]:
    """What a verifier with these answers does wrong."""
    graded = [
        GradedVector(vector=vector, answer=VerifierAnswer(accepts=answer(vector)))
        for vector in CORPUS
    ]
    return [mistake.meaning for mistake in mistakes(graded)]


def test_a_verifier_that_is_right_makes_no_mistake() -> None:
    assert answered(lambda vector: reason_of(vector) is None) == []


def test_every_wrong_verdict_has_one_meaning() -> None:
    content = json.loads((ROOT / "hookproof" / "spec" / "vectors" / "meanings.json").read_text())[
        "meanings"
    ]
    named = [
        (verdict, name)
        for each in content
        for verdict in ("accepts", "refuses")
        for name in each.get(verdict, ())
    ]
    possible = {("accepts" if vector.reason else "refuses", variation(vector)) for vector in CORPUS}
    assert sorted(named) == sorted(possible)
    assert len({each["means"] for each in content}) == len(content)


def test_all_that_is_wrong_is_said_the_gravest_first() -> None:
    accepting, refusing = answered(lambda _: True), answered(lambda _: False)
    assert accepting[0].startswith("accepts what nobody signed")
    assert refusing[-1].startswith("refuses plain deliveries")
    assert set(accepting) | set(refusing) == set(meanings().values())
    assert answered(lambda _: None) == [NO_ANSWER]


@pytest.mark.parametrize(
    ("wrong", "meaning"),
    [
        ("another secret", "accepts a secret that is not the endpoint's"),
        ("the first half alone", "compares only a part of the signature"),
        ("the last of them alone valid", "takes the first signature only"),
        ("a second secret beside the right one", "takes one of several secrets only"),
        ("a day old", "accepts old deliveries"),
        ("the body with spaces", "verifies something else than the raw bytes"),
        ("bytes that are no text", "takes bodies in UTF-8 alone"),
    ],
)
def test_a_mistake_is_told_by_the_vectors_that_show_it(wrong: str, meaning: str) -> None:
    (said,) = answered(lambda vector: (vector.reason is None) is not (variation(vector) == wrong))
    assert said.startswith(meaning)


def test_a_verifier_is_told_all_but_the_verdict() -> None:
    telling = {"expect", "reason", "why", "notes"}
    for vector in CORPUS:
        whole = json.loads(json.dumps(vector.to_json()))
        assert json.loads(shown(vector)) == {
            name: whole[name] for name in whole if name not in telling
        }


def test_a_right_command_ends_with_0(tmp_path: Path) -> None:
    outcome = run(*REFERENCE, "--against", script(tmp_path))
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert outcome.stdout.splitlines()[-1].endswith(", wrong: 0")


@pytest.mark.parametrize(
    ("equal", "further", "meaning", "example"),
    [
        ("expected.startswith(sent)", "", "compares only a part", "the first byte alone"),
        (
            "sent == expected",
            " + ['living secret number 1 *********']",
            "accepts a secret that is not",
            "another secret",
        ),
    ],
    ids=["prefix", "expired secret"],
)
def test_a_wrong_command_is_told_what_it_does(
    tmp_path: Path, equal: str, further: str, meaning: str, example: str
) -> None:
    outcome = run(*REFERENCE, "--against", script(tmp_path, equal, further))
    assert outcome.returncode == 1
    mistake = next(part for part in outcome.stdout.split("\n\n") if meaning in part)
    assert f"\n  reference, simple: a small object: {example}\n    should be refused (" in mistake


def test_what_a_verifier_says_is_shown_and_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    says = "import sys; print('first'); sys.exit('a word\\x1b[31m')"
    outcome = run(*REFERENCE, "--against", script(tmp_path, text=says))
    assert "it said: a word\\x1b[31m" in outcome.stdout
    assert "\x1b" not in outcome.stdout


def test_the_report_for_programs_names_each_wrong_vector(tmp_path: Path) -> None:
    outcome = run(*REFERENCE, "--json", "--against", script(tmp_path, text="raise SystemExit"))
    assert outcome.returncode == 1
    report = json.loads(outcome.stdout)
    bad = {v.name for v in CORPUS if v.reason and v.name.startswith("reference, simple:")}
    assert {each["name"] for each in report["wrong"]} == bad
    assert report["right"] + len(bad) == report["vectors"]
    assert {(each["expect"], each["answer"]) for each in report["wrong"]} == {("reject", "accept")}


def test_another_exit_code_is_no_verdict(tmp_path: Path) -> None:
    outcome = run(*REFERENCE, "--against", script(tmp_path, text="raise SystemExit(2)"))
    assert outcome.returncode == 1
    assert outcome.stdout.startswith(f"It {NO_ANSWER}:\n")
    assert "it said: it ended with 2\n" in outcome.stdout
    assert outcome.stdout.endswith(", shown to be right: 0\n")


def test_a_crash_is_no_refusal_of_a_verifier_that_refuses_with_a_code_of_its_own(
    tmp_path: Path,
) -> None:
    text = VERIFIER.format(equal="sent == expected", further="")
    refusing = text.replace("sys.exit(not (", "sys.exit(0 if (").replace(")))\n", ")) else 3)\n")
    assert run(*REFERENCE, "--against", script(tmp_path, text=refusing)).returncode == 0
    crashing = refusing.replace("vector =", "import os\nvector =").replace(
        "def signature", "body.decode()\n\ndef signature"
    )
    outcome = run(*REFERENCE, "--against", script(tmp_path, text=crashing))
    assert outcome.stdout.startswith(f"It {NO_ANSWER}:\n")
    assert "bytes that are no text" in outcome.stdout.partition("\n\n")[0]


@pytest.mark.parametrize(
    ("command", "words"),
    [("false", "It accepts nothing, not even"), ("true", "It accepts everything, forged")],
)
def test_a_verifier_that_tells_nothing_apart_has_nothing_right(command: str, words: str) -> None:
    outcome = run(*REFERENCE, "--against", command)
    assert outcome.returncode == 1
    last = outcome.stdout.splitlines()[-2:]
    assert last[0].startswith(words)
    assert last[1].endswith(", shown to be right: 0")
    report = json.loads(run(*REFERENCE, "--json", "--against", command).stdout)
    assert report["same_for_all"].startswith(words)


def test_a_command_that_hangs_gives_no_verdict_and_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifiers, "ANSWER_WITHIN_S", 1.0)
    command = script(tmp_path, text="import time; time.sleep(600)")
    (graded,) = asyncio.run(grade(CommandVerifier(command), CORPUS[:1], at_once=1))
    assert graded.answer.accepts is None
    assert "nothing came within" in graded.answer.remark
    running = [each.cmdline() for each in psutil.Process().children(recursive=True)]
    assert not [words for words in running if str(tmp_path) in " ".join(words)]


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("no-such-command --here", "'no-such-command' cannot be run: No such file"),
        ("unfinished 'quote", "is no command: No closing quotation"),
        ("", "the command is empty"),
    ],
)
def test_a_command_that_cannot_be_run_is_a_usage_error(command: str, problem: str) -> None:
    outcome = run("vectors", "--against", command)
    assert (outcome.returncode, outcome.stdout) == (64, "")
    assert problem in outcome.stderr
    assert outcome.stderr.count("\n") == 1


@contextmanager
def verifying_server(status_of: Callable[[Vector], int]) -> Iterator[str]:
    """A server that answers with the status for the vector that is posted to it."""
    by_name = {vector.name: vector for vector in CORPUS}

    class VerifyingHandler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status_of(by_name[content["name"]]))
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            self.wfile.write(b"so it is")

        def log_message(self, *_: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), VerifyingHandler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/verify"
        finally:
            server.shutdown()
            thread.join()


def test_a_url_accepts_with_2xx_and_refuses_with_4xx() -> None:
    with verifying_server(lambda vector: 401 if vector.reason else 200) as url:
        assert run("vectors", "--against-url", url).returncode == 0
    with verifying_server(lambda _: 400) as url:
        outcome = run(*REFERENCE, "--against-url", url)
    assert outcome.returncode == 1
    assert "It refuses plain deliveries" in outcome.stdout
    assert "it said: so it is" in outcome.stdout


@pytest.mark.parametrize("status", [302, 500])
def test_another_status_is_no_verdict(status: int) -> None:
    with verifying_server(lambda _: status) as url:
        (graded,) = asyncio.run(grade(UrlVerifier(url), CORPUS[:1], at_once=1))
    assert graded.answer == VerifierAnswer(accepts=None, remark=f"it answered {status}: so it is")


def test_a_url_that_cannot_be_reached_ends_with_4() -> None:
    with closed_port() as url:
        outcome = run("vectors", "--against-url", url)
    assert (outcome.returncode, outcome.stdout) == (4, "")
    assert f"--against-url: {url} cannot be reached" in outcome.stderr


def test_a_verifier_that_is_gone_later_loses_no_answer() -> None:
    class Vanishing(CommandVerifier):
        async def answer(self, vector: Vector) -> VerifierAnswer:
            if vector is CORPUS[0]:
                return VerifierAnswer(accepts=True)
            raise verifiers.VerifierUnreachable("it is gone")

    graded = asyncio.run(grade(Vanishing("x"), CORPUS[:3], at_once=2))
    assert [each.answer.accepts for each in graded] == [True, None, None]
    assert graded[1].answer.remark == "it is gone"


def test_one_verifier_is_graded_at_a_time() -> None:
    outcome = run("vectors", "--against", "true", "--against-url", "http://127.0.0.1:1")
    assert outcome.returncode == 64
    assert "give one of --against, --against-url and --schema" in outcome.stderr


def test_a_format_may_be_chosen() -> None:
    printed = json.loads(run(*REFERENCE).stdout)["vectors"]
    assert {(each["dialect"], each["format"]) for each in printed} == {("reference", "simple")}


def noted(language: str = "") -> set[str]:
    """The variations that packages get wrong, as the notes say; of those for Python
    `test_vector_corpus` holds it to be so.
    """
    return {variation(v) for v in CORPUS if any(f"for {language}" in note for note in v.notes)}


def test_the_example_grades_a_package() -> None:
    outcome = subprocess.run(
        [
            *(*COMMAND, "vectors", "--dialect", "standard-webhooks", "--json"),
            *("--against", f"{sys.executable} {EXAMPLE} standardwebhooks"),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    wrong = json.loads(outcome.stdout)["wrong"]
    assert {each["name"].rpartition(": ")[2] for each in wrong} == noted("Python")


def test_the_page_of_verifiers_is_true_of_the_packages_that_are_installed() -> None:
    page = (ROOT / "docs" / "verifiers.md").read_text()
    for package in ("standardwebhooks", "svix"):
        assert f"| `{package}` {version(package)} for Python |" in page
    assert all(f"| {name} |" in page for name in noted())


# Accepts an object as a package does that parses what it has verified, and refuses all else.
JAVASCRIPT_PACKAGE = """
export class WebhookVerificationError extends Error {}

export class Webhook {
  verify(body, headers) {
    if (Date.now() === 1735689600000 && body.toString().startsWith("{")) {
      JSON.parse("{");
    }
    throw new WebhookVerificationError(JSON.stringify(headers));
  }
}
"""


def test_the_example_in_javascript_shows_vectors_to_a_package(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    program = tmp_path / "verify_standard_webhooks.mjs"
    shutil.copy(EXAMPLE.parent / program.name, program)
    package = tmp_path / "node_modules" / "package"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"name": "package", "exports": "./index.mjs"}')
    (package / "index.mjs").write_text(JAVASCRIPT_PACKAGE)
    ends = ("a small object", "a form", "a day old", "no secret at all")
    few = [
        vector
        for vector in CORPUS
        if vector.name.startswith("standard-webhooks, simple:") and vector.name.endswith(ends)
    ]
    graded = asyncio.run(grade(CommandVerifier(f"node {program} package"), few, at_once=2))
    accepted = {each.vector.name.rpartition(": ")[2]: each.answer.accepts for each in graded}
    assert accepted == dict(zip(ends, (True, False, False, False), strict=True))
