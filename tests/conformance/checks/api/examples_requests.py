"""Examples for sections 2.9, 4.9, 7 and 8: refusals, required fields and bounds."""

from hookproof.conformance.checks.api.requests.questions import (
    QUESTIONS,
)
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.requests.endpoint_urls import (
    UnusualUrlTried,
    UrlKind,
    answer_to,
)
from hookproof.conformance.observations.requests.mistakes import (
    ORDINARY,
    Bound,
    DataOfAnotherType,
    HalfRequest,
    Mistake,
    NestedData,
    NullField,
    OverlongRequest,
    PartialFieldMapping,
    RateLimitOfZero,
    RequestTried,
    RequiredFieldLeftOut,
    RequiredFieldsAlone,
    RollWithoutBody,
    Scheme,
    TimeoutOfZero,
    UnansweredVisit,
    UndeclaredBody,
    UnknownEndpointListed,
    UnknownIdentifier,
    Unlisted,
)
from tests.conformance.canned_evidence import context, exchange, observation
from tests.conformance.checks.api.example import (
    Example,
    accepted,
    created,
    refusal,
    request_tried,
)


def by_operation(kind: type[RequestTried]) -> list[tuple[str, str]]:
    """The operations that have a row of their own in the table, and its requirement."""
    return [
        (topic[1], row.requirement)
        for topic, row in QUESTIONS.items()
        if isinstance(topic, tuple) and topic[0] is kind
    ]


def is_refused_by(kind: type[RequestTried], dialect: str) -> bool:
    """Whether a dialect says that such requests are refused."""
    request = request_tried(kind, accepted(role="tried"))
    return bool(QUESTIONS[kind].answer(context(dialect).dialect, request).value == "refused")


def half(answer: Exchange) -> HalfRequest:
    """A request that stops halfway."""
    return observation(HalfRequest, answer, operation_id="createEndpoint", promised=100, sent=8)


def overlong(answer: Exchange, sent: int) -> OverlongRequest:
    """A request of which so many bytes out of 100 were sent."""
    return observation(
        OverlongRequest, answer, operation_id="createEndpoint", promised=100, sent=sent
    )


def data_of(levels: int, answer: Exchange) -> NestedData:
    """A broadcast whose data is nested so deeply, beside an ordinary one that was accepted."""
    return observation(
        NestedData,
        answer,
        accepted("createBroadcastEvent", ORDINARY),
        operation_id="createBroadcastEvent",
        field="data",
        levels=levels,
    )


def unusual_url(kind: UrlKind, answer: Exchange) -> UnusualUrlTried:
    """The answer to a creation whose URL has this, beside a plain one that was accepted."""
    plain = created(role="tried: plain")
    return observation(
        UnusualUrlTried, answer, plain, operation_id="createEndpoint", field="url", kind=kind
    )


def unanswered_visit(answer: Exchange) -> UnansweredVisit:
    """The answer to a creation whose URL answers no visit, beside one that was accepted."""
    return observation(
        UnansweredVisit,
        answer,
        created(role="answered"),
        operation_id="createEndpoint",
        field="url",
    )


REFUSALS = (
    Example(requirement="7-8", kept=refusal(400), broken=refusal(500, body=b"oops")),
    *(
        Example(
            requirement="7-9",
            kept=refusal(400),
            broken=refusal(400, body={"status": False, "message": trace}),
        )
        for trace in (
            "Traceback (most recent call last): ...",
            'File "/srv/app/main.py", line 7',
            "at com.example.Handler.handle(Handler.java:12)",
            "goroutine 1 [running]",
            "at handle (/srv/index.js:3:7)",
        )
    ),
    Example(
        requirement="7-1",
        kept=refusal(404, response_headers=[("Content-Type", "application/json; charset=utf-8")]),
        broken=refusal(404, body={"error": "no"}),
    ),
    Example(
        requirement="7-1",
        kept=refusal(404),
        broken=refusal(404, response_headers=[("Content-Type", "text/html")]),
    ),
    *(
        Example(
            requirement=QUESTIONS[mistake].requirement,
            kept=request_tried(
                mistake, refusal(context().dialect.errors.status(QUESTIONS[mistake].status).value)
            ),
            broken=request_tried(mistake, broken),
        )
        for mistake in Mistake
        for broken in (refusal(409), accepted(role="tried"))
    ),
    *(
        Example(
            requirement=requirement,
            kept=request_tried(UnknownIdentifier, refusal(404, operation_id)),
            broken=request_tried(UnknownIdentifier, exchange("tried", operation_id, data={})),
        )
        for operation_id, requirement in by_operation(UnknownIdentifier)
    ),
    Example(
        requirement="7-7",
        kept=half(refusal(408, role="unfinished")),
        broken=half(refusal(500, role="unfinished")),
    ),
    *(
        Example(
            requirement="8-18",
            kept=overlong(refusal(413, role="unfinished"), 40),
            broken=overlong(broken, sent),
        )
        for broken, sent in (
            (refusal(413, role="unfinished"), 100),
            (accepted(role="unfinished"), 40),
        )
    ),
)

# A request with a name whose answer shows none.
WITHOUT_NAME = exchange("tried", data={}, request={"name": "given"})

