"""Dialects drawn at random: of each answer one that its type, a shipped dialect or this file knows.

`random_dialect` is what a service does. `known_of` is what its owner may know of it: some of the
answers one of several, or left undecided.
"""

import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.file_schema import ASSUMED, LABELS, ONE_OF, UNDECIDED
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect, load_dialect_mapping, shipped_dialects
from hookproof.spec.dialect.writer import written_dialect
from hookproof.spec.strict_yaml.file_problem import FileProblems

# Further answers to questions whose answer is a number, a text, or a list of them.
FURTHER: dict[str, list[Any]] = {
    "authentication.key_format": ["{key}", "ApiKey {key}", "Token token={key}"],
    "authentication.missing_key_status": [403, 404],
    "authentication.wrong_key_status": [404, 422],
    "authentication.foreign_key_status": [403, 404],
    "success.created": [202],
    "success.accepted": [200],
    "errors.body": [
        {"status": False, "message": "{message}", "data": None},
        {"detail": [{"msg": "{message}", "type": "{any}"}]},
        {"title": "{message}", "status": "{status}", "type": "about:blank"},
    ],
    "errors.invalid_value": [409, 400],
    "errors.by_operation": [{"getEndpoint": {"unknown_resource": 406}}],
    "errors.bodies": [
        {"method_not_allowed": None, "unknown_resource": {"what": "{message}"}},
        {"missing_key": {"no": "{message}"}, "foreign_key": None},
    ],
    "errors.unknown_resource": [400, 403],
    "errors.unknown_project": [403, 400],
    "representation.identifier_of": [
        {"Endpoint": "ep_[0-9A-Za-z]{22}", "Event": "evt-[0-9a-z]{12,20}"},
        {"Secret": "sec_[0-9a-f]{16}", "PortalLink": "pl:[0-9A-Z]{12}", "Source": "[0-9]{9}"},
    ],
    "words.other_words_of": [{"auth_type": "ignored"}, {"auth_type": "refused"}],
    "words.event_created": ["queued", "Pending"],
    "words.endpoint_active": ["enabled"],
    "words.endpoint_disabled": ["disabled"],
    "requests.create_endpoint_requires": [["url"], ["url", "name", "owner_id"]],
    "requests.expire_endpoint_secret_requires": [["expiration"]],
    "requests.update_portal_link_requires": [[], ["name", "owner_id"]],
    "requests.create_broadcast_event_requires": [["event_type"], ["data"], []],
    "requests.update_portal_link_requires_one_of": [["owner_id", "endpoints"]],
    "requests.create_broadcast_event_requires_one_of": [["event_type", "data"]],
    "requests.size_limit": [262144, None],
    "requests.rate_limit_maximum": [None],
    "requests.text_maximum_of": [{"name": 255, "description": 1000}, {"idempotency_key": 128}],
    "requests.nesting_maximum": [100],
    "paging.default_per_page": [5, 25],
    "paging.maximum_per_page": [30, 200, None],
    "paging.owner_filter": ["owner_id", None],
    "paging.name_filter": ["name", None],
    "delivery.visible_within_s": [0.5],
    "delivery.event_id_header": ["X-Event", None],
    "delivery.attempt_header": ["X-Try"],
    "delivery.event_type_header": ["X-Event-Type"],
    "delivery.default_timeout_s": [10],
    "idempotency.duplicate_status": [200, 201, 202, 409],
    "signatures.secret.prefix": ["sec_"],
    "signatures.secret.generated_bytes": [24],
}

# Forms of times that a receiver's tolerance of some seconds makes sense with.
STAMPED_IN = ["milliseconds", "seconds", "rfc3339"]

# What the reference server cannot do, since the document does not say which events these are, and
# what would refuse every endpoint at the receiver.
NEVER = {
    "delivery.own_events": True,
    "requests.url_addresses": "refused",
    "requests.url_other_ports": "refused",
    "delivery.failed_visit": "refused",
}

