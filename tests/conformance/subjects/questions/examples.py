"""Examples for sections 2.9, 4.9, 7 and 8: refusals, required fields and bounds."""

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.mistakes import (
    ORDINARY,
    HalfRequest,
    OverlongRequest,
)
from hookproof.conformance.subjects.questions.evidence import (
    Bound,
    DataOfAnotherType,
    Mistake,
    NestedData,
    NullField,
    PartialFieldMapping,
    RateLimitOfZero,
    RequiredFieldLeftOut,
    RequiredFieldsAlone,
    RollWithoutBody,
    Scheme,
    SecretOfAnotherForm,
    TimeoutOfZero,
    UnansweredVisit,
    UndeclaredBody,
    UnknownEndpointListed,
    UnknownIdentifier,
    Unlisted,
    UrlKind,
)
from hookproof.spec.dialect.vocabulary import HeaderText
from tests.conformance.canned_evidence import context, exchange, observation
from tests.conformance.checks.api.example import (
    Example,
    Topic,
    accepted,
    created,
    refusal,
    request_tried,
)

# What a request may be about, beside an ordinary one, and the requirement that says what becomes of
# it; with its operation where each has a requirement of its own.
MISTAKES = {
    Mistake.NOT_JSON: ("7-2", 400),
    Mistake.OTHER_TYPE: ("7-3", 400),
    Mistake.MEDIA_TYPE: ("7-4", 415),
    Mistake.METHOD: ("7-5", 405),
    Mistake.PATH: ("7-6", 404),
    Mistake.TOO_LARGE: ("8-14", 413),
    Mistake.BEYOND: ("8-17", 400),
    Mistake.TOO_LONG: ("8-28", 400),
}
QUESTIONS: dict[Topic, str] = {
    SecretOfAnotherForm: "2.3-15",
    PartialFieldMapping: "2.5-27",
    HeaderText.LATIN_1: "2.8-17",
    HeaderText.ANY: "2.8-17",
    Unlisted.WORD: "2.9-9",
    Unlisted.SERVICE_FIELD: "2.9-10",
    Unlisted.FIELD: "2.9-11",
    UnansweredVisit: "4.1-18",
    RollWithoutBody: "4.3-21",
    UnknownEndpointListed: "4.6-16",
    DataOfAnotherType: "4.8-20",
    NullField: "4.9-9",
    UndeclaredBody: "7-11",
    RateLimitOfZero: "8-5",
    Scheme.HTTP: "8-10",
    Scheme.OTHER: "8-11",
    Bound.SIZE: "8-15",
    Bound.NUMBER: "8-16",
    TimeoutOfZero: "8-21",
    UrlKind.ADDRESS: "8-22",
    UrlKind.OTHER_PORT: "8-23",
    UrlKind.USER_INFORMATION: "8-24",
    UrlKind.ODD_HOST: "8-25",
    UrlKind.FRAGMENT: "8-26",
    Bound.TEXT: "8-27",
}
UNKNOWN = {
    "getEndpoint": "4.2-7",
    "expireEndpointSecret": "4.3-20",
    "getPortalLink": "4.5-5",
    "updatePortalLink": "4.6-13",
}
LEFT_OUT = {
    "createEndpoint": "4.9-1",
    "expireEndpointSecret": "4.9-3",
    "updatePortalLink": "4.9-5",
    "createBroadcastEvent": "4.9-7",
}
ALONE = {
    "createEndpoint": "4.9-2",
    "expireEndpointSecret": "4.9-4",
    "updatePortalLink": "4.9-6",
    "createBroadcastEvent": "4.9-8",
}
# The questions that a dialect answers with "refused", of those that it answers with a word.
REFUSED_BY: dict[str, tuple[Topic, ...]] = {
    "reference": (DataOfAnotherType, NullField, UndeclaredBody),
    "contrary": (
        PartialFieldMapping,
        RateLimitOfZero,
        RollWithoutBody,
        TimeoutOfZero,
        UnknownEndpointListed,
        UrlKind.FRAGMENT,
        UrlKind.ODD_HOST,
        UrlKind.USER_INFORMATION,
    ),
}
ANSWERED = (*REFUSED_BY["reference"], *REFUSED_BY["contrary"], *UrlKind)


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
            requirement=requirement,
            kept=request_tried(mistake, refusal(status)),
            broken=request_tried(mistake, broken),
        )
        for mistake, (requirement, status) in MISTAKES.items()
        for broken in (refusal(409), accepted(role="tried"))
    ),
    *(
        Example(
            requirement=requirement,
            kept=request_tried(UnknownIdentifier, refusal(404, operation_id)),
            broken=request_tried(UnknownIdentifier, exchange("tried", operation_id, data={})),
        )
        for operation_id, requirement in UNKNOWN.items()
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
        for operation_id, requirement in LEFT_OUT.items()
    ),
    *(
        Example(
            requirement=requirement,
            kept=request_tried(RequiredFieldsAlone, exchange("tried", operation_id, data={})),
            broken=request_tried(RequiredFieldsAlone, refusal(400, operation_id)),
        )
        for operation_id, requirement in ALONE.items()
    ),
    *(
        Example(
            requirement=QUESTIONS[kind],
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
            requirement=QUESTIONS[scheme],
            kept=request_tried(scheme, refusal(409), accepted(role="with https")),
            broken=request_tried(scheme, accepted(role="tried")),
        )
        for scheme in Scheme
    ),
    *(
        Example(
            requirement=QUESTIONS[bound],
            kept=request_tried(bound, accepted(role="tried"), accepted(role=ORDINARY)),
            broken=request_tried(bound, refusal(400), accepted(role=ORDINARY)),
        )
        for bound in Bound
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
            requirement=QUESTIONS[topic],
            kept=request_tried(topic, kept),
            broken=request_tried(topic, broken),
            dialect=dialect,
        )
        for dialect, refused in REFUSED_BY.items()
        for topic in dict.fromkeys(ANSWERED)
        for kept, broken in (
            (refusal(422), accepted(role="tried"))
            if topic in refused
            else (accepted(role="tried"), refusal(422)),
        )
        if (topic, dialect) != (RollWithoutBody, "contrary")  # whose rolls require fields
    ),
    *(
        Example(
            requirement=QUESTIONS[topic],
            kept=request_tried(topic, taken if is_taken else refused),
            broken=request_tried(topic, refused if is_taken else taken),
            dialect=dialect,
        )
        for dialect, topic, is_taken in (
            ("standard-webhooks", SecretOfAnotherForm, False),
            ("contrary", SecretOfAnotherForm, True),
            ("reference", HeaderText.LATIN_1, True),
            ("reference", HeaderText.ANY, False),
            ("contrary", HeaderText.LATIN_1, False),
        )
        for taken in [accepted(role="tried")]
        for refused in [refusal(context(dialect).dialect.errors.invalid_value.value)]
    ),
    Example(
        requirement=QUESTIONS[UnansweredVisit],
        kept=request_tried(UnansweredVisit, accepted(role="tried")),
        broken=request_tried(UnansweredVisit, refusal(409)),
        dialect="contrary",
    ),
)


EXAMPLES = (
    *REFUSALS,
    *ACCEPTED,
)
