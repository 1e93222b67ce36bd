"""Section 5: who may call the API."""

import re
from typing import Final, NamedTuple
from urllib.parse import unquote

from hookproof.conformance.checks.json_objects import objects_in
from hookproof.conformance.checks.key_scope import may_decide
from hookproof.conformance.checks.portal_links import is_member, members
from hookproof.conformance.checks.refusal import is_refused_as_invalid, refusal_with
from hookproof.conformance.checks.resource_change import effect_of
from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import not_applicable
from hookproof.conformance.model.law import Compared, Requirement, Seen, law
from hookproof.conformance.observations.answer import (
    LISTS,
    Kind,
    Resource,
    refused,
    resources,
    sent,
    shown,
    was_accepted,
    was_answered,
)
from hookproof.conformance.subjects.events.evidence import FRESH_KEY, is_flagged
from hookproof.conformance.subjects.keys.evidence import (
    BroadcastsWithoutRight,
    CallWithKey,
    CreationsWithoutRight,
    KeyKind,
)
from hookproof.spec.dialect.vocabulary import Acceptance, KeyScope

WITHOUT_KEY: Final = {
    "createEndpoint": "5-1",
    "getEndpoint": "5-2",
    "expireEndpointSecret": "5-3",
    "listPortalLinks": "5-4",
    "getPortalLink": "5-5",
    "updatePortalLink": "5-6",
    "listSources": "5-7",
    "createBroadcastEvent": "5-8",
}

# The operations whose path names a resource.
ON_A_RESOURCE: Final = ("getEndpoint", "expireEndpointSecret", "getPortalLink", "updatePortalLink")
SCOPES: Final = {
    KeyScope.ACCOUNT: "a key opens one account",
    KeyScope.PROJECT: "a key opens one project",
    KeyScope.KEY_DECIDES: "a key opens its own project under every path",
}

# Of at least eight characters, and not a mere word.
IS_TELLING: Final = re.compile(r"(?=.*[\d/]).{8}")


class Refused(NamedTuple):
    """A kind of key that opens nothing: the requirement that says so, what is reported where it
    does open something, and the requirement of its status with the dialect's field.
    """

    of: Requirement
    wrong: str
    status: tuple[str, str] | None = None


MISSING: Final = ("5-10", "missing_key_status")
WRONG: Final = ("5-11", "wrong_key_status")
NO_HEADER: Final = "{operation_id} works without an Authorization header"
IN_PARTS: Final = f"{NO_HEADER}, with the key in a query parameter, a cookie or another header"
NOT_VALID: Final = "An operation works with a key that is not valid: {kind}"

REFUSED_KEYS: Final = {
    KeyKind.NONE: Refused(WITHOUT_KEY, NO_HEADER, MISSING),
    KeyKind.ELSEWHERE: Refused(WITHOUT_KEY, IN_PARTS),
    KeyKind.IN_BODY: Refused(WITHOUT_KEY, f"{NO_HEADER}, with the key in the body"),
    KeyKind.WRONG: Refused("5-9", NOT_VALID, WRONG),
    KeyKind.TRUNCATED: Refused("5-9", NOT_VALID, WRONG),
    KeyKind.ALTERED: Refused("5-9", NOT_VALID),
    KeyKind.FORMAT: Refused("5-13", NOT_VALID),
    KeyKind.EMPTY: Refused("5-13", NOT_VALID),
    KeyKind.CREDENTIAL: Refused("5-14", NOT_VALID),
}


@law(WITHOUT_KEY)
def nothing_works_without_a_key(request: CallWithKey, context: CheckContext) -> Seen:
    """All eight operations."""
    expected = REFUSED_KEYS.get(request.kind)
    if expected and expected.of is WITHOUT_KEY:
        yield from _refusal(request, expected, context)


@law("5-9", "5-13", "5-14")
def a_key_that_is_none_is_refused(request: CallWithKey, context: CheckContext) -> Seen:
    """Never issued, cut short, empty, in another format, or the credential of an endpoint."""
    others, expected = (
        context.dialect.authentication.other_key_formats,
        REFUSED_KEYS.get(request.kind),
    )
    may_be_taken = request.kind is KeyKind.FORMAT and not others.prefers(Acceptance.REFUSED)
    if expected and expected.of is not WITHOUT_KEY and not may_be_taken:
        yield from _refusal(request, expected, context)


