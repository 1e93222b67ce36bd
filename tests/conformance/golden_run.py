"""A finished run with everything that a report must show, and content from a hostile
target.
"""

from dataclasses import replace
from pathlib import Path

from hookproof.conformance.model.ledger import Entry, Finding
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.run_file import Run
from hookproof.spec.catalogue import Level
from tests.conformance.canned_evidence import NOW, delivery, exchange
from tests.conformance.canned_run import (
    failed,
    finding,
    finished_run,
    header,
    not_exercised,
    passed,
    requirement,
)

HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    " \x1b[31m\x00\u202e ``` | ]]> & \"'{{ 7*7 }}"
)


def unsigned_delivery(name: str) -> Finding:
    creation = exchange(request={"name": "it"}, sent_at=NOW, duration_s=0.2, body=HOSTILE.encode())
    deliveries = (
        delivery(arrived_at=NOW + 1.5, headers=[("X-Evil", HOSTILE)], completed_after=0.5),
        delivery(
            arrived_at=NOW + 0.5,
            sequence=2,
            body=b"\xff\x00" + HOSTILE.encode(),
            status=None,
            completed_after=None,
        ),
    )
    return replace(
        finding(name),
        check="every_attempt_is_signed",
        message=f"A delivery of {name} carries no valid signature",
        expected="X-Signature over the raw body",
        actual=HOSTILE,
        exchanges=(creation,),
        deliveries=deliveries,
        case=f"one {HOSTILE}",
        cause="deliveries are not validly signed: no signature matches",
    )


def failed_signature(name: str, level: Level = Level.STATED) -> Entry:
    return Entry(
        requirement=requirement(name, level),
        verdict=Verdict.FAIL,
        exercised=9,
        checks=("every_attempt_is_signed",),
        findings=(replace(unsigned_delivery(name), shrunk=name == "4.1-4"),),
    )


def consequence(name: str, *roots: str) -> Entry:
    """A failed requirement that only follows from others."""
    finding_that_follows = replace(
        finding(name),
        check="names_are_compared",
        message=f"Nothing to compare {HOSTILE}",
        follows_from=roots,
    )
    return Entry(
        requirement=requirement(name),
        verdict=Verdict.FAIL,
        exercised=3,
        checks=("names_are_compared",),
        findings=(finding_that_follows,),
    )


def golden_run(folder: Path) -> Run:
    broken = Entry(
        requirement=requirement("4.4-9"),
        verdict=Verdict.ERROR,
        checks=("a_check",),
        reasons=("The check a_check broke.",),
    )
    lacking = Entry(
        requirement=requirement("4.4-3", Level.OPEN),
        verdict=Verdict.NOT_APPLICABLE,
        reasons=("The dialect does not decide: What? (paging.sort_key)",),
    )
    entries = (
        replace(passed(), shown_by=f"round_trip, name: POST createEndpoint as {HOSTILE}: 201"),
        replace(failed(), seen=(Verdict.PASS, Verdict.FAIL, Verdict.PASS)),
        replace(
            failed_signature("4.1-3"),
            accepted="Known & tracked (https://tracker.invalid/1), until 2030-01-31",
        ),
        failed_signature("4.1-4"),
        failed_signature("4.1-5", Level.HYGIENE),
        consequence("4.1-6", "4.1-2"),
        not_exercised(),
        lacking,
        broken,
        replace(passed("4.4-10", Level.OPEN), exercised=1),
    )
    run_header = replace(
        header(everything=False), repetitions=3, target=f"http://target.invalid/{HOSTILE}"
    )
    return finished_run(
        folder,
        *entries,
        cut="the time budget of 5 s is over",
        faults=("roll broke",),
        stale=("4.9-99 is gone",),
        run_header=run_header,
    )
