"""The end of the console report, the amounts of detail, and terminals of any width."""

from dataclasses import replace
from pathlib import Path

import pytest

from hookproof.conformance.model.ledger import Entry, RunVerdict
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.console import Detail, lines
from hookproof.conformance.reports.html import html_text
from hookproof.conformance.reports.markdown import markdown_text
from hookproof.conformance.results.defects import defects
from hookproof.conformance.results.run_file import Run
from hookproof.spec.catalogue import Level
from tests.conformance.canned_evidence import exchange
from tests.conformance.canned_run import failed, finished_run, header, not_exercised, passed


def shown(run: Run, width: int | None = None) -> str:
    return "\n".join(line.plain for line in lines(run, width=width))


def failing_run(folder: Path) -> Run:
    return finished_run(folder, passed(), failed(), not_exercised(), passed("4.4-2", Level.HYGIENE))


@pytest.mark.parametrize("width", [40, 80, 100, None])
def test_nothing_is_lost_at_any_width(tmp_path: Path, width: int | None) -> None:
    words = " ".join(shown(failing_run(tmp_path), width).split())
    for part in (
        "4.1 Create an endpoint",
        "The name of a new endpoint is the one that was sent.",
        "The name that came back is another one",
        "The project has no portal link; make one. (4.4-1)",
        "not exercised 1 · seed 7 · 21.4 s",
    ):
        assert part in words


def found(name: str, operation: str, message: str) -> Entry:
    proof = replace(exchange(), operation_id=operation)
    entry = failed(name)
    shown_by = replace(entry.findings[0], message=message, exchanges=(proof,), deliveries=())
    return replace(entry, findings=(replace(shown_by, requirement=name),))


def test_a_failing_run_ends_with_a_line_for_each_finding_and_where_the_rest_is(
    tmp_path: Path,
) -> None:
    run = finished_run(
        tmp_path,
        found("4.1-2", "createEndpoint", "The name is another one"),
        replace(found("4.1-3", "createEndpoint", "Known"), accepted="it is known"),
        found("4.4-2", "listPortalLinks", "The page is empty"),
    )
    output = [line.plain for line in lines(run, folder=Path("out"))]
    assert output[-6:] == [
        "2 findings:",
        "  4.1-2    createEndpoint        The name is another one",
        "  4.4-2    listPortalLinks       The page is empty",
        "All of it is in out/report.html; `hookproof explain ID` says more.",
        "",
        "DOES NOT CONFORM  stated 0/3 (3 failed) · not exercised 0 · accepted 1 · seed 7 · 21.4 s",
    ]


def test_a_finding_names_the_operation_that_is_accused_not_the_one_that_shows_it(
    tmp_path: Path,
) -> None:
    entry = found("4.1-2", "getEndpoint", "The name is another one")
    proof = (replace(exchange(), operation_id="createEndpoint"), *entry.findings[0].exchanges)
    finding = replace(entry.findings[0], exchanges=proof)
    run = finished_run(tmp_path, replace(entry, findings=(finding,)))
    output = shown(run).splitlines()
    assert "FAIL 4.1-2 · createEndpoint · stated · section 4.1, Create an endpoint" in output
    assert "  4.1-2    createEndpoint        The name is another one" in output
    (defect,) = defects(run.entries)
    assert defect.lead.title == "createEndpoint: The name is another one"
    for report in (html_text(run), markdown_text(run)):
        assert defect.lead.title in report
    named = replace(finding, message="createEndpoint loses the name")
    assert replace(defect.lead, finding=named).title == "createEndpoint loses the name"


def test_the_overview_is_short(tmp_path: Path) -> None:
    run = finished_run(
        tmp_path, *(found(f"99-{number}", "getEndpoint", f"No. {number}") for number in range(25))
    )
    output = shown(run).splitlines()
    place = output.index("25 findings:")
    assert output[place + 20] == "  99-19    getEndpoint           No. 19"
    assert output[place + 21 : place + 23] == ["  and 5 more", ""]


