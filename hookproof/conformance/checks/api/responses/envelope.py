"""Section 2.1: every successful response is an envelope."""

from collections.abc import Iterator
from typing import Any

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import NOT_JSON, Exchange
from hookproof.conformance.model.judgement import Judgement, judged

MEMBERS = {"2.1-2": ("message", str), "2.1-3": ("status", bool), "2.1-5": ("data", dict)}
JSON_NAMES = {str: "a string", bool: "a boolean", dict: "an object"}


@check("2.1-1")
def a_success_is_one_json_object(exchange: Exchange, _context: CheckContext) -> Iterator[Judgement]:
    if exchange.operation_id is not None and exchange.succeeded:
        yield judged(
            isinstance(exchange.json, dict),
            "2.1-1",
            "The body of a successful response is not a JSON object",
            expected="one JSON object",
            actual="not JSON" if exchange.json is NOT_JSON else exchange.json,
            exchanges=[exchange],
        )


@check(*MEMBERS)
def a_success_has_message_status_and_data(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    for requirement, (member, kind) in MEMBERS.items():
        for envelope in _envelopes(exchange):
            yield judged(
                isinstance(envelope.get(member), kind),
                requirement,
                f"A successful response has no {member} that is {JSON_NAMES[kind]}",
                expected=f"{member}: {JSON_NAMES[kind]}",
                actual=envelope.get(member, "absent"),
                exchanges=[exchange],
            )


@check("2.1-4")
def the_success_flag_of_a_success_is_true(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """A 2xx with `status: false` contradicts itself."""
    for envelope in _envelopes(exchange):
        flag = envelope.get("status")
        if isinstance(flag, bool):
            yield judged(
                flag,
                "2.1-4",
                "A successful response is flagged as unsuccessful",
                expected=True,
                actual=flag,
                exchanges=[exchange],
            )


@check("2.1-6")
def a_json_body_is_declared_as_json(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """Objects and arrays only: other texts may happen to be JSON."""
    if isinstance(exchange.json, dict | list):
        declared = exchange.response_header("Content-Type") or "absent"
        yield judged(
            declared.partition(";")[0].strip().lower().endswith(("/json", "+json")),
            "2.1-6",
            "A JSON body is not declared as JSON",
            expected="application/json, or a media type that ends in +json",
            actual=declared,
            exchanges=[exchange],
        )


def _envelopes(exchange: Exchange) -> Iterator[dict[str, Any]]:
    if exchange.operation_id is not None and exchange.succeeded and isinstance(exchange.json, dict):
        yield exchange.json
