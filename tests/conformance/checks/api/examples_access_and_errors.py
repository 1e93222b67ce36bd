"""Examples for sections 1, 2.9, 4.9, 5, 7 and 8: projects, keys, refusals and bounds."""

from dataclasses import replace
from typing import Any

from hookproof.conformance.checks.api.access.api_keys import (
    WITHOUT_KEY,
    a_key_that_is_none_is_refused,
    a_refused_key_has_the_dialects_status,
    nothing_works_without_a_key,
    the_key_of_another_project_opens_what_the_dialect_says,
    what_is_refused_for_its_key_changes_nothing,
)
from hookproof.conformance.checks.api.access.project_isolation import (
    ACROSS,
    LISTS,
    a_list_holds_nothing_of_another_project,
    a_portal_link_takes_up_no_endpoint_of_another_project,
    a_resource_carries_the_project_of_its_path,
    an_unknown_project_is_refused,
    nothing_is_reached_through_another_project,
)
from hookproof.conformance.checks.api.requests.bounds import (
    a_rate_limit_of_zero_is_taken_or_refused,
    only_https_urls_are_taken,
    what_lies_within_the_bounds_is_taken,
)
from hookproof.conformance.checks.api.requests.required_fields import (
    LEFT_OUT,
    REQUIRED_ALONE,
    required_fields_are_enough_and_none_may_be_left_out,
)
from hookproof.conformance.checks.api.requests.unlisted_input import (
    WORDS,
    input_that_is_not_listed_is_ignored_or_refused,
)
from hookproof.conformance.checks.api.responses.errors import (
    STATUS_OF,
    UNKNOWN,
    a_mistake_is_refused_with_the_dialects_status,
    a_refusal_has_the_dialects_error_body,
    a_refusal_shows_nothing_of_the_services_code,
    an_unfinished_request_is_ended,
    no_request_is_answered_with_a_server_error,
    what_does_not_exist_is_refused,
)
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.requests.isolation import (
    CallAcrossProjects,
    ListsOfTwoProjects,
    OneOwnerInTwoProjects,
)
from hookproof.conformance.observations.requests.keys import (
    BroadcastsWithoutRight,
    CallWithKey,
    CreationsWithoutRight,
    KeyKind,
)
from hookproof.conformance.observations.requests.mistakes import (
    Bound,
    HalfRequest,
    OverlongRequest,
    RateLimitOfZero,
    RequiredFieldLeftOut,
    RequiredFieldsAlone,
    Scheme,
    UnknownIdentifier,
    Unlisted,
)
from tests.conformance.canned_evidence import Observed, context, exchange, observation
from tests.conformance.checks.api.example import (
    OTHER_UID,
    UID,
    Example,
    created,
    endpoint,
    event,
    fetched,
    refusal,
    retrieved,
    secret,
    tried,
)

ROLL, UPDATE, BROADCAST = "expireEndpointSecret", "updatePortalLink", "createBroadcastEvent"


def asked(kind: KeyKind, *exchanges: Exchange, operation_id: str = "createEndpoint") -> CallWithKey:
    """An observation of the experiment access."""
    return observation(CallWithKey, *exchanges, kind=kind, operation_id=operation_id)


def accepted(operation_id: str = "createEndpoint", role: str = "refused") -> Exchange:
    """A request that should have been refused and was not."""
    return exchange(role, operation_id, data={})


def denied(status: int, operation_id: str = "createEndpoint") -> Exchange:
    """A request that was refused for its key."""
    return refusal(status, operation_id, role="refused")


def around(
    kind: type[Observed], /, before: Exchange, middle: Exchange, after: Exchange, **fields: Any
) -> Observed:
    """A look at a resource before and after a request."""
    looks = [
        replace(exchange, role=role) for exchange, role in ((before, "before"), (after, "after"))
    ]
    return observation(kind, looks[0], middle, looks[1], **fields)


def half(answer: Exchange) -> HalfRequest:
    """A request that stops halfway."""
    return observation(HalfRequest, answer, operation_id="createEndpoint", promised=100, sent=8)


def overlong(answer: Exchange, sent: int) -> OverlongRequest:
    """A request of which so many bytes out of 100 were sent."""
    return observation(
        OverlongRequest, answer, operation_id="createEndpoint", promised=100, sent=sent
    )


def listing(operation_id: str, here: str, elsewhere: str) -> ListsOfTwoProjects:
    """One resource in the list of each project."""
    pages = [
        exchange(
            "inventory",
            operation_id,
            project=project,
            data={"content": [{"uid": uid}], "pagination": {}},
        )
        for project, uid in (("p1", here), ("p2", elsewhere))
    ]
    return observation(ListsOfTwoProjects, *pages, operation_id=operation_id, projects=("p1", "p2"))


