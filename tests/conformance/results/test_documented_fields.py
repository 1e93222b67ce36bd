"""Counts of documented fields: what was sent, and what was shown with a value."""

import json
from pathlib import Path

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.ledger import Ledger
from hookproof.conformance.reports.json import report
from hookproof.conformance.reports.markdown import markdown_text
from hookproof.conformance.reports.summary import notes
from hookproof.conformance.results.documented_fields import FieldCount, FieldCounter
from hookproof.conformance.results.run_file import NAME, Run, RunWriter, read_run
from hookproof.conformance.subjects.events.evidence import BroadcastWithField
from tests.conformance.canned_evidence import exchange, observation
from tests.conformance.canned_run import header, passed

EVENT = "createBroadcastEvent"


def counted(*exchanges: Exchange) -> dict[str, tuple[int, int]]:
    """How often each field was shown and sent, without those that were neither."""
    counter = FieldCounter()
    for each in exchanges:
        counter.add(each)
    return {
        count.name: (count.shown, count.sent)
        for count in counter.counts()
        if count.shown or count.sent
    }


def test_a_field_is_counted_once_for_each_answer_that_shows_it_with_a_value() -> None:
    shown = {"uid": "e1", "name": "", "rate_limit": 0, "advanced_signatures": False, "events": None}
    assert counted(exchange(data=shown), exchange("fetch", "getEndpoint", data=shown)) == {
        "Endpoint.uid": (2, 0),
        "Endpoint.rate_limit": (2, 0),
        "Endpoint.advanced_signatures": (2, 0),
    }


def test_fields_inside_objects_and_arrays_have_names_of_their_own() -> None:
    shown = {
        "secrets": [{"uid": "s1"}, {"uid": "s2", "value": "v"}, "odd"],
        "authentication": {"oauth2": {"signing_key": {"kty": "EC"}}, "unknown": 1},
    }
    assert counted(exchange(data=shown)) == {
        "Endpoint.secrets": (1, 0),
        "Endpoint.secrets.uid": (1, 0),
        "Endpoint.secrets.value": (1, 0),
        "Endpoint.authentication": (1, 0),
        "Endpoint.authentication.oauth2": (1, 0),
        "Endpoint.authentication.oauth2.signing_key": (1, 0),
        "Endpoint.authentication.oauth2.signing_key.kty": (1, 0),
    }


def test_records_of_other_resources_are_not_counted_as_these() -> None:
    event = {"uid": "v1", "endpoint_metadata": [{"name": "n"}], "source_metadata": {"url": "u"}}
    assert counted(exchange("create", EVENT, data=event)) == {
        "Event.uid": (1, 0),
        "Event.endpoint_metadata": (1, 0),
        "Event.source_metadata": (1, 0),
    }


def test_every_resource_of_a_page_and_its_pagination_are_counted() -> None:
    page = {"content": [{"uid": "s1"}, {"mask_id": "m"}], "pagination": {"per_page": 2}}
    assert counted(exchange("page", "listSources", data=page)) == {
        "Source.uid": (1, 0),
        "Source.mask_id": (1, 0),
        "Pagination.per_page": (1, 0),
    }


def test_what_an_accepted_request_sets_is_counted_under_its_name_in_the_resource() -> None:
    request = {"custom_headers": {"X-Shop": "example"}, "deleted_at": "now", "unknown": 1}
    assert counted(exchange("create", EVENT, data={"uid": "v1"}, request=request)) == {
        "Event.uid": (1, 0),
        "Event.headers": (0, 1),
    }


def test_refusals_and_answers_without_data_count_nothing() -> None:
    refusal = exchange(status=400, body={"message": "no"}, request={"name": "n"})
    assert counted(refusal, exchange(body=b"<html>"), exchange(None, None, data={"uid": "u"})) == {}


def run_with(folder: Path, *exchanges: Exchange) -> Run:
    """A finished run that observed these exchanges."""
    with (folder / NAME).open("wb", buffering=0) as stream:
        writer = RunWriter(stream, header())
        writer.evidence(observation(BroadcastWithField, *exchanges, field="custom_headers"))
        writer.ledger(Ledger(entries=(passed(),)), strict=False, duration_s=1.0)
    return read_run(folder / NAME)


def test_reports_name_the_fields_that_were_sent_and_never_shown(tmp_path: Path) -> None:
    request = {"custom_headers": {"X-Shop": "example"}, "event_type": "order.paid"}
    answer = {"uid": "v1", "event_type": "order.paid"}
    run = run_with(tmp_path, exchange("create", EVENT, data=answer, request=request))
    fields = {count.name: count for count in run.fields}
    assert fields["Event.event_type"] == FieldCount(name="Event.event_type", shown=1, sent=1)
    assert [count.name for count in run.fields if count.is_withheld] == ["Event.headers"]
    assert any(
        note.endswith("no answer showed with a value: Event.headers.") for note in notes(run)
    )
    assert {"name": "Event.headers", "shown": 0, "sent": 1} in json.loads(json.dumps(report(run)))[
        "fields"
    ]
    total = len(run.fields)
    assert f"2 of {total} documented fields were shown with a value" in markdown_text(run)


def test_a_run_without_answers_reports_no_fields(tmp_path: Path) -> None:
    run = run_with(tmp_path, exchange(status=None, body=b""))
    assert run.fields == ()
    assert "documented fields" not in markdown_text(run)
    assert not list(notes(run))


def test_coverage_counts_the_operations_that_succeeded_and_the_fields_that_were_shown() -> None:
    counter = FieldCounter()
    nothing = counter.coverage()
    assert (nothing.seen, nothing.percent) == (0, 0)
    counter.add(exchange(data={"uid": "e1", "name": ""}))
    counter.add(exchange("fetch", "getEndpoint", status=500, body=b"broken"))
    some = counter.coverage()
    assert set(nothing.missing) - set(some.missing) == {"createEndpoint", "Endpoint.uid"}
    assert some.seen == 2
    assert some.words.startswith(
        f"{100 * 2 / len(nothing.missing):.1f} % of the operations and fields of the document were"
        " seen to work or shown with a value; missing are getEndpoint, "
    )
    assert some.words.endswith(f" and {len(some.missing) - 12} more")
