"""A check of the API raises nothing, whatever JSON a target sends where something else belongs."""

import base64
import json
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookproof.conformance.model.evidence import NOT_JSON, Exchange, Observation
from tests.conformance.canned_evidence import checks_bound_to, context
from tests.conformance.checks.api.example import Example
from tests.conformance.checks.api.test_checks_of_the_api import EXAMPLES

ODD = (None, True, 7, -1.5, "", "text", [], [[]], [None], {}, {"uid": []}, [{"uid": {}}])


def places(value: Any) -> int:
    """How many values there are in a JSON value, itself included."""
    members = (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    )
    return 1 + sum(map(places, members))


def replaced(value: Any, place: int, odd: Any) -> Any:
    """The same JSON value with the one at this place, counted from 0, replaced."""
    if place == 0:
        return odd
    place -= 1
    members = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    for name, member in members:
        if place < places(member):
            changed = value.copy()
            changed[name] = replaced(member, place, odd)
            return changed
        place -= places(member)
    raise AssertionError("no such place")


def disturbed(exchange: Exchange, draw: Any) -> Exchange:
    """The exchange with one value of its answer replaced by an odd one."""
    if exchange.json is NOT_JSON:
        return exchange
    place = draw(st.integers(0, places(exchange.json) - 1))
    body = json.dumps(replaced(exchange.json, place, draw(st.sampled_from(ODD)))).encode()
    return Exchange.from_json(
        {**exchange.to_json(), "response_body_b64": base64.b64encode(body).decode()}
    )


@given(st.data())
@settings(
    max_examples=1500,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    database=None,
)
def test_a_check_judges_odd_json_without_raising(data: st.DataObject) -> None:
    example: Example = data.draw(st.sampled_from(EXAMPLES))
    evidence = example.kept
    changed: Observation | Exchange
    if isinstance(evidence, Exchange):
        changed = disturbed(evidence, data.draw)
    else:
        exchanges = tuple(disturbed(exchange, data.draw) for exchange in evidence.exchanges)
        changed = replace(evidence, exchanges=exchanges).examined(context(example.dialect).dialect)
    for check in checks_bound_to([example.requirement], changed):
        judged = check.judge(changed, context(example.dialect))
        assert {said.requirement for said in judged} <= {*check.requirements}
