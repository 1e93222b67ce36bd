"""Section 7, and the mistakes of sections 4 and 8 that have a status: what is refused, and what
refusals look like.
"""

import re
from collections.abc import Iterator
from typing import Final

from hookproof.conformance.checks.support.refusal import refusal_with
from hookproof.conformance.model.check_registry import CheckContext, check, oracle
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import SERVER_ERRORS, refused
from hookproof.conformance.observations.case import Case
from hookproof.spec.dialect.model import Answer

UNKNOWN: Final = {
    "getEndpoint": "4.2-7",
    "expireEndpointSecret": "4.3-20",
    "getPortalLink": "4.5-5",
    "updatePortalLink": "4.6-13",
}
# The requirement that each kind of mistake is refused, and the name of the dialect's status for it.
STATUS_OF: Final = {
    "other type": ("7-3", "invalid_value"),
    "not JSON": ("7-2", "malformed_body"),
    "media type": ("7-4", "unsupported_media_type"),
    "another method": ("7-5", "method_not_allowed"),
    "unknown path": ("7-6", "unknown_path"),
    "above the size limit": ("8-14", "body_too_large"),
    "number beyond": ("8-17", "invalid_value"),
}

# Roles of requests that something in front of the service may refuse in its own words.
NOT_FOR_THE_API: Final = frozenset({"odd", "unfinished"})

# What stack traces of common languages look like.
TRACES: Final = re.compile(
    rb"Traceback \(most recent call last\)"
    rb"|File \\?\"[^\"]+\\?\", line \d+|\bat [\w.$]+\([\w.]+\.(?:java|kt|scala):\d+\)"
    rb"|goroutine \d+ \[|/site-packages/|/node_modules/|\bat .+\.(?:js|ts):\d+:\d+|\.go:\d+\b|panic: "
)


@oracle("7-8")
def no_request_is_answered_with_a_server_error(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """Exercised by every request that got an answer."""
    if exchange.status is not None:
        yield judged(
            exchange.status not in SERVER_ERRORS,
            "7-8",
            f"{exchange.operation_id or 'A request'} is answered with a server error",
            expected="no 5xx",
            actual=exchange.status,
            exchanges=[exchange],
        )


@oracle("7-9")
def a_refusal_shows_nothing_of_the_services_code(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """No stack trace and no path of a source file, in a server error neither."""
    if refused(exchange) or exchange.status in SERVER_ERRORS:
        found = TRACES.search(exchange.response_body)
        yield judged(
            found is None,
            "7-9",
            "A refusal shows a stack trace or a path of the service's own code",
            expected="a message for people",
            actual=found[0].decode("latin-1") if found else "",
            exchanges=[exchange],
        )


@oracle("7-1")
def a_refusal_has_the_dialects_error_body(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """And its content type, parameters aside."""
    if not refused(exchange) or exchange.role in NOT_FOR_THE_API:
        return
    wanted = context.dialect.errors.content_type
    declared = (
        (exchange.response_header("Content-Type") or "absent").partition(";")[0].strip().lower()
    )
    problems = context.contract.error_problems(exchange.json)
    yield judged(
        declared == wanted.lower() and not problems,
        "7-1",
        "A refusal has another content type or error body than the dialect's",
        expected=f"{wanted}: {context.dialect.errors.body}",
        actual=f"{declared}: {'; '.join(map(str, problems)) or exchange.response_body[:200].decode('latin-1')}",
        exchanges=[exchange],
    )


@check(*(one for one, _ in STATUS_OF.values()), experiments=("refusals", "hostile"))
def a_mistake_is_refused_with_the_dialects_status(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """One kind of mistake at a time."""
    tried, about = case.exchange("tried"), case.facts.get("about")
    if tried is not None and about in STATUS_OF and tried.status is not None:
        requirement, name = STATUS_OF[about]
        status: Answer[int] = getattr(context.dialect.errors, name)
        message = f"A request is not refused as the dialect says: {about} {case.facts.get('field', '')}".rstrip()
        yield refusal_with(tried, requirement, message, status)


@check(*UNKNOWN.values(), experiments=("refusals",))
def what_does_not_exist_is_refused(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """Identifiers that differ from known ones in one character."""
    tried = case.exchange("tried")
    if (
        case.facts.get("about") == "unknown identifier"
        and tried is not None
        and tried.status is not None
    ):
        operation_id = case.facts["operation_id"]
        message = f"{operation_id} of what does not exist is not refused as the dialect says"
        yield refusal_with(
            tried, UNKNOWN[operation_id], message, context.dialect.errors.unknown_resource
        )


@check("7-7", "8-18", experiments=("unfinished",))
def an_unfinished_request_is_ended(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """One that stops halfway in the target's own time; one that is far too long before it was sent
    to its end.
    """
    tried, about = case.exchange("unfinished"), case.facts.get("about")
    if tried is None:
        return
    if about == "stops halfway" and tried.status is not None:
        message = "A request that stops before its end is not ended with the dialect's status"
        yield refusal_with(tried, "7-7", message, context.dialect.errors.slow_request)
    elif about == "far too long":
        yield judged(
            not tried.succeeded and case.facts["sent"] < case.facts["promised"],
            "8-18",
            "A body of many megabytes is taken in whole",
            expected=f"a refusal before {case.facts['promised']} bytes",
            actual=f"{tried.status or tried.problem} after {case.facts['sent']} bytes",
            exchanges=[tried],
        )
