"""Sections 2.3 and 2.4: the signing secrets that an endpoint shows."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from hookproof.conformance.checks.support.agreement import differences
from hookproof.conformance.checks.support.json_objects import objects_in
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged, not_applicable
from hookproof.conformance.observations.answer import (
    Kind,
    endpoints_in,
    has_value,
    refused,
    resources,
    sent,
    shown,
    was_accepted,
    was_answered,
)
from hookproof.conformance.observations.resources.round_trip import (
    AuthenticationRoundTrip,
    EndpointCreation,
    EndpointRoundTrip,
    EndpointsOfOneOwner,
    MinimalEndpoints,
    RoundTrip,
    SecretOfAnotherForm,
    TellingRoundTrip,
)
from hookproof.conformance.observations.resources.secret_roll import RollAnswer
from hookproof.conformance.observations.resources.shown_secret import (
    secret_uids,
    secret_values,
    shows_credential,
)
from hookproof.spec.dialect.vocabulary import OnInput, SecretDisplay, SecretForm


@check("2.3-11")
def a_given_secret_is_the_endpoints(
    creation: EndpointRoundTrip
    | TellingRoundTrip
    | AuthenticationRoundTrip
    | MinimalEndpoints
    | EndpointsOfOneOwner
    | RollAnswer,
    context: CheckContext,
) -> Iterator[Judgement]:
    """Every way of showing secrets shows it in the answer to its creation.

    Where that shows no endpoint, the secret is looked for when the endpoint is fetched.
    """
    if not context.dialect.representation.secrets_shown.decided:
        return
    for created in creation.created:
        answer = _showing_secrets(creation, created, context)
        if "secret" in sent(created) and shown(answer):
            yield judged(
                sent(created)["secret"] in secret_values(answer),
                "2.3-11",
                "The secret given at creation is not the endpoint's",
                expected="the given secret among the endpoint's",
                actual=f"{len(secret_values(answer))} other secrets",
                exchanges=dict.fromkeys([created, answer]),
            )


def _showing_secrets(
    creation: EndpointCreation, created: Exchange, context: CheckContext
) -> Exchange:
    """The first answer in which the dialect shows the secrets that an endpoint was created with: no
    retrieval where it shows them when they are set alone, nor one after a roll.
    """
    always = context.dialect.representation.secrets_shown.allowed == (SecretDisplay.ALWAYS,)
    return creation.first_shown(created) if always and isinstance(creation, RoundTrip) else created


@check("2.3-12", "2.3-13", "2.3-14")
def a_secret_is_made_when_none_is_given(
    endpoints: MinimalEndpoints, context: CheckContext
) -> Iterator[Judgement]:
    """Each its own, in the dialect's form and length."""
    if not context.dialect.representation.secrets_shown.decided:
        return
    created = [
        answer
        for creation in endpoints.created
        if "secret" not in sent(creation)
        if shown(answer := _showing_secrets(endpoints, creation, context))
    ]
    for exchange in created:
        yield judged(
            bool(secret_values(exchange)),
            "2.3-12",
            "An endpoint created without a secret shows no value for the one that the service made",
            expected="a value",
            actual="none",
            exchanges=[exchange],
        )
    for exchange, other in pairwise(filter(secret_values, created)):
        yield judged(
            not set(secret_values(exchange)) & set(secret_values(other)),
            "2.3-14",
            "The service makes the same secret for two endpoints",
            expected="different",
            actual="the same",
            exchanges=[exchange, other],
        )
    if any(map(secret_values, created)):
        yield from _forms(endpoints, created, context)


def _forms(
    endpoints: MinimalEndpoints, created: list[Exchange], context: CheckContext
) -> Iterator[Judgement]:
    context.require_same_signatures()
    rules = context.dialect.signatures.secret
    for exchange in created:
        for secret in endpoints.shown_secrets:
            if secret.secret in secret_values(exchange):
                prefix = "" if secret.has_prefix else ", without the prefix"
                yield judged(
                    secret.is_generated,
                    "2.3-13",
                    "A secret that the service made has another prefix, form or length than the"
                    " dialect's",
                    expected=f"{rules.prefix!r} and {rules.generated_bytes} random bytes as"
                    f" {rules.form}",
                    actual=f"{secret.length} characters{prefix}",
                    exchanges=[exchange],
                )


