"""Runs judged again from their files, with the same verdicts as before."""

import hmac
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest

from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Evidence, NotExaminedError, NotObserved
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.observations.destinations import Destination
from hookproof.conformance.reports.json import report
from hookproof.conformance.reports.summary import notes
from hookproof.conformance.results.records.compression import pack_evidence, unpack_evidence
from hookproof.conformance.results.records.evidence_records import evidence_json
from hookproof.conformance.results.run_file import NAME, NotARun, RunWriter
from hookproof.conformance.results.stored_evidence import read_evidence
from hookproof.receiver.signatures.signed_message import Reason
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.reader import load_dialect
from tests.conformance.canned_evidence import context, delivery, exchange, intake, seen
from tests.conformance.canned_run import failed, finding, finished_run, header

KEYED = seen(
    exchange(), deliveries=[delivery(body=b'{"leaked": "key-one"}')], experiment="roll", name="leak"
)
PLAIN = seen(exchange(body=b"x" * 3000), deliveries=[delivery()], experiment="roll", name="plain")


def record(folder: Path, *evidence: Evidence, repetitions: int = 1) -> None:
    with (folder / NAME).open("wb", buffering=0) as stream:
        writer = RunWriter(stream, header())
        for repetition in range(1, repetitions + 1):
            take = intake(partial(writer.evidence, repetition=repetition), "key-one").take
            gathered = Gathered(
                experiment="roll",
                observations=tuple(map(take, evidence)),
                ending=Ending.CUT,
                reason="because",
            )
            writer.experiment(gathered, repetition)


def test_evidence_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    record(tmp_path, PLAIN, repetitions=2)
    repetitions = read_evidence(tmp_path / NAME)
    assert len(repetitions) == 2
    for repetition in repetitions:
        (kept,) = repetition.gathered["roll"].observations
        assert kept.exchanges[0].response_body == PLAIN.exchanges[0].response_body
        assert kept.deliveries == PLAIN.deliveries
        assert repetition.gathered["roll"].ending is Ending.CUT


def test_no_key_is_in_the_evidence(tmp_path: Path) -> None:
    record(tmp_path, PLAIN, KEYED)
    assert "key-one" not in (tmp_path / NAME).read_text()
    (repetition,) = read_evidence(tmp_path / NAME)
    kept = repetition.gathered["roll"].observations[1]
    assert kept.deliveries[0].body == b'{"leaked": "$HOOKPROOF_API_KEY"}'


def test_evidence_of_an_earlier_version_is_refused_with_its_reason(tmp_path: Path) -> None:
    record(tmp_path, PLAIN)
    text = (tmp_path / NAME).read_text().replace('"observation":"CannedObservation",', "")
    (tmp_path / NAME).write_text(text)
    with pytest.raises(NotARun, match="an earlier version, whose evidence has no types"):
        read_evidence(tmp_path / NAME)


def test_long_bodies_are_packed_and_short_ones_stay_readable() -> None:
    written = evidence_json(PLAIN)
    packed = pack_evidence(written)
    assert len(json.dumps(packed)) < len(json.dumps(written)) / 2
    assert packed["deliveries"][0]["body_b64"] == written["deliveries"][0]["body_b64"]
    assert unpack_evidence(packed) == written


def test_equal_bodies_of_an_observation_and_long_facts_take_room_once() -> None:
    body = json.dumps(list(range(2000)))
    written = evidence_json(
        seen(
            exchange("a", body=body.encode()),
            exchange("b", body=b"{}"),
            exchange("c", body=body.encode()),
            facts={"items": ["a", 1, None, "é\ud800"] * 500},
        )
    )
    packed = pack_evidence(written)
    assert len(json.dumps(packed)) < len(json.dumps(pack_evidence({**written, "facts": {}}))) + 300
    assert packed["exchanges"][2]["response_body_as_in"] == 0
    assert unpack_evidence(json.loads(json.dumps(packed))) == written


def random_body(number: int, length: int = 1 << 20) -> bytes:
    return Random(number).randbytes(length).hex().encode()