def same_owner(*members: str) -> OneOwnerInTwoProjects:
    """A portal link with these endpoints, beside the endpoint of another project."""
    shown = retrieved("after", endpoints_metadata=[endpoint(uid=uid) for uid in members])
    elsewhere = exchange("elsewhere", "createEndpoint", project="p2", data=endpoint(uid=OTHER_UID))
    return observation(OneOwnerInTwoProjects, elsewhere, shown)


PROJECTS = (
    Example(
        check=a_resource_carries_the_project_of_its_path,
        requirement="1-3",
        kept=created(),
        broken=created({"project_id": "p2"}),
    ),
    *(
        Example(
            check=nothing_is_reached_through_another_project,
            requirement=requirement,
            kept=around(
                CallAcrossProjects,
                look,
                refusal(404, about, role="across"),
                look,
                operation_id=about,
            ),
            broken=around(CallAcrossProjects, look, broken, after, operation_id=about),
        )
        for about, requirement in ACROSS.items()
        for look in (retrieved() if "Portal" in about else fetched(),)
        for broken, after in (
            (accepted(about, "across"), look)
            if about.startswith("get")
            else (
                refusal(404, about, role="across"),
                retrieved(name="Changed")
                if "Portal" in about
                else fetched({"secrets": [secret(value="changed")]}),
            ),
        )
    ),
    *(
        Example(
            check=a_list_holds_nothing_of_another_project,
            requirement=requirement,
            kept=listing(operation_id, UID, OTHER_UID),
            broken=listing(operation_id, UID, UID),
        )
        for operation_id, requirement in LISTS.items()
    ),
    Example(
        check=a_portal_link_takes_up_no_endpoint_of_another_project,
        requirement="1-10",
        kept=same_owner(UID),
        broken=same_owner(UID, OTHER_UID),
    ),
    Example(
        check=an_unknown_project_is_refused,
        requirement="4-1",
        kept=asked(KeyKind.UNKNOWN_PROJECT, denied(401)),
        broken=asked(KeyKind.UNKNOWN_PROJECT, denied(403)),
    ),
)

KEYS = (
    *(
        Example(
            check=nothing_works_without_a_key,
            requirement=requirement,
            kept=asked(KeyKind.NONE, denied(401, operation_id), operation_id=operation_id),
            broken=asked(KeyKind.NONE, accepted(operation_id), operation_id=operation_id),
        )
        for operation_id, requirement in WITHOUT_KEY.items()
    ),
    *(
        Example(
            check=a_key_that_is_none_is_refused,
            requirement=requirement,
            kept=asked(kind, denied(401)),
            broken=asked(kind, accepted()),
        )
        for kind, requirement in (
            (KeyKind.WRONG, "5-9"),
            (KeyKind.TRUNCATED, "5-9"),
            (KeyKind.FORMAT, "5-13"),
            (KeyKind.EMPTY, "5-13"),
            (KeyKind.CREDENTIAL, "5-14"),
        )
    ),
    *(
        Example(
            check=a_refused_key_has_the_dialects_status,
            requirement=requirement,
            kept=asked(kind, denied(status)),
            broken=asked(kind, denied(404)),
            dialect="contrary",
        )
        for kind, requirement, status in (
            (KeyKind.NONE, "5-10", 401),
            (KeyKind.WRONG, "5-11", 403),
            (KeyKind.TRUNCATED, "5-11", 403),
        )
    ),
    Example(
        check=the_key_of_another_project_opens_what_the_dialect_says,
        requirement="5-12",
        kept=asked(KeyKind.FOREIGN, denied(401)),
        broken=asked(KeyKind.FOREIGN, accepted()),
    ),
    Example(
        check=the_key_of_another_project_opens_what_the_dialect_says,
        requirement="5-12",
        kept=asked(KeyKind.FOREIGN, accepted()),
        broken=asked(KeyKind.FOREIGN, denied(403)),
        dialect="contrary",
    ),
    Example(
        check=what_is_refused_for_its_key_changes_nothing,
        requirement="5-15",
        kept=around(
            CallWithKey,
            fetched({"events": 1}),
            denied(401, ROLL),
            fetched({"events": 2}),
            kind=KeyKind.NONE,
            operation_id=ROLL,
        ),
        broken=around(
            CallWithKey,
            fetched(),
            denied(401, ROLL),
            fetched({"secrets": [secret(value="new")]}),
            kind=KeyKind.NONE,
            operation_id=ROLL,
        ),
    ),
    Example(
        check=what_is_refused_for_its_key_changes_nothing,
        requirement="5-15",
        kept=around(
            CreationsWithoutRight,
            retrieved(),
            denied(401),
            retrieved(),
            operation_id="createEndpoint",
        ),
        broken=around(
            CreationsWithoutRight,
            retrieved(),
            denied(401),
            retrieved(endpoints_metadata=[endpoint()]),
            operation_id="createEndpoint",
        ),
    ),
    Example(
        check=what_is_refused_for_its_key_changes_nothing,
        requirement="5-15",
        kept=observation(
            BroadcastsWithoutRight,
            denied(401, BROADCAST),
            event(role="accepted"),
            operation_id=BROADCAST,
        ),
        broken=observation(
            BroadcastsWithoutRight,
            denied(401, BROADCAST),
            event(role="accepted", is_duplicate_event=True),
            operation_id=BROADCAST,
        ),
    ),
)

