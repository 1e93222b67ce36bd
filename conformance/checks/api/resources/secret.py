"""Sections 2.3 and 2.4: the signing secrets that an endpoint shows."""

import base64
import binascii
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from hookproof.conformance.checks.api.resources.endpoint import created_and_fetched
from hookproof.conformance.model.check_registry import CheckContext, check, oracle
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged, not_applicable
from hookproof.conformance.observations.answer import Kind, has_value, resources, sent, shown
from hookproof.conformance.observations.case import Case
from hookproof.spec.dialect.model import Secrets
from hookproof.spec.dialect.vocabulary import OnInput, SecretDisplay, SecretForm

# Texts of fewer characters may stand in an answer by chance.
SHORTEST_TOLD_APART = 8


def values(exchange: Exchange) -> list[str]:
    """The values of an endpoint's secrets, in order, as far as they are shown as texts."""
    secrets = shown(exchange).get("secrets")
    found = (
        [one.get("value") for one in secrets if isinstance(one, dict)]
        if isinstance(secrets, list)
        else []
    )
    return [value for value in found if isinstance(value, str) and value]


def uids(exchange: Exchange) -> list[str]:
    """The identifiers of an endpoint's secrets, in order."""
    secrets = shown(exchange).get("secrets")
    found = (
        [one.get("uid") for one in secrets if isinstance(one, dict)]
        if isinstance(secrets, list)
        else []
    )
    return [uid for uid in found if isinstance(uid, str) and uid]


