"""Refusals: requests with one thing that the dialect may refuse, and ordinary ones beside them.

The ordinary ones are sent once for all that differ from them in one thing, and last: a quota that
the others have used up shows there.
"""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hookproof.conformance.experiments.api.extremes.compared_requests import (
    nested_data,
    null_fields,
)
from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.existing_resources import outcome
from hookproof.conformance.experiments.support.optional_settings import find_accepted_settings
from hookproof.conformance.experiments.support.valid_requests import (
    LEFT_OUT_OF_FULL,
    OPERATIONS_WITH_BODY,
    UPDATE,
    ValidRequests,
    hold_portal_links_for,
    portal_link_put_back,
    prepare_valid_requests,
    send_ordinary,
)
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.observations.answer import was_accepted
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.observations.requests.mistakes import (
    Bound,
    DataOfAnotherType,
    EndpointUrlTried,
    Mistake,
    MistakenRequest,
    NestedData,
    NullField,
    PartialFieldMapping,
    RateLimitOfZero,
    RequestTried,
    RequestWithinBounds,
    RequiredFieldLeftOut,
    RequiredFieldsAlone,
    Scheme,
    TimeoutOfZero,
    UnknownEndpointListed,
    UnknownIdentifier,
    Unlisted,
    UnlistedInput,
)
from hookproof.conformance.observations.requests.planned_request import PlannedRequest
from hookproof.spec.dialect.given_settings import least_http_timeout, zero_http_timeout
from hookproof.spec.dialect.vocabulary import ZeroTimeout

# URLs with another scheme (section 8).
NOT_HTTPS: Final = (
    "http://{host}.invalid/hook",
    "HTTP://{host}.invalid/hook",
    "http://{host}.invalid/?next=https://{host}.invalid",
    # What is accepted while a service is developed, and may stay so.
    "http://localhost:9/{host}",
    "http://127.0.0.1:9/{host}",
    "ftp://{host}.invalid/hook",
    "ws://{host}.invalid/hook",
    "wss://{host}.invalid/hook",
    "file:///{host}",
    "httpss://{host}.invalid/hook",
)

UNKNOWN_FIELD: Final = "undocumented_field"

# A value of another type for each type of JSON Schema, one that no lenient reader can convert.
WRONG_TYPES: Final[Mapping[str, Any]] = {
    "string": {"not": "a text"},
    "integer": "twelve",
    "boolean": "perhaps",
    "array": "not an array",
    "object": "not an object",
}

OTHER_DATA: Final[Mapping[str, Any]] = {
    "an array": [1, "two"],
    "a text": "not an object",
    "a number": 12.5,
    "a boolean": True,
}

# How the creation of an endpoint with 0 in a field is observed, where 0 has its own meaning.
OF_ZERO: Final[Mapping[str, type[RequestTried]]] = {
    "rate_limit": RateLimitOfZero,
    "http_timeout": TimeoutOfZero,
}


