"""Requests that are judged beside ordinary ones: null in place of a field, and deep data."""

from collections.abc import Collection, Iterator
from typing import Final

from hookproof.conformance.experiments.support.payloads import nested
from hookproof.conformance.experiments.support.valid_requests import ValidRequests
from hookproof.conformance.observations.requests.mistakes import SENT_AS_NULL, NestedData, NullField
from hookproof.conformance.observations.requests.planned_request import PlannedRequest
from hookproof.spec.dialect.groups.requests import DEEP

# How deep the data is beside which deeper data is judged.
SHALLOW: Final = 2


def null_fields(requests: ValidRequests, lacking: Collection[str]) -> Iterator[PlannedRequest]:
    """Section 4.9: null in place of a field that may be left out, beside a request without it."""
    rules = requests.bodies.dialect.requests
    for operation_id, names in SENT_AS_NULL.items():
        needed = {*rules.required_by(operation_id), *rules.one_of_required_by(operation_id)}
        for name in names:
            if name not in needed and name not in lacking:
                ordinary = requests.body_with(operation_id, name, None)
                del ordinary[name]
                yield PlannedRequest(
                    about="null in place of a field",
                    observes=NullField,
                    operation_id=operation_id,
                    field=name,
                    body=requests.body_with(operation_id, name, None),
                    ordinary=ordinary,
                )


def nested_data(requests: ValidRequests) -> Iterator[PlannedRequest]:
    """Section 8: data as deep as the dialect allows, and deeper by one level."""
    maximum = requests.bodies.dialect.requests.nesting_maximum
    deepest = maximum.value if len(maximum.allowed) == 1 else 0
    for levels in (DEEP,) if deepest is None else (deepest, deepest + 1) if deepest else ():
        yield PlannedRequest(
            about=f"data of {levels} levels",
            observes=NestedData,
            operation_id="createBroadcastEvent",
            field="data",
            body=requests.body_with("createBroadcastEvent", "data", nested(levels)),
            ordinary=requests.body_with("createBroadcastEvent", "data", nested(SHALLOW)),
            facts={"levels": levels},
        )
