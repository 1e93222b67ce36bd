"""What a target did, from the stored exchanges and deliveries of a run."""

from pathlib import Path
from typing import Any

import pytest

from hookproof.conformance.reports.behaviour.two_runs import TwoBehaviours
from hookproof.conformance.results.behaviour.answers import quantile
from hookproof.conformance.results.behaviour.shapes import FieldShape, ShapeCounter
from hookproof.conformance.results.records import compression
from tests.conformance.canned_evidence import exchange
from tests.conformance.results.behaviour.stored_runs import (
    arrival,
    behaviour_of,
    broadcast,
    observed,
)


def compared(folder: Path, before: Any, after: Any) -> TwoBehaviours:
    return TwoBehaviours(
        before=behaviour_of(folder / "before", *before),
        after=behaviour_of(folder / "after", *after),
    )


def shapes(*values: Any) -> dict[str, FieldShape]:
    counter = ShapeCounter()
    for value in values:
        counter.add(value)
    return counter.shapes()


def test_statuses_and_times_are_counted_by_operation(tmp_path: Path) -> None:
    behaviour = behaviour_of(
        tmp_path / "run",
        observed(
            exchange(duration_s=0.3),
            exchange(duration_s=0.1),
            exchange(status=400, duration_s=9.0),
            exchange(status=None, problem="refused", duration_s=9.0),
            exchange("odd", None, status=404),
        ),
    )
    creation = behaviour.operations["createEndpoint"]
    assert dict(creation.statuses) == {"201": 2, "400": 1, "no answer": 1}
    assert creation.took_s == (0.1, 0.3)
    assert dict(behaviour.operations["(no operation)"].statuses) == {"404": 1}


@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, 2.0), (0.51, 3.0), (0.95, 4.0), (1.0, 4.0), (0.0, 1.0)]
)
def test_a_quantile_is_the_least_value_that_the_share_does_not_exceed(
    share: float, expected: float
) -> None:
    assert quantile((1.0, 2.0, 3.0, 4.0), share) == expected


def test_the_same_request_with_another_status_is_named(tmp_path: Path) -> None:
    def run(status: int) -> list[Any]:
        names = ("a", "b")
        tried = [
            observed(exchange(request={"name": "x"}, status=status), name=name) for name in names
        ]
        return [
            *tried,
            observed(exchange("fetch", "getEndpoint", path={"endpointID": str(status)})),
        ]

    count, (other,) = compared(tmp_path, run(201), run(400)).other_statuses
    assert count == 3
    assert (other.operation, other.before, other.after, other.count) == (
        "createEndpoint",
        "201",
        "400",
        2,
    )
    assert other.example == "round_trip: a (create)"


