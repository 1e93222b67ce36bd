import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import psutil
import pytest
from jsonschema import Draft202012Validator

import hookproof.conformance.reports
from hookproof.conformance.generation.generators import KEPT_IN
from hookproof.conformance.results.run_file import NAME, read_run
from hookproof.process.folder_lock import LOCK
from hookproof.receiver.http.authority import Authority
from tests.conformance.command import (
    CommandResult,
    check,
    command_line,
    command_result,
    environment,
    reported_requirements,
    run_command,
    with_signals,
)
from tests.conformance.scripted_target import closed_port, empty_page, response, stand_in
from tests.polling import poll_until

KEY = ("--project", "p1", "--api-key", "secret-key")
ONE = ("--only", "5-4", "--profile", "quick")


def only_line(done: CommandResult, code: int) -> str:
    """The one line of the command's output, which it wrote to stderr."""
    assert (done.code, done.out) == (code, "")
    assert done.err.count("\n") == 1, done.err
    return done.err


def error_line(done: CommandResult, code: int) -> str:
    line = only_line(done, code)
    assert line.startswith("hookproof check: ")
    return line


def test_the_embedded_server_is_judged_and_reported(tmp_path: Path) -> None:
    done = check(tmp_path, *ONE, "--seed", "7", "--out", "report")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[-1].startswith(
        "CONFORMS  stated 1/1 · not exercised 0 · seed 7 · "
    )
    assert "Only 1 requirement was selected" in done.out
    assert not (tmp_path / "report" / LOCK).exists()
    run = read_run(tmp_path / "report" / NAME)
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    assert run.header.run_id == run.footer.run_id == report["run_id"] != ""
    assert run.header.run_id in (tmp_path / "report" / "report.html").read_text()
    schema = json.loads(
        (Path(hookproof.conformance.reports.__file__).parent / "report.schema.json").read_text()
    )
    Draft202012Validator(schema).validate(report)
    assert (report["verdict"], report["exit_code"], report["seed"]) == ("conforms", 0, 7)
    (requirement,) = report["requirements"]
    assert (requirement["id"], requirement["verdict"]) == ("5-4", "pass")
    assert requirement["exercised"] > 0


def test_the_users_own_files_and_variables_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --nonsense\n")
    (tmp_path / "conftest.py").write_text("raise RuntimeError('read')\n")
    for name in ("spec", "receiver", "json"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('read')\n")
    assert check(tmp_path, *ONE, PYTEST_ADDOPTS="--more-nonsense").code == 0


def test_no_colour_and_no_key_is_written_to_a_pipe(tmp_path: Path) -> None:
    with stand_in(empty_page) as url:
        done = check(tmp_path, url, *ONE, "--project", "p1", HOOKPROOF_API_KEY="secret-key")
    assert done.code == 1
    assert "FAIL 5-4" in done.out
    assert "\x1b" not in done.out
    assert "secret-ke" not in done.out
    reports = list((tmp_path / "hookproof-report").iterdir())
    assert reports
    assert not [path for path in reports if b"secret-ke" in path.read_bytes()]


def test_a_quiet_run_shows_its_findings_and_the_verdict_alone(tmp_path: Path) -> None:
    with stand_in(empty_page) as url:
        done = check(tmp_path, url, *KEY, *ONE, "--quiet")
    heading, *findings, rest, empty, verdict = done.out.splitlines()
    assert (done.code, done.err, heading, empty) == (1, "", "1 finding:", "")
    assert all(finding.startswith("  5-4      listPortalLinks ") for finding in findings)
    assert "hookproof-report/report.html" in rest
    assert verdict.startswith("DOES NOT CONFORM  ")


def test_what_is_left_out_on_purpose_is_reported_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "left-out.txt").write_text("4.1-*\n5-4  # HP-12: refusals are pages\n")
    left_out = ("--exclude", "@left-out.txt", "--only", "5-3", "--only", "5-4", "--only", "4.1-1")
    done = check(tmp_path, *left_out, "--profile", "quick", "--out", "report")
    assert (done.code, done.err) == (0, "")
    assert list(reported_requirements(tmp_path, "report")) == ["5-3"]
    assert "Left out: 5-4 (HP-12: refusals are pages)." in " ".join(done.out.split())
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    assert report["excluded"]["5-4"] == "HP-12: refusals are pages"
    assert report["excluded"]["4.1-1"] == ""


def test_a_run_that_sees_less_than_it_has_to_is_incomplete(tmp_path: Path) -> None:
    done = check(tmp_path, *ONE, "--require-coverage", "99.9%")
    assert done.code == 3
    text = " ".join(done.out.split())
    assert "The run saw too little: " in text
    assert "where 99.9 % are required" in text
    assert done.out.splitlines()[-1].startswith("INCOMPLETE  stated 1/1")
    regraded = tmp_path / "regraded"
    again = run_command(tmp_path, "regrade", "hookproof-report", "--out", regraded)
    assert again.code == 3
    assert "where 99.9 % are required" in read_run(regraded / NAME).footer.uncovered
    assert check(tmp_path, *ONE, "--require-coverage", "1").code == 0