def test_a_narrow_overview_keeps_the_operation(tmp_path: Path) -> None:
    run = finished_run(tmp_path, found("4.1-2", "createEndpoint", "The name is another one"))
    assert "  4.1-2    createEndpoint: The name is" in shown(run, 40).splitlines()


def test_a_quiet_report_is_the_overview_and_the_verdict(tmp_path: Path) -> None:
    output = [line.plain for line in lines(failing_run(tmp_path), detail=Detail.QUIET)]
    assert output == [
        "1 finding:",
        "  4.1-2    deliveries            The name that came back is another one",
        "",
        (
            "DOES NOT CONFORM  stated 1/3 (1 failed, 1 not exercised) · hygiene 1/1"
            " · not exercised 1 · seed 7 · 21.4 s"
        ),
    ]
    conforming = finished_run(tmp_path, passed())
    (line,) = lines(conforming, detail=Detail.QUIET)
    assert line.plain.startswith("CONFORMS  ")


def test_a_quiet_report_says_why_a_run_is_incomplete(tmp_path: Path) -> None:
    run = finished_run(
        tmp_path,
        passed(),
        not_exercised("4.4-1"),
        not_exercised("4.4-2"),
        not_exercised("4.4-3", Level.OPEN),
        replace(not_exercised("4.4-4"), accepted="it is known"),
        cut="the time budget of 5 s is over",
    )
    *reasons, verdict = (line.plain for line in lines(run, detail=Detail.QUIET))
    assert reasons == [
        "4.4-1, 4.4-2 not exercised: The project has no portal link; make one.",
        "The run ended before all was tried: the time budget of 5 s is over.",
    ]
    assert verdict.startswith("INCOMPLETE  ")
    assert [line.plain for line in lines(finished_run(tmp_path), detail=Detail.QUIET)][:-1] == [
        "Nothing was exercised."
    ]
    alone = finished_run(tmp_path, not_exercised("4.4-3", Level.OPEN))
    assert [line.plain for line in lines(alone, detail=Detail.QUIET)][:-1] == [
        "4.4-3 not exercised: The project has no portal link; make one."
    ]


@pytest.mark.parametrize("detail", Detail)
def test_what_ended_the_run_is_said_beside_the_verdict_whatever_was_found(
    tmp_path: Path, detail: Detail
) -> None:
    run = failing_run(tmp_path)
    run = replace(run, footer=replace(run.footer, cut="the target stopped answering after 2 s"))
    output = [line.plain for line in lines(run, detail=detail)]
    words = "The run ended before all was tried: the target stopped answering after 2 s."
    assert output[-2] == words
    assert output.count(words) == 1


def test_a_quiet_report_names_at_most_ten_reasons(tmp_path: Path) -> None:
    entries = (
        replace(not_exercised(f"4.4-{number}"), reasons=(f"Reason {number}.",))
        for number in range(1, 14)
    )
    output = [line.plain for line in lines(finished_run(tmp_path, *entries), detail=Detail.QUIET)]
    assert output[9:11] == [
        "4.4-10 not exercised: Reason 10.",
        "and 3 more reasons, which a run without --quiet shows",
    ]


def test_a_quiet_report_says_that_the_baseline_is_stale(tmp_path: Path) -> None:
    run = finished_run(tmp_path, passed())
    run = replace(run, footer=replace(run.footer, stale=("4.1-1 passes",)))
    run = replace(run, footer=replace(run.footer, verdict=RunVerdict.DOES_NOT_CONFORM))
    first, _ = (line.plain for line in lines(run, detail=Detail.QUIET))
    assert first == "The baseline is stale: 4.1-1 passes."


def test_a_quiet_report_says_what_broke_in_hookproof(tmp_path: Path) -> None:
    broken = replace(passed(), verdict=Verdict.ERROR, reasons=("The check a_check broke.",))
    run = finished_run(tmp_path, broken, faults=("roll broke",))
    assert [line.plain for line in lines(run, detail=Detail.QUIET)][:-1] == [
        "roll broke",
        "4.1-1 error: The check a_check broke.",
    ]


