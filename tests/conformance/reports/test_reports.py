import io
import json
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from rich.console import Console

import hookproof.conformance.reports
from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.console import lines, show
from hookproof.conformance.reports.html import html_text
from hookproof.conformance.reports.json import report, report_text
from hookproof.conformance.reports.progress import Progress, ProgressPlan, immediate_lines, progress
from hookproof.conformance.results.curl_command import curl, quoted
from hookproof.conformance.results.run_file import Run, usual_durations
from hookproof.spec.catalogue import Level
from tests.conformance.canned_evidence import exchange
from tests.conformance.canned_run import (
    failed,
    finished_run,
    header,
    not_exercised,
    passed,
    requirement,
)
from tests.conformance.golden_run import consequence

SCHEMA = json.loads(
    (Path(hookproof.conformance.reports.__file__).parent / "report.schema.json").read_text()
)


def shown(run: Run, width: int | None = None) -> str:
    return "\n".join(line.plain for line in lines(run, width=width))


def failing_run(folder: Path) -> Run:
    return finished_run(folder, passed(), failed(), not_exercised(), passed("4.4-2", Level.HYGIENE))


def test_the_console_report_of_a_failing_run(tmp_path: Path) -> None:
    command = (
        "curl -i --path-as-is -g -X POST http://target.invalid/api/v1/projects/p1/endpoints"
        ' -H "Authorization: Bearer $HOOKPROOF_API_KEY" --data-raw \'{"name": "it"}\''
    )
    fetch = (
        "curl -i --path-as-is -g http://target.invalid/api/v1/projects/p1/endpoints/e1"
        ' -H "Authorization: Bearer $HOOKPROOF_API_KEY"'
    )
    assert shown(failing_run(tmp_path)).splitlines() == [
        "hookproof 0.1.0 · http://target.invalid · dialect reference · standard",
        "",
        "4.1  Create an endpoint                1 pass  1 FAIL",
        "4.4  List portal links                 1 pass  1 not exercised",
        "",
        "FAIL 4.1-2 · deliveries · stated · section 4.1, Create an endpoint",
        "  The name of a new endpoint is the one that was sent.",
        "  found     The name that came back is another one",
        "  expected  'it'",
        "  actual    '\\x1b[31mred' for $HOOKPROOF_API_KEY",
        "  seen      3 times, first in round_trip: name (check what_was_sent_comes_back)",
        "  timeline  +0.000 s -> createEndpoint as create: 201 after 10 ms",
        "            +0.000 s -> getEndpoint as fetch: 200 after 10 ms",
        "            +0.000 s <- delivery 1 at /t1, 2 bytes: answered 200",
        f"  again     {command}",
        f"            {fetch}",
        "",
        "1 not exercised, by reason; --verbose has them all:",
        "    1  The project has no portal link; make one. (4.4-1)",
        "",
        "1 finding:",
        "  4.1-2    deliveries            The name that came back is another one",
        "",
        (
            "DOES NOT CONFORM  stated 1/3 (1 failed, 1 not exercised) · hygiene 1/1"
            " · not exercised 1 · seed 7 · 21.4 s"
        ),
    ]


@pytest.mark.parametrize("width", [40, 60, 100])
def test_a_narrow_terminal_gets_short_lines(tmp_path: Path, width: int) -> None:
    output = [
        line for line in shown(failing_run(tmp_path), width).splitlines() if "curl" not in line
    ]
    assert max(map(len, output)) <= width
    assert [line[:5] for line in output if "pass" in line][:2] == ["4.1  ", "4.4  "]
    assert "  found     The name" in "\n".join(output)
    assert "The name that came back is another one" in " ".join(" ".join(output).split())


def test_a_run_that_conforms_ends_with_one_line(tmp_path: Path) -> None:
    output = shown(finished_run(tmp_path, passed(), passed("4.4-2", Level.OPEN))).splitlines()
    assert output[-1] == "CONFORMS  stated 1/1 · open 1/1 · not exercised 0 · seed 7 · 21.4 s"


@pytest.mark.parametrize(
    ("count", "ending"), [(1, "WITH 1 HYGIENE FINDING"), (3, "WITH 3 HYGIENE FINDINGS")]
)
def test_hygiene_that_fails_cannot_be_missed_in_the_last_line(
    tmp_path: Path, count: int, ending: str
) -> None:
    hygiene = [failed(f"4.1-{number + 2}", Level.HYGIENE) for number in range(count)]
    run = finished_run(tmp_path, passed(), *hygiene)
    assert shown(run).splitlines()[-1] == (
        f"CONFORMS  stated 1/1 · hygiene 0/{count} ({count} failed) · not exercised 0"
        f" · seed 7 · 21.4 s · {ending}"
    )
    assert f"with {count} hygiene finding" in html_text(run)


def test_accepted_hygiene_is_not_in_the_last_line(tmp_path: Path) -> None:
    known = replace(failed("4.1-2", Level.HYGIENE), accepted="it is known")
    assert shown(finished_run(tmp_path, passed(), known)).splitlines()[-1].endswith(" · 21.4 s")


