"""A small run file with every kind of line and of member, and the places in it."""

import hmac
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from hookproof.conformance.model.disagreement import Disagreement
from hookproof.conformance.model.evidence import NotObserved
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.ledger import Ledger, LeftBehind, LeftEndpoint
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.observations.destinations import Destination
from hookproof.conformance.results.run_file import NAME, RunWriter
from tests.conformance.canned_evidence import NOW, context, delivery, exchange, intake
from tests.conformance.canned_run import failed, finding, header, not_exercised, passed

SECRET = "5f4dcc3b5aa765d61d8327deb882cf99"
TARGET = "http://target.invalid"
# The steps from the top of a line to a value.
Place = tuple[str | int, ...]


def write_run(folder: Path) -> Path:
    """Write the file; return the folder."""
    with (folder / NAME).open("wb", buffering=0) as stream:
        writer = RunWriter(stream, _header())
        seen = intake(writer.evidence, "key-one").take(_observation())
        missed = NotObserved(
            experiment="roll",
            name="other",
            observation="DeliveryObservation",
            reason="nothing came",
            exchanges=(exchange(status=None, problem="no answer"),),
        )
        writer.evidence(missed)
        writer.experiment(
            Gathered(
                experiment="roll",
                observations=(seen, missed),
                ending=Ending.CUT,
                reason="the budget is over",
                began_s=1.5,
                duration_s=6.0,
            )
        )
        writer.shrunk(finding("4.1-2"), requests=3)
        writer.left = LeftBehind(
            endpoints=(LeftEndpoint(project="p1", uid="e1", is_disabled=False),), removed=1
        )
        writer.ledger(_ledger(), strict=False, duration_s=21.4, disagreements=[_disagreement()])
    return folder


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / NAME).read_text("ascii").splitlines()]


def places_of(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Each leaf of a JSON value, and each name of a member, which the steps end with twice."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from places_of(member, (*place, name))
    elif isinstance(value, list) and value:
        for number, item in enumerate(value):
            yield from places_of(item, (*place, number))
    else:
        yield place, value


def with_value(lines: list[dict[str, Any]], line: int, place: Place, value: Any) -> str:
    """The text of the file with another value in this place."""
    changed = json.loads(json.dumps(lines[line]))
    around = changed
    for step in place[:-1]:
        around = around[step]
    around[place[-1]] = value
    texts = [json.dumps(each, separators=(",", ":")) for each in lines]
    texts[line] = json.dumps(changed, separators=(",", ":"))
    return "\n".join((*texts, ""))


def _header() -> Any:
    return replace(
        header(everything=False),
        target=TARGET,
        projects=["p1", "p2"],
        nonce="aabbcc",
        receiver_url="https://127.0.0.1:4001",
        baseline=[
            {
                "id": "4.1-2",
                "expected": "fail",
                "reason": "known",
                "check": "what_was_sent_comes_back",
                "link": "https://tracker.invalid/1",
                "expires": "2030-01-31",
            }
        ],
        selected=["4.1-1", "4.1-2", "4.4-1"],
        excluded={"4.1-3": "not ours"},
        newer=["4.1-9"],
        hooks=["create_source"],
        run_id="aabb",
    )


def _observation() -> DeliveryObservation:
    scheme = context().dialect.signatures.simple
    signature = hmac.new(SECRET.encode(), b"{}", "sha256").hexdigest()
    destination = Destination(
        name="plain", token="t1", uid="e1", project="p1", secret=SECRET, settings={}
    )
    request = {"secret": SECRET, "url": "https://127.0.0.1:4001/t1"}
    return DeliveryObservation(
        experiment="roll",
        name="formats",
        exchanges=(
            exchange("plain", request=request, data={"uid": "e1", "name": "it"}),
            exchange("send", "createBroadcastEvent", request={"event_type": "a", "data": {}}),
        ),
        deliveries=(
            delivery(headers=[(scheme.header, signature)], arrived_at=NOW + 0.5),
            delivery(headers=[("X", "y")], sequence=2, status=None, completed_after=None),
        ),
        destinations=(destination,),
    )


def _ledger() -> Ledger:
    broken = replace(failed(), seen=(Verdict.PASS, Verdict.FAIL), accepted="known")
    follows = replace(
        failed("4.1-4"), findings=(replace(finding("4.1-4"), follows_from=("4.1-2",), cause="so"),)
    )
    return Ledger(
        entries=(replace(passed(), shown_by="round_trip"), broken, follows, not_exercised()),
        cut="the time budget of 5 s is over",
        faults=(),
        hooks=("create_source failed",),
        stale=("4.9-99 is gone",),
        uncovered="1 of 8 operations",
    )


def _disagreement() -> Disagreement:
    return Disagreement(
        field="paging.per_page_default",
        said=(20,),
        seen=(10,),
        requirements=("4.4-1",),
        findings=1,
        count=2,
        example="a page of 10",
    )