# Answers that make sense together only, each group as it is in one dialect or here.
TOGETHER: list[tuple[str, ...]] = [
    ("retry.attempts", "retry.initial_s", "retry.factor", "retry.maximum_s", "retry.jitter"),
    (
        "rolling.expiration_unit",
        "rolling.default_expiration",
        "requests.expiration_minimum",
        "requests.expiration_maximum",
    ),
    (
        "delivery.rate_limit_unit",
        "delivery.default_rate_limit_duration",
        "requests.rate_limit_duration_maximum",
    ),
    (
        "requests.http_timeout_minimum",
        "delivery.zero_http_timeout",
        "requests.http_timeout_maximum",
    ),
    ("requests.service_assigned",),
]
FURTHER_TOGETHER: dict[tuple[str, ...], list[tuple[Any, ...]]] = {
    TOGETHER[0]: [(2, 0.3, 1, 5, 0.1), (4, 0.2, 3, 1, 0), (3, 1, 2, 60, 0.5), (8, 0.1, 1, 1, 0)],
    TOGETHER[1]: [
        ("minutes", 0, 0, 525600),
        ("hours", 24, 0, None),
        ("seconds", 3600, None, 86400),
        ("seconds", 60, 2, 86400),
    ],
    TOGETHER[2]: [
        ("minutes", 1, None),
        ("milliseconds", 1000, 60000),
        ("seconds", 0, 3600),
        ("seconds", 2, 3600),
    ],
    TOGETHER[3]: [(0, "unlimited", None), (0, "refused", 300), (0, "immediate", 60)],
}

# Of each signature format, the templates that belong together.
TEMPLATES: list[dict[str, Any]] = [
    {
        "signed": "{timestamp}.{body}",
        "value": "t={timestamp},{signatures}",
        "item": "{version}={signature}",
        "separator": ",",
        "versions": ["v1"],
        "timestamp_header": None,
    },
    {
        "signed": "{id}.{timestamp}.{body}",
        "value": "{signatures}",
        "item": "{version},{signature}",
        "separator": " ",
        "versions": ["v{n}"],
        "timestamp_header": "X-Sent-At",
    },
    {
        "signed": "{body}",
        "value": "sha={signatures}",
        "item": "{signature}",
        "separator": ";",
        "versions": [],
        "timestamp_header": None,
    },
    {
        "signed": "{url}{body}",
        "value": "sha={signatures}",
        "item": "{signature}",
        "separator": ";",
        "versions": [],
        "timestamp_header": None,
    },
]

# How likely an answer is to be known as one of several, or not at all.
SEVERAL, UNKNOWN = 0.1, 0.08
# A service that follows redirects is told so unless its dialect says it (6-17).
TO_BE_SAID = {"retry.redirect": "followed"}
# How likely an answer is to be assumed only; without the first nothing is answered.
ASSUMED_SHARE = 0.5
NEEDED = ("authentication.key_format",)
# How often a dialect is drawn before that is given up.
MOST_DRAWN = 200


def random_dialect(seed: int) -> dict[str, Any]:
    """The mapping of a dialect without contradictions, in which every question is answered."""
    draw = random.Random(seed)
    for _ in range(MOST_DRAWN):
        mapping = _drawn(draw, f"random-{seed}")
        try:
            load_dialect_mapping(mapping, "a random dialect")
        except FileProblems:
            continue
        return mapping
    raise AssertionError(f"no dialect without contradictions could be drawn with seed {seed}")


