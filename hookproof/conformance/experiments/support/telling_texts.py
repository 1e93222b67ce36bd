"""Texts that tell: whatever a service does to texts without saying so, changes one of these.

Each holds a character of many classes, spaces around it, and capitals. A service may refuse any of
them, since the document names no characters that a text may have; so each field has a stronger and
a weaker text, and the first that the target accepts is used.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.authentications import api_key, basic_auth
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Exchange
from hookproof.receiver.signatures.bytes_as_text import to_text
from hookproof.spec.dialect.groups.requests import most
from hookproof.spec.dialect.vocabulary import SecretForm
from hookproof.spec.field_roles import shown_as_sent

# Longer than the columns that most databases have for a text.
LENGTH: Final = 1200

# Composed and decomposed accents, what HTML and URLs escape, and a text that is escaped twice.
WEAK: Final = "Caf\u00e9 cafe\u0301 <b>&amp;\"'</b> 100%25 &amp;lt; a_b*c"
# What makes a text as long as that.
LONG: Final = "\u4e2d\u6587 caf\u00e9 " * (LENGTH // 8)
# Also characters beyond the first plane, and controls.
STRONG: Final = f"{WEAK} \U0001f600 \U0001d518 \u4e2d\u6587 tab\tbell\u0007"
# A field that becomes a header may hold visible ASCII alone (RFC 9110, section 5.5).
VISIBLE: Final = 'Capitals; with="quotes" & <signs>, 100%25 &amp;lt;'
# What reads alike whether it was encoded as in a form or not, for Basic authentication with a token
# server (RFC 6749, section 2.3.1).
UNENCODED: Final = 'Capitals; with="quotes" & <signs>, /? &amp;lt;'
PATH: Final = "Path/%2541?a=1&b=%26amp%3B"

# Members of oauth2 that are words of the dialect, or the name of an algorithm.
KEPT: Final = frozenset({"authentication_type", "expiry_time_unit", "signing_algorithm"})
STRONGEST, WEAKEST = 0, 2
# In characters; what a word ends with is random.
ENDING: Final = 11

# Possible values of a field, the strongest first.
Candidates = Sequence[Any]


def texts(word: str) -> Candidates:
    """Candidates for a field that takes any text; the word makes them unlike any other."""
    end = _end(word)
    return (
        f" {word} {STRONG} {LONG}{end} ",
        f" {word} {STRONG} {end} ",
        f"{word} {WEAK} {end}",
    )


def texts_for_urls(word: str) -> Candidates:
    """Candidates for a text that is a parameter of a query too, where the longest hardly fit."""
    _, strong, weak = texts(word)
    return (f" {word} {STRONG} {'x' * LENGTH} {_end(word)} ", strong, weak)


def visible_texts(word: str) -> Candidates:
    """Candidates for a field that becomes a part of a header."""
    end = _end(word)
    return (f"{word} {VISIBLE} {'x' * LENGTH} {end}", f"{word} {VISIBLE} {end}")


def client_secret(word: str) -> str:
    """The shared secret of a client of a token server."""
    return f"{word} {UNENCODED} {'x' * LENGTH} {_end(word)}"


def header_values(word: str) -> Candidates:
    """Candidates for the value of a header that is stored and perhaps never sent."""
    longest, visible = visible_texts(word)
    return (f"{longest} caf\u00e9", longest, visible)


def urls(word: str) -> Candidates:
    """Candidates for a field that takes a URL."""
    short = f"https://host.invalid/{word}/{PATH}"
    return (with_long_query(short), short)


def with_long_query(url: str) -> str:
    """The URL with parameters that tell, longer than most databases have room for."""
    return f"{url}{'&' if '?' in url else '?'}A=%2541&amp;c={'long/' * (LENGTH // 5)}"


def endpoint_texts(bodies: RequestBodies) -> dict[str, Candidates]:
    """Candidates for the texts of createEndpoint, and for numbers and flags that are no default
    (section 4.1).
    """
    word, requests = bodies.word, bodies.dialect.requests
    address = f"Help+{word('developers')}caf\u00e9&amp;%25"
    content_type = "application/json; note="
    chosen: dict[str, Candidates] = {
        "owner_id": texts_for_urls(word("owner")),
        "support_email": (
            f"{address}\U0001f600e\u0301{'x' * LENGTH}@support.invalid",
            f"{address}@support.invalid",
        ),
        "slack_webhook_url": urls(word("channel")),
        "url": urls(word("path")),
        "content_type": (
            f'{content_type}"A & b <c>, 100%25 &amp;lt; {"x" * LENGTH}"',
            f'{content_type}"A & b"',
        ),
        "secret": secrets(bodies),
        "advanced_signatures": (True,),
        "http_timeout": (_odd_below(requests.http_timeout_maximum),),
        "rate_limit": (_odd_below(requests.rate_limit_maximum),),
        "rate_limit_duration": (_odd_below(requests.rate_limit_duration_maximum),),
    }
    others = [name for name in shown_as_sent("createEndpoint") if name not in chosen]
    return {**{name: texts(word(name)) for name in others}, **chosen}


def event_texts(bodies: RequestBodies) -> dict[str, Candidates]:
    """Candidates for the texts of createBroadcastEvent (section 4.8).

    Deliveries may carry the type of an event in a header, and carry the custom ones.
    """
    word = bodies.word
    in_header = bodies.dialect.delivery.event_type_header is not None
    types = visible_texts(word("type"))[1:] if in_header else texts(word("type"))
    return {
        "event_type": types,
        "idempotency_key": texts(word("key")),
        "custom_headers": tuple(
            {f"X-{word('Header')}": value} for value in visible_texts(word("value"))
        ),
        "data": ({"text": texts(word("data"))[0], "empty": "", "deep": {"a": {"b": {"c": 1}}}},),
    }


def mechanisms(bodies: RequestBodies, oauth2: Iterable[Mapping[str, Any]]) -> dict[str, Candidates]:
    """Candidates for authentication objects, whose names begin with the capability that they need
    (section 2.5).

    Those with `oauth2` are given, with texts that need not tell.
    """
    words, word = bodies.dialect.words, bodies.word
    headers = zip(_header_names(word("Key")), header_values(word("value")), strict=True)
    pairs = zip(texts(word("user")), texts(word("password")), strict=True)
    by_algorithm = {
        each["oauth2"]["signing_algorithm"]: {
            name: _telling_member(name, value, word) for name, value in each["oauth2"].items()
        }
        for each in oauth2
    }
    return {
        **{
            f"oauth2 {algorithm}": tuple(
                {"type": words.auth_oauth2, "oauth2": _at_strength(members, strength)}
                for strength in (STRONGEST, WEAKEST)
            )
            for algorithm, members in by_algorithm.items()
        },
        "api_key": tuple(api_key(words.auth_api_key, value, name) for name, value in headers),
        "basic_auth": tuple(basic_auth(words.auth_basic, *pair) for pair in pairs),
    }


def capability_of(mechanism: str) -> str:
    """The capability that a mechanism of this name needs."""
    return mechanism.partition(" ")[0]


async def find_accepted(
    fields: Mapping[str, Candidates], attempt: Callable[[Mapping[str, Any]], Awaitable[Exchange]]
) -> dict[str, Any]:
    """For each field the strongest value that the target accepts; those that it refuses are absent.

    One request where it accepts them all; else each field is tried alone.
    """
    strongest = {field: candidates[0] for field, candidates in fields.items()}
    if (await attempt(strongest)).succeeded:
        return strongest
    accepted = {}
    for field, candidates in fields.items():
        for candidate in candidates:
            if (await attempt({field: candidate})).succeeded:
                accepted[field] = candidate
                break
    return accepted


async def find_accepted_endpoint(
    context: ExperimentContext, trial: Trial, fields: Mapping[str, Candidates]
) -> dict[str, Any]:
    """The values with which the target creates an endpoint that no broadcast reaches."""
    bodies = RequestBodies.of(context)

    async def create(values: Mapping[str, Any]) -> Exchange:
        body = bodies.quiet_endpoint(**values)
        return await trial.call("createEndpoint", role="probe", body=body)

    return await find_accepted(fields, create)


def _telling_member(name: str, value: Any, word: Callable[[str], str]) -> Any:
    """The candidates for a member of oauth2, or an object of them."""
    if name in KEPT:
        return (value,)
    if name == "signing_key":  # the key itself stays
        return {**{member: (part,) for member, part in value.items()}, "kid": texts(word("kid"))}
    if isinstance(value, Mapping):
        return {member: _telling_member(member, part, word) for member, part in value.items()}
    return urls(word(name)) if name == "url" else texts(word(name))


def _at_strength(members: Any, strength: int) -> Any:
    """Each candidate at this place, or the last one."""
    if isinstance(members, Mapping):
        return {name: _at_strength(member, strength) for name, member in members.items()}
    return members[min(strength, len(members) - 1)]


def _header_names(word: str) -> Candidates:
    return (f"X-{word}-{'Long-' * (LENGTH // 5)}End", f"X-{word}", f"X-{word}")


def secrets(bodies: RequestBodies) -> Candidates:
    """Every sign that the dialect's form of secrets has (section 2.4), and spaces around a text."""
    rules = bodies.dialect.signatures.secret
    if rules.form is SecretForm.TEXT:
        return tuple(f"{rules.prefix}{text}" for text in texts(bodies.word("secret")))
    content = b"\xfb\xff\xfe" * 12 + bodies.random.randbytes(11)
    content = content[-(bodies.dialect.signatures.key_size or 0) :]
    return (rules.prefix + to_text(rules.form, content),)


def _odd_below(bound: int | None) -> int:
    """A number that is no round one in any form."""
    return max(1, most(bound) - 3)


def _end(word: str) -> str:
    """What makes the end of a text unlike any other: its beginning alone may be kept, and masking
    finds it sooner.
    """
    return word[:-ENDING:-1]
