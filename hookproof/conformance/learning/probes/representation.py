"""The forms of values: identifiers, times, missing values, secrets (sections 2.4 and 2.9)."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from hookproof.conformance.checks.reading import Reading
from hookproof.conformance.learning.probes.endpoints import generated_secret
from hookproof.conformance.learning.probes.optional_requests import ask, read_beside
from hookproof.conformance.learning.session import CREATE, GET, ROLL, ProbeSession
from hookproof.conformance.learning.signatures.search import SECRET_PREFIX
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import (
    Resource,
    resources,
    sent,
    shown,
    shown_uid,
)
from hookproof.conformance.subjects.questions.evidence import (
    OTHER_SECRET,
    QUESTIONS,
    SecretOfAnotherForm,
)
from hookproof.receiver.signatures.bytes_as_text import decode_base64, encode_base64, loose_base64
from hookproof.spec.dialect.vocabulary import (
    BASE64_VARIANTS,
    IDENTIFIER_PATTERNS,
    TIMESTAMP_PATTERNS,
    SecretForm,
)
from hookproof.spec.openapi_document import schema_named

NO_VALUE_OF: Final = "representation.no_value_of"
SHOW_ENDPOINTS: Final = (CREATE, GET, ROLL)
TIMES: Final = ("created_at", "updated_at", "expires_at")
# Fields that an endpoint has no value for unless one was sent.
VALUELESS: Final = ("description", "slack_webhook_url", "support_email", "deleted_at")
# What begins an identifier, and what may follow. What has digits may be a time, which goes on.
ID_PREFIX: Final = re.compile(r"[A-Za-z]{1,16}[_:-]")
PLAIN: Final = re.compile("[0-9A-Za-z_-]{1,400}")
FEWEST_IDENTIFIERS: Final = 4
HEX: Final = re.compile(r"^(?:[0-9a-f]{2})+$")
NO_SIGNATURE: Final = "no signature shows whether the key is the text itself or what it writes"
FEWEST_SECRETS: Final = 3
# How many are looked at where they do not show the alphabet of their base64.
MOST_SECRETS: Final = 8


def read_forms(session: ProbeSession) -> None:
    """Learn the forms of values from everything that was answered."""
    found = [
        resource
        for exchange in session.exchanges
        if exchange.succeeded
        for resource in resources(exchange)
    ]
    proof = next((each for each in session.exchanges if shown(each).get("uid")), None)
    if proof is None:
        return
    patterns = _see_identifier_patterns(session, found, proof)
    usual = [each for each in found if each.kind not in patterns] or found
    uids = [resource.text("uid") for resource in usual]
    times = [resource.text(name) for resource in found for name in TIMES]
    for field, forms, values in (
        ("representation.identifier", IDENTIFIER_PATTERNS, uids),
        ("representation.timestamp", TIMESTAMP_PATTERNS, times),
    ):
        texts = [value for value in values if value]
        _see_form(session, field, forms, texts, proof)
    _see_no_value_of(session, found, _see_no_value(session), proof)


def _see_identifier_patterns(
    session: ProbeSession, found: Sequence[Resource], proof: Exchange
) -> Mapping[str, str]:
    """The patterns of those resources whose identifiers have one."""
    uids: dict[str, dict[str, None]] = {}
    for resource in found:
        if uid := resource.text("uid"):
            uids.setdefault(resource.kind.value, {})[uid] = None
    patterns = {kind: pattern for kind, texts in uids.items() if (pattern := pattern_of([*texts]))}
    if patterns:
        count = sum(len(uids[kind]) for kind in patterns)
        session.answers.see("representation.identifier_of", patterns, shown_by=proof, count=count)
    return patterns


def pattern_of(texts: Sequence[str]) -> str | None:
    """A pattern of identifiers with a prefix; None if too few were seen, or they have none.

    It allows all letters and digits, and half and double the lengths that were seen, since others
    may follow.
    """
    prefixes = {match.group() if (match := ID_PREFIX.match(text)) else "" for text in texts}
    if len(texts) < FEWEST_IDENTIFIERS or len(prefixes) > 1 or "" in prefixes:
        return None
    prefix = prefixes.pop()
    rests = [text.removeprefix(prefix) for text in texts]
    if not all(map(PLAIN.fullmatch, rests)):
        return None
    letters = "0-9A-Za-z_-" if {"_", "-"} & {*"".join(rests)} else "0-9A-Za-z"
    lengths = [len(rest) for rest in rests]
    return f"{prefix}[{letters}]{{{max(1, min(lengths) // 2)},{2 * max(lengths)}}}"


def _see_form(
    session: ProbeSession,
    field: str,
    patterns: Mapping[Any, str],
    values: Sequence[str],
    proof: Exchange,
) -> None:
    """The narrowest form, of those in order, that all values have."""
    fitting = [
        form
        for form, pattern in patterns.items()
        if values and all(re.match(pattern, value) for value in values)
    ]
    if fitting:
        session.answers.see(field, fitting[0].value, shown_by=proof, count=len(values))
    else:
        session.answers.miss(field, f"no known form fits all {len(values)} values that were seen")


def _see_no_value(session: ProbeSession) -> Collection[str]:
    """How the fields of endpoints are shown for which nothing was sent, when they are created and
    later; returns these ways.
    """
    sent_to = {
        uid: sent(each)
        for each in session.exchanges
        if each.operation_id == CREATE and (uid := shown_uid(each)) is not None
    }
    ways: Counter[str] = Counter()
    proof: Exchange | None = None
    for each in session.exchanges:
        given = sent_to.get(shown_uid(each) or "")
        if each.operation_id in SHOW_ENDPOINTS and given is not None:
            found = list(_ways(shown(each), given))
            ways.update(found)
            proof = proof or (each if found else None)
    if proof is not None:
        session.answers.see(
            "representation.no_value",
            *(way for way, _ in ways.most_common()),
            shown_by=proof,
            count=ways.total(),
        )
    return ways


def _see_no_value_of(
    session: ProbeSession, found: Sequence[Resource], usual: Collection[str], proof: Exchange
) -> None:
    """The fields that all resources of a kind show in one other way, where they have no value.

    What is shown now in this way and now in that, or was seen once, is left to the checks.
    """
    document, ways = session.contract.document, dict[str, list[str]]()
    for resource in found:
        for name in schema_named(document, resource.kind)["properties"]:
            if (way := _way(resource.fields, name)) is not None:
                ways.setdefault(f"{resource.kind}.{name}", []).append(way)
    others = {
        field: way
        for field, (way, *further) in ways.items()
        if way not in usual and way != "empty" and {*further} == {way}
    }
    # This is read twice, and more has been seen by then.
    if usual and (others or session.answers.is_seen(NO_VALUE_OF)):
        session.answers.see(NO_VALUE_OF, others, shown_by=proof, count=len(others))


def _ways(resource: Mapping[str, Any], sent_fields: Mapping[str, Any]) -> Iterator[str]:
    for name in VALUELESS:
        if name not in sent_fields and (way := _way(resource, name)) is not None:
            yield way


def _way(resource: Mapping[str, Any], name: str) -> str | None:
    """How a resource shows that a field has no value; None if it has one."""
    if name not in resource:
        return "absent"
    if resource[name] is None:
        return "null"
    return "empty" if resource[name] in ("", {}, []) else None


async def probe_secrets(session: ProbeSession) -> None:
    """Learn what a generated secret looks like from those of several endpoints."""
    while _is_another_needed([value for value, _ in _with_secrets(session)]):
        another = await session.call(CREATE, "for its secret", body=session.endpoint())
        if generated_secret(another) is None:
            break
    created = _with_secrets(session)
    values, proof = [value for value, _ in created], created[0][1] if created else None
    if len(values) < FEWEST_SECRETS or proof is None:
        session.answers.miss(
            "signatures.secret.prefix", "the answers to creations show no generated secrets"
        )
        return
    prefix = _prefix_of(values)
    forms, sizes = possible_forms([value.removeprefix(prefix) for value in values])
    form = await _form_with_padding(session, prefix, forms) if len(sizes) == 1 else forms[0]
    answers, count = session.answers, len(values)
    answers.see("signatures.secret.prefix", prefix, shown_by=proof, count=count)
    if form is SecretForm.TEXT and len(forms) == 1:
        answers.see("signatures.secret.form", form.value, shown_by=proof, count=count)
    else:
        answers.assume("signatures.secret.form", form.value, NO_SIGNATURE)
    if len(sizes) == 1:
        size = sizes.pop()
        answers.see("signatures.secret.generated_bytes", size, shown_by=proof, count=count)


def _with_secrets(session: ProbeSession) -> list[tuple[str, Exchange]]:
    """Every secret that was generated for an endpoint, with the answer that shows it."""
    return [
        (value, each)
        for each in session.exchanges
        if each.operation_id == CREATE and isinstance(each.request_json, dict)
        if "secret" not in each.request_json and (value := generated_secret(each))
    ]


def _is_another_needed(values: Sequence[str]) -> bool:
    """Whether so few generated secrets do not show their form."""
    if len(values) < FEWEST_SECRETS:
        return True
    prefix = _prefix_of(values)
    forms, _ = possible_forms([value.removeprefix(prefix) for value in values])
    shown = {BASE64_VARIANTS[form].url_safe for form in forms if form in BASE64_VARIANTS}
    return len(shown) > 1 and len(values) < MOST_SECRETS


def _prefix_of(values: Sequence[str]) -> str:
    prefixes = {match.group() if (match := SECRET_PREFIX.match(value)) else "" for value in values}
    return prefixes.pop() if len(prefixes) == 1 else ""


def possible_forms(texts: Sequence[str]) -> tuple[list[SecretForm], set[int]]:
    """The forms that secrets can have, the likeliest first, and how many random bytes each has."""
    if all(map(HEX.match, texts)):
        return [SecretForm.TEXT, SecretForm.HEX], {len(text) // 2 for text in texts}
    forms = [
        SecretForm(word) for word in BASE64_VARIANTS if all(_is_base64(word, t) for t in texts)
    ]
    if not forms:
        return [SecretForm.TEXT], {len(text) * 3 // 4 for text in texts}
    return forms, {len(loose_base64(text)) for text in texts}


def _is_base64(word: str, text: str) -> bool:
    try:
        return bool(decode_base64(word, text))
    except ValueError:
        return False


async def _form_with_padding(
    session: ProbeSession, prefix: str, forms: Sequence[SecretForm]
) -> SecretForm:
    """The first of these forms, unless padded and unpadded ones fit and a padded secret is not
    taken.
    """
    first = forms[0]
    if first not in BASE64_VARIANTS:
        return first
    same_letters = [
        form
        for form in forms[1:]
        if BASE64_VARIANTS[form].url_safe == BASE64_VARIANTS[first].url_safe
    ]
    if not same_letters:
        return first
    padded = prefix + encode_base64(first, session.word("padded").encode().ljust(32, b"."))
    answer = await session.call(
        CREATE, "with a padded secret", body=session.endpoint(secret=padded)
    )
    is_taken = answer.succeeded and generated_secret(answer) in (None, padded)
    return first if is_taken else same_letters[0]


async def probe_other_secret(session: ProbeSession) -> None:
    """What happens to a given secret without the prefix and the form of generated ones."""
    field = "signatures.secret.other_forms"
    prefix = session.answers.value("signatures.secret.prefix")
    form = session.answers.value("signatures.secret.form")
    if not prefix and form == SecretForm.TEXT:
        session.answers.miss(field, "every text has the form of this service's secrets")
        return
    for asked in await ask(session, QUESTIONS[SecretOfAnotherForm], {CREATE}):
        answer = replace(asked.exchanges[0], role=asked.name)
        read = read_beside(session, field, asked)
        if read is Reading.REFUSED:
            session.answers.see(field, "refused", shown_by=answer)
        elif read is Reading.TAKEN and generated_secret(answer) not in (None, OTHER_SECRET):
            session.answers.see(field, "ignored", shown_by=answer)
        elif read is Reading.TAKEN:
            session.answers.miss(field, "it is kept as it was given, so that it signs as it is")