@check("2.3-15")
def a_secret_of_another_form_is_taken_or_refused(
    creation: SecretOfAnotherForm, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says, where it has a form that not every text has."""
    rules = context.dialect.signatures.secret
    status = context.dialect.errors.status("invalid_value", "createEndpoint")
    accepts_any = not rules.prefix and rules.form is SecretForm.TEXT
    context.require_same_signatures()
    for created in filter(was_answered, creation.created[:1]):
        if accepts_any or not rules.other_forms.decided:
            yield not_applicable(
                "2.3-15",
                "in this dialect every text is a secret, or it leaves open what other texts are",
            )
            return
        accepted = rules.other_forms.value is OnInput.IGNORED
        is_refused = refused(created) and status.allows(created.status)
        statuses = " or ".join(map(str, status.allowed))
        yield judged(
            was_accepted(created) if accepted else is_refused,
            "2.3-15",
            "A secret without the dialect's prefix and form is not treated as the dialect says",
            expected="accepted" if accepted else f"refused with {statuses}",
            actual=created.status,
            exchanges=[created],
        )


@check("2.4-2")
def no_two_secrets_of_an_endpoint_have_the_same_uid(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """Exercised by endpoints with two secrets or more that have one; 2.4-1 judges the others."""
    for endpoint in endpoints_in(exchange):
        shown_uids = (secret.get("uid") for secret in objects_in(endpoint.fields.get("secrets")))
        uids = [str(uid) for uid in shown_uids if has_value(uid)]
        if len(uids) > 1:
            repeated = [uid for uid, count in Counter(uids).items() if count > 1]
            yield judged(
                not repeated,
                "2.4-2",
                "Two secrets of an endpoint have the same uid",
                expected="different",
                actual=repeated,
                exchanges=[exchange],
            )


@check("2.4-4")
def secrets_are_shown_where_the_dialect_says(
    trip: EndpointRoundTrip, context: CheckContext
) -> Iterator[Judgement]:
    """Always, or only in the answer to the request that set them.

    Not judged where another secret has taken the place of the given one: 2.3-11 tells that.
    """
    display = context.dialect.representation.secrets_shown
    if not trip.created or not trip.fetched or not display.decided:
        return
    created, fetched = trip.created[0], trip.fetched[0]
    secret = sent(created).get("secret")
    if not isinstance(secret, str) or not secret or not shown(fetched):
        return
    allowed = {SecretDisplay.ALWAYS: True, SecretDisplay.WHEN_SET: False}
    is_shown = shows_credential(fetched, secret)
    instead = {*secret_values(created)} & {*secret_values(fetched)}
    if not is_shown and instead - {secret, context.dialect.representation.mask}:
        return
    yield judged(
        any(allowed[place] is is_shown for place in display.allowed),
        "2.4-4",
        "A secret is shown in clear where the dialect hides it, or hidden where it shows it",
        expected=display.value.value,
        actual="in clear when fetched" if is_shown else "not in clear when fetched",
        exchanges=[created, fetched],
    )


@check("2.4-5")
def a_secret_that_was_never_replaced_does_not_expire(
    trip: RoundTrip, _context: CheckContext
) -> Iterator[Judgement]:
    """No endpoint of a round trip is rolled."""
    for exchange in trip.exchanges:
        for secret in (part for part in resources(exchange) if part.kind is Kind.SECRET):
            expires_at = secret.fields.get("expires_at")
            yield judged(
                not has_value(expires_at),
                "2.4-5",
                "A secret that no roll has replaced has an expires_at",
                expected="none",
                actual=expires_at,
                exchanges=[exchange],
            )


@check("4.2-6")
def an_endpoint_is_fetched_with_its_secrets(
    trip: RoundTrip, context: CheckContext
) -> Iterator[Judgement]:
    """The same identifiers, the same values where the dialect always shows them, and the same times
    as far as both answers show them.

    An answer without any secret shows nothing to compare.
    """
    display = context.dialect.representation.secrets_shown
    always = display.allowed == (SecretDisplay.ALWAYS,)
    compared = [secret_uids, secret_values] if always else [secret_uids]
    for created, fetched in trip.created_and_fetched():
        if not any(of(created) for of in compared):
            continue
        yield judged(
            all(sorted(of(created)) == sorted(of(fetched)) for of in compared),
            "4.2-6",
            "An endpoint is fetched with other secrets than its creation showed",
            expected=secret_uids(created),
            actual=secret_uids(fetched),
            exchanges=[created, fetched],
        )
        times = _times_shown_twice(created, fetched)
        if times:
            yield judged(
                not any(differences(["created_at"], *both) for both in times),
                "4.2-6",
                "A secret is fetched with another created_at than the creation of its endpoint"
                " showed",
                expected=[before["created_at"] for before, _ in times],
                actual=[after["created_at"] for _, after in times],
                exchanges=[created, fetched],
            )


def _times_shown_twice(
    created: Exchange, fetched: Exchange
) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """The secrets in both answers that have a created_at in each."""
    before, after = (
        {
            str(secret["uid"]): secret
            for secret in objects_in(shown(answer).get("secrets"))
            if has_value(secret.get("uid")) and has_value(secret.get("created_at"))
        }
        for answer in (created, fetched)
    )
    return [(before[uid], after[uid]) for uid in sorted(before.keys() & after.keys())]
