from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from hookproof.conformance.model.ledger import Entry, Ledger, RunVerdict
from hookproof.conformance.results.baseline import (
    Expectation,
    apply_baseline,
    baseline_text,
    read_baseline,
)
from hookproof.process.exit_codes import CommandError
from hookproof.spec.catalogue import Level, load_catalogue
from tests.conformance.canned_evidence import exchange
from tests.conformance.canned_run import failed, not_exercised, passed

TODAY = date(2026, 11, 21)


def read(folder: Path, text: str) -> tuple[Expectation, ...]:
    (folder / "baseline.yaml").write_text(text)
    return read_baseline(folder / "baseline.yaml")


def expect(name: str, expected: str = "fail", **members: Any) -> Expectation:
    return Expectation(id=name, expected=expected, reason="Known", **members)


def verdict_of(entries: list[Entry], *baseline: Expectation) -> tuple[RunVerdict, tuple[str, ...]]:
    applied = apply_baseline(entries, baseline, load_catalogue(), TODAY)
    verdict = Ledger(entries=applied.entries, stale=applied.stale).verdict(strict=False)
    return verdict, applied.stale


def test_every_member_of_an_entry_is_read(tmp_path: Path) -> None:
    text = (
        "- {id: 4.3-4, expected: fail, reason: It is cached.,"
        " check: c, operation: getEndpoint, link: https://t.invalid/1, expires: 2027-06-30}\n"
    )
    (entry,) = read(tmp_path, text)
    assert entry.words == "It is cached. (https://t.invalid/1), until 2027-06-30"
    assert Expectation.from_json(entry.to_json()) == entry
    assert read(tmp_path, "[]\n") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- {id: 4.3-4, expected: fail}\n", "reason"),
        ("- {id: 4.3-4, expected: failed, reason: r}\n", "fail"),
        ("- {id: 4.3-4, expected: fail, reason: r, expires: 2027-02-30}\n", "baseline.yaml:1"),
        ("- {id: 4.3-4, expected: fail, reason: r, expires: soon}\n", "a day such as 2027-06-30"),
        ("- {id: 4.3-4, expected: fail, reason: r, until: x}\n", "until"),
        (
            "- {id: 1-1, expected: fail, reason: r}\n- {id: 1-1, expected: fail, reason: r}\n",
            "baseline.yaml:2",
        ),
        ("- {id: 1-1, expected: fail, reason: r, operation: fetch}\n", "getEndpoint"),
        (
            "- {id: 1-1, expected: not exercised, reason: r, check: c}\n",
            "baseline.yaml:1.*leave out check and operation",
        ),
        ("a: b\n", "a list of entries"),
        ("{", "baseline.yaml"),
    ],
)
def test_a_file_with_mistakes_is_refused_with_its_place(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(CommandError, match=message):
        read(tmp_path, text)


def test_a_failure_that_is_expected_conforms() -> None:
    assert verdict_of([passed(), failed()])[0] is RunVerdict.DOES_NOT_CONFORM
    assert verdict_of([passed(), failed()], expect("4.1-2")) == (RunVerdict.CONFORMS, ())


def test_a_stated_requirement_that_need_not_be_exercised_leaves_the_run_complete() -> None:
    assert verdict_of([passed(), not_exercised()])[0] is RunVerdict.INCOMPLETE
    assert verdict_of([passed(), not_exercised()], expect("4.4-1", "not exercised")) == (
        RunVerdict.CONFORMS,
        (),
    )


def test_a_failure_that_was_expected_not_to_be_exercised_counts() -> None:
    assert (
        verdict_of([passed(), failed()], expect("4.1-2", "not exercised"))[0]
        is RunVerdict.DOES_NOT_CONFORM
    )


def test_the_last_day_of_an_entry_still_counts_and_the_next_does_not() -> None:
    assert verdict_of([passed(), failed()], expect("4.1-2", expires=TODAY)) == (
        RunVerdict.CONFORMS,
        (),
    )
    verdict, (stale,) = verdict_of(
        [passed(), failed()], expect("4.1-2", expires=date(2026, 11, 20))
    )
    assert verdict is RunVerdict.DOES_NOT_CONFORM
    assert stale.startswith("4.1-2 expired on 2026-11-20")


def test_an_entry_for_a_requirement_that_passes_is_stale_and_fails_the_run() -> None:
    verdict, (stale,) = verdict_of([passed()], expect("4.1-1"))
    assert verdict is RunVerdict.DOES_NOT_CONFORM
    assert stale == "4.1-1 is expected to be fail, but is pass now: remove it"


def test_an_entry_for_an_unknown_requirement_is_stale() -> None:
    verdict, (stale,) = verdict_of([passed()], expect("4.1-999"))
    assert verdict is RunVerdict.DOES_NOT_CONFORM
    assert stale.startswith("4.1-999 is no requirement")


def test_an_entry_for_a_requirement_that_was_not_judged_is_not_stale() -> None:
    unseen = replace(not_exercised("4.1-3"), judged=False)
    assert verdict_of([passed()], expect("4.1-2"))[1] == ()
    assert verdict_of([passed(), unseen], expect("4.1-3"))[1] == ()


def test_a_written_baseline_accepts_the_run_that_it_was_written_from(tmp_path: Path) -> None:
    entries = [
        passed(),
        failed(),
        not_exercised(),
        not_exercised("4.4-2", Level.OPEN),
        failed("4.1-3", Level.HYGIENE),
    ]
    baseline = read(tmp_path, baseline_text(entries, (), TODAY))
    assert [expectation.id for expectation in baseline] == ["4.1-2", "4.4-1", "4.1-3"]
    assert verdict_of(entries, *baseline) == (RunVerdict.CONFORMS, ())
    assert read(tmp_path, baseline_text([passed()], (), TODAY)) == ()


def test_rewriting_a_baseline_keeps_the_reasons_that_still_apply(tmp_path: Path) -> None:
    kept = Expectation(id="4.1-2", expected="fail", reason="We know.", link="https://t.invalid/1")
    applied = apply_baseline([passed(), failed()], [kept], load_catalogue(), TODAY)
    assert read(tmp_path, baseline_text(applied.entries, [kept], TODAY)) == (kept,)


def two_findings() -> Entry:
    entry = failed()
    (finding,) = entry.findings
    other = replace(
        finding, check="another", exchanges=(exchange("fetch", "getEndpoint"),), deliveries=()
    )
    return replace(entry, findings=(finding, other))


def test_what_one_check_finds_in_one_operation_is_accepted_and_nothing_else() -> None:
    entry = two_findings()
    first, second = entry.findings
    known = expect("4.1-2", check=first.check)
    assert verdict_of([passed(), entry], known) == (RunVerdict.DOES_NOT_CONFORM, ())
    other = expect("4.1-2", check=second.check, operation="getEndpoint")
    assert verdict_of([passed(), entry], known, other) == (RunVerdict.CONFORMS, ())
    elsewhere = expect("4.1-2", check=second.check, operation="listSources")
    verdict, (stale,) = verdict_of([passed(), entry], known, elsewhere)
    assert verdict is RunVerdict.DOES_NOT_CONFORM
    assert stale == (
        "4.1-2, check another, listSources is expected to fail, but no finding is of this any more:"
        " remove it"
    )


def test_an_entry_for_an_operation_accepts_what_every_check_finds_there() -> None:
    entry = two_findings()
    entry = replace(entry, findings=entry.findings[1:])
    known = expect("4.1-2", operation="getEndpoint")
    assert verdict_of([passed(), entry], known) == (RunVerdict.CONFORMS, ())


def test_entries_for_several_checks_of_one_requirement_may_stand_together(tmp_path: Path) -> None:
    text = "- {id: 1-1, expected: fail, reason: r, check: a}\n"
    assert len(read(tmp_path, text + text.replace("check: a", "check: b"))) == 2
    with pytest.raises(CommandError, match=r"baseline.yaml:2.*1-1, check a stands there before"):
        read(tmp_path, text + text)


@pytest.mark.parametrize("entry", [passed("4.1-2"), failed(), not_exercised("4.1-2")])
def test_what_is_flaky_is_accepted_whatever_its_verdict(entry: Entry) -> None:
    assert verdict_of([passed(), entry], expect("4.1-2", "flaky")) == (RunVerdict.CONFORMS, ())


def test_an_entry_for_what_is_flaky_is_stale_after_its_last_day() -> None:
    over = expect("4.1-2", "flaky", expires=date(2026, 11, 20))
    verdict, (stale,) = verdict_of([passed(), passed("4.1-2")], over)
    assert verdict is RunVerdict.DOES_NOT_CONFORM
    assert stale.startswith("4.1-2 expired")


def test_rewriting_a_baseline_keeps_what_is_flaky_while_it_passes(tmp_path: Path) -> None:
    flaky, over = expect("4.1-2", "flaky"), expect("4.1-1")
    applied = apply_baseline([passed(), passed("4.1-2")], [flaky, over], load_catalogue(), TODAY)
    assert read(tmp_path, baseline_text(applied.entries, [flaky, over], TODAY)) == (flaky,)


def test_rewriting_a_baseline_keeps_the_entries_for_findings(tmp_path: Path) -> None:
    known = [expect("4.1-2", check=each.check) for each in two_findings().findings]
    applied = apply_baseline([two_findings()], known, load_catalogue(), TODAY)
    assert read(tmp_path, baseline_text(applied.entries, known, TODAY)) == tuple(known)


def test_rewriting_a_baseline_adds_what_its_entries_for_findings_do_not_accept(
    tmp_path: Path,
) -> None:
    first, second = two_findings().findings
    known = expect("4.1-2", check=first.check)
    over = expect("4.1-2", check=second.check, expires=date(2026, 11, 20))
    baseline = read(tmp_path, baseline_text([two_findings()], [known, over], TODAY))
    assert [(each.check, each.operation) for each in baseline] == [
        (first.check, None),
        (second.check, "getEndpoint"),
    ]
    assert baseline[0] == known
    assert verdict_of([passed(), two_findings()], *baseline) == (RunVerdict.CONFORMS, ())


def test_rewriting_a_baseline_leaves_out_what_was_flaky_until_yesterday(tmp_path: Path) -> None:
    over = expect("4.1-2", "flaky", expires=date(2026, 11, 20))
    assert read(tmp_path, baseline_text([passed("4.1-2")], [over], TODAY)) == ()
