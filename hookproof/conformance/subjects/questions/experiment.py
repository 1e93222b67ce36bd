"""Requests with one thing that may be refused, and ordinary ones beside them.

`refusals` sends what a client might send, `hostile` what no ordinary client does, `endpoint_urls`
URLs that a service may refuse for what they lead to. The ordinary requests are sent once for all
that differ from them in one thing, and last: a quota that the others have used up shows there.
"""

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.existing_resources import outcome
from hookproof.conformance.experiments.support.optional_settings import find_accepted_settings
from hookproof.conformance.experiments.support.payloads import nested
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.experiments.support.valid_requests import (
    LEFT_OUT_OF_FULL,
    ValidRequests,
    hold_portal_links_for,
    portal_link_put_back,
    prepare_valid_requests,
    send_ordinary,
)
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.answer import was_accepted
from hookproof.conformance.observations.mistakes import RequestTried
from hookproof.conformance.observations.preparation import OddRequest, Preparation
from hookproof.conformance.subjects.questions.evidence import (
    BROADCAST,
    CREATE,
    ROLL,
    UPDATE,
    URL_FIELDS,
    WITH_BODY,
    Asked,
    Bound,
    EndpointUrlTried,
    Mistake,
    MistakenRequest,
    NestedData,
    PartialFieldMapping,
    RequestWithinBounds,
    RequiredFieldLeftOut,
    RequiredFieldsAlone,
    Scheme,
    UnansweredVisit,
    UnknownIdentifier,
    Unlisted,
    UnlistedInput,
    UnusualUrlTried,
    UrlKind,
    asked_in,
    said,
    with_value,
)
from hookproof.conformance.target.client import Key, encoded
from hookproof.receiver.replies.script import Reply
from hookproof.spec.dialect.given_settings import least_http_timeout, zero_http_timeout
from hookproof.spec.dialect.groups.requests import DEEP, most
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
# Neither a port that nothing may be sent to (fetch standard, section 2.9) nor one that services
# often allow beside 443, and so one of those that "other ports" speaks of whoever says it.
PORT: Final = 20443
# The second is an address of the own machine too, as is every one that begins with 127.
ADDRESSES: Final = ("127.0.0.1", "127.83.71.5", "[::1]")
# All of them are 127.0.0.1: decimal, hexadecimal, octal, short, and mapped into IPv6.
ODD_HOSTS: Final = (
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "127.1",
    "[::ffff:127.0.0.1]",
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

# How deep the data is beside which deeper data is judged.
SHALLOW: Final = 2

# What is made of an ordinary body so that it is no JSON, and nothing else of it is wrong.
NOT_JSON: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "truncated object": lambda body: body[:-1],
    "truncated text": lambda body: body[: body.rfind(b'"')],
    "words": lambda body: urlencode(json.loads(body)).encode(),
    "single quotes": lambda body: body.replace(b'"', b"'"),
    "NUL bytes": lambda body: bytes(len(body)),
    "markup": lambda body: b"<body>" + body + b"</body>",
}

# The first two are no JSON either, but a parser may take them all the same (RFC 8259, section 9):
# some read on only when they are asked to, and some replace what is no text.
ODD_JSON: Final = {
    "trailing words": b'{"name":"whole"} and more',
    "not UTF-8": b'{"name":"\xff\xfe\xfa"}',
    "nothing": b"",
    "null": b"null",
    "an array": b"[]",
    "a text": b'"text"',
    "a number": b"1e999",
    "deep array": b"[" * 10_000 + b"]" * 10_000,
    "deep object": b'{"data":' * 10_000 + b"1" + b"}" * 10_000,
    "deep and truncated": b'{"data":' * 10_000,
    "duplicate fields": b'{"name":"one","name":"two","url":"https://one.invalid/","url":7}',
    "lone surrogate": b'{"name":"\\ud800","url":"https://one.invalid/","event_type":"\\udfff"}',
    "NUL in a text": b'{"name":"a\\u0000b","url":"https://one.invalid/\\u0000","event_type":"a\\u0000b"}',
    "huge integer": b'{"http_timeout":' + b"9" * 400 + b',"expiration":' + b"9" * 400 + b"}",
    "huge exponent": b'{"http_timeout":1e400,"expiration":-1e999}',
    "not a number": b'{"http_timeout":NaN,"expiration":Infinity}',
}

