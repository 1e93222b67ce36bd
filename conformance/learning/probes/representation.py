"""The forms of values: identifiers, times, missing values, secrets (sections 2.4 and 2.9)."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hookproof.conformance.learning.probes.endpoints import generated_secret
from hookproof.conformance.learning.session import CREATE, ProbeSession
from hookproof.conformance.learning.signatures.search import SECRET_PREFIX
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import refused, resources, shown
from hookproof.receiver.signatures.secret_key import canonical_base64
from hookproof.spec.dialect.groups.signature_vocabulary import SecretForm
from hookproof.spec.dialect.vocabulary import IDENTIFIER_PATTERNS, TIMESTAMP_PATTERNS

TIMES: Final = ("created_at", "updated_at", "expires_at")
# Fields that an endpoint has no value for unless one was sent.
VALUELESS: Final = ("description", "slack_webhook_url", "support_email", "deleted_at")
HEX: Final = re.compile(r"^(?:[0-9a-f]{2})+$")
FEWEST_SECRETS: Final = 3


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
    uids = [resource.text("uid") for resource in found]
    times = [resource.text(name) for resource in found for name in TIMES]
    for field, patterns, values in (
        ("representation.identifier", IDENTIFIER_PATTERNS, uids),
        ("representation.timestamp", TIMESTAMP_PATTERNS, times),
    ):
        texts = [value for value in values if value]
        _see_form(session, field, patterns, texts, proof)
    _see_no_value(session)


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


def _see_no_value(session: ProbeSession) -> None:
    """How the fields of new endpoints are shown for which nothing was sent."""
    ways: Counter[str] = Counter(
        way
        for exchange in session.exchanges
        if exchange.operation_id == CREATE and shown(exchange)
        for way in _ways(exchange)
    )
    proof = next((each for each in session.exchanges if _ways_of(each)), None)
    if ways and proof is not None:
        session.answers.see(
            "representation.no_value",
            *(way for way, _ in ways.most_common()),
            shown_by=proof,
            count=ways.total(),
        )


def _ways_of(exchange: Exchange) -> list[str]:
    is_creation = exchange.operation_id == CREATE and bool(shown(exchange))
    return list(_ways(exchange)) if is_creation else []


def _ways(exchange: Exchange) -> Iterator[str]:
    sent, resource = exchange.request_json, shown(exchange)
    if not {"uid", "url"}.intersection(resource):
        return  # it is no endpoint
    for name in VALUELESS:
        if isinstance(sent, dict) and name in sent:
            continue
        if name not in resource:
            yield "absent"
        elif resource[name] is None:
            yield "null"
        elif resource[name] in ("", {}, []):
            yield "empty"


async def probe_secrets(session: ProbeSession) -> None:
    """Learn what a generated secret looks like from those of several endpoints."""
    while len(_with_secrets(session)) < FEWEST_SECRETS:
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
    prefixes = {match.group() if (match := SECRET_PREFIX.match(value)) else "" for value in values}
    prefix = prefixes.pop() if len(prefixes) == 1 else ""
    texts = [value.removeprefix(prefix) for value in values]
    form, sizes = _form_of(texts)
    answers, count = session.answers, len(values)
    answers.see("signatures.secret.prefix", prefix, shown_by=proof, count=count)
    answers.see("signatures.secret.form", form.value, shown_by=proof, count=count)
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


def _form_of(texts: Sequence[str]) -> tuple[SecretForm, set[int]]:
    """The form of secrets, and how many random bytes each has."""
    if all(map(HEX.match, texts)):
        return SecretForm.TEXT, {len(text) // 2 for text in texts}
    try:
        decoded = [canonical_base64(text + "=" * (-len(text) % 4)) for text in texts]
    except ValueError:
        return SecretForm.TEXT, {len(text) * 3 // 4 for text in texts}
    return SecretForm.BASE64, {len(content) for content in decoded}


async def probe_other_secret(session: ProbeSession) -> None:
    """What happens to a given secret without the prefix and the form of generated ones."""
    field = "signatures.secret.other_forms"
    prefix = session.answers.value("signatures.secret.prefix")
    form = session.answers.value("signatures.secret.form")
    if not prefix and form == SecretForm.TEXT:
        session.answers.miss(field, "every text has the form of this service's secrets")
        return
    given = f"(other form {session.word('secret')})"
    answer = await session.call(
        CREATE, "with a secret of another form", body=session.endpoint(secret=given)
    )
    if refused(answer):
        session.answers.see(field, "refused", shown_by=answer)
    elif answer.succeeded and generated_secret(answer) not in (None, given):
        session.answers.see(field, "ignored", shown_by=answer)
    else:
        session.answers.miss(field, "it is kept as it was given, so that it signs as it is")
