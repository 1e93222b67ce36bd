"""Long texts in the fields that take texts: shown whole, or refused (sections 2.5, 4.1, 4.3, 4.6
and 4.8).

Filters of lists are asked for texts as long as a query can hold by `near_filters`.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.support.authentications import (
    fixed_credentials,
    observe_round_trip,
    with_assertion,
)
from hookproof.conformance.experiments.support.created_endpoints import create_endpoint
from hookproof.conformance.experiments.support.existing_resources import (
    find_changeable_links,
    kept_fields,
    put_back_afterwards,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.answer import shown_uid
from hookproof.conformance.observations.extremes import LongTextTried
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.observations.round_trip import (
    AuthenticationRoundTrip,
    TellingRoundTrip,
)
from hookproof.conformance.subjects.events.evidence import BroadcastWithTellingTexts
from hookproof.conformance.subjects.secrets.evidence import RollAnswer
from hookproof.conformance.target.client import encoded
from hookproof.receiver.signatures.bytes_as_text import to_text
from hookproof.spec.dialect.groups.requests import most
from hookproof.spec.dialect.vocabulary import SecretForm

# What a service may know by the word only, and the members that make up a key itself.
WORDS: Final = frozenset({"authentication_type", "expiry_time_unit", "signing_algorithm", "type"})
KEY: Final = "signing_key"
KEY_ID: Final = "kid"

# Fields of createEndpoint that `long_texts` does not send by themselves already (section 4.1).
PLAIN: Final = ("url", "secret", "content_type", "slack_webhook_url", "support_email")

SHARED_SECRET: Final = "shared secret"  # noqa: S105 what is tried, not a secret

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LongSetting:
    """Fields of createEndpoint with ordinary values, and the paths at which they can be long.

    `mechanism` is the member of the authentication that they are about, if any.
    """

    fields: Mapping[str, Any]
    paths: tuple[Path, ...]
    mechanism: str = ""

    def lengthened(self, bodies: RequestBodies, paths: Sequence[Path], length: int) -> Any:
        """The fields, with a text of this length at each of these paths."""
        changed: Any = self.fields
        for path in paths:
            changed = _with(changed, path, long_value(bodies, path[-1], length))
        return changed


def long_settings(
    bodies: RequestBodies, shared: Mapping[str, Any], asserted: Mapping[str, Any]
) -> dict[str, LongSetting]:
    """What is tried, by what it is about (sections 2.5, 4.1 and 9).

    The two authentications are by oauth2, with a shared secret and with an assertion; of the second
    only what the first does not have.
    """
    by_secret = tuple(_texts_in(shared))
    plain = {field: bodies.endpoint_value(field) for field in PLAIN}
    return {
        "fields": LongSetting(fields=plain, paths=tuple((field,) for field in PLAIN)),
        "deprecated owner": LongSetting(fields={"appID": bodies.word("app")}, paths=(("appID",),)),
        SHARED_SECRET: _of_authentication("oauth2", shared, by_secret),
        "assertion": _of_authentication(
            "oauth2", asserted, [path for path in _texts_in(asserted) if path not in by_secret]
        ),
        **{
            name: _of_authentication(name, value, tuple(_texts_in(value)))
            for name, value in fixed_credentials(bodies).items()
        },
    }


def _of_authentication(
    mechanism: str, value: Mapping[str, Any], paths: Sequence[Path]
) -> LongSetting:
    return LongSetting(
        fields={"authentication": value},
        paths=tuple(("authentication", *path) for path in paths),
        mechanism=mechanism,
    )


def long_value(bodies: RequestBodies, field: str, length: int) -> str:
    """A text of this length that no other call returns, in the form that such a field has; a run
    file can compress it.
    """
    match field:
        case "url" | "slack_webhook_url":
            return f"https://{bodies.word('host')}.invalid/".ljust(length, "x")
        case "support_email":
            return bodies.word("developers").ljust(length - len("@long.invalid"), "x") + (
                "@long.invalid"
            )
        case "content_type":
            return f"application/json; note={bodies.word('long')}".ljust(length, "x")
        case "header_name":
            return f"X-{bodies.word('Long')}".ljust(length, "x")
        case "secret":
            return long_secret(bodies, length)
        case _:
            return bodies.word("long").ljust(length, "x")


def long_secret(bodies: RequestBodies, length: int) -> str:
    """A secret of about this length, with the dialect's prefix and form (section 2.4)."""
    rules, text = bodies.dialect.signatures.secret, bodies.word("long")
    room = length - len(rules.prefix)
    if bodies.dialect.signatures.key_size is not None:
        return bodies.secret()
    if rules.form is SecretForm.TEXT:
        return rules.prefix + text.ljust(room, "x")
    # Two characters of hex stand for a byte, and four of base64 for three.
    size = room // 2 if rules.form is SecretForm.HEX else -(-room // 4) * 3
    return rules.prefix + to_text(rules.form, text.encode().ljust(size, b"x"))