def test_long_bodies_are_cut_when_their_room_is_taken_and_are_not_judged_again(
    tmp_path: Path,
) -> None:
    observed = [
        seen(
            exchange(body=random_body(number)),
            exchange("small", body=b"{}"),
            deliveries=[delivery()],
            experiment="roll",
            name=f"number {number}",
        )
        for number in range(6)
    ]
    record(tmp_path, *observed)
    assert (tmp_path / NAME).stat().st_size < 5 << 20
    (repetition,) = read_evidence(tmp_path / NAME)
    kept = repetition.gathered["roll"].observations
    assert not isinstance(kept[0], NotObserved)
    assert kept[0].exchanges[0].response_body == random_body(0)
    last = kept[-1]
    assert isinstance(last, NotObserved)
    digest = sha256(random_body(5)).hexdigest()
    assert f"response body of {2 << 20} bytes, SHA-256 {digest}" in last.reason
    assert [each.role for each in last.exchanges] == ["small"]
    assert last.deliveries == observed[-1].deliveries


def test_a_finding_that_rests_on_a_long_body_keeps_its_beginning(tmp_path: Path) -> None:
    long = replace(finding(), exchanges=tuple(exchange(body=random_body(n)) for n in range(6)))
    run = finished_run(tmp_path, replace(failed(), findings=(long,)))
    (kept,) = [each for entry in run.entries for each in entry.findings]
    lengths = [len(each.response_body) for each in kept.exchanges]
    assert lengths == [*[2 << 20] * 2, *[4096] * 4]
    assert kept.exchanges[5].response_body == random_body(5)[:4096]
    assert run.footer.cut_bodies == report(run)["cut_bodies"] == 4
    assert any("long bodies were judged and are cut" in line for line in notes(run))


@pytest.mark.parametrize(
    "damage", [lambda text: text.replace('"exchanges"', '"exchangez"'), lambda text: text[:-40]]
)
def test_damaged_evidence_is_refused_with_its_line(
    tmp_path: Path, damage: Callable[[str], str]
) -> None:
    record(tmp_path, PLAIN)
    lines = (tmp_path / NAME).read_text().splitlines()
    lines[1] = damage(lines[1])
    (tmp_path / NAME).write_text("\n".join(lines) + "\n")
    with pytest.raises(NotARun, match=rf"{NAME}:2: no evidence"):
        read_evidence(tmp_path / NAME)


def test_a_missing_observation_is_refused(tmp_path: Path) -> None:
    record(tmp_path, PLAIN, KEYED)
    lines = (tmp_path / NAME).read_text().splitlines()
    del lines[1]
    (tmp_path / NAME).write_text("\n".join(lines) + "\n")
    with pytest.raises(NotARun, match="1 observations of 2"):
        read_evidence(tmp_path / NAME)


SECRET = "5f4dcc3b5aa765d61d8327deb882cf99"


def signed_delivery(signature: str) -> DeliveryObservation:
    """A delivery to an endpoint with this secret, with this value in its signature header."""
    destination = Destination(
        name="plain", token="t1", uid="e1", project="p1", secret=SECRET, settings={}
    )
    scheme = context().dialect.signatures.simple
    return DeliveryObservation(
        experiment="roll",
        name="formats",
        exchanges=(exchange("plain", request={"secret": SECRET}),),
        deliveries=(delivery(headers=[(scheme.header, signature)]),),
        destinations=(destination,),
    )


def test_signatures_are_examined_before_their_secrets_are_masked(tmp_path: Path) -> None:
    valid = hmac.new(SECRET.encode(), b"{}", "sha256").hexdigest()
    record(tmp_path, signed_delivery(valid), signed_delivery("0" * 64))
    assert SECRET not in (tmp_path / NAME).read_text()
    (repetition,) = read_evidence(tmp_path / NAME)
    signed, forged = (each.signatures[0] for each in repetition.gathered["roll"].observations)
    assert (signed.verified, signed.secrets) == (True, ("secret#1",))
    assert (forged.verified, forged.secrets) == (False, ())
    assert forged.why_unverified.startswith(f"{Reason.NO_SIGNATURE_MATCHES}")


def test_signatures_that_were_examined_by_another_dialect_are_not_judged(tmp_path: Path) -> None:
    record(tmp_path, signed_delivery("0" * 64))
    (repetition,) = read_evidence(tmp_path / NAME)
    (kept,) = repetition.gathered["roll"].observations
    other = load_dialect("contrary")
    judged_by = CheckContext(
        dialect=other, contract=contract_for(other), examined_by=context().dialect
    )
    with pytest.raises(NotExaminedError, match="were examined by the dialect reference"):
        kept.signature(kept.deliveries[0], judged_by)
