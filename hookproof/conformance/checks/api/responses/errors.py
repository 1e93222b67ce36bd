"""Sections 7 and 8: what refusals look like, and that unfinished requests are ended."""

import re
from collections.abc import Iterator
from typing import Final

from hookproof.conformance.checks.support.bounds import NO_SIZE_LIMIT
from hookproof.conformance.checks.support.refusal import refusal_with
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import NOT_JSON, Exchange
from hookproof.conformance.model.judgement import Judgement, Subject, judged, not_applicable
from hookproof.conformance.observations.answer import (
    NOT_NOW,
    SERVER_ERRORS,
    reaches_the_service,
    refused,
    refused_as_duplicate,
    was_answered,
)
from hookproof.conformance.observations.requests.mistakes import HalfRequest, OverlongRequest
from hookproof.spec.contract.refusals import ErrorForm

# In bytes of a body that is quoted, before credentials are masked in it and it is cut to one line.
LONGEST_QUOTED: Final = 4096

# What stack traces of common languages look like.
TRACES: Final = re.compile(
    rb"Traceback \(most recent call last\)"
    rb"|File \\?\"[^\"]+\\?\", line \d+|\bat [\w.$]+\([\w.]+\.(?:java|kt|scala):\d+\)"
    rb"|goroutine \d+ \[|/site-packages/|/node_modules/"
    rb"|\bat .+\.(?:js|ts):\d+:\d+|\.go:\d+\b|panic: "
)


@check("7-8")
def no_request_is_answered_with_a_server_error(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """Exercised by every request that got an answer of the service itself: where a gateway may be
    speaking, it is the service if the body is the dialect's error body.
    """
    of_service = was_answered(exchange) or not context.contract.error_problems(exchange.json)
    if exchange.status is not None and of_service:
        yield judged(
            exchange.status not in SERVER_ERRORS,
            "7-8",
            f"{exchange.operation_id or 'A request'} is answered with a server error",
            expected="no 5xx",
            actual=exchange.status,
            exchanges=[exchange],
        )


@check("7-9")
def a_refusal_shows_nothing_of_the_services_code(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """Neither a stack trace nor a path of a source file, in a server error either."""
    if refused(exchange) or exchange.status in SERVER_ERRORS:
        trace = TRACES.search(exchange.response_body)
        yield judged(
            trace is None,
            "7-9",
            "A refusal shows a stack trace or a path of the service's own code",
            expected="a message for people",
            actual=trace[0].decode("latin-1") if trace else "",
            exchanges=[exchange],
        )


@check("7-1")
def a_refusal_has_the_dialects_error_body(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """And the dialect's content type; parameters such as a charset may follow it. Refusals that
    have no body by the dialect declare none. The answer to a duplicate has a form of its own.
    """
    if (
        not refused(exchange)
        or not reaches_the_service(exchange)
        or refused_as_duplicate(exchange, context.dialect)
    ):
        return
    wanted = context.dialect.errors.content_type
    content_type = exchange.response_header("Content-Type") or "absent"
    forms = context.contract.errors.of(exchange.status)
    problems = [problem for form in forms for problem in _form_problems(exchange, form, context)]
    body = exchange.response_body[:LONGEST_QUOTED].decode("latin-1")
    yield judged(
        any(not _form_problems(exchange, form, context) for form in forms),
        "7-1",
        "A refusal has another content type or error body than the dialect's",
        expected=" or ".join(
            f"{wanted}: {form.template}" if form.validator else "no body" for form in forms
        ),
        actual=f"{content_type}: {'; '.join(dict.fromkeys(problems)) or body}",
        exchanges=[exchange],
    )


def _form_problems(exchange: Exchange, form: ErrorForm, context: CheckContext) -> tuple[str, ...]:
    """Why a refusal does not have this form; a body that is expected has the content type."""
    if form.validator is None:
        return ("there is a body",) if exchange.response_body else ()
    if exchange.json is NOT_JSON:
        return ("not JSON",)
    problems = [str(problem) for problem in context.contract.form_problems(form, exchange.json)]
    wanted = context.dialect.errors.content_type.lower()
    declared = (exchange.response_header("Content-Type") or "").partition(";")[0].strip().lower()
    return (*problems, *([] if declared == wanted else ["another content type"]))


@check("7-7", "8-18")
def an_unfinished_request_is_ended(
    request: HalfRequest | OverlongRequest, context: CheckContext
) -> Iterator[Judgement]:
    """A half request is ended after some time, an overlong one before it was sent to its end."""
    tried = request.tried
    if context.dialect.requests.size_limit is None:
        yield not_applicable("8-18", NO_SIZE_LIMIT)
    if tried is None:
        return
    if isinstance(request, OverlongRequest):
        if request.sent == 0 or tried.status in NOT_NOW:
            return  # nobody was there to read it
        yield judged(
            not tried.succeeded and request.sent < request.promised,
            "8-18",
            "A body of many megabytes is read to its end",
            expected=f"a refusal before {request.promised} bytes",
            actual=f"{tried.status or tried.problem} after {request.sent} bytes",
            exchanges=[tried],
            subject=Subject.REQUEST,
        )
    elif tried.status is not None:
        status = context.dialect.errors.status("slow_request", tried.operation_id)
        message = "A request that stops before its end is not ended with the dialect's status"
        yield from refusal_with(tried, "7-7", message, status)