def _texts_in(value: Mapping[str, Any], path: Path = ()) -> Iterator[Path]:
    """The paths of the texts that a service need not know."""
    for name, member in value.items():
        if isinstance(member, Mapping):
            yield from _texts_in(member, (*path, name))
        elif name not in WORDS and (KEY not in path or name == KEY_ID):
            yield (*path, name)


def _with(value: Any, path: Path, new: str) -> Any:
    name, *rest = path
    member = _with(value[name], tuple(rest), new) if rest else new
    return {**value, name: member}


ENDPOINT_FIELDS: Final = ("name", "description", "owner_id")
PORTAL_LINK_FIELDS: Final = ("name", "owner_id")

# In characters, each of one byte: one more than the columns of some databases hold, and a megabyte.
LONG: Final = 64 * 1024
LONGEST: Final = 1024 * 1024
# The same for a custom header, which is sent on: receivers refuse headers of more than some 8 KiB.
LONG_HEADER: Final = 4 * 1024 + 1

SECRET: Final = "secret"  # noqa: S105 the name of a field

NOT_QUIET: Final = (
    "under this dialect disabled endpoints receive broadcasts, so that every answer to a broadcast"
    " would repeat the long text"
)


@experiment(
    "long_texts",
    observes=(
        LongTextTried,
        TellingRoundTrip,
        AuthenticationRoundTrip,
        RollAnswer,
        BroadcastWithTellingTexts,
        Preparation,
    ),
    busy=True,
    broadcasts=1,
)
async def long_texts(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Send each field with each length, one request at a time."""
    bodies = RequestBodies.of(context)
    receives = context.dialect.delivery.disabled_receives
    if receives.decided and not receives.value:
        for field in ENDPOINT_FIELDS:
            for length in _lengths(context, bodies.quiet_endpoint(**{field: ""})):
                yield await _create_endpoint(context, bodies, field, length)
        async with aclosing(_try_settings(context, bodies)) as settings:
            async for observation in settings:
                yield observation
    else:
        yield context.trial("endpoints with long texts").not_observed(LongTextTried, NOT_QUIET)
    for field in _event_fields(context):
        for length in _lengths(context, bodies.broadcast(**{field: ""})):
            yield await _broadcast(context, bodies, field, length)
    async for observation in _broadcast_further(context, bodies):
        yield observation
    async with context.portal_links, aclosing(_update_portal_link(context, bodies)) as updates:
        async for observation in updates:
            yield observation


def _event_fields(context: ExperimentContext) -> tuple[str, ...]:
    """The fields of a broadcast; an event_type that deliveries carry in a header must be short."""
    in_header = context.dialect.delivery.event_type_header is not None
    return ("idempotency_key",) if in_header else ("event_type", "idempotency_key")


def _lengths(context: ExperimentContext, rest: Mapping[str, Any]) -> tuple[int, ...]:
    """The lengths of a text for which a body with this rest is within the size limit (section 8).

    The longest one fills the limit, where that is below a megabyte.
    """
    longest = min(LONGEST, _room(context, rest))
    if longest < LONG:
        return ()
    return (LONG,) if context.profile is Profile.QUICK else (LONG, longest)


def _room(context: ExperimentContext, rest: Mapping[str, Any]) -> int:
    """How many bytes the size limit leaves beside a body like this (section 8)."""
    return most(context.dialect.requests.size_limit) - len(encoded(rest))


def _text(context: ExperimentContext, length: int) -> str:
    """A text of this length that no other call returns; a run file can compress it."""
    return context.word("long").ljust(length, "x")


async def _create_endpoint(
    context: ExperimentContext, bodies: RequestBodies, field: str, length: int
) -> Evidence:
    trial = context.trial(f"endpoint, {field} of {length} characters")
    body = bodies.quiet_endpoint(**{field: _text(context, length)})
    created = await trial.call("createEndpoint", role="tried", body=body)
    uid = shown_uid(created)
    if uid is not None:
        await trial.call("getEndpoint", role="fetch", uid=uid)
    return trial.observe(LongTextTried, operation_id="createEndpoint", field=field, length=length)


async def _try_settings(
    context: ExperimentContext, bodies: RequestBodies
) -> AsyncGenerator[Evidence, None]:
    """The other texts of createEndpoint: those that belong together in one request, and each alone
    where that is refused or the size limit has no room for them all.
    """
    for about, setting in long_settings(bodies, bodies.oauth2(), with_assertion(bodies)).items():
        if context.lacking_mechanisms() & {setting.mechanism}:
            continue
        # To mask long credentials takes long, so that one mechanism has to stand for the others.
        if context.profile is Profile.QUICK and setting.mechanism and about != SHARED_SECRET:
            continue
        room = _room(context, bodies.quiet_endpoint(**setting.fields))
        together = len(setting.paths) * LONG <= room
        accepted = False
        if together:
            observation = await _create_long(context, bodies, about, setting, setting.paths, LONG)
            accepted = not isinstance(observation, Preparation)
            yield observation
        lengths = _lengths(context, bodies.quiet_endpoint(**setting.fields))
        for path in () if accepted else setting.paths:
            for length in lengths[:1]:
                yield await _create_long(context, bodies, about, setting, [path], length)
        for path in _tried_longest(context, setting):
            for length in lengths[1:]:
                yield await _create_long(context, bodies, about, setting, [path], length)
    lengths = _lengths(context, bodies.roll(secret=""))
    for length in lengths if context.profile >= Profile.DEEP else lengths[:1]:
        yield await _roll(context, bodies, length)


def _tried_longest(context: ExperimentContext, setting: LongSetting) -> Sequence[Path]:
    """The texts that are sent with the longest length, each alone.

    Credentials are masked in every encoding wherever they stand, which takes seconds for megabytes:
    they are left to the deep profile. An authentication is stored as one object, so that one of its
    texts stands for them all.
    """
    if context.profile >= Profile.DEEP:
        return setting.paths[:1] if setting.mechanism else setting.paths
    return () if setting.mechanism else [path for path in setting.paths if path != (SECRET,)]


async def _create_long(
    context: ExperimentContext,
    bodies: RequestBodies,
    about: str,
    setting: LongSetting,
    paths: Sequence[Path],
    length: int,
) -> Evidence:
    """A refusal is no more than preparation: the document names no longest text."""
    names = ", ".join(path[-1] for path in paths)
    trial = context.trial(f"endpoint, {about}: {names} of {length} characters")
    body = bodies.quiet_endpoint(**setting.lengthened(bodies, paths, length))
    tried = await trial.call("createEndpoint", role="tried", body=body)
    if not tried.succeeded:
        return trial.observe(Preparation)
    uid = shown_uid(trial.rename(tried, "create"))
    if uid is not None:
        await trial.call("getEndpoint", role="fetch", uid=uid)
    return observe_round_trip(context, trial, setting.mechanism, setting.fields, TellingRoundTrip)


async def _roll(context: ExperimentContext, bodies: RequestBodies, length: int) -> Evidence:
    trial = context.trial(f"roll, secret of {length} characters")
    first, second = bodies.secret(), long_secret(bodies, length)
    body = bodies.quiet_endpoint(secret=first)
    created = await create_endpoint(context, trial, role="create", body=body)
    if created.uid is None:
        return trial.not_observed(RollAnswer, created.reason)
    await trial.call("getEndpoint", role="fetch before", uid=created.uid)
    roll = bodies.roll(secret=second)
    rolled = await trial.call("expireEndpointSecret", role="tried", uid=created.uid, body=roll)
    if not rolled.succeeded:
        return trial.observe(Preparation)
    trial.rename(rolled, "roll")
    await trial.call("getEndpoint", role="fetch", uid=created.uid)
    return trial.observe(RollAnswer, given=(first, second))


async def _broadcast_further(
    context: ExperimentContext, bodies: RequestBodies
) -> AsyncIterator[Evidence]:
    """A long text in the data of a broadcast, and a long custom header.

    In a project with other experiments a megabyte would be delivered to all their endpoints.
    """
    lengths = _lengths(context, bodies.broadcast(data={"text": ""}))
    fields: dict[str, Mapping[str, Any]] = {
        f"data with a text of {length} characters": {"data": {"text": _text(context, length)}}
        for length in (lengths[:1] if context.shares_project else lengths)
    }
    header = {f"X-{bodies.word('Long')}": _text(context, LONG_HEADER)}
    fields[f"custom header of {LONG_HEADER} characters"] = {"custom_headers": header}
    for about, given in fields.items():
        trial = context.trial(f"broadcast, {about}")
        body = bodies.broadcast(**given)
        tried = await trial.call("createBroadcastEvent", role="tried", body=body)
        if tried.succeeded:
            trial.rename(tried, "create")
        yield trial.observe(BroadcastWithTellingTexts if tried.succeeded else Preparation)


async def _broadcast(
    context: ExperimentContext, bodies: RequestBodies, field: str, length: int
) -> Evidence:
    trial = context.trial(f"broadcast, {field} of {length} characters")
    body = bodies.broadcast(**{field: _text(context, length)})
    await trial.call("createBroadcastEvent", role="tried", body=body)
    return trial.observe(
        LongTextTried, operation_id="createBroadcastEvent", field=field, length=length
    )


async def _update_portal_link(
    context: ExperimentContext, bodies: RequestBodies
) -> AsyncGenerator[Evidence, None]:
    preparation = context.trial("portal link with long texts")
    existing = await find_changeable_links(context, preparation, pages=1)
    if not existing.links:
        yield preparation.not_observed(LongTextTried, existing.reason)
        return
    link = existing.links[0]
    async with put_back_afterwards(context, preparation, link):
        for field in PORTAL_LINK_FIELDS:
            kept = {**kept_fields(bodies, link), field: ""}
            for length in _lengths(context, bodies.portal_link(**kept)):
                body = bodies.portal_link(**{**kept, field: _text(context, length)})
                yield await _update(context, link, body, field, length)
    yield preparation.observe(Preparation)


async def _update(
    context: ExperimentContext,
    link: Mapping[str, Any],
    body: Mapping[str, Any],
    field: str,
    length: int,
) -> Evidence:
    trial = context.trial(f"portal link, {field} of {length} characters")
    await trial.call("updatePortalLink", role="tried", uid=link["uid"], body=body)
    await trial.call("getPortalLink", role="fetch", uid=link["uid"])
    return trial.observe(LongTextTried, operation_id="updatePortalLink", field=field, length=length)