REFUSALS = (
    Example(
        check=no_request_is_answered_with_a_server_error,
        requirement="7-8",
        kept=refusal(400),
        broken=refusal(500, body=b"oops"),
    ),
    *(
        Example(
            check=a_refusal_shows_nothing_of_the_services_code,
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
        check=a_refusal_has_the_dialects_error_body,
        requirement="7-1",
        kept=refusal(404, response_headers=[("Content-Type", "application/json; charset=utf-8")]),
        broken=refusal(404, body={"error": "no"}),
    ),
    Example(
        check=a_refusal_has_the_dialects_error_body,
        requirement="7-1",
        kept=refusal(404),
        broken=refusal(404, response_headers=[("Content-Type", "text/html")]),
    ),
    *(
        Example(
            check=a_mistake_is_refused_with_the_dialects_status,
            requirement=requirement,
            kept=tried(about, refusal(yardstick_status(name))),
            broken=tried(about, broken),
        )
        for about, (requirement, name) in STATUS_OF.items()
        for yardstick_status in (lambda name: getattr(context().dialect.errors, name).value,)
        for broken in (refusal(409), accepted(role="tried"))
    ),
    *(
        Example(
            check=what_does_not_exist_is_refused,
            requirement=requirement,
            kept=tried(UnknownIdentifier, refusal(404, operation_id)),
            broken=tried(UnknownIdentifier, exchange("tried", operation_id, data={})),
        )
        for operation_id, requirement in UNKNOWN.items()
    ),
    Example(
        check=an_unfinished_request_is_ended,
        requirement="7-7",
        kept=half(refusal(408, role="unfinished")),
        broken=half(refusal(504, role="unfinished")),
    ),
    *(
        Example(
            check=an_unfinished_request_is_ended,
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

TAKEN = (
    *(
        Example(
            check=required_fields_are_enough_and_none_may_be_left_out,
            requirement=requirement,
            kept=tried(RequiredFieldLeftOut, refusal(400, operation_id)),
            broken=tried(RequiredFieldLeftOut, exchange("tried", operation_id, data={})),
        )
        for operation_id, requirement in LEFT_OUT.items()
    ),
    *(
        Example(
            check=required_fields_are_enough_and_none_may_be_left_out,
            requirement=requirement,
            kept=tried(RequiredFieldsAlone, exchange("tried", operation_id, data={})),
            broken=tried(RequiredFieldsAlone, refusal(400, operation_id)),
        )
        for operation_id, requirement in REQUIRED_ALONE.items()
    ),
    *(
        Example(
            check=input_that_is_not_listed_is_ignored_or_refused,
            requirement=requirement,
            kept=tried(about, answer),
            broken=tried(about, broken),
            dialect=dialect,
        )
        for about, requirement in WORDS.items()
        for dialect, answer, broken in (
            ("contrary", created(role="tried"), refusal(422))
            if about == "unlisted word"
            else ("contrary", refusal(422), accepted(role="tried")),
            ("reference", refusal(400), created(role="tried"))
            if about == "unlisted word"
            else ("reference", exchange("tried", data={}, request={"name": "given"}), refusal(400)),
        )
    ),
    Example(
        check=input_that_is_not_listed_is_ignored_or_refused,
        requirement="2.9-10",
        kept=tried(
            Unlisted.SERVICE_FIELD,
            created({}, {"uid": "given"}, role="tried"),
            field="uid",
        ),
        broken=tried(
            Unlisted.SERVICE_FIELD,
            created({"uid": "given"}, {"uid": "given"}, role="tried"),
            field="uid",
        ),
    ),
    *(
        Example(
            check=only_https_urls_are_taken,
            requirement=requirement,
            kept=tried(about, refusal(409)),
            broken=tried(about, accepted(role="tried")),
        )
        for about, requirement in ((Scheme.HTTP, "8-10"), (Scheme.OTHER, "8-11"))
    ),
    *(
        Example(
            check=what_lies_within_the_bounds_is_taken,
            requirement=requirement,
            kept=tried(about, accepted(role="tried")),
            broken=tried(about, refusal(400)),
        )
        for about, requirement in (
            (Bound.NUMBER, "8-16"),
            (Bound.SIZE, "8-15"),
        )
    ),
    *(
        Example(
            check=a_rate_limit_of_zero_is_taken_or_refused,
            requirement="8-5",
            kept=tried(RateLimitOfZero, kept),
            broken=tried(RateLimitOfZero, broken),
            dialect=dialect,
        )
        for dialect, kept, broken in (
            ("reference", accepted(role="tried"), refusal(400)),
            ("contrary", refusal(422), accepted(role="tried")),
        )
    ),
)

EXAMPLES = (*PROJECTS, *KEYS, *REFUSALS, *TAKEN)
