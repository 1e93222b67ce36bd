import base64
import json
from pathlib import Path
from typing import Any

import pytest

from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.ledger import RunVerdict
from hookproof.conformance.results.records.evidence_records import evidence_of
from hookproof.conformance.results.run_file import NAME, NotARun, RunWriter, read_run
from tests.conformance.canned_evidence import delivery, exchange, intake, missing, seen
from tests.conformance.canned_run import failed, finished_run, header, not_exercised, passed

KEYED = exchange(
    request={"note": "key-one"},
    body=b'{"echo": "key-one and key-two"}',
    query="?k=key-one",
    response_headers=[("X-Echo", "key-one")],
)


def test_a_run_that_was_written_is_read_back(tmp_path: Path) -> None:
    entries = (passed(), failed(), not_exercised())
    run = finished_run(tmp_path, *entries)
    assert run.header == header()
    assert [entry.requirement for entry in run.entries] == [entry.requirement for entry in entries]
    assert [entry.verdict for entry in run.entries] == [entry.verdict for entry in entries]
    assert run.entries[2].reasons == entries[2].reasons
    assert run.entries[1].findings[0].count == 3
    assert run.entries[1].findings[0].exchanges[0].request_json == {"name": "it"}
    assert run.footer.verdict is RunVerdict.DOES_NOT_CONFORM
    assert (run.footer.exit_code, run.footer.duration_s) == (1, 21.4)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the run ended before anything was gathered"),
        ('{"event":"header","format":99}\n', "format 2"),
        ("not json\n", "JSONDecodeError"),
        ('{"event":"footer"}\n', "no header"),
        ("[]\n", "holds no run"),
    ],
)
def test_a_file_that_holds_no_run_is_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / NAME).write_text(content)
    with pytest.raises(NotARun, match=message):
        read_run(tmp_path / NAME)


def test_a_run_without_its_footer_is_refused(tmp_path: Path) -> None:
    finished_run(tmp_path, passed())
    lines = (tmp_path / NAME).read_text().splitlines(keepends=True)
    (tmp_path / NAME).write_text("".join(lines[:-1]))
    with pytest.raises(
        NotARun, match="cut off: it has no footer, as the run did not come to its end"
    ):
        read_run(tmp_path / NAME)


def test_a_file_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotARun, match=r"run\.jsonl cannot be read"):
        read_run(tmp_path / NAME)


def write_and_read(folder: Path, evidence: Evidence) -> tuple[str, Any]:
    with (folder / NAME).open("wb", buffering=0) as stream:
        writer = RunWriter(stream, header())
        intake(writer.evidence, "key-one", "key-two").take(evidence)
    text = (folder / NAME).read_text()
    return text, evidence_of(json.loads(text.splitlines()[1]))


def test_evidence_is_kept_byte_for_byte(tmp_path: Path) -> None:
    evidence = seen(
        exchange(key="none", request_headers=(), body=b"\xff\x00"),
        deliveries=[delivery(body=b"\x00\xfe")],
        facts={"waited_s": 1.5},
    )
    assert write_and_read(tmp_path, evidence)[1] == evidence


def test_no_key_is_written_from_any_place(tmp_path: Path) -> None:
    evidence = seen(
        KEYED,
        deliveries=[delivery(body=b"key-two", headers=[("X-Key", "key-one")], path="/t?key-one")],
        facts={"nested": [{"key-one": "saw key-two"}]},
        name="with key-one",
    )
    text, kept = write_and_read(tmp_path, evidence)
    everything = text + "".join(
        base64.b64decode(body).decode()
        for body in (
            kept.exchanges[0].to_json()["request_body_b64"],
            kept.exchanges[0].to_json()["response_body_b64"],
            kept.deliveries[0].to_json()["body_b64"],
        )
    )
    assert "key-one" not in everything
    assert "key-two" not in everything
    assert kept.exchanges[0].request_json == {"note": "$HOOKPROOF_API_KEY"}
    assert kept.facts == {"nested": [{"$HOOKPROOF_API_KEY": "saw $HOOKPROOF_API_KEY_2"}]}


def test_a_key_that_was_sent_without_its_end_is_masked_wherever_it_is_echoed(
    tmp_path: Path,
) -> None:
    _, kept = write_and_read(tmp_path, seen(exchange(body=b'{"refused": "key-on"}')))
    assert kept.exchanges[0].json == {"refused": "$HOOKPROOF_API_KEY"}


@pytest.mark.parametrize(
    ("key", "sent", "kept"),
    [
        ("own", "Bearer key-one", "Bearer $HOOKPROOF_API_KEY"),
        ("truncated", "Bearer key-on", "Bearer ${HOOKPROOF_API_KEY%?}"),
        ("bare", "key-one", "$HOOKPROOF_API_KEY"),
        ("wrong", "Bearer anything", "(masked)"),
        ("some other kind", "Basic a2V5LW9uZQ==", "(masked)"),
        ("empty", "", ""),
    ],
)
def test_the_value_of_authorization_is_never_written(
    tmp_path: Path, key: str, sent: str, kept: str
) -> None:
    evidence = seen(exchange(key=key, request_headers=[("authorization", sent)]))
    assert write_and_read(tmp_path, evidence)[1].exchanges[0].request_headers == (
        ("authorization", kept),
    )


def test_the_key_of_the_second_project_has_a_name_of_its_own(tmp_path: Path) -> None:
    evidence = seen(exchange(project="p2", request_headers=[("Authorization", "Bearer key-two")]))
    kept = write_and_read(tmp_path, evidence)[1].exchanges[0]
    assert kept.request_headers == (("Authorization", "Bearer $HOOKPROOF_API_KEY_2"),)


def test_why_something_was_not_observed_is_masked_too(tmp_path: Path) -> None:
    text, kept = write_and_read(tmp_path, missing("key-two was refused"))
    assert "key-two" not in text
    assert kept.reason == "$HOOKPROOF_API_KEY_2 was refused"


def test_a_field_that_is_not_json_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        write_and_read(tmp_path, seen(facts={"a": object()}))
