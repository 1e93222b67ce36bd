"""Runs judged again from their files, with the same verdicts although keys and credentials were
masked.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookproof.conformance.grading.grader import Grader
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.model.ledger import Finding
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.case import Case
from hookproof.conformance.results.compression import packed_case, unpacked_case
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.results.run_file import NAME, NotARun, RunWriter
from hookproof.conformance.results.stored_evidence import Repetition, read_evidence
from hookproof.conformance.run.recorder import Recorder
from hookproof.spec.catalogue import load_catalogue
from tests.conformance.canned_evidence import case, context, delivery, exchange
from tests.conformance.canned_run import PROJECTS, header

KEYED = case(
    exchange(), deliveries=[delivery(body=b'{"leaked": "key-one"}')], experiment="roll", name="leak"
)
PLAIN = case(exchange(body=b"x" * 3000), deliveries=[delivery()], experiment="roll", name="plain")


def carries_seven_letters(evidence: Case, _context: CheckContext) -> Iterator[Judgement]:
    """Masking changes the length of what it masks, as it changes what a signature was made of."""
    for one in evidence.deliveries:
        found = json.loads(one.body).get("leaked", "")
        yield judged(
            len(found) == 7, "5-16", "another length", expected=7, actual=len(found), case=evidence
        )


LENGTH = Check(
    name="carries_seven_letters",
    requirements=("5-16",),
    experiments=("roll",),
    judge=carries_seven_letters,
)
ALWAYS = Check(
    name="always",
    requirements=("5-16",),
    experiments=("roll",),
    judge=lambda evidence, _: iter([judged(True, "5-16", "", expected=1, actual=1, case=evidence)]),
)


def recorded(
    folder: Path, *cases: Case, checks: tuple[Check, ...] = (LENGTH, ALWAYS), repetitions: int = 1
) -> None:
    with (folder / NAME).open("w", encoding="utf-8") as stream:
        writer = RunWriter(stream, Mask(PROJECTS, context().dialect), header())
        for repetition in range(1, repetitions + 1):
            recorder = Recorder(writer, repetition)
            for one in cases:
                recorder.keep(one)
            for check in checks:
                for one in cases:
                    list(recorder.judge(check, one, context()))
            gathered = Gathered(
                experiment="roll", cases=cases, ending=Ending.CUT, reason="for key-one"
            )
            writer.experiment(gathered, repetition)


def verdicts(repetition: Repetition, check: Check) -> list[Verdict]:
    cases = repetition.gathered["roll"].cases
    return [said.verdict for one in cases for said in repetition.judge(check, one, context())]


def test_evidence_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    recorded(tmp_path, PLAIN, repetitions=2)
    found = read_evidence(tmp_path / NAME)
    assert len(found) == 2
    for repetition in found:
        (kept,) = repetition.gathered["roll"].cases
        assert kept.exchanges[0].response_body == PLAIN.exchanges[0].response_body
        assert kept.deliveries == PLAIN.deliveries
        assert repetition.gathered["roll"].ending is Ending.CUT
        assert repetition.said == {}


def test_a_masked_key_does_not_change_what_a_check_says(tmp_path: Path) -> None:
    recorded(tmp_path, PLAIN, KEYED)
    assert "key-one" not in (tmp_path / NAME).read_text()
    (repetition,) = read_evidence(tmp_path / NAME)
    assert verdicts(repetition, LENGTH) == [Verdict.FAIL, Verdict.PASS]
    masked = repetition.gathered["roll"].cases[1]
    assert [said.verdict for said in carries_seven_letters(masked, context())] == [Verdict.FAIL]


def test_only_what_masking_would_change_is_stored(tmp_path: Path) -> None:
    recorded(tmp_path, PLAIN, KEYED)
    stored = [
        json.loads(line)
        for line in (tmp_path / NAME).read_text().splitlines()
        if '"judgements"' in line
    ]
    assert [(one["check"], one["place"]) for one in stored] == [("carries_seven_letters", 1)]


def test_long_bodies_are_packed_and_short_ones_stay_readable() -> None:
    written = PLAIN.to_json()
    small = packed_case(written)
    assert len(json.dumps(small)) < len(json.dumps(written)) / 2
    assert small["deliveries"][0]["body_b64"] == written["deliveries"][0]["body_b64"]
    assert unpacked_case(small) == written


@pytest.mark.parametrize(
    "damage", [lambda text: text.replace('"exchanges"', '"exchangez"'), lambda text: text[:-40]]
)
def test_damaged_evidence_is_refused_with_its_line(tmp_path: Path, damage: object) -> None:
    recorded(tmp_path, PLAIN)
    lines = (tmp_path / NAME).read_text().splitlines()
    lines[1] = damage(lines[1])  # type: ignore[operator]
    (tmp_path / NAME).write_text("\n".join(lines) + "\n")
    with pytest.raises(NotARun, match=rf"{NAME}:2: no evidence"):
        read_evidence(tmp_path / NAME)


def test_a_case_that_is_missing_is_seen(tmp_path: Path) -> None:
    recorded(tmp_path, PLAIN, KEYED, checks=())
    lines = (tmp_path / NAME).read_text().splitlines()
    del lines[1]
    (tmp_path / NAME).write_text("\n".join(lines) + "\n")
    with pytest.raises(NotARun, match="1 cases of 2"):
        read_evidence(tmp_path / NAME)


def is_signed_by_what_the_facts_say(evidence: Case, _context: CheckContext) -> Iterator[Judgement]:
    """Whoever has no secret can say nothing of a signature; a name in its place makes no secret."""
    secret = evidence.facts["destinations"][0]["secret"]
    for one in evidence.deliveries:
        ok = secret == "5f4dcc3b5aa765d61d8327deb882cf99" and one.body == b"{}"
        yield judged(ok, "5-16", "not signed", expected=secret, actual="", case=evidence)


def test_what_was_said_of_signatures_is_kept_with_its_cause(tmp_path: Path) -> None:
    signs = Check(
        name="signs",
        requirements=("5-16",),
        experiments=("roll",),
        judge=is_signed_by_what_the_facts_say,
    )
    facts = {"destinations": [{"token": "t1", "secret": "5f4dcc3b5aa765d61d8327deb882cf99"}]}
    good = case(exchange(status=500), deliveries=[delivery()], experiment="roll", facts=facts)
    bad = case(
        exchange(status=500), deliveries=[delivery(body=b"[]")], experiment="roll", facts=facts
    )
    recorded(tmp_path, good, bad, checks=(signs,))
    assert "5f4dcc3b" not in (tmp_path / NAME).read_text()
    (repetition,) = read_evidence(tmp_path / NAME)
    assert verdicts(repetition, signs) == [Verdict.PASS, Verdict.FAIL]
    (first, second) = repetition.gathered["roll"].cases
    assert [said.verdict for said in signs.judge(first, context())] == [Verdict.FAIL], (
        "only what is kept is right"
    )
    stored = [
        json.loads(line)
        for line in (tmp_path / NAME).read_text().splitlines()
        if '"judgements"' in line
    ]
    assert [one["place"] for one in stored] == [0], "the other one is found again without secrets"
    assert second.facts["destinations"][0]["secret"] == "secret#1"


def only_finding(gathered: Gathered, check: Check, **hooks: Any) -> Finding:
    """The finding that a check makes of what an experiment brought."""
    catalogue = load_catalogue()
    grader = Grader(
        checks=(check,),
        context=context(),
        catalogue=catalogue,
        experiments=[gathered.experiment],
        profile=Profile.STANDARD,
        gathered=lambda _: gathered,
        **hooks,
    )
    (found,) = grader.entry(catalogue.requirements["5-16"]).findings
    return found


def test_the_same_proof_is_chosen_although_names_of_secrets_have_other_lengths_than_secrets(
    tmp_path: Path,
) -> None:
    never = Check(
        name="never",
        requirements=("5-16",),
        experiments=("roll",),
        judge=lambda evidence, _: iter(
            [judged(False, "5-16", "never", expected=1, actual=2, case=evidence)]
        ),
    )
    long = case(
        exchange(body={"secret": "a" * 20 + "1" * 20}), experiment="roll", name="a long secret"
    )
    short = case(
        exchange(body={"secret": "b" * 10 + "2", "more": 1}),
        experiment="roll",
        name="a short one and more",
    )
    gathered = Gathered(experiment="roll", cases=(short, long), ending=Ending.COMPLETE)
    with (tmp_path / NAME).open("w", encoding="utf-8") as stream:
        writer = RunWriter(stream, Mask(PROJECTS, context().dialect), header())
        recorder = Recorder(writer)
        for one in gathered.cases:
            recorder.keep(one)
        live = only_finding(gathered, never, judge=recorder.judge, size=recorder.proof_size)
        writer.experiment(gathered)
    (repetition,) = read_evidence(tmp_path / NAME)
    again = only_finding(repetition.gathered["roll"], never, judge=repetition.judge)
    assert (live.case, live.count) == (again.case, again.count) == ("a long secret", 2)
