"""Sections 4.1 to 4.8: valid requests succeed, and the answer is about what was asked for."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from hookproof.conformance.checks.support.success import success_of
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import (
    answered_as_duplicate,
    has_value,
    path_parameters,
    refused_as_duplicate,
    resources,
    sent,
    shown,
    was_accepted,
    was_successful,
)
from hookproof.conformance.observations.succeeding_requests import SucceedingRequests

SUCCESS: Final = {
    "createEndpoint": "4.1-1",
    "getEndpoint": "4.2-1",
    "expireEndpointSecret": "4.3-1",
    "listPortalLinks": "4.4-1",
    "getPortalLink": "4.5-1",
    "updatePortalLink": "4.6-1",
    "listSources": "4.7-1",
    "createBroadcastEvent": "4.8-1",
}

STATUS: Final = {
    "createEndpoint": "4.1-2",
    "getEndpoint": "4.2-2",
    "expireEndpointSecret": "4.3-8",
    "listPortalLinks": "4.4-2",
    "getPortalLink": "4.5-2",
    "updatePortalLink": "4.6-2",
    "listSources": "4.7-2",
    "createBroadcastEvent": "4.8-2",
}

# What not every service has a licence or a use for, so that every endpoint can be created without;
# and a time whose form the document does not show: a broadcast with it is for requirement 4.8-6.
OPTIONAL_PARTS: Final = frozenset({"acknowledged_at", "authentication", "mtls_client_cert"})

CURSORS: Final = frozenset({"next_page_cursor", "prev_page_cursor"})

NAMED_BY_PATH: Final = {
    "getEndpoint": ("4.2-4", "endpointID"),
    "expireEndpointSecret": ("4.3-10", "endpointID"),
    "getPortalLink": ("4.5-4", "portalLinkID"),
    "updatePortalLink": ("4.6-4", "portalLinkID"),
}


@check(*SUCCESS.values())
def a_valid_request_succeeds(
    requests: SucceedingRequests, context: CheckContext
) -> Iterator[Judgement]:
    """Whatever the dialect allows is accepted."""
    known = {
        resource.text("uid") for exchange in requests.exchanges for resource in resources(exchange)
    }
    for exchange in requests.requests_to_succeed:
        if (
            exchange.operation_id is not None
            and (was_successful(exchange) or _is_surely_valid(exchange, known, context))
            and not refused_as_duplicate(exchange, context.dialect)
        ):
            message = "A valid request did not succeed"
            yield from success_of(exchange, SUCCESS[exchange.operation_id], message)


def _is_surely_valid(exchange: Exchange, known: set[str | None], context: CheckContext) -> bool:
    """Whether a request asks for nothing that a service may lack or refuse, and names no endpoint
    that it has not shown. Whether a cursor is one that it has shown is for sections 4.4 and 4.7.
    """
    operation_id, body = exchange.operation_id or "", sent(exchange)
    if CURSORS & dict(parse_qsl(urlsplit(exchange.url).query)).keys():
        return False
    named = body.get("endpoints", [])
    if OPTIONAL_PARTS & body.keys() or ("endpoints" in body and not named):
        return False
    path = path_parameters(exchange, context.contract.operations[operation_id].path)
    wanted = [path["endpointID"]] if "endpointID" in path else []
    return known.issuperset([*wanted, *named])


@check(*STATUS.values())
def a_success_has_the_dialects_status(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """Section 7: the numbers behind the labels. A duplicate may have a number of its own.

    A page for people, or a failure by its flag, is no success whatever its number.
    """
    if exchange.operation_id is None or not was_accepted(exchange):
        return
    success = context.contract.operations[exchange.operation_id].success
    if success.decided:
        yield judged(
            success.allows(exchange.status) or answered_as_duplicate(exchange, context.dialect),
            STATUS[exchange.operation_id],
            f"{exchange.operation_id} succeeds with another status than the dialect's",
            expected=" or ".join(map(str, success.allowed)),
            actual=exchange.status,
            exchanges=[exchange],
        )


@check(*(requirement for requirement, _ in NAMED_BY_PATH.values()))
def the_answer_is_about_the_resource_in_the_path(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """Its uid is the identifier that was asked for."""
    if exchange.operation_id not in NAMED_BY_PATH or not has_value(shown(exchange).get("uid")):
        return
    requirement, parameter = NAMED_BY_PATH[exchange.operation_id]
    template = context.contract.operations[exchange.operation_id].path
    uid_in_path = path_parameters(exchange, template).get(parameter)
    yield judged(
        shown(exchange)["uid"] == uid_in_path,
        requirement,
        "The answer is about another resource than the one in the path",
        expected=uid_in_path,
        actual=shown(exchange)["uid"],
        exchanges=[exchange],
    )