def test_a_verbose_report_has_every_requirement_and_what_shows_it(tmp_path: Path) -> None:
    proof = "round_trip, name: POST createEndpoint as 'create': 201"
    run = finished_run(tmp_path, replace(passed(), shown_by=proof, exercised=1), not_exercised())
    output = [line.plain for line in lines(run, detail=Detail.VERBOSE)]
    text = passed().requirement.text
    assert f"  4.1-1    pass · {text} · exercised once · {proof}" in output
    assert "  4.4-1    not exercised · Requirement 4.4-1 holds." in output


def test_what_was_not_exercised_is_a_line_for_each_reason(tmp_path: Path) -> None:
    other = replace(not_exercised("4.4-3"), reasons=("No source.", "No time."))
    run = finished_run(tmp_path, passed(), not_exercised("4.4-1"), not_exercised("4.4-2"), other)
    output = shown(run).splitlines()
    place = output.index("3 not exercised, by reason; --verbose has them all:")
    assert output[place + 1 : place + 4] == [
        "    2  The project has no portal link; make one. (4.4-1, 4.4-2)",
        "    1  No source. (4.4-3)",
        "",
    ]
    whole = [line.plain for line in lines(run, detail=Detail.VERBOSE)]
    assert "  No time." in whole
    assert "    4.4-2   Requirement 4.4-2 holds. (stated)" in whole


def test_what_loses_data_comes_first_and_says_so(tmp_path: Path) -> None:
    lost = found("99-2", "getEndpoint", "The secret is lost")
    lost = replace(lost, requirement=replace(lost.requirement, severe=True))
    hygiene = found("99-1", "getEndpoint", "No header")
    hygiene = replace(hygiene, requirement=replace(hygiene.requirement, level=Level.HYGIENE))
    run = finished_run(tmp_path, hygiene, found("99-0", "getEndpoint", "Other name"), lost)
    output = shown(run).splitlines()
    headings = [line for line in output if line.startswith("FAIL ")]
    assert [heading.split()[1] for heading in headings] == ["99-2", "99-0", "99-1"]
    assert "stated · DATA IS LOST OR SHOWN TO OTHERS · section 99" in headings[0]
    table = output[output.index("3 findings:") + 1 :][:3]
    assert [line.split()[0] for line in table] == ["99-2", "99-0", "99-1"]
    for report in (html_text(run), markdown_text(run)):
        assert "data is lost or shown to others" in report.lower()


def test_what_the_sender_did_stands_in_the_finding_whoever_found_it_out(tmp_path: Path) -> None:
    reason = "the sender signed the compact form of the body, sent it with white space"
    cause = "deliveries are not validly signed: no signature matches"
    plain, told = failed("6-6"), failed("6-7")
    run = finished_run(
        tmp_path,
        replace(plain, findings=(replace(plain.findings[0], cause=cause),)),
        replace(told, findings=(replace(told.findings[0], cause=cause, actual=f"none; {reason}"),)),
    )
    (defect,) = defects(run.entries)
    assert defect.reason == reason
    output = shown(run).splitlines()
    assert f"  why       {reason}" in output
    row = f"  {defect.lead.entry.requirement.id:<9}{'deliveries':<22}"
    assert f"{row}The name that came back is another one: {reason}" in output
    for report in (html_text(run), markdown_text(run)):
        assert reason in report.replace("\\", "")


def test_seeing_it_again_names_the_hook_without_which_nothing_is_delivered(tmp_path: Path) -> None:
    hooked = replace(header(), hooks=["after_endpoint_created"])
    run = finished_run(tmp_path, failed(), run_header=hooked)
    words = "the hook after_endpoint_created of the target file has to run for each new endpoint"
    for report in (shown(run), html_text(run), markdown_text(run)):
        assert words in report
    assert words not in shown(finished_run(tmp_path, failed()))


def test_what_was_seen_once_of_many_times_is_to_be_repeated(tmp_path: Path) -> None:
    entry = failed("4.3-13")
    entry = replace(entry, exercised=30, findings=(replace(entry.findings[0], count=1),))
    text = shown(finished_run(tmp_path, entry))
    assert "once in 30 judgements: `--only 4.3-13 --repeat 5` shows whether it comes again" in text