def test_a_consequence_is_shown_under_what_it_follows_from_and_counted_apart(
    tmp_path: Path,
) -> None:
    run = finished_run(tmp_path, failed(), consequence("4.1-6", "4.1-2"))
    output = shown(run).splitlines()
    assert output[2].split("  ")[-2:] == ["1 FAIL", "1 as a consequence"]
    assert [line for line in output if line.startswith("FAIL")] == [
        "FAIL 4.1-2 · deliveries · stated · section 4.1, Create an endpoint"
    ]
    assert [line for line in output if line.startswith("  follows   4.1-6 follows from 4.1-2: ")]
    content = report(run)
    (defect,) = content["defects"]
    assert (defect["requirement"], defect["breaks"], defect["follows"]) == ("4.1-2", [], ["4.1-6"])
    assert (content["totals"]["stated"]["fail"], content["totals"]["stated"]["follows"]) == (2, 1)
    findings = [finding for each in content["requirements"] for finding in each["findings"]]
    assert [(each["defect"], each["follows_from"]) for each in findings] == [
        (1, []),
        (1, ["4.1-2"]),
    ]


def test_what_only_follows_is_not_written_above_the_progress() -> None:
    assert [line.plain for line in immediate_lines(failed())] == [
        "FAIL 4.1-2 The name that came back is another one"
    ]
    assert list(immediate_lines(consequence("4.1-6", "4.1-2"))) == []


def test_what_does_not_apply_is_kept_out_of_the_pass_counts(tmp_path: Path) -> None:
    lacking = Entry(
        requirement=passed("4.4-2").requirement,
        verdict=Verdict.NOT_APPLICABLE,
        reasons=("It may.",),
    )
    assert "stated 1/1 " in shown(finished_run(tmp_path, passed(), lacking)).splitlines()[-1]


def test_a_selection_a_cut_and_an_error_are_all_reported(tmp_path: Path) -> None:
    run = finished_run(
        tmp_path,
        passed(),
        cut="time is up",
        faults=("roll broke",),
        run_header=header(everything=False),
    )
    output = shown(run)
    assert "Only 1 requirement was selected" in output
    assert "The run ended before all was tried: time is up." in output
    assert "An error of hookproof itself: roll broke" in output
    assert output.splitlines()[-1].startswith("ERROR  ")


def test_errors_and_failures_are_listed_apart(tmp_path: Path) -> None:
    broken = Entry(
        requirement=passed().requirement,
        verdict=Verdict.ERROR,
        reasons=("The check a_check broke",),
    )
    output = shown(finished_run(tmp_path, broken, failed())).splitlines()
    assert "Not judged because of an error of hookproof:" in output
    assert "  The check a_check broke" in output
    assert "1 FAIL  1 ERROR" in output[2]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


PLAN = ProgressPlan(
    requirements=[
        requirement("1-1"),
        requirement("4.1-1"),
        requirement("4.1-2"),
        requirement("4.4-1"),
    ],
    sections={
        "1": "What the service does",
        "4": "Endpoints",
        "4.1": "Create an endpoint",
        "4.4": "List portal links",
    },
    usual_s={"roll": 12.0, "sweep": 3.0},
)


def progress_lines(*entries: Entry, width: int = 80) -> list[str]:
    stream = io.StringIO()
    view = Progress(
        plan=PLAN,
        under_way=lambda: ("idle", "sweep", "roll"),
        clock=lambda: 4.0,
        started=0.0,
        entries=list(entries),
    )
    Console(file=stream, width=width).print(view)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def test_a_terminal_shows_the_sections_as_a_tree_and_the_experiments_under_way() -> None:
    assert progress_lines(passed("1-1"), passed("4.1-1"), failed("4.1-2")) == [
        "1     What the service does         1 pass",
        "4     Endpoints                     1 pass  1 fail  1 to come",
        "  4.1 Create an endpoint            1 pass  1 fail",
        "  4.4 List portal links             1 to come",
        "  4 s · 3 experiments under way",
        "      roll               about 8 s left",
        "      idle               under way",
        "      sweep              under way",
    ]


def test_the_progress_fits_a_narrow_terminal() -> None:
    assert max(map(len, progress_lines(passed("1-1"), width=40))) <= 40


def test_failures_are_shown_as_they_come_on_a_terminal_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    streams = {True: Terminal(), False: io.StringIO()}
    for stream in streams.values():
        with progress(PLAN, lambda: ("roll",), stream) as note:
            note(passed("1-1"))
            note(failed("4.1-2"))
    assert "FAIL 4.1-2 The name that came back is another one" in streams[True].getvalue()
    assert "FAIL 1-1" not in streams[True].getvalue()
    assert streams[False].getvalue() == ""


def test_the_usual_durations_of_experiments_come_from_the_run_before(tmp_path: Path) -> None:
    failing_run(tmp_path)
    assert usual_durations(tmp_path / "run.jsonl") == {"sweep": 6.0, "round_trip": 2.0}
    assert usual_durations(tmp_path / "gone") == {}