MEDIA_TYPES: Final = ("text/plain", "application/x-www-form-urlencoded", "application/xml")

# A method for the path of each operation that destroys nothing, should the target know it after
# all.
OTHER_METHODS: Final = {
    CREATE: "PATCH",
    "getEndpoint": "PATCH",
    ROLL: "PATCH",
    "listPortalLinks": "PATCH",
    "getPortalLink": "PATCH",
    "listSources": "PUT",
    BROADCAST: "PUT",
}

# The last part of the path of operations that retrieve one resource, and of those that list them.
RETRIEVED_AT: Final = {"endpoints": "getEndpoint", "portal-links": "getPortalLink"}
LISTED_AT: Final = {"sources": "listSources", "portal-links": "listPortalLinks"}
ODD_IDENTIFIERS: Final = (
    "%2F",
    "..%2F..%2Fetc%2Fpasswd",
    "%00",
    "%ff%fe",
    "%F0%9F%98%80",
    "x" * 4000,
    "%0d%0aX-Injected:%20yes",
    "'--",
)
ODD_QUERIES: Final = (
    "?perPage=9999999999999999999999",
    "?sort=%00&direction=%ff",
    "?next_page_cursor=" + "A" * 4000,
)

# Bodies are not made larger than this, in bytes.
LARGEST_SIZE: Final = 32 * 1024 * 1024

# How many hostile requests are sent at once, and how many others.
FEW_AT_ONCE: Final = 8
MANY_AT_ONCE: Final = 64