@experiment(
    "refusals",
    observes=(
        MistakenRequest,
        UnlistedInput,
        RequestWithinBounds,
        EndpointUrlTried,
        RateLimitOfZero,
        TimeoutOfZero,
        PartialFieldMapping,
        RequiredFieldsAlone,
        RequiredFieldLeftOut,
        UnknownIdentifier,
        UnknownEndpointListed,
        DataOfAnotherType,
        NullField,
        NestedData,
        Preparation,
    ),
    busy=True,
)
async def refusals(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Send each request once."""
    trial = context.trial("resources to ask for")
    requests = await prepare_valid_requests(context, trial)
    oauth2 = {"authentication": requests.bodies.oauth2()}
    accepted = await find_accepted_settings(context, trial, oauth2)
    yield trial.observe(Preparation)
    if not accepted and not context.why_lacking("oauth2"):
        answer = outcome(trial.exchanges[-1])
        reason = f"createEndpoint with oauth2 was answered {answer}; a success of it would help"
        for kind in (UnlistedInput, PartialFieldMapping):
            yield context.trial("createEndpoint with oauth2").not_observed(kind, reason)
    planned = [
        *_missing_fields(requests),
        *_wrong_types(context, requests),
        *_words(requests, accepts_oauth2=bool(accepted)),
        *(_partial_mapping(requests) if accepted else ()),
        *_set_by_the_service(requests),
        *_numbers(requests, context.lacking_fields()),
        *_urls(requests),
        *_unknown_identifiers(requests),
        *_unknown_endpoint(requests),
        *_other_data(requests),
        *null_fields(requests, context.lacking_fields()),
        *_texts(requests),
        *nested_data(requests),
    ]
    restored = context.trial("portal link as it was")
    async with portal_link_put_back(context, restored, requests):
        trials = await asyncio.gather(*(_send(context, requests, each) for each in planned))
        ordinary = OrdinaryRequests(context=context, requests=requests)
        shown = {each.topic for each, tried in zip(planned, trials, strict=True) if tried.exchanges}
        for request, tried in zip(planned, trials, strict=True):
            # What one operation could not be asked is no reason where others were.
            if tried.exchanges or request.topic not in shown:
                yield await _observe(ordinary, request, tried)
    yield restored.observe(Preparation)


async def _send(
    context: ExperimentContext, requests: ValidRequests, request: PlannedRequest
) -> Trial:
    """Send a request, unless there is nothing to send it about."""
    trial = context.trial(
        f"{request.operation_id}, {request.about}: {request.field}".removesuffix(": ")
    )
    path = {**requests.path(request.operation_id), **(request.path or {})}
    if None not in path.values() and not context.why_unasked(request.operation_id):
        async with hold_portal_links_for(context, request.operation_id):
            await trial.call(request.operation_id, role="tried", path=path, body=request.body)
    return trial


async def _observe(ordinary: "OrdinaryRequests", request: PlannedRequest, trial: Trial) -> Evidence:
    beside = await ordinary.beside(request) if trial.exchanges else None
    if beside is None:
        return trial.not_observed(request.observes, ordinary.requests.why_not(request.operation_id))
    role = request.observes.role_of_ordinary
    trial.exchanges.append(dataclasses.replace(beside, role=role))
    return trial.observe(
        request.observes, operation_id=request.operation_id, field=request.field, **request.facts
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdinaryRequests:
    """Requests with nothing that could be refused, each sent when it is first needed.

    `sent` holds those of the same fields of an operation.
    """

    context: ExperimentContext
    requests: ValidRequests
    sent: dict[tuple[str, ...], Exchange] = dataclasses.field(default_factory=dict)

    async def beside(self, request: PlannedRequest) -> Exchange | None:
        """The one that differs from a request in one thing; None if there is nothing to send it
        about.
        """
        operation_id = request.operation_id
        if request.beside_full:
            lacking = self.context.lacking_fields()
            full = await self._send(operation_id, self.requests.full_body(operation_id, lacking))
            if full is not None and was_accepted(full):
                return full
        body = request.ordinary or self.requests.body(operation_id)
        if operation_id == "getPortalLink" and not self.requests.can_call(operation_id):
            return await self._send("listPortalLinks", None)  # no link is known to retrieve
        return await self._send(operation_id, body)

    async def _send(self, operation_id: str, body: Mapping[str, Any] | None) -> Exchange | None:
        if not self.requests.can_call(operation_id):
            return None
        key = (operation_id, *sorted(body or ()))
        if key not in self.sent:
            self.sent[key] = await send_ordinary(self.context, self.requests, operation_id, body)
        return self.sent[key]


def _missing_fields(requests: ValidRequests) -> Iterator[PlannedRequest]:
    """Section 4.9: the required fields alone, and a body without each of them."""
    for operation_id in OPERATIONS_WITH_BODY:
        required = requests.bodies.required(operation_id)
        yield PlannedRequest(
            about="required fields alone",
            observes=RequiredFieldsAlone,
            operation_id=operation_id,
            body=required,
            beside_full=True,
        )
        rules = requests.bodies.dialect.requests
        one_of = rules.one_of_required_by(operation_id)
        for left_out in (*((name,) for name in rules.required_by(operation_id)), one_of):
            body = requests.body(operation_id) or {}
            if left_out:
                yield PlannedRequest(
                    about="required field left out",
                    observes=RequiredFieldLeftOut,
                    operation_id=operation_id,
                    field=" and ".join(left_out),
                    body={name: value for name, value in body.items() if name not in left_out},
                )
        for other in one_of[1:]:
            alone = _with_another(requests, operation_id, one_of[0], other)
            yield PlannedRequest(
                about=f"required fields alone, with {other}",
                observes=RequiredFieldsAlone,
                operation_id=operation_id,
                body=alone,
                ordinary={**(requests.body(operation_id) or {}), other: alone[other]},
            )


def _with_another(
    requests: ValidRequests, operation_id: str, first: str, other: str
) -> dict[str, Any]:
    """The required fields alone, with another field in place of the first that would do."""
    bodies = requests.bodies
    is_broadcast = operation_id == "createBroadcastEvent"
    value = bodies.event_value(other) if is_broadcast else bodies.portal_link_value(other)
    if other == "endpoints" and requests.endpoint_id is not None:
        value = [requests.endpoint_id]
    body = {**bodies.required(operation_id), other: value}
    del body[first]
    return body


def _wrong_types(context: ExperimentContext, requests: ValidRequests) -> Iterator[PlannedRequest]:
    """Sections 4.1, 4.3, 4.6, 4.8 and 7: every documented field with a value of another type."""
    lacking = context.lacking_fields()
    for operation_id in OPERATIONS_WITH_BODY:
        schema = context.contract.operations[operation_id].body_schema or {}
        for name, described in schema.get("properties", {}).items():
            if name in context.dialect.requests.service_assigned or name in lacking:
                continue
            if name == "data":
                continue  # the document lets it be any JSON, as `_other_data` tries
            value = WRONG_TYPES[described.get("type", "object")]
            body = requests.body_with(operation_id, name, value)
            right = requests.body_with(
                operation_id, name, requests.bodies.value(operation_id, name)
            )
            yield PlannedRequest.to_show(
                Mistake.OTHER_TYPE,
                operation_id,
                name,
                body,
                right,
                beside_full=name not in LEFT_OUT_OF_FULL,
            )


def _words(requests: ValidRequests, *, accepts_oauth2: bool) -> Iterator[PlannedRequest]:
    """Section 2.9: words and fields that the document does not list.

    Those of oauth2 prove nothing about a target that refuses oauth2 altogether.
    """
    oauth2 = requests.bodies.oauth2()
    unlisted = requests.bodies.word("word")
    authentications = {
        "authentication.type": {**oauth2, "type": unlisted},
        "authentication.oauth2.authentication_type": {
            **oauth2,
            "oauth2": {**oauth2["oauth2"], "authentication_type": unlisted},
        },
        "authentication.oauth2.expiry_time_unit": {
            **oauth2,
            "oauth2": {**oauth2["oauth2"], "expiry_time_unit": unlisted},
        },
    }
    if accepts_oauth2:
        for name, value in authentications.items():
            body = requests.bodies.quiet_endpoint(authentication=value)
            right = requests.bodies.quiet_endpoint(authentication=oauth2)
            yield PlannedRequest.to_show(Unlisted.WORD, "createEndpoint", name, body, right)
    body = requests.bodies.portal_link(auth_type=unlisted)
    right = requests.body_with(UPDATE, "auth_type", requests.bodies.value(UPDATE, "auth_type"))
    yield PlannedRequest.to_show(Unlisted.WORD, UPDATE, "auth_type", body, right)
    for operation_id in OPERATIONS_WITH_BODY:
        body = requests.body_with(operation_id, UNKNOWN_FIELD, unlisted)
        yield PlannedRequest.to_show(Unlisted.FIELD, operation_id, UNKNOWN_FIELD, body)


def _partial_mapping(requests: ValidRequests) -> Iterator[PlannedRequest]:
    """Section 2.5: a field_mapping without the access_token."""
    oauth2 = requests.bodies.oauth2()
    mapping = dict(oauth2["oauth2"]["field_mapping"])
    del mapping["access_token"]
    authentication = {**oauth2, "oauth2": {**oauth2["oauth2"], "field_mapping": mapping}}
    yield PlannedRequest(
        about="partial field mapping",
        observes=PartialFieldMapping,
        operation_id="createEndpoint",
        field="authentication.oauth2.field_mapping",
        body=requests.bodies.quiet_endpoint(authentication=authentication),
        ordinary=requests.bodies.quiet_endpoint(authentication=oauth2),
    )


def _set_by_the_service(requests: ValidRequests) -> Iterator[PlannedRequest]:
    """Section 2.9: fields that only the service sets."""
    for operation_id in ("createEndpoint", "updatePortalLink", "createBroadcastEvent"):
        for name in requests.bodies.dialect.requests.service_assigned:
            is_time = name.endswith("_at")
            value = requests.bodies.timestamp() if is_time else requests.bodies.word("given")
            body = requests.body_with(operation_id, name, value)
            yield PlannedRequest.to_show(Unlisted.SERVICE_FIELD, operation_id, name, body)


def _numbers(requests: ValidRequests, lacking: Collection[str]) -> Iterator[PlannedRequest]:
    """Section 8: the edges of the dialect's bounds, and one step beyond."""
    dialect = requests.bodies.dialect
    rules = dialect.requests
    zero = zero_http_timeout(dialect)
    zero_may_be_either = zero.allows(ZeroTimeout.REFUSED) and zero.allowed != (ZeroTimeout.REFUSED,)
    least_timeouts = () if zero_may_be_either else ((least_http_timeout(dialect), -1),)
    edges = {
        ("createEndpoint", "http_timeout"): (*least_timeouts, (rules.http_timeout_maximum, 1)),
        ("createEndpoint", "rate_limit"): ((rules.rate_limit_maximum, 1),),
        ("createEndpoint", "rate_limit_duration"): ((rules.rate_limit_duration_maximum, 1),),
        ("expireEndpointSecret", "expiration"): (
            (rules.expiration_minimum, -1),
            (rules.expiration_maximum, 1),
        ),
    }
    if rules.expiration_minimum is None:
        below_zero = requests.body_with("expireEndpointSecret", "expiration", -1)
        yield _within_bounds(
            requests, Bound.NUMBER, "expireEndpointSecret", "expiration", below_zero
        )
    for (operation_id, name), bounds in edges.items():
        if name in lacking:
            continue
        for edge, step in bounds:
            if edge is None:
                continue
            at_the_edge = requests.body_with(operation_id, name, edge)
            beyond = {**at_the_edge, name: edge + step}
            yield _within_bounds(requests, Bound.NUMBER, operation_id, name, at_the_edge)
            right = requests.body_with(
                operation_id, name, requests.bodies.value(operation_id, name)
            )
            yield PlannedRequest.to_show(Mistake.BEYOND, operation_id, name, beyond, right)
    for name, observes in OF_ZERO.items():
        if name not in lacking:
            yield PlannedRequest(
                about=f"{name.replace('_', ' ')} of zero",
                observes=observes,
                operation_id="createEndpoint",
                field=name,
                body=requests.body_with("createEndpoint", name, 0),
                ordinary=requests.body_with(
                    "createEndpoint", name, requests.bodies.value("createEndpoint", name)
                ),
            )


def _within_bounds(
    requests: ValidRequests, bound: Bound, operation_id: str, name: str, body: Mapping[str, Any]
) -> PlannedRequest:
    """A request at the edge in one field, beside one with an acceptable value in it."""
    value = requests.bodies.value(operation_id, name)
    ordinary = requests.body_with(operation_id, name, value)
    return PlannedRequest.to_show(bound, operation_id, name, body, ordinary)


def _urls(requests: ValidRequests) -> Iterator[PlannedRequest]:
    """Section 8: URLs of endpoints that are not https."""
    for url in NOT_HTTPS:
        body = requests.bodies.quiet_endpoint(url=url.format(host=requests.bodies.word("host")))
        kind = Scheme.HTTP if url.lower().startswith("http:") else Scheme.OTHER
        yield PlannedRequest.to_show(kind, "createEndpoint", "url", body)


def _unknown_identifiers(requests: ValidRequests) -> Iterator[PlannedRequest]:
    """Identifiers of the form of known ones that no resource has (sections 4.2 to 4.6)."""
    link = requests.portal_link
    for operation_id, parameter, known in (
        ("getEndpoint", "endpointID", requests.endpoint_id),
        ("expireEndpointSecret", "endpointID", requests.endpoint_id),
        ("getPortalLink", "portalLinkID", link["uid"] if link else requests.endpoint_id),
        ("updatePortalLink", "portalLinkID", link["uid"] if link else requests.endpoint_id),
    ):
        if known is not None:
            yield PlannedRequest(
                about="unknown identifier",
                observes=UnknownIdentifier,
                operation_id=operation_id,
                path={parameter: requests.unknown(known)},
                body=requests.body(operation_id),
            )


def _unknown_endpoint(requests: ValidRequests) -> Iterator[PlannedRequest]:
    """Section 4.6: such an identifier in the deprecated endpoints of a portal link."""
    if requests.endpoint_id is not None:
        unknown = requests.unknown(requests.endpoint_id)
        yield PlannedRequest(
            about="unknown endpoint",
            observes=UnknownEndpointListed,
            operation_id="updatePortalLink",
            field="endpoints",
            body=requests.bodies.portal_link(endpoints=[unknown]),
            ordinary=requests.bodies.portal_link(endpoints=[requests.endpoint_id]),
        )


def _other_data(requests: ValidRequests) -> Iterator[PlannedRequest]:
    """Section 4.8: data that is JSON, but no object."""
    for kind, value in OTHER_DATA.items():
        yield PlannedRequest(
            about=f"data that is {kind}",
            observes=DataOfAnotherType,
            operation_id="createBroadcastEvent",
            field="data",
            body=requests.body_with("createBroadcastEvent", "data", value),
        )


def _texts(requests: ValidRequests) -> Iterator[PlannedRequest]:
    """Section 8: texts as long as the dialect allows, and longer by one character."""
    maximum_of = requests.bodies.dialect.requests.text_maximum_of
    for operation_id in ("createEndpoint", "createBroadcastEvent"):
        schema = requests.contract.operations[operation_id].body_schema or {}
        for name in sorted(maximum_of.keys() & schema["properties"].keys()):
            text = requests.bodies.word("longest").ljust(maximum_of[name], "x")
            longest = requests.body_with(operation_id, name, text)
            yield _within_bounds(requests, Bound.TEXT, operation_id, name, longest)
            too_long = {**longest, name: f"{text}x"}
            right = requests.body_with(
                operation_id, name, requests.bodies.value(operation_id, name)
            )
            yield PlannedRequest.to_show(Mistake.TOO_LONG, operation_id, name, too_long, right)