def test_colour_is_written_only_to_a_terminal_that_wants_it(tmp_path: Path) -> None:
    run = failing_run(tmp_path)
    streams = {
        "file": (io.StringIO(), {}),
        "colourless": (Terminal(), {"NO_COLOR": "1", "TERM": "xterm"}),
        "terminal": (Terminal(), {"TERM": "xterm-256color"}),
    }
    for stream, environment in streams.values():
        show(run, stream, environment)
    assert "\x1b[" not in streams["file"][0].getvalue()
    assert "\x1b[3" not in streams["colourless"][0].getvalue()
    assert "\x1b[1;31mDOES NOT CONFORM" in streams["terminal"][0].getvalue()


def test_the_report_has_the_published_form(tmp_path: Path) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    broken = Entry(requirement=passed("4.4-3").requirement, verdict=Verdict.ERROR, reasons=("r",))
    run = finished_run(tmp_path, passed(), failed(), not_exercised(), broken)
    Draft202012Validator(SCHEMA).validate(json.loads(report_text(run)))


def test_the_report_says_what_the_run_says(tmp_path: Path) -> None:
    content = report(failing_run(tmp_path))
    assert content["tool"] == {"name": "hookproof", "version": "0.1.0"}
    assert (content["verdict"], content["exit_code"], content["seed"]) == ("does_not_conform", 1, 7)
    assert content["totals"]["stated"] == {
        "pass": 1,
        "fail": 1,
        "not_exercised": 1,
        "not_applicable": 0,
        "error": 0,
        "follows": 0,
    }
    assert [each["id"] for each in content["requirements"]] == ["4.1-1", "4.1-2", "4.4-1", "4.4-2"]
    (finding,) = content["requirements"][1]["findings"]
    assert set(finding) == {
        "check",
        "message",
        "expected",
        "actual",
        "exchanges",
        "deliveries",
        "curl",
        "cause",
        "count",
        "defect",
        "follows_from",
    }
    assert finding["curl"].count("\n") == 1


def test_a_pass_names_the_exchange_that_shows_it(tmp_path: Path) -> None:
    proof = "round_trip, name: POST createEndpoint as 'create': 201"
    run = finished_run(tmp_path, replace(passed(), shown_by=proof), failed())
    content = json.loads(report_text(run))
    Draft202012Validator(SCHEMA).validate(content)
    assert [each.get("shown_by") for each in content["requirements"]] == [proof, None]


def test_the_schema_refuses_a_report_with_something_missing(tmp_path: Path) -> None:
    content = report(failing_run(tmp_path))
    del content["totals"]["open"]["error"]
    assert not Draft202012Validator(SCHEMA).is_valid(content)


def test_the_same_run_renders_the_same_twice(tmp_path: Path) -> None:
    assert report_text(failing_run(tmp_path)) == report_text(failing_run(tmp_path))
    assert shown(failing_run(tmp_path)) == shown(failing_run(tmp_path))


def test_a_shell_splits_a_command_into_the_words_that_it_was_built_from() -> None:
    body = '{"a": "it\'s $HOME `x` \\" \u00e9"}'
    words = shlex.split(
        curl(
            [
                exchange(
                    request_body=body.encode(), request_headers=[("X-A", "b c"), ("X-Empty", "")]
                )
            ]
        )
    )
    assert words[words.index("--data-raw") + 1] == body
    assert "X-A: b c" in words
    assert "X-Empty;" in words


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a $HOOKPROOF_API_KEY b", "a secret b"),
        ("a ${HOOKPROOF_API_KEY%?} b", "a secre b"),
        ("$HOOKPROOF_API_KEY_2", "second"),
        (
            '"$HOOKPROOF_API_KEY" `echo no` $(echo no) $HOME \\',
            '"secret" `echo no` $(echo no) $HOME \\',
        ),
        ("'`echo no` $(echo no) $HOME \\", "'`echo no` $(echo no) $HOME \\"),
    ],
)
def test_only_our_own_variables_are_replaced_by_the_shell(text: str, printed: str) -> None:
    environment = {"HOOKPROOF_API_KEY": "secret", "HOOKPROOF_API_KEY_2": "second"}
    command = ["/bin/sh", "-c", f"printf %s {quoted(text)}"]
    shell = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert shell.stdout == printed


@pytest.mark.parametrize("body", [b"\xff\xfe", b"\x00", b"x" * 5000])
def test_a_body_that_cannot_be_shown_is_named_with_its_size(body: bytes) -> None:
    assert f"@body.bin  # {len(body)} bytes" in curl([exchange(request_body=body)])


def test_the_last_exchanges_are_the_ones_that_are_repeated() -> None:
    output = curl([exchange(path={}, query=f"?n={number}") for number in range(9)]).splitlines()
    assert len(output) == 4
    assert "n=8" in output[-1]