ACCEPTED = (
    *(
        Example(
            requirement=requirement,
            kept=request_tried(RequiredFieldLeftOut, refusal(400, operation_id)),
            broken=request_tried(RequiredFieldLeftOut, exchange("tried", operation_id, data={})),
        )
        for operation_id, requirement in by_operation(RequiredFieldLeftOut)
    ),
    *(
        Example(
            requirement=requirement,
            kept=request_tried(RequiredFieldsAlone, exchange("tried", operation_id, data={})),
            broken=request_tried(RequiredFieldsAlone, refusal(400, operation_id)),
        )
        for operation_id, requirement in by_operation(RequiredFieldsAlone)
    ),
    *(
        Example(
            requirement=QUESTIONS[kind].requirement,
            kept=request_tried(kind, kept),
            broken=request_tried(kind, broken),
            dialect=dialect,
        )
        for kind, dialect, kept, broken in (
            (Unlisted.WORD, "contrary", created(role="tried"), refusal(422)),
            (Unlisted.WORD, "reference", refusal(400), created(role="tried")),
            (Unlisted.SERVICE_FIELD, "contrary", refusal(422), accepted(role="tried")),
            (Unlisted.SERVICE_FIELD, "reference", WITHOUT_NAME, refusal(400)),
            (Unlisted.FIELD, "contrary", refusal(422), accepted(role="tried")),
            (Unlisted.FIELD, "reference", WITHOUT_NAME, refusal(400)),
        )
    ),
    Example(
        requirement="2.9-10",
        kept=request_tried(
            Unlisted.SERVICE_FIELD,
            created({}, {"uid": "given"}, role="tried"),
            field="uid",
        ),
        broken=request_tried(
            Unlisted.SERVICE_FIELD,
            created({"uid": "given"}, {"uid": "given"}, role="tried"),
            field="uid",
        ),
    ),
    *(
        Example(
            requirement=requirement,
            kept=request_tried(scheme, refusal(409), accepted(role="with https")),
            broken=request_tried(scheme, accepted(role="tried")),
        )
        for scheme, requirement in ((Scheme.HTTP, "8-10"), (Scheme.OTHER, "8-11"))
    ),
    *(
        Example(
            requirement=requirement,
            kept=request_tried(bound, accepted(role="tried"), accepted(role=ORDINARY)),
            broken=request_tried(bound, refusal(400), accepted(role=ORDINARY)),
        )
        for bound, requirement in (
            (Bound.NUMBER, "8-16"),
            (Bound.SIZE, "8-15"),
            (Bound.TEXT, "8-27"),
        )
    ),
    *(
        Example(
            requirement=requirement,
            kept=data_of(levels, kept),
            broken=data_of(levels, broken),
            dialect="contrary",
        )
        for requirement, levels, kept, broken in (
            ("8-29", 80, accepted("createBroadcastEvent", "tried"), refusal(422)),
            ("8-30", 81, refusal(422), accepted("createBroadcastEvent", "tried")),
        )
    ),
    *(
        Example(
            requirement="8-5",
            kept=request_tried(RateLimitOfZero, kept),
            broken=request_tried(RateLimitOfZero, broken),
            dialect=dialect,
        )
        for dialect, kept, broken in (
            ("reference", accepted(role="tried"), refusal(400)),
            ("contrary", refusal(422), accepted(role="tried")),
        )
    ),
    *(
        Example(
            requirement=requirement,
            kept=request_tried(tried, kept),
            broken=request_tried(tried, broken),
            dialect=dialect,
        )
        for requirement, tried in (
            ("8-21", TimeoutOfZero),
            ("2.5-27", PartialFieldMapping),
        )
        for dialect, kept, broken in (
            ("reference", accepted(role="tried"), refusal(400)),
            ("contrary", refusal(422), accepted(role="tried")),
        )
    ),
    *(
        Example(
            requirement=QUESTIONS[tried].requirement,
            kept=request_tried(tried, kept, ordinary),
            broken=request_tried(tried, broken, ordinary),
            dialect=dialect,
        )
        for ordinary in (accepted(role=ORDINARY),)
        for tried in (
            UnknownEndpointListed,
            RollWithoutBody,
            UndeclaredBody,
            DataOfAnotherType,
            NullField,
        )
        for dialect in ("reference", "contrary")
        for kept, broken in (
            (refusal(409), accepted(role="tried"))
            if is_refused_by(tried, dialect)
            else (accepted(role="tried"), refusal(409)),
        )
        if (tried, dialect) != (RollWithoutBody, "contrary")  # whose rolls require fields
    ),
    *(
        Example(
            requirement=QUESTIONS[kind].requirement,
            kept=unusual_url(kind, kept),
            broken=unusual_url(kind, broken),
            dialect=dialect,
        )
        for kind in UrlKind
        for dialect in ("reference", "contrary")
        for kept, broken in (
            (refusal(409), accepted(role="tried"))
            if answer_to(kind, context(dialect).dialect.requests).value == "refused"
            else (accepted(role="tried"), refusal(409)),
        )
    ),
    Example(
        requirement="4.1-18",
        kept=unanswered_visit(accepted(role="tried")),
        broken=unanswered_visit(refusal(409)),
        dialect="contrary",
    ),
)


EXAMPLES = (
    *REFUSALS,
    *ACCEPTED,
)