@experiment(
    "refusals",
    observes=(
        MistakenRequest,
        UnlistedInput,
        RequestWithinBounds,
        EndpointUrlTried,
        PartialFieldMapping,
        RequiredFieldsAlone,
        RequiredFieldLeftOut,
        UnknownIdentifier,
        NestedData,
        *asked_in("refusals"),
        Preparation,
    ),
    busy=True,
    endpoints=1,
    broadcasts=2,
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
    shared = (
        missing_fields,
        wrong_types,
        unlisted_words,
        unlisted_fields,
        numbers,
        not_https,
        unknown_identifiers,
        texts,
        nested_data,
        *((words_of_oauth2, partial_mapping) if accepted else ()),
    )
    planned = [asked for asking in shared for asked in asking(requests)]
    async for evidence in _ask(context, requests, "refusals", planned, MANY_AT_ONCE):
        yield evidence


@experiment(
    "hostile",
    observes=(MistakenRequest, RequestWithinBounds, *asked_in("hostile"), OddRequest, Preparation),
    busy=True,
)
async def hostile(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Send each request once (sections 7 and 8); what is merely odd is for the oracles alone."""
    trial = context.trial("resources to ask for")
    requests = await prepare_valid_requests(context, trial)
    yield trial.observe(Preparation)
    shared = (hostile_bodies, sizes, methods, paths)
    planned = [asked for asking in shared for asked in asking(requests)]
    async for evidence in _ask(context, requests, "hostile", planned, FEW_AT_ONCE):
        yield evidence


async def _ask(
    context: ExperimentContext,
    requests: ValidRequests,
    name: str,
    planned: Sequence[Asked],
    at_once: int,
) -> AsyncIterator[Evidence]:
    """Send what is planned and the rows of an experiment, then the ordinary requests."""
    rows = asked_in(name).values()
    every = [*planned, *(asked for row in rows if row.asks for asked in row.asks(requests))]
    limit, restored = asyncio.Semaphore(at_once), context.trial("portal link as it was")
    async with portal_link_put_back(context, restored, requests):
        trials = await asyncio.gather(*(_send(context, requests, each, limit) for each in every))
        ordinary = OrdinaryRequests(context=context, requests=requests)
        shown = {each.asks for each, tried in zip(every, trials, strict=True) if tried.exchanges}
        for asked, tried in zip(every, trials, strict=True):
            # What one operation could not be asked is no reason where others were.
            if tried.exchanges or asked.asks not in shown:
                yield await _observe(ordinary, asked, tried)
    yield restored.observe(Preparation)


async def _send(
    context: ExperimentContext, requests: ValidRequests, asked: Asked, limit: asyncio.Semaphore
) -> Trial:
    """Send a request, unless there is nothing to send it about."""
    operation_id, content = asked.operation_id, asked.content
    where = operation_id or asked.target[:80]
    trial = context.trial(f"{where}, {asked.about}: {asked.field}".removesuffix(": "))
    method, target = asked.method, asked.target
    if operation_id is not None and not target:
        method = context.contract.operations[operation_id].method
        target = requests.target(operation_id, asked.path)
    if not target or (operation_id is not None and context.why_unasked(operation_id)):
        return trial
    if content is None and asked.body is not None:
        content = encoded(asked.body)
    is_declared = content is not None and asked.media_type is not None
    declared = [("Content-Type", asked.media_type or "")] if is_declared else []
    async with limit, hold_portal_links_for(context, operation_id or ""):
        trial.exchanges.append(
            await context.api.send(
                operation_id=operation_id,
                role="odd" if asked.asks is OddRequest else "tried",
                project=trial.project,
                method=method,
                target=target,
                content=content,
                headers=context.api.headers(trial.project, Key.OWN, False, declared),
                key=Key.OWN,
            )
        )
    return trial


async def _observe(ordinary: "OrdinaryRequests", asked: Asked, trial: Trial) -> Evidence:
    observed, facts = asked.observed_as
    if not issubclass(observed, RequestTried):
        return trial.observe(observed)
    beside = await ordinary.beside(asked) if trial.exchanges else None
    if beside is None:
        reason = ordinary.requests.why_not(asked.operation_id or asked.beside)
        return trial.not_observed(observed, reason)
    trial.exchanges.append(dataclasses.replace(beside, role=observed.role_of_ordinary))
    return trial.observe(observed, operation_id=asked.operation_id, field=asked.field, **facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdinaryRequests:
    """Requests with nothing that could be refused, each sent when it is first needed.

    `sent` holds those of the same fields of an operation.
    """

    context: ExperimentContext
    requests: ValidRequests
    sent: dict[tuple[str, ...], Exchange] = dataclasses.field(default_factory=dict)

    async def beside(self, asked: Asked) -> Exchange | None:
        """The one that differs from a request in one thing; None if there is nothing to send it
        about.
        """
        operation_id = asked.beside or asked.operation_id or ""
        if asked.beside_full:
            full = await self._send(operation_id, self.requests.full_body(operation_id))
            if full is not None and was_accepted(full):
                return full
        if operation_id == "getPortalLink" and not self.requests.can_call(operation_id):
            return await self._send("listPortalLinks", None)  # no link is known to retrieve
        return await self._send(operation_id, asked.ordinary or self.requests.body(operation_id))

    async def _send(self, operation_id: str, body: Mapping[str, Any] | None) -> Exchange | None:
        if not self.requests.can_call(operation_id):
            return None
        key = (operation_id, *sorted(body or ()))
        if key not in self.sent:
            self.sent[key] = await send_ordinary(self.context, self.requests, operation_id, body)
        return self.sent[key]


def missing_fields(requests: ValidRequests) -> Iterator[Asked]:
    """Section 4.9: the required fields alone, and a body without each of them."""
    rules = requests.bodies.dialect.requests
    for operation_id in WITH_BODY:
        yield Asked(
            RequiredFieldsAlone,
            "required fields alone",
            operation_id,
            body=requests.bodies.required(operation_id),
            beside_full=True,
        )
        one_of = rules.one_of_required_by(operation_id)
        for left_out in (*((name,) for name in rules.required_by(operation_id)), one_of):
            body = requests.body(operation_id) or {}
            if left_out:
                yield Asked(
                    RequiredFieldLeftOut,
                    "required field left out",
                    operation_id,
                    " and ".join(left_out),
                    {name: value for name, value in body.items() if name not in left_out},
                )
        for other in one_of[1:]:
            # In place of the first that would do.
            value: Any = requests.bodies.value(operation_id, other)
            if other == "endpoints" and requests.endpoint_id is not None:
                value = [requests.endpoint_id]
            alone = {**requests.bodies.required(operation_id), other: value}
            del alone[one_of[0]]
            yield Asked(
                RequiredFieldsAlone,
                f"required fields alone, with {other}",
                operation_id,
                body=alone,
                ordinary=requests.body_with(operation_id, other, value),
            )


def wrong_types(requests: ValidRequests) -> Iterator[Asked]:
    """Sections 4.1, 4.3, 4.6, 4.8 and 7: every documented field with a value of another type."""
    bodies = requests.bodies
    for operation_id in WITH_BODY:
        schema = requests.contract.operations[operation_id].body_schema or {}
        for name, described in schema.get("properties", {}).items():
            # The document lets data be any JSON, which has a row of its own.
            left_out = {*bodies.dialect.requests.service_assigned, *bodies.lacking_fields, "data"}
            if name not in left_out:
                value = WRONG_TYPES[described.get("type", "object")]
                yield with_value(
                    requests,
                    Mistake.OTHER_TYPE,
                    operation_id,
                    name,
                    value,
                    beside_full=name not in LEFT_OUT_OF_FULL,
                )


def words_of_oauth2(requests: ValidRequests) -> Iterator[Asked]:
    """Section 2.9: words of oauth2 that the document does not list."""
    right, unlisted = requests.bodies.oauth2(), requests.bodies.word("word")
    for name, value in {
        "authentication.type": {**right, "type": unlisted},
        **{
            f"authentication.oauth2.{member}": {
                **right,
                "oauth2": {**right["oauth2"], member: unlisted},
            }
            for member in ("authentication_type", "expiry_time_unit")
        },
    }.items():
        yield Asked(
            Unlisted.WORD,
            Unlisted.WORD.value,
            CREATE,
            name,
            requests.bodies.quiet_endpoint(authentication=value),
            ordinary=requests.bodies.quiet_endpoint(authentication=right),
        )


def partial_mapping(requests: ValidRequests) -> Iterator[Asked]:
    """Section 2.5: a field_mapping without the access_token."""
    right = requests.bodies.oauth2()
    mapping = dict(right["oauth2"]["field_mapping"])
    del mapping["access_token"]
    value = {**right, "oauth2": {**right["oauth2"], "field_mapping": mapping}}
    yield Asked(
        PartialFieldMapping,
        "partial field mapping",
        CREATE,
        "authentication.oauth2.field_mapping",
        requests.bodies.quiet_endpoint(authentication=value),
        ordinary=requests.bodies.quiet_endpoint(authentication=right),
    )


def unlisted_words(requests: ValidRequests) -> Iterator[Asked]:
    """Section 2.9: such a word of a portal link."""
    unlisted = requests.bodies.word("word")
    yield with_value(requests, Unlisted.WORD, UPDATE, "auth_type", unlisted)


def unlisted_fields(requests: ValidRequests) -> Iterator[Asked]:
    """Section 2.9: fields that the document does not name, or that only the service sets."""
    bodies = requests.bodies
    fields = [(name, Unlisted.FIELD, UNKNOWN_FIELD) for name in WITH_BODY]
    fields += [
        (name, Unlisted.SERVICE_FIELD, field)
        for name in (CREATE, UPDATE, BROADCAST)
        for field in bodies.dialect.requests.service_assigned
    ]
    for operation_id, kind, field in fields:
        value = bodies.timestamp() if field.endswith("_at") else bodies.word("given")
        yield Asked(
            kind, kind.value, operation_id, field, requests.body_with(operation_id, field, value)
        )


def numbers(requests: ValidRequests) -> Iterator[Asked]:
    """Section 8: the edges of the dialect's bounds, and one step beyond."""
    dialect, rules = requests.bodies.dialect, requests.bodies.dialect.requests
    zero = zero_http_timeout(dialect)
    zero_may_be_either = zero.allows(ZeroTimeout.REFUSED) and zero.allowed != (ZeroTimeout.REFUSED,)
    edges = [
        (CREATE, "http_timeout", rules.http_timeout_maximum, 1),
        (CREATE, "rate_limit", rules.rate_limit_maximum, 1),
        (CREATE, "rate_limit_duration", rules.rate_limit_duration_maximum, 1),
        (ROLL, "expiration", rules.expiration_minimum, -1),
        (ROLL, "expiration", rules.expiration_maximum, 1),
    ]
    if not zero_may_be_either:
        edges.append((CREATE, "http_timeout", least_http_timeout(dialect), -1))
    if rules.expiration_minimum is None:
        yield with_value(requests, Bound.NUMBER, ROLL, "expiration", -1)
    for operation_id, name, edge, step in edges:
        if edge is not None and name not in requests.bodies.lacking_fields:
            yield with_value(requests, Bound.NUMBER, operation_id, name, edge)
            yield with_value(requests, Mistake.BEYOND, operation_id, name, edge + step)


def texts(requests: ValidRequests) -> Iterator[Asked]:
    """Section 8: texts as long as the dialect allows, and longer by one character."""
    maximum_of = requests.bodies.dialect.requests.text_maximum_of
    for operation_id in (CREATE, BROADCAST):
        schema = requests.contract.operations[operation_id].body_schema or {}
        for name in sorted(maximum_of.keys() & schema["properties"].keys()):
            text = requests.bodies.word("longest").ljust(maximum_of[name], "x")
            yield with_value(requests, Bound.TEXT, operation_id, name, text)
            yield with_value(requests, Mistake.TOO_LONG, operation_id, name, f"{text}x")


def nested_data(requests: ValidRequests) -> Iterator[Asked]:
    """Section 8: data as deep as the dialect allows, and deeper by one level."""
    maximum = requests.bodies.dialect.requests.nesting_maximum
    deepest = maximum.value if len(maximum.allowed) == 1 else 0
    for levels in (DEEP,) if deepest is None else (deepest, deepest + 1) if deepest else ():
        yield Asked(
            NestedData,
            f"data of {levels} levels",
            BROADCAST,
            "data",
            requests.body_with(BROADCAST, "data", nested(levels)),
            ordinary=requests.body_with(BROADCAST, "data", nested(SHALLOW)),
            facts={"levels": levels},
        )


def not_https(requests: ValidRequests) -> Iterator[Asked]:
    """Section 8: URLs of endpoints that are not https."""
    for url in NOT_HTTPS:
        kind = Scheme.HTTP if url.lower().startswith("http:") else Scheme.OTHER
        given = url.format(host=requests.bodies.word("host"))
        yield Asked(kind, kind.value, CREATE, "url", requests.bodies.quiet_endpoint(url=given))


def unknown_identifiers(requests: ValidRequests) -> Iterator[Asked]:
    """Identifiers of the form of known ones that no resource has (sections 4.2 to 4.6)."""
    link = requests.portal_link
    for operation_id, parameter, known in (
        ("getEndpoint", "endpointID", requests.endpoint_id),
        (ROLL, "endpointID", requests.endpoint_id),
        ("getPortalLink", "portalLinkID", link["uid"] if link else requests.endpoint_id),
        (UPDATE, "portalLinkID", link["uid"] if link else requests.endpoint_id),
    ):
        if known is not None:
            yield Asked(
                UnknownIdentifier,
                "unknown identifier",
                operation_id,
                path={parameter: requests.unknown(known)},
                body=requests.body(operation_id),
            )


def broken_bodies(body: bytes) -> Iterator[tuple[str, bytes]]:
    """What NOT_JSON makes of a body, by its name; of one without members there is less."""
    for name, spoil in NOT_JSON.items():
        content = spoil(body)
        if content and not _is_json(content):
            yield name, content


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except ValueError:
        return False
    return True


def hostile_bodies(requests: ValidRequests) -> Iterator[Asked]:
    """Sections 2.1 and 7: what is not JSON, odd JSON, and JSON with another media type."""
    for name in filter(requests.can_call, WITH_BODY):
        broken = broken_bodies(encoded(requests.body(name)))
        for about, content in broken:
            yield Asked(Mistake.NOT_JSON, about, name, content=content)
        for about, content in ODD_JSON.items():
            yield Asked(OddRequest, about, name, content=content)
        for media_type in MEDIA_TYPES:
            yield Asked(
                Mistake.MEDIA_TYPE,
                media_type,
                name,
                body=requests.body(name),
                media_type=media_type,
            )


def sizes(requests: ValidRequests) -> Iterator[Asked]:
    """Section 8: one byte above the limit for each operation, and exactly the limit for a
    broadcast.
    """
    limit = most(requests.bodies.dialect.requests.size_limit)
    if limit < LARGEST_SIZE:
        for name in filter(requests.can_call, WITH_BODY):
            content = padded(encoded(requests.body(name)), limit + 1)
            about = "one byte too many"
            yield Asked(Mistake.TOO_LARGE, about, name, content=content)
        content = padded(encoded(requests.body(BROADCAST)), limit)
        about = "as large as allowed"
        yield Asked(Bound.SIZE, about, BROADCAST, content=content)


def padded(body: bytes, size: int) -> bytes:
    """The same JSON text, with white space up to this size."""
    return body[:-1] + b" " * max(0, size - len(body)) + body[-1:]


def methods(requests: ValidRequests) -> Iterator[Asked]:
    """Section 7: a method that the path of an operation does not have."""
    for operation_id, method in OTHER_METHODS.items():
        if requests.can_call(operation_id):
            yield Asked(
                Mistake.METHOD,
                method,
                method=method,
                target=requests.target(operation_id),
                body=requests.body(operation_id) or {},
                beside=operation_id,
            )


def paths(requests: ValidRequests) -> Iterator[Asked]:
    """Section 7: paths outside the eight operations, and identifiers that no service assigns."""
    word, unasked = requests.bodies.word, requests.why_unasked
    project = f"/api/v1/projects/{quote(requests.project.id, safe='')}"
    listed = next((name for name in LISTED_AT.values() if not unasked(name)), "listSources")
    outside = "path outside"
    planned: Iterable[tuple[type[OddRequest] | Mistake, str, str]] = (
        # Whoever answers there, the dialect is not about it.
        (OddRequest, outside, f"/{word('nowhere')}"),
        (Mistake.PATH, outside, f"/api/v1/{word('nowhere')}"),
        (Mistake.PATH, outside, f"{project}/{word('other')}"),
        *(
            (OddRequest, "odd identifier", f"{project}/{kind}/{identifier}")
            for identifier in ODD_IDENTIFIERS
            for kind, operation_id in RETRIEVED_AT.items()
            if not unasked(operation_id)
        ),
        *(
            (OddRequest, "odd query", f"{project}/{kind}{query}")
            for query in ODD_QUERIES
            for kind, operation_id in LISTED_AT.items()
            if not unasked(operation_id)
        ),
    )
    for asks, about, target in planned:
        yield Asked(asks, about, method="GET", target=target, beside=listed)


class UnusualUrls:
    """URLs with and without what is unusual, at one host that is a reserved name.

    Each has a path of its own, since a service may refuse to call one URL twice.
    """

    def __init__(self, word: Callable[[str], str]) -> None:
        self._word = word
        self._host = f"{word('host')}.invalid"

    def plain(self) -> str:
        """What each of `beside_plain` differs from in one thing."""
        return self._at(self._host)

    def ported(self) -> str:
        """The same with another port."""
        return self._at(f"{self._host}:{PORT}")

    def beside_plain(self) -> Mapping[UrlKind, tuple[str, ...]]:
        """URLs that differ from `plain` in what is unusual."""
        user = self._word("user")
        return {
            UrlKind.USER_INFORMATION: (self._at(f"{user}:password@{self._host}"),),
            UrlKind.FRAGMENT: (f"{self.plain()}#part",),
        }

    def addresses(self, *, with_port: bool) -> Mapping[UrlKind, tuple[str, ...]]:
        """URLs that differ from `ported` or `plain` in their host.

        With a port, where services take one: unlike at 443, nothing is likely to answer there.
        """
        port = f":{PORT}" if with_port else ""
        return {
            UrlKind.ADDRESS: tuple(self._at(f"{host}{port}") for host in ADDRESSES),
            UrlKind.ODD_HOST: tuple(self._at(f"{host}{port}") for host in ODD_HOSTS),
        }

    def _at(self, authority: str) -> str:
        return f"https://{authority}/{self._word('path')}"


@experiment(
    "endpoint_urls",
    observes=(UnusualUrlTried, UnansweredVisit, Preparation),
    busy=True,
    sharing=Sharing.QUIET,
)
async def endpoint_urls(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Create endpoints with URLs of the kinds on which the dialect has an answer (sections 2.3
    and 8). The endpoints are disabled.

    Who leaves them open is not sent what may look like an attack.
    """
    if context.dialect.delivery.failed_visit.decided and not context.why_unasked(CREATE):
        yield await _unanswered(context)
    asked = [kind for kind in UrlKind if said(context.dialect, URL_FIELDS[kind]).decided]
    if not asked or context.why_unasked(CREATE):
        return
    bodies, urls = RequestBodies.of(context), UnusualUrls(context.word)

    async def create(trial: Trial, url: str) -> Exchange:
        return await trial.call(CREATE, role="tried", body=bodies.quiet_endpoint(url=url))

    async def tried(kind: UrlKind, url: str) -> Trial:
        trial = context.trial(f"endpoint whose URL has {kind}: {url}")
        await create(trial, url)
        return trial

    first = context.trial(f"endpoint whose URL has {UrlKind.OTHER_PORT}")
    takes_ports = was_accepted(await create(first, urls.ported()))
    planned = [
        (kind, url, is_beside_ported)
        for is_beside_ported, unusual in (
            (False, urls.beside_plain()),
            (takes_ports, urls.addresses(with_port=takes_ports)),
        )
        for kind in asked
        for url in unusual.get(kind, ())
    ]
    trials = await asyncio.gather(*(tried(kind, url) for kind, url, _ in planned))
    # Last, since a quota of endpoints that the others have used up shows there.
    preparation = context.trial("endpoints with ordinary URLs")
    plain = await create(preparation, urls.plain())
    ported = await create(preparation, urls.ported()) if takes_ports else plain
    yield preparation.observe(Preparation)
    if UrlKind.OTHER_PORT in asked:
        yield _beside(first, UrlKind.OTHER_PORT, plain)
    for trial, (kind, _, is_beside_ported) in zip(trials, planned, strict=True):
        yield _beside(trial, kind, ported if is_beside_ported else plain)


async def _unanswered(context: ExperimentContext) -> Evidence:
    """An endpoint whose URL answers no visit with a 2xx, beside one whose URL does."""
    bodies, trial = RequestBodies.of(context), context.trial("endpoint that answers no visit")
    for role, replies in (("tried", [Reply(status=500)]), ("answered", [Reply()])):
        token = await context.receiver.new_token()
        await context.receiver.script(token.token, replies, visits=True)
        await trial.call(CREATE, role=role, body=bodies.quiet_endpoint(url=token.url))
    return trial.observe(UnansweredVisit, operation_id=CREATE, field="url")


def _beside(trial: Trial, kind: UrlKind, plain: Exchange) -> UnusualUrlTried:
    role = UnusualUrlTried.role_of_ordinary
    trial.exchanges.append(dataclasses.replace(plain, role=role))
    return trial.observe(UnusualUrlTried, operation_id=CREATE, field="url", kind=kind)