@pytest.mark.parametrize(
    "changes",
    [
        {"request": {"name": "x", "url": "y"}},
        {"request": ["name"]},
        {"request": None},
        {"key": "none"},
        {"method": "PUT"},
        {"query": "?perPage=1"},
        {"operation_id": "getEndpoint", "path": {"endpointID": "e"}},
    ],
    ids=str,
)
def test_a_request_with_other_fields_is_not_compared(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    asked = {"request": {"name": "x"}, "status": 400}
    before, after = exchange(request={"name": "x"}), exchange(**{**asked, **changes})
    assert compared(tmp_path, [observed(before)], [observed(after)]).other_statuses == (0, [])


def test_a_generated_request_is_compared_only_with_the_same_values(tmp_path: Path) -> None:
    def run(status: int, *names: str) -> list[Any]:
        return [
            observed(
                exchange(request={"name": name}, status=status), experiment="sweep", name=str(n)
            )
            for n, name in enumerate(names)
        ]

    both = compared(tmp_path, run(201, "same", "one"), run(400, "same", "other"))
    count, (other,) = both.other_statuses
    assert (count, other.count) == (1, 1)


def test_requests_of_one_role_are_compared_in_their_order(tmp_path: Path) -> None:
    def run(*statuses: int) -> list[Any]:
        return [observed(*(exchange(request={}, status=status) for status in statuses))]

    count, others = compared(tmp_path, run(201, 400, 201), run(201, 201)).other_statuses
    assert count == 2
    assert [(each.before, each.after) for each in others] == [("400", "201")]


def test_null_an_absent_field_and_another_type_are_told_apart(tmp_path: Path) -> None:
    def run(*endpoints: dict[str, Any]) -> list[Any]:
        return [observed(exchange(data=endpoint)) for endpoint in endpoints]

    both = compared(
        tmp_path,
        run(
            {"uid": "a", "owner_id": None, "events": 1, "name": "x"}, {"uid": "b", "owner_id": "o"}
        ),
        run({"uid": "a", "events": "1", "name": "x"}, {"uid": "b", "owner_id": "o"}),
    )
    differing = {each.path: (each.before, each.after) for each in both.differing_shapes}
    assert differing == {
        "events": (
            FieldShape(seen=1, of=2, types={"integer": 1}),
            FieldShape(seen=1, of=2, types={"string": 1}),
        ),
        "owner_id": (
            FieldShape(seen=2, of=2, types={"null": 1, "string": 1}),
            FieldShape(seen=1, of=2, types={"string": 1}),
        ),
    }
    assert {each.kind for each in both.differing_shapes} == {"Endpoint"}


def test_what_is_in_a_field_that_one_target_lacks_is_not_listed_besides(tmp_path: Path) -> None:
    endpoint = {"authentication": {"type": "oauth2", "oauth2": {"url": "u", "scopes": [{"a": 1}]}}}
    both = compared(
        tmp_path, [observed(exchange(data=endpoint))], [observed(exchange(data={"name": "x"}))]
    )
    assert [each.path for each in both.differing_shapes] == ["authentication", "name"]


def test_a_kind_that_one_target_was_not_seen_to_answer_is_not_compared(tmp_path: Path) -> None:
    both = compared(
        tmp_path,
        [observed(exchange(), exchange(status=400, body={"message": "no"}))],
        [observed(exchange())],
    )
    assert list(both.differing_shapes) == []


def test_an_endpoint_in_an_event_is_an_endpoint(tmp_path: Path) -> None:
    event = {"uid": "e", "endpoint_metadata": [{"uid": "a", "secrets": [{"value": "v"}]}]}
    behaviour = behaviour_of(
        tmp_path / "run", observed(exchange("send", "createBroadcastEvent", data=event))
    )
    assert set(behaviour.shapes) == {"Endpoint", "Event", "Secret", "envelope"}
    assert set(behaviour.shapes["Event"]) == {"", "uid", "endpoint_metadata"}
    assert set(behaviour.shapes["Endpoint"]) == {"", "uid", "secrets"}
    assert set(behaviour.shapes["envelope"]) == {"", "message", "status", "data"}


def test_a_list_shows_its_items_and_its_page(tmp_path: Path) -> None:
    page = {"content": [{"uid": "s"}], "pagination": {"per_page": 20}}
    behaviour = behaviour_of(tmp_path / "run", observed(exchange("list", "listSources", data=page)))
    assert set(behaviour.shapes["Source"]) == {"", "uid"}
    assert set(behaviour.shapes["pagination"]) == {"", "per_page"}


def test_names_that_are_data_are_one_field() -> None:
    assert set(shapes({"headers": {"X-A": "1", "X-B": "2"}})) == {"", "headers", "headers.*"}
    assert set(shapes({"a b": 1, "1": 2, "\x1b": 3, "fine": 4})) == {"", "*", "fine"}
    many = shapes({f"name_{number}": 1 for number in range(100)})
    assert len(many) == 42
    assert many["*"].seen == 60


def test_deep_and_odd_values_are_counted_to_a_depth() -> None:
    value: Any = 1.5
    for _ in range(1000):
        value = [value]
    assert max(len(path) for path in shapes(value)) == 16
    assert shapes(True, 1, 1.5, "x", None)[""].types == {
        "boolean": 1,
        "integer": 1,
        "number": 1,
        "string": 1,
        "null": 1,
    }


def test_a_body_that_is_not_whole_in_the_file_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = exchange(data={"name": "x" * 200_000, "only_here": 1})
    whole = behaviour_of(tmp_path / "whole", observed(long))
    assert "only_here" in whole.shapes["Endpoint"]
    monkeypatch.setattr(compression, "LONG", 10)
    monkeypatch.setattr(compression.LongBodies.__init__, "__defaults__", (0,))
    behaviour = behaviour_of(tmp_path / "run", observed(long))
    assert behaviour.operations == {}


def test_the_time_of_a_delivery_is_that_of_its_first_attempt(tmp_path: Path) -> None:
    behaviour = behaviour_of(
        tmp_path / "run",
        observed(
            broadcast({"n": 1, "m": "é"}),
            arrival(b'{"m": "\\u00e9",  "n": 1}', 0.5),
            arrival('{"n":1,"m":"é"}'.encode(), 0.25, token="t2"),
            arrival(b'{"n":1,"m":"\\u00e9"}', 3.0),
            arrival(b"not JSON", 0.1),
            arrival(b'{"n":2}', 0.1),
        ),
    )
    assert behaviour.deliveries.arrived == 5
    assert behaviour.deliveries.took_s == pytest.approx((0.25, 0.5))


def test_deliveries_that_could_be_of_two_broadcasts_are_of_none(tmp_path: Path) -> None:
    behaviour = behaviour_of(
        tmp_path / "run",
        observed(broadcast({}), broadcast({}, at_s=1), arrival(b"{}", 2)),
        observed(broadcast([1], status=400), arrival(b"[1]", 2), name="refused"),
        observed(broadcast([1]), name="elsewhere"),
    )
    assert (behaviour.deliveries.arrived, behaviour.deliveries.took_s) == (2, ())


def test_the_order_is_that_of_broadcasts_one_after_the_other(tmp_path: Path) -> None:
    behaviour = behaviour_of(
        tmp_path / "run",
        observed(
            broadcast(1, at_s=0),
            broadcast(2, at_s=1),
            broadcast(3, at_s=2, took_s=5),
            broadcast(4, at_s=3),  # sent before the third was answered
            arrival(b"1", 1.5),
            arrival(b"2", 1.4),
            arrival(b"3", 9),
            arrival(b"4", 8),
            arrival(b"1", 1.1, token="t2"),
            arrival(b"2", 1.2, token="t2"),
        ),
    )
    assert (behaviour.deliveries.ordered, behaviour.deliveries.disordered) == (2, 1)