def known_of(mapping: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The same dialect, but for answers that are one of several, or undecided.

    What a dialect has to say, since it counts against a service otherwise, stays.
    """
    draw = random.Random(f"known {seed}")
    known = deepcopy(dict(mapping))
    for path, kind in answers():
        group, name = _place(known, path)
        if get_origin(kind) is not Answer or isinstance(group[name], dict):
            continue
        if TO_BE_SAID.get(path) == group[name]:
            continue
        chance = draw.random()
        others = [each for each in candidates(path, kind) if each != group[name]]
        if chance < UNKNOWN:
            group[name] = {UNDECIDED: "nobody asked"}
        elif chance < UNKNOWN + SEVERAL and others:
            group[name] = {ONE_OF: draw.sample([group[name], draw.choice(others)], 2)}
    return known


def assumed_of(mapping: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The same dialect, but for answers that are assumed to be those of the reference dialect."""
    draw = random.Random(f"assumed {seed}")
    reference = written_dialect(load_dialect("reference"))
    known = {**deepcopy(dict(mapping)), ASSUMED: []}
    for path, _ in answers():
        if path in (*LABELS, *NEEDED) or draw.random() >= ASSUMED_SHARE:
            continue
        tried = deepcopy(known)
        group, name = _place(tried, path)
        group[name] = _place(reference, path)[0][name]
        tried[ASSUMED].append(path)
        with suppress(FileProblems):  # it contradicts what is known
            load_dialect_mapping(tried, "a dialect that is assumed in part")
            known = tried
    return known


@cache
def shipped() -> tuple[dict[str, Any], ...]:
    """The mappings of the dialects that answer everything."""
    return tuple(
        written_dialect(load_dialect(name)) for name in shipped_dialects() if name != "undecided"
    )


def answers(kind: Any = Dialect, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every answer by its dotted name, with its type."""
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        if field.name == ASSUMED:
            continue
        hint = hints[field.name]
        inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
        if is_dataclass(inner):
            yield from answers(inner, f"{prefix}{field.name}.")
        else:
            yield f"{prefix}{field.name}", inner


# Answers of which most would contradict others; `signing_dialects` has some.
KEPT = (".algorithm", ".public_key", ".private_key")


def candidates(path: str, kind: Any) -> list[Any]:
    """The answers to draw from, as a file writes them; all of them decided."""
    value = get_args(kind)[0] if get_origin(kind) is Answer else kind
    if isinstance(value, type) and issubclass(value, StrEnum):
        return [member.value for member in value if member != NEVER.get(path)]
    if value is bool:
        return [each for each in (False, True) if each != NEVER.get(path)]
    found = [_decided(group[name]) for group, name in (_place(each, path) for each in shipped())]
    every = [*filter(_is_decided, found), *FURTHER.get(path, [])]
    return [each for number, each in enumerate(every) if each not in every[:number]]


def _drawn(draw: random.Random, name: str) -> dict[str, Any]:
    mapping = deepcopy(shipped()[0])
    for path, kind in answers():
        if path.endswith(KEPT):
            continue
        group, last = _place(mapping, path)
        group[last] = deepcopy(draw.choice(candidates(path, kind)))
    for paths in TOGETHER:
        found = [tuple(_value(each, path) for path in paths) for each in shipped()]
        decided = [values for values in found if all(map(_is_decided, values))]
        chosen = draw.choice([*decided, *FURTHER_TOGETHER.get(paths, [])])
        for path, value in zip(paths, chosen, strict=True):
            group, last = _place(mapping, path)
            group[last] = value
    for scheme in ("simple", "advanced"):
        templates = deepcopy(draw.choice(TEMPLATES))
        mapping["signatures"][scheme].update(templates, timestamp_unit=draw.choice(STAMPED_IN))
    return {**mapping, "name": name, "summary": "Drawn at random.", "policy": "None."}


def _place(mapping: dict[str, Any], path: str) -> tuple[dict[str, Any], str]:
    """The mapping that directly holds an answer, and the answer's name in it."""
    *groups, last = path.split(".")
    for group in groups:
        mapping = mapping[group]
    return mapping, last


def _value(mapping: dict[str, Any], path: str) -> Any:
    group, last = _place(mapping, path)
    return _decided(group[last])


def _is_decided(answer: Any) -> bool:
    return not (isinstance(answer, dict) and UNDECIDED in answer)


def _decided(answer: Any) -> Any:
    """The preferred one of several answers."""
    return answer[ONE_OF][0] if isinstance(answer, dict) and ONE_OF in answer else answer
