"""What a request that was refused carried, and what the answer to it said, in words for people.

What is quoted is cut to its beginning, once credentials are masked in it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import as_quoted, shown
from hookproof.conformance.observations.answer import sent

# How many events, endpoints, experiments, fields or values a reason names.
MOST_NAMED: Final = 3
# In characters: of what is quoted, and of what is read for that.
LONGEST_QUOTED: Final = 120
LONGEST_READ: Final = 4096

# The members of an error body in which services say what is wrong, the usual ones first, and the
# one that names the field.
SAYING: Final = ("message", "detail", "error", "errors", "msg", "description", "reason", "title")
PLACE: Final = "loc"

# The fields of a body, or of an object in it, whose value tells requests apart.
TELLING: Final = ("type", "content_type")


def named(names: Iterable[str]) -> str:
    """The first of these names, and how many more there are."""
    every = list(dict.fromkeys(names))
    more = f" and {len(every) - MOST_NAMED} more" if len(every) > MOST_NAMED else ""
    return f"{', '.join(every[:MOST_NAMED])}{more}"


def request_in_words(failed: Sequence[Exchange], succeeded: Sequence[Exchange]) -> str:
    """The operation, and what all these requests carried that none did which succeeded; where there
    is no such thing, all that they carried.
    """
    ours, theirs = list(map(_given, failed)), list(map(_given, succeeded))
    common = [name for name in ours[0] if all(name in given for given in ours)]
    values = {name: [given[name] for given in ours] for name in common}
    peculiar = [
        name
        for name in common
        if not {given.get(name) for given in theirs}.intersection(values[name])
    ]
    words = [
        f"{name}={named(filter(None, values[name]))}" if any(values[name]) else name
        for name in peculiar or common
    ]
    carried = " and ".join(words) if peculiar else named(sorted(words, key=_tells_nothing))
    return f"{failed[0].operation_id}{f' with {carried}' if carried else ''}"


def _tells_nothing(words: str) -> bool:
    return "=" not in words


def what_was_said(answers: Iterable[Exchange]) -> str:
    """What most of these answers said of why, behind a colon; empty if they said nothing."""
    said = Counter(filter(None, map(_said, answers)))
    return f': "{said.most_common(1)[0][0]}"' if said else ""


def _said(answer: Exchange) -> str:
    """The beginning of what an answer said, in one line; of a page in HTML nothing."""
    body = answer.json
    is_json = isinstance(body, dict | list)
    text = _text(body) if is_json else answer.response_body.decode(errors="replace").strip()
    if text.startswith("<") and not is_json:
        return ""
    return shown(as_quoted(text[:LONGEST_READ]).replace('"', "'"), LONGEST_QUOTED)


def _text(said: Any) -> str:
    """The first text in the usual members of an error body, behind the field that it is about."""
    match said:
        case str():
            return said
        case list():
            return next(filter(None, map(_text, said)), "")
        case dict():
            text = next(filter(None, (_text(said.get(name)) for name in SAYING)), "")
            place = said.get(PLACE)
            if text and isinstance(place, list):
                return f"{'.'.join(map(str, place))}: {text}"
            return text
        case _:
            return ""


def _given(exchange: Exchange) -> dict[str, str]:
    """The query parameters of a request with their values; the fields of its body, with the value
    only of those that are true or false or that tell what kind of thing is meant.
    """
    body = {name: _told(name, value) for name, value in sent(exchange).items()}
    return body | dict(parse_qsl(urlsplit(exchange.url).query))


def _told(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return next((_told(inner, value[inner]) for inner in TELLING if inner in value), "")
    return value if name in TELLING and isinstance(value, str) else ""