def _refusal(request: CallWithKey, expected: Refused, context: CheckContext) -> Seen:
    """Whether a request was refused for its key.

    Any 4xx is a refusal, since the right key gets another answer; 5-10 and 5-11 judge which. An
    answer that is neither refusal nor success is judged by its effect alone. A service that refuses
    everything keeps nothing out: without the right key that is accepted there is no pass.
    """
    tried, before, after = request.call, request.before, request.after
    if tried is None:
        return
    effect = effect_of(tried, before, after, context, request.authorized)
    is_kept_out = refused(tried) and request.key_matters
    if effect and not refused(tried):
        actual, shown_by = f"{tried.status}, and an effect: {effect}", [before, tried, after]
    elif is_kept_out or was_accepted(tried):
        actual, shown_by = str(tried.status), [tried, request.authorized if is_kept_out else None]
    else:
        return
    yield Compared(
        "a refusal",
        actual,
        shown_by,
        is_kept_out,
        expected.of,
        expected.wrong.format(operation_id=request.operation_id, kind=request.kind),
        _looks_at_no_key(request),
    )


def _looks_at_no_key(request: CallWithKey) -> str:
    """What is wrong with an operation that takes a request of this kind; empty for one whose key
    stands elsewhere, which may be looked at there. One that needs no key takes any (5-9, 5-12).
    """
    elsewhere = request.kind in (KeyKind.ELSEWHERE, KeyKind.IN_BODY)
    return "" if elsewhere else f"{request.operation_id} looks at no key"


@law("5-10", "5-11")
def a_refused_key_has_the_dialects_status(request: CallWithKey, context: CheckContext) -> Seen:
    """One for a missing key, one for a wrong key; where it opens nothing, for a resource that there
    is not as well.
    """
    expected, tried = REFUSED_KEYS.get(request.kind), request.call
    if request.known is not None and not refused(request.known):
        return
    if expected and expected.status and tried and refused(tried) and request.key_matters:
        requirement, field = expected.status
        status = getattr(context.dialect.authentication, field)
        if status.decided:
            yield Compared(
                " or ".join(map(str, status.allowed)),
                tried.status,
                [tried],
                status.allows(tried.status),
                requirement,
                "A request with a key of this kind is answered with another status than the"
                f" dialect's: {request.kind}",
            )


@law("5-12", wrong="The key of another project is not treated as the dialect says")
def the_key_of_another_project_opens_what_the_dialect_says(
    request: CallWithKey, context: CheckContext
) -> Seen:
    """All projects of an account, its own alone, or its own whatever project the path names.

    A key that decides finds nothing of the project in the path.
    """
    rules, tried = context.dialect.authentication, request.call
    if tried is None or not was_answered(tried) or (refused(tried) and not request.key_matters):
        return
    if request.kind is KeyKind.FOREIGN and rules.key_scope.decided:
        if _may_be_for_its_content(tried, context) or _is_spoilt_for_all(request, context):
            return
        unknown = context.dialect.errors.status("unknown_resource", request.operation_id)
        outcomes = {
            KeyScope.ACCOUNT: was_accepted(tried),
            KeyScope.PROJECT: refused(tried) and rules.foreign_key_status.allows(tried.status),
            KeyScope.KEY_DECIDES: refused(tried) and unknown.allows(tried.status)
            if request.operation_id in ON_A_RESOURCE
            else was_accepted(tried),
        }
        yield Compared(
            " or ".join(SCOPES[scope] for scope in rules.key_scope.allowed),
            tried.status,
            [tried],
            any(outcomes[scope] for scope in rules.key_scope.allowed),
            state="" if refused(tried) else _looks_at_no_key(request),
        )


def _may_be_for_its_content(tried: Exchange, context: CheckContext) -> bool:
    """Whether a roll or an update that the dialect lets every key do was refused for its content:
    another roll has just been done with the right key, and the update with it had other fields.
    """
    rules = context.dialect.authentication
    return (
        tried.operation_id in ("expireEndpointSecret", "updatePortalLink")
        and KeyScope.PROJECT not in rules.key_scope.allowed
        and is_refused_as_invalid(tried, context.dialect)
        and not rules.wrong_key_status.allows(tried.status)
    )


def _is_spoilt_for_all(request: CallWithKey, context: CheckContext) -> bool:
    """Whether a 2xx that may open the project is no success, nor is it with the right key: section
    2.1 is broken, and nothing is known of the key.
    """
    tried, authorized = request.call, request.authorized
    opening = {KeyScope.ACCOUNT}
    if request.operation_id not in ON_A_RESOURCE:
        opening.add(KeyScope.KEY_DECIDES)
    return (
        not opening.isdisjoint(context.dialect.authentication.key_scope.allowed)
        and all(each is not None and each.succeeded for each in (tried, authorized))
        and not any(each is not None and was_accepted(each) for each in (tried, authorized))
    )


