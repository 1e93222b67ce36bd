"""The fields of a dialect that a target's first answers disagree with are named."""

from dataclasses import replace
from typing import Any

from hookproof.conformance.doctor.command import line_of
from hookproof.conformance.doctor.dialect_comparison import disagreements
from hookproof.conformance.doctor.examination import DoctorResult
from hookproof.process.exit_codes import ExitCode
from hookproof.spec.dialect.reader import load_dialect
from tests.conformance.canned_evidence import exchange

ENDPOINT = {
    "uid": "01M84D5DNYQEBPH1F1JGM7SRWP",
    "created_at": "2026-11-23T14:32:36.798831Z",
    "status": "active",
}
EVENT = {**ENDPOINT, "status": "Processing"}


def found(
    *, dialect: str = "reference", event: dict[str, Any] | None = None, **endpoint: Any
) -> list[str]:
    created = exchange(data={**ENDPOINT, **endpoint})
    sent = exchange("broadcast", "createBroadcastEvent", data=EVENT if event is None else event)
    return list(disagreements(load_dialect(dialect), created, sent))


def test_answers_as_the_dialect_says_are_no_disagreement() -> None:
    assert found() == []


def test_a_narrower_form_agrees_with_a_wider_answer() -> None:
    assert found(dialect="undecided") == []


def test_identifiers_of_another_form_are_named_with_what_they_look_like() -> None:
    uuid = "01a208d6-9e43-7e1f-8210-2189f923bd1d"
    (sentence,) = found(uid=uuid, event={**EVENT, "uid": uuid})
    assert sentence == (
        f"representation.identifier says ulid; 2 values look like uuid, such as {uuid}"
    )


def test_identifiers_that_differ_from_the_pattern_of_their_resource_are_named() -> None:
    known = load_dialect("reference")
    patterns = {"Endpoint": "ep_[0-9]{4}", "Event": "evt_[0-9]{4}"}
    dialect = replace(known, representation=replace(known.representation, identifier_of=patterns))
    created = exchange(data={**ENDPOINT, "uid": "ep_12"})
    sent = exchange("broadcast", "createBroadcastEvent", data={**EVENT, "uid": "evt_1234"})
    assert list(disagreements(dialect, created, sent)) == [
        "representation.identifier_of.Endpoint says ep_[0-9]{4}; 1 values differ: ep_12"
    ]


def test_another_dialect_disagrees_in_each_field() -> None:
    fields = {sentence.split()[0] for sentence in found(dialect="contrary")}
    assert fields == {"representation.identifier", "representation.timestamp", "success.created"}


def test_another_word_is_named() -> None:
    assert found(status="on") == ["words.endpoint_active says active; createEndpoint answered on"]


def test_what_does_not_keep_a_target_from_being_judged_is_a_note() -> None:
    wrong = DoctorResult(what="w", advice="a")
    assert line_of(wrong) == "FAIL  w: a"
    assert line_of(replace(wrong, exit_code=ExitCode.CONFORMS)) == "note  w: a"