@pytest.mark.parametrize("share", ["101", "most", "-1%", "nan", "%"])
def test_a_share_that_is_none_is_refused(share: str, tmp_path: Path) -> None:
    done = check(tmp_path, *ONE, f"--require-coverage={share}")
    assert done.code == 64
    assert "is no share such as 95%" in done.err


def test_an_unreachable_target_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    with closed_port() as url:
        line = error_line(check(tmp_path, url, *KEY, *ONE), 4)
    assert f"target unreachable: {url}" in line


def test_a_target_that_answers_nothing_is_unreachable(tmp_path: Path) -> None:
    with stand_in(lambda _: None) as url:
        line = error_line(check(tmp_path, url, *KEY, *ONE), 4)
    assert "ServerDisconnectedError" in line


def test_a_refused_key_is_a_configuration_error(tmp_path: Path) -> None:
    with stand_in(lambda _: response(401)) as url:
        line = error_line(check(tmp_path, url, *KEY, *ONE), 64)
    assert "refused the key of project 'p1' with 401" in line
    assert "secret-key" not in line


def test_a_port_in_use_is_reported_with_its_address(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, stand_in(empty_page) as url:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        line = error_line(check(tmp_path, url, *KEY, *ONE, "--receiver-bind", address), 64)
    assert address in line


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--dialect", "refrence"), "did you mean"),
        (("--dialect", "gone.yaml"), "gone.yaml"),
        (("--target", "gone.yaml"), "gone.yaml"),
        (("ftp://127.0.0.1", *KEY), "ftp://127.0.0.1"),
        (("http://127.0.0.1:1",), "--project"),
        (("http://127.0.0.1:1", "--project", "p1"), "--api-key"),
        (("--project", "p1"), "--project is for a target"),
        (("--only", "99-*"), "'99-*' selects no requirement"),
        (("--only", "5-4", "--exclude", "5"), "no requirement is left"),
        (("--level", "strict"), "stated"),
        (("--profile", "slow"), "quick"),
        (("--seed", "-1"), "--seed"),
        (("--baseline", "gone.yaml"), "gone.yaml"),
        (("--repeat", "0"), "--repeat"),
        (("--quiet", "--verbose"), "--quiet and --verbose contradict each other"),
        (("--write-baseline",), "--write-baseline"),
        (("--receiver-bind", "nowhere"), "nowhere"),
        (("--ca-dir", "gone"), "hookproof ca"),
    ],
)
def test_wrong_usage_is_reported_in_one_line(
    tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    assert message in only_line(check(tmp_path, *words), 64)


def test_each_problem_of_a_target_file_is_a_line(tmp_path: Path) -> None:
    (tmp_path / "target.yaml").write_text("base_ulr: x\nprojects: []\nfixture: {}\n")
    done = check(tmp_path, "--target", "target.yaml")
    assert done.code == 64
    problems = done.err.splitlines()
    assert len(problems) == 3
    for number, problem in enumerate(problems, 1):
        assert f"target.yaml:{number}:" in problem


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "--out file" in error_line(check(tmp_path, *ONE, "--out", "file"), 64)


def test_the_reports_of_an_earlier_run_do_not_survive_a_refusal(tmp_path: Path) -> None:
    reports = tmp_path / "hookproof-report"
    reports.mkdir()
    for name in (
        "run.jsonl",
        "report.json",
        "report.html",
        "junit.xml",
        "summary.md",
        "badge.json",
    ):
        (reports / name).write_text("old")
    with closed_port() as url:
        check(tmp_path, url, *KEY, *ONE)
    texts = {path.name: text for path in reports.iterdir() if (text := path.read_text())}
    assert list(texts) == ["junit.xml"]
    assert "target unreachable" in texts["junit.xml"]


def test_a_target_without_our_ca_is_judged_on_its_api_alone(tmp_path: Path) -> None:
    endpoint = b'{"status":true,"message":"","data":{"uid":"e1","secrets":[{"value":"secret-1"}]}}'

    def create_endpoints(head: bytes) -> bytes:
        return response(201, endpoint) if head.startswith(b"POST") else empty_page(head)

    with stand_in(create_endpoints) as url:
        done = check(tmp_path, url, *KEY, *ONE, "--only", "1-1")
    requirements = reported_requirements(tmp_path)
    assert requirements["5-4"]["verdict"] == "fail"
    assert requirements["1-1"]["verdict"] == "not_exercised"
    assert "make one with `hookproof ca DIR`" in done.out


def test_a_target_that_stops_answering_ends_the_run_soon(tmp_path: Path) -> None:
    heads = []

    def answer_forty(head: bytes) -> bytes | None:
        heads.append(head)
        return empty_page(head) if len(heads) < 40 else None

    with stand_in(answer_forty) as url:
        done = check(tmp_path, url, *KEY, "--profile", "quick", "--ca-dir", write_ca(tmp_path))
    assert done.code in (1, 3), done.out
    assert "The run ended before all was tried: the target stopped answering" in done.out
    assert len(heads) < 2000


def test_a_run_that_is_out_of_time_is_incomplete(tmp_path: Path) -> None:
    (tmp_path / "target.yaml").write_text("budgets: {total_s: 6}\n")
    done = check(tmp_path, "--target", "target.yaml", *KEY)
    assert done.code == 64
    with stand_in(empty_page) as url:
        done = check(tmp_path, url, "--target", "target.yaml", *KEY, "--ca-dir", write_ca(tmp_path))
    assert done.code in (1, 3), done.out
    assert "The run ended before all was tried: the time budget of 6 s is over" in done.out


def test_the_plan_of_a_run_is_shown_and_nothing_is_done(tmp_path: Path) -> None:
    with closed_port() as url:
        done = check(tmp_path, url, *KEY, "--plan", "--budget", "5")
    assert done.code == 0
    assert "experiments in 1 project, about" in done.out
    assert "first         client_certificates, own_events, rate_limit\n" in done.out
    assert "quietly       endpoint_urls, isolation, near_filters" in done.out
    assert "before        access, broadcast_answers, hostile" in done.out
    assert "early         broadcast, custom_headers, flood, later_attempts, repeats\n" in done.out
    assert "side by side  egress" in done.out
    assert "later         credentials, slow_neighbours\n" in done.out
    assert "later         certificates\n" in done.out
    assert "then alone    exhaustion\n" in done.out
    assert "its time budget is 5 s" in done.out
    assert not (tmp_path / "hookproof-report").exists()


def test_the_run_ends_after_as_many_failures_as_it_may_have(tmp_path: Path) -> None:
    with stand_in(empty_page) as url:
        done = check(
            tmp_path, url, *KEY, "--only", "5-[1-9]", "--max-fail", "2", "--profile", "quick"
        )
    report = json.loads((tmp_path / "hookproof-report" / "report.json").read_text())
    assert done.code == 1
    assert report["totals"]["stated"]["fail"] == 2
    assert "it ended after 2 failures" in done.out


def write_ca(folder: Path) -> Path:
    Authority(folder / "ca")
    return folder / "ca"


def wait_for_an_exchange(run_file: Path) -> None:
    """Wait until the run has recorded an exchange."""
    poll_until(
        lambda: run_file.exists() and b'"role":' in run_file.read_bytes(),
        f"an exchange is in {run_file}",
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_keeps_what_it_has(tmp_path: Path, number: signal.Signals) -> None:
    # The long waits of the deep profile are still going on when the first verdict is written.
    process = subprocess.Popen(
        with_signals(command_line("check", "--profile", "deep")),
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    run_file = tmp_path / "hookproof-report" / "run.jsonl"
    wait_for_an_exchange(run_file)
    children = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, number)  # as a terminal does it
    out, err = process.communicate(timeout=120)
    interrupted = command_result(process.returncode, out, err)
    assert (interrupted.code, interrupted.err) == (3, "")
    assert "The run ended before all was tried: it was interrupted." in interrupted.out
    assert read_run(run_file).footer.cut == "it was interrupted"
    assert read_run(run_file).footer.exchanges > 0
    assert psutil.wait_procs(children, timeout=60)[1] == []
    assert not (run_file.parent / ".working").exists()


def verdicts_with_findings(folder: Path, out: str) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Each requirement of a report: its id, its verdict, and its findings' checks and messages."""
    return [
        (
            name,
            requirement["verdict"],
            [(finding["check"], finding["message"]) for finding in requirement["findings"]],
        )
        for name, requirement in reported_requirements(folder, out).items()
    ]


def test_the_same_seed_gives_the_same_verdicts_in_the_same_order(tmp_path: Path) -> None:
    few = ("--only", "5-[1-9]", "--only", "4.6-5", "--only", "4.2-7", "--profile", "quick")
    with stand_in(empty_page) as url:
        for out in ("first", "second"):
            words = (url, *KEY, *few, "--seed", "5", "--out", out)
            check(tmp_path, *words, **{KEPT_IN: ""})  # so that the second run generates as well
    first = verdicts_with_findings(tmp_path, "first")
    assert first == verdicts_with_findings(tmp_path, "second")
    assert any(findings for _, _, findings in first)


def test_a_target_that_is_being_started_is_waited_for(tmp_path: Path) -> None:
    lines: list[bytes] = []

    def starting(head: bytes) -> bytes:
        lines.append(head.split(b"\r\n")[0])
        return response(503 if len(lines) <= 2 else 404)

    with stand_in(starting) as url:
        error_line(check(tmp_path, url, *KEY, "--wait", "60"), 64)
    assert lines[:3] == [b"GET / HTTP/1.1"] * 3
    assert lines[3].startswith(b"GET /api/")


def test_nothing_is_waited_for_without_a_target(tmp_path: Path) -> None:
    assert "--wait is for a target" in error_line(check(tmp_path, "--wait", "1"), 64)