@law("5-15")
def what_is_refused_for_its_key_changes_nothing(
    requests: CreationsWithoutRight | BroadcastsWithoutRight | CallWithKey, context: CheckContext
) -> Seen:
    """No roll, no update, no endpoint, no used-up idempotency_key: one that is flagged although a
    fresh one is not. Endpoints are missed where the portal link shows the one that is allowed.
    """
    before, after = requests.before, requests.after
    if not requests.tried or not all(map(refused, requests.tried)):
        return
    if isinstance(requests, CreationsWithoutRight) and not _shows_allowed_one(requests):
        return
    accepted = requests.accepted if isinstance(requests, BroadcastsWithoutRight) else None
    if accepted is not None and shown(accepted):
        effect = "its idempotency_key is used up" if is_flagged(accepted) else ""
        if effect and is_flagged(requests.exchange(FRESH_KEY)):
            return
    elif before is None or after is None or not shown(before) or not shown(after):
        return
    elif isinstance(requests, CreationsWithoutRight):
        effect = _shown_refused_one(requests, before, after)
    else:
        authorized = requests.exchange("authorized")
        effects = (effect_of(tried, before, after, context, authorized) for tried in requests.tried)
        effect = next(filter(None, effects), "")
    yield Compared(
        "nothing of what it asked for",
        effect,
        [before, *requests.tried, after, accepted],
        not effect,
        wrong=f"A request that was refused for its key has an effect: {requests.operation_id}",
    )


@law("5-17", wrong="A request that is refused for its key is shown the resource")
def a_refusal_shows_nothing_of_what_it_refuses(request: CallWithKey, _: CheckContext) -> Seen:
    """No uid of a resource, no URL of an endpoint and none that opens a portal link, as far as the
    right key is shown some that the refused request does not name.
    """
    tried, authorized = request.call, request.authorized
    if tried is None or not refused(tried) or authorized is None:
        return
    if request.operation_id not in (*ON_A_RESOURCE, *LISTS):
        return
    named = f"{unquote(tried.url)} {_text(tried.request_body or b'')}"
    told = f"{tried.response_headers} {_text(tried.response_body)}"
    texts = [text for text in _texts_of_resources(authorized) if text not in named]
    if texts:
        told_of = [text for text in texts if text in told]
        expected = f"{tried.status} and nothing of it"
        yield Compared(expected, told_of, [authorized, tried], not told_of)


def _texts_of_resources(exchange: Exchange) -> list[str]:
    """Texts that stand for one resource alone; a short one, or a mere word, might stand there by
    chance.
    """
    texts = [
        text
        for part in resources(exchange)
        for text in (part.text("uid"), _own_url(part))
        if text is not None and IS_TELLING.match(text)
    ]
    return list(dict.fromkeys(texts))


def _own_url(part: Resource) -> str | None:
    """The URL of an endpoint, and that of a portal link unless it is the same for all of them."""
    url = part.text("url")
    if part.kind is Kind.PORTAL_LINK and url is not None:
        names = (part.text("token"), part.text("uid"))
        return url if any(name is not None and name in url for name in names) else None
    return url if part.kind is Kind.ENDPOINT else None


def _text(content: bytes) -> str:
    """The content without the escapes that JSON may have in a URL."""
    return content.decode(errors="replace").replace("\\/", "/").replace("\\u0026", "&")


def _shows_allowed_one(creations: CreationsWithoutRight) -> bool:
    """Whether the portal link shows the endpoints of its owner, as far as is known."""
    allowed, before = creations.allowed, creations.before
    if allowed is None or before is None:
        return False
    return is_member(before, allowed, ()) is True


def _shown_refused_one(creations: CreationsWithoutRight, before: Exchange, after: Exchange) -> str:
    """What a portal link shows of endpoints that were refused, in words: their URLs, or any new one
    where URLs are not shown as they were sent.
    """
    urls = [record.get("url") for record in objects_in(shown(after).get("endpoints_metadata"))]
    if creations.allowed is None or sent(creations.allowed).get("url") not in urls:
        new = sorted(set(members(after)) - set(members(before)))
        return f"there is a new endpoint, {new[0]}" if new else ""
    refused_urls = [url for each in creations.tried if (url := sent(each).get("url")) in urls]
    return f"there is an endpoint at {refused_urls[0]}" if refused_urls else ""


@law("4-1")
def an_unknown_project_is_refused(request: CallWithKey, context: CheckContext) -> Seen:
    """With a key that opens another one. A dialect that says nothing of keys allows both."""
    tried, scope = request.call, context.dialect.authentication.key_scope
    if request.kind is not KeyKind.UNKNOWN_PROJECT or tried is None:
        return
    if scope.decided and may_decide(context):
        yield not_applicable("4-1", "The dialect says that a key decides, whatever the path says.")
        return
    if may_decide(context) and not refused(tried):
        return
    status = context.dialect.errors.status("unknown_project", tried.operation_id)
    if request.key_matters or not refused(tried):
        yield from refusal_with(
            tried,
            "4-1",
            "A request for a project that does not exist is not refused with the dialect's status",
            status,
        )