@check("2.3-11", experiments=("round_trip", "roll_answers"))
def a_given_secret_is_the_endpoints(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """Every way of showing secrets shows it in the answer to its creation."""
    if (
        case.facts.get("about") == "another secret form"
        or not context.dialect.representation.secrets_shown.decided
    ):
        return
    for created in case.all_exchanges("create"):
        if "secret" in sent(created) and shown(created):
            yield judged(
                sent(created)["secret"] in values(created),
                "2.3-11",
                "The secret given at creation is not the endpoint's",
                expected="the given secret among the endpoint's",
                actual=f"{len(values(created))} other secrets",
                exchanges=[created],
            )


@check("2.3-12", "2.3-13", "2.3-14", experiments=("round_trip",))
def a_secret_is_made_when_none_is_given(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """Each its own, in the dialect's form and length."""
    if (
        case.facts.get("about") != "required fields"
        or not context.dialect.representation.secrets_shown.decided
    ):
        return
    created = [
        one for one in case.all_exchanges("create") if shown(one) and "secret" not in sent(one)
    ]
    rules = context.dialect.signatures.secret
    for one in created:
        message = (
            "An endpoint created without a secret shows no value for the one that the service made"
        )
        yield judged(
            bool(values(one)), "2.3-12", message, expected="a value", actual="none", exchanges=[one]
        )
        for value in values(one):
            message = "A secret that the service made has another prefix, form or length than the dialect's"
            expected = f"{rules.prefix!r} and {rules.generated_bytes} random bytes as {rules.form}"
            yield judged(
                is_generated(value, rules),
                "2.3-13",
                message,
                expected=expected,
                actual=f"{value[: len(rules.prefix)]!r} and {len(value) - len(rules.prefix)} characters",
                exchanges=[one],
            )
    for one, other in pairwise(created):
        message = "The service makes the same secret for two endpoints"
        fresh = not set(values(one)) & set(values(other))
        yield judged(
            fresh,
            "2.3-14",
            message,
            expected="different",
            actual="the same",
            exchanges=[one, other],
        )


def is_generated(value: str, rules: Secrets) -> bool:
    """Whether a text can be a secret that a service of this dialect made: as text it needs a
    character per byte.
    """
    if not value.startswith(rules.prefix):
        return False
    rest = value.removeprefix(rules.prefix)
    if rules.form is SecretForm.TEXT:
        return len(rest) >= rules.generated_bytes
    try:
        return len(base64.b64decode(rest, validate=True)) == rules.generated_bytes
    except binascii.Error:
        return False


@check("2.3-15", experiments=("round_trip",))
def a_secret_of_another_form_is_taken_or_refused(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says, where it has a form that not every text has."""
    created = case.exchange("create")
    if case.facts.get("about") != "another secret form" or created is None:
        return
    rules, status = context.dialect.signatures.secret, context.dialect.errors.invalid_value
    if (not rules.prefix and rules.form is SecretForm.TEXT) or not rules.other_forms.decided:
        yield not_applicable(
            "2.3-15", "in this dialect every text is a secret, or nothing is said of other texts"
        )
        return
    taken = rules.other_forms.value is OnInput.IGNORED
    yield judged(
        created.succeeded if taken else status.allows(created.status) and not created.succeeded,
        "2.3-15",
        "A secret without the dialect's prefix and form is not treated as the dialect says",
        expected="taken" if taken else f"refused with {' or '.join(map(str, status.allowed))}",
        actual=created.status,
        exchanges=[created],
    )


@oracle("2.4-2")
def no_two_secrets_of_an_endpoint_have_the_same_uid(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """Exercised by endpoints with two secrets or more."""
    for endpoint in (one for one in resources(exchange) if one.kind is Kind.ENDPOINT):
        secrets = endpoint.fields.get("secrets")
        found = (
            [one.get("uid") for one in secrets if isinstance(one, dict)]
            if isinstance(secrets, list)
            else []
        )
        if len(found) > 1:
            repeated = [uid for uid, count in Counter(map(str, found)).items() if count > 1]
            message = "Two secrets of an endpoint have the same uid"
            yield judged(
                not repeated,
                "2.4-2",
                message,
                expected="different",
                actual=repeated,
                exchanges=[exchange],
            )


@check("2.4-4", experiments=("round_trip",))
def secrets_are_shown_where_the_dialect_says(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Always, or only in the answer to the request that set them."""
    display = context.dialect.representation.secrets_shown
    created, fetched = case.exchange("create"), case.exchange("fetch")
    if (
        case.facts.get("about") != "fields"
        or created is None
        or fetched is None
        or not display.decided
    ):
        return
    secret = sent(created).get("secret")
    if not isinstance(secret, str) or len(secret) < SHORTEST_TOLD_APART or not shown(fetched):
        return
    allowed = {SecretDisplay.ALWAYS: True, SecretDisplay.WHEN_SET: False}
    seen = secret.encode() in fetched.response_body
    yield judged(
        any(allowed[one] is seen for one in display.allowed),
        "2.4-4",
        "A secret is shown in clear where the dialect hides it, or hidden where it shows it",
        expected=display.value.value,
        actual="in clear when fetched" if seen else "not in clear when fetched",
        exchanges=[created, fetched],
    )


@check("2.4-5", experiments=("round_trip",))
def a_secret_that_was_never_replaced_does_not_expire(
    case: Case, _context: CheckContext
) -> Iterator[Judgement]:
    """No endpoint of this experiment is rolled."""
    for exchange in case.exchanges:
        for secret in (one for one in resources(exchange) if one.kind is Kind.SECRET):
            expires_at = secret.fields.get("expires_at")
            message = "A secret that no roll has replaced has an expires_at"
            yield judged(
                not has_value(expires_at),
                "2.4-5",
                message,
                expected="none",
                actual=expires_at,
                exchanges=[exchange],
            )


@check("4.2-6", experiments=("round_trip",))
def an_endpoint_is_fetched_with_its_secrets(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """The same identifiers, and the same values where the dialect always shows them."""
    display = context.dialect.representation.secrets_shown
    for created, fetched in created_and_fetched(case):
        compared = [uids, values] if display.allowed == (SecretDisplay.ALWAYS,) else [uids]
        same = all(sorted(of(created)) == sorted(of(fetched)) for of in compared)
        message = "An endpoint is fetched with other secrets than its creation showed"
        yield judged(
            same,
            "4.2-6",
            message,
            expected=uids(created),
            actual=uids(fetched),
            exchanges=[created, fetched],
        )
