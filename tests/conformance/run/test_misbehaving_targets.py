"""Whatever a target does, a run ends within its bound, with a documented exit code and what was
gathered by then.
"""

from pathlib import Path

import pytest

from hookproof.conformance.results.run_file import read_run
from tests.conformance.command import check
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
from tests.conformance.scripted_target import empty_page, response

KEY = ("--project", "p1", "--api-key", "secret-key")
FEW = (
    "--profile",
    "quick",
    *(word for name in ("4.7-8", "5-4", "5-9", "7-2") for word in ("--only", name)),
)
# The time budgets of a run that only its budget ends (less is warned of before the run), and of one
# that ends by itself.
SHORT_S, LONG_S = 6, 120

# How long the whole process may take on a busy machine: far more than its budget and the time it
# takes to start.
BOUND_S = 300

OUT_OF_TIME = f"the time budget of {SHORT_S} s is over"
NO_ANSWER = f"no answer within the time budget of {SHORT_S} s"


def budget(message: str) -> tuple[str, str]:
    """The short budget for a run that reports that its time is over, else the long one."""
    return "--budget", str(SHORT_S if message in {OUT_OF_TIME, NO_ANSWER} else LONG_S)


UNREACHABLE: dict[str, tuple[Behaviour, str, str]] = {
    "closes every connection": (says_and_closes(b""), "http", "Disconnected"),
    "never answers": (says_nothing, "http", NO_ANSWER),
    "answers garbage": (says_and_closes(b"\x00\xff\x17 no HTTP at all\r\n\r\n"), "http", "Bad"),
    "answers half a response": (says_and_closes(HALF), "http", "PayloadError"),
    "drips": (repeats(HALF, b" ", 0.05), "http", NO_ANSWER),
    "drops TLS": (says_and_closes(b""), "https", "Error"),
    "speaks plain HTTP where TLS is expected": (says_and_closes(response(200)), "https", "SSL"),
    "never ends its answer": (repeats(OPEN_HEAD, CHUNK), "http", "longer than 16777216 bytes"),
    "sends a huge header": (says_and_closes(HUGE_HEADER), "http", "400"),
    "says 1xx indefinitely": (
        repeats(b"", b"HTTP/1.1 102 Processing\r\n\r\n", 0.01),
        "http",
        NO_ANSWER,
    ),
}


@pytest.mark.parametrize(("behave", "scheme", "message"), UNREACHABLE.values(), ids=UNREACHABLE)
def test_a_target_without_a_complete_answer_is_unreachable(
    tmp_path: Path, behave: Behaviour, scheme: str, message: str
) -> None:
    with misbehaving(behave, scheme=scheme) as url:
        done = check(tmp_path, url, *KEY, *FEW, *budget(message), timeout_s=BOUND_S)
    assert (done.code, done.out) == (4, "")
    assert done.err.startswith(f"hookproof check: target unreachable: {url}: ")
    assert done.err.count("\n") == 1
    assert message in done.err


NEVER_RIGHT: dict[str, tuple[Behaviour, int, str]] = {
    "answers 500 to everything": (says(response(500)), 4, "every request is answered 500"),
    "answers 502 to everything": (says(response(502)), 4, "every request is answered 502"),
    "answers 404 to everything": (says(response(404)), 64, "every request is answered 404"),
    "redirects everything": (says(MOVED), 64, "redirected, to /api/v1/elsewhere"),
    "answers with a page": (says(PAGE), 64, "no answer is JSON but text/html"),
    "nests its answers deeply": (says(DEEP), 64, "no answer is JSON"),
    "has no envelope": (says(response(200, b'{"items":[]}')), 64, "no answer has the envelope"),
    "answers every request with an empty page": (
        says(empty_page(b"")),
        64,
        "every request is answered alike",
    ),
    "refuses the key": (says(response(403)), 64, "refused the key of project 'p1' with 403"),
}


@pytest.mark.parametrize(("behave", "code", "message"), NEVER_RIGHT.values(), ids=NEVER_RIGHT)
def test_a_target_that_was_never_right_is_told_so_before_the_run(
    tmp_path: Path, behave: Behaviour, code: int, message: str
) -> None:
    with misbehaving(behave) as url:
        done = check(tmp_path, url, *KEY, *FEW, "--budget", str(LONG_S), timeout_s=BOUND_S)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "hookproof-report" / "run.jsonl").exists()


NOT_CONFORMING: dict[str, Behaviour] = {
    "closes each connection without saying so": closing(empty_pages),
}


@pytest.mark.parametrize("behave", NOT_CONFORMING.values(), ids=NOT_CONFORMING)
def test_a_target_with_wrong_answers_does_not_conform(tmp_path: Path, behave: Behaviour) -> None:
    with misbehaving(behave) as url:
        done = check(tmp_path, url, *KEY, *FEW, "--budget", str(LONG_S), timeout_s=BOUND_S)
    assert (done.code, done.err) == (1, "")
    assert read_run(tmp_path / "hookproof-report" / "run.jsonl").footer.exchanges > 0


CUT_SHORT: dict[str, tuple[Behaviour, str]] = {
    "closes every connection from some time on": (
        good_until(20, says_and_closes(b"")),
        "the target stopped answering",
    ),
    "answers garbage from some time on": (
        good_until(20, says_and_closes(b"\x00\r\n\r\n")),
        "stopped answering",
    ),
    "falls silent": (good_until(20, says_nothing), OUT_OF_TIME),
    "changes its mind": (
        good_until(
            20,
            in_turn(empty_pages, says_nothing, says(response(500)), says_and_closes(HALF)),
        ),
        OUT_OF_TIME,
    ),
}


@pytest.mark.parametrize(("behave", "message"), CUT_SHORT.values(), ids=CUT_SHORT)
def test_a_target_that_goes_wrong_during_the_run_leaves_what_was_gathered(
    tmp_path: Path, behave: Behaviour, message: str
) -> None:
    with misbehaving(behave) as url:
        done = check(tmp_path, url, *KEY, *FEW, *budget(message), timeout_s=BOUND_S)
    assert done.code in (1, 3), done.out
    assert done.err == ""
    run = read_run(tmp_path / "hookproof-report" / "run.jsonl")
    assert message in str(run.footer.cut)
    assert message in done.out
    assert run.footer.exchanges > 0
