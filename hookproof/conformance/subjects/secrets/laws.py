"""The signing secrets that an endpoint shows, and what a roll changes of them (sections 2.3, 2.4
and 4.3).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from hookproof.conformance.checks.agreement import differences
from hookproof.conformance.checks.configuration import LEFT_BY_ROLL
from hookproof.conformance.checks.json_objects import objects_in
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import (
    Judgement,
    holds,
    json_text,
    judged,
    not_applicable,
)
from hookproof.conformance.observations.answer import (
    Kind,
    endpoints_in,
    has_value,
    resources,
    sent,
    shown,
    was_accepted,
)
from hookproof.conformance.observations.round_trip import (
    AuthenticationRoundTrip,
    EndpointCreation,
    EndpointRoundTrip,
    EndpointsOfOneOwner,
    MinimalEndpoints,
    RoundTrip,
    TellingRoundTrip,
)
from hookproof.conformance.observations.secret_windows import possible_skews_s
from hookproof.conformance.observations.shown_secret import (
    secret_uids,
    secret_values,
    secrets_in,
    shows_credential,
)
from hookproof.conformance.observations.timestamp import unix_seconds
from hookproof.conformance.subjects.secrets.evidence import (
    ExpiredSecret,
    RollAnswer,
    RollsAtOnce,
    shows_values,
)
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import ExpiredSecrets, SecretDisplay


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


# How many seconds expires_at may be off, for rounded timestamps and the time on the network.
ROUNDING_S: Final = 2.0

# The same for long times, as a share of them.
SHARE: Final = 0.01

RACE: Final = (
    "The secret of a roll is lost now and then: the answer shows it, and the endpoint that is"
    " fetched afterwards does not have it"
)
AT_THE_SAME_TIME: Final = (
    "Of two rolls of an endpoint at the same time one is lost: both are answered with success, and"
    " the endpoint that is fetched afterwards has one new secret"
)
A_RACE: Final = "; a race, which --repeat may have to look for"


@check("4.3-11")
def a_roll_leaves_the_configuration_as_it_was(
    rolled: RollAnswer, context: CheckContext
) -> Iterator[Judgement]:
    """Fetched before and after, and in the answers to the rolls; what is masked is not compared.

    Rolls that all fail show nothing of what a roll leaves alone.
    """
    before, forms = rolled.before, context.dialect.representation
    if before is None or not shown(before) or not any(map(was_accepted, rolled.rolls)):
        return
    for message, answer in (
        ("A roll changes the configuration of an endpoint", rolled.after),
        *(
            ("The answer to a roll shows another configuration than the endpoint had", roll)
            for roll in rolled.successful_rolls
        ),
    ):
        if answer is None or not shown(answer):
            continue
        changed = differences(LEFT_BY_ROLL, shown(before), shown(answer), forms)
        yield judged(
            not changed,
            "4.3-11",
            message,
            expected="as before",
            actual=changed,
            exchanges=[before, answer],
        )


@check("4.3-12")
def the_secret_sent_is_among_those_in_the_answer(
    rolled: RollAnswer, context: CheckContext
) -> Iterator[Judgement]:
    """Every way of showing secrets shows it there."""
    if not context.dialect.representation.secrets_shown.decided:
        return
    for roll in rolled.successful_rolls:
        if "secret" in sent(roll):
            yield judged(
                sent(roll)["secret"] in secret_values(roll),
                "4.3-12",
                "The secret that a roll was sent is not among the endpoint's secrets in its answer",
                expected="the secret that was sent",
                actual=f"{len(secret_values(roll))} other secrets",
                exchanges=[roll],
            )


@check("4.3-13")
def rolls_at_the_same_time_both_show(
    rolled: RollsAtOnce, context: CheckContext
) -> Iterator[Judgement]:
    """Where both were answered with success, and two rolls in turn show that both secrets stay."""
    by_value = shows_values(context.dialect)
    in_turn, *at_once = rolled.pairs or (None,)
    if in_turn is None or not in_turn.are_shown(by_value=by_value):
        return
    outcomes = [(pair.are_shown(by_value=by_value), pair) for pair in at_once]
    tried = [(both, pair) for both, pair in outcomes if both is not None]
    lost = [pair for both, pair in tried if not both]
    if not tried:
        return
    pair = lost[0] if lost else tried[0][1]
    judgement = judged(
        not lost,
        "4.3-13",
        AT_THE_SAME_TIME,
        expected="both new secrets beside the older ones",
        actual=_in_pairs(len(lost), len(tried)),
        exchanges=[pair.before, *pair.rolls, *pair.fetched],
    )
    yield replace(judgement, tries=len(tried))


def _in_pairs(lost: int, tried: int) -> str:
    seen = f"one of the two is lost in {lost} of {tried} pairs of rolls"
    return f"{seen}{A_RACE}" if lost < tried else seen


@check("4.3-13")
def a_roll_shows_when_the_endpoint_is_fetched(
    rolled: RollAnswer, context: CheckContext
) -> Iterator[Judgement]:
    """The new secrets, by identifier, and by value where the dialect always shows them.

    Where it did not, the rolls were repeated: what shows now and then is a race.
    """
    rolls = list(rolled.shown_rolls(context.dialect))
    lost = [(roll, fetched) for is_shown, roll, fetched in rolls if not is_shown]
    if not rolls or rolls[0][1] is not rolled.rolls[-1]:
        return
    roll, fetched = lost[0] if lost else rolls[0][1:]
    is_race = 0 < len(lost) < len(rolls)
    judgement = judged(
        not lost,
        "4.3-13",
        RACE if is_race else "A roll does not show when the endpoint is fetched",
        expected=secret_uids(roll) if shown(roll) else "the secret that was sent",
        actual=_lost_in_words(fetched, len(lost), len(rolls)),
        exchanges=[roll, fetched],
    )
    yield replace(judgement, tries=len(rolls))


def _lost_in_words(fetched: Exchange, lost: int, tried: int) -> str:
    """What an endpoint shows in place of a new secret, and how often that was seen."""
    uids = json_text(secret_uids(fetched))
    if tried == 1 or not lost:
        return uids
    times = "once" if lost == 1 else f"{lost} times"
    race = A_RACE if lost < tried else ""
    return f"{uids}; lost {times} in {tried} rolls{race}"


@check("4.3-14")
def a_roll_leaves_the_secrets_of_others_alone(
    rolled: RollAnswer, _context: CheckContext
) -> Iterator[Judgement]:
    """Another endpoint of the project, created before: none of its secrets is another one, or
    expires since. Rolls that all fail show nothing of that, nor does fetching the endpoint where
    fetching the rolled one shows no secrets either.
    """
    before, fetched = rolled.other_before, rolled.other_after
    if before is None or fetched is None or not secret_uids(before) or not shown(fetched):
        return
    if not any(map(was_accepted, rolled.rolls)):
        return
    if not any(secret_uids(answer) for answer in (fetched, rolled.after) if answer is not None):
        return
    expiring = _current_uids(before) - _current_uids(fetched)
    yield judged(
        sorted(secret_uids(before)) == sorted(secret_uids(fetched)) and not expiring,
        "4.3-14",
        "A roll changes the secrets of another endpoint",
        expected=secret_uids(before),
        actual=f"{json_text(secret_uids(fetched))}, {len(expiring)} of them expiring",
        exchanges=[before, *rolled.rolls, fetched],
    )


@check("4.3-15", "4.3-18")
def the_old_secret_expires_when_the_roll_says(
    rolled: RollAnswer, context: CheckContext
) -> Iterator[Judgement]:
    """expires_at lies as far after the roll as expiration says, or the dialect's default, by the
    clock of the target.

    An old secret that is to expire at once may be gone, if the secrets are shown at all.
    """
    yield from _not_applicable_where_required("4.3-18", "expiration", context.dialect)
    form = context.dialect.representation.timestamp
    before = rolled.secrets_before
    current = set() if before is None else _current_uids(before)
    for roll, answer in _shown_rolls(rolled, context):
        requirement = "4.3-15" if "expiration" in sent(roll) else "4.3-18"
        wanted = _overlap_s(sent(roll), context.dialect)
        replaced = [secret for secret in secrets_in(answer) if str(secret.get("uid")) in current]
        if wanted == 0 and not replaced and current and _current_uids(answer):
            yield holds(requirement, exchanges=dict.fromkeys([roll, answer]))
        elif wanted is not None and replaced and form.decided:
            expires_at = unix_seconds(replaced[0].get("expires_at"), form.value)
            lengths = [
                expires_at - skew - roll.sent_at
                for skew in possible_skews_s(roll)
                if expires_at is not None
            ]
            length = min(lengths, key=lambda each: abs(each - wanted), default=None)
            tolerance = ROUNDING_S + roll.duration_s + SHARE * wanted
            yield judged(
                length is not None and abs(length - wanted) <= tolerance,
                requirement,
                "The old secret does not expire as long after the roll as it should",
                expected=f"{wanted:g} s after the roll",
                actual="no expires_at" if length is None else f"{length:.1f} s after the roll",
                exchanges=dict.fromkeys([roll, answer]),
            )
        current = _current_uids(answer)


def _overlap_s(body: Mapping[str, Any], dialect: Dialect) -> float | None:
    """How many seconds the old secret lives after a roll with this body; None if undecided."""
    default = dialect.rolling.default_expiration
    amount = body.get("expiration", default.value if default.decided else None)
    return None if amount is None else float(amount) * dialect.rolling.expiration_unit.in_seconds


@check("4.3-17")
def the_new_secret_does_not_expire(
    rolled: RollAnswer, context: CheckContext
) -> Iterator[Judgement]:
    """A roll brings in at least one secret, and that has no expires_at.

    A secret that a roll ends may get another uid: then nothing says which of several is new.
    """
    shown_before = filter(None, (*rolled.created, rolled.before))
    known = {uid for answer in shown_before for uid in secret_uids(answer)}
    for roll, answer in _shown_rolls(rolled, context):
        if not known:
            # The secrets before could not be read, so it is unknown which ones are new.
            known = set(secret_uids(answer))
            continue
        new = [secret for secret in secrets_in(answer) if str(secret.get("uid")) not in known]
        known |= set(secret_uids(answer))
        lasting = [secret for secret in new if not has_value(secret.get("expires_at"))]
        if lasting and len(new) > 1:
            continue
        yield judged(
            bool(lasting),
            "4.3-17",
            "The secret that a roll brings in has an expires_at",
            expected="a new secret without end",
            actual=[secret.get("expires_at") for secret in new],
            exchanges=dict.fromkeys([roll, answer]),
        )


@check("4.3-19")
def a_roll_without_a_secret_brings_in_one(
    rolled: RollAnswer, context: CheckContext
) -> Iterator[Judgement]:
    """Made by the service, in the dialect's form."""
    yield from _not_applicable_where_required("4.3-19", "secret", context.dialect)
    if not context.dialect.representation.secrets_shown.decided:
        return
    for roll, answer in _shown_rolls(rolled, context):
        if "secret" not in sent(roll):
            context.require_same_signatures()
            new = set(secret_values(answer)) - set(rolled.given)
            yield judged(
                any(secret.is_generated for secret in rolled.shown_secrets if secret.secret in new),
                "4.3-19",
                "A roll without a secret brings in none of the dialect's form",
                expected="a secret made by the service",
                actual=f"{len(new)} new secrets",
                exchanges=dict.fromkeys([roll, answer]),
            )


@check("4.3-22")
def an_expired_secret_is_shown_or_left_out(
    expired: ExpiredSecret, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says; where the endpoint still shows the secret that has not expired."""
    created, roll, fetched = expired.created, expired.roll, expired.fetched
    rule = context.dialect.representation.expired_secrets
    if created is None or roll is None or fetched is None or not rule.decided:
        return
    uids = secret_uids(fetched)
    old, left = set(secret_uids(created)), set(uids)
    if not roll.succeeded or not old or not left - old:
        return  # without the new secret nothing says that the others are expired
    if len(uids) > 1 and not old & left:
        return  # there are other secrets, which do not keep their uid
    context.require_same_rules(
        "endpoints whose secret has expired", lambda dialect: dialect.rolling.expiration_unit
    )
    outcome = ExpiredSecrets.LISTED if old & left else ExpiredSecrets.LEFT_OUT
    yield judged(
        outcome in rule.allowed,
        "4.3-22",
        "A secret that has expired is not treated as the dialect says",
        expected=" or ".join(rule.allowed),
        actual=outcome,
        exchanges=[created, roll, fetched],
    )


def _shown_rolls(rolled: RollAnswer, context: CheckContext) -> Iterator[tuple[Exchange, Exchange]]:
    """The rolls that succeeded, each with the answer that shows first what it did.

    That is no retrieval where the dialect shows secrets only when they are set.
    """
    always = shows_values(context.dialect)
    for roll in rolled.rolls:
        answer = rolled.first_showing(roll) if always else roll
        if shown(answer):
            yield roll, answer


def _not_applicable_where_required(
    requirement: str, field: str, dialect: Dialect
) -> Iterator[Judgement]:
    """Where the dialect requires a field, there is no roll without it."""
    if field in dialect.requests.expire_endpoint_secret_requires:
        yield not_applicable(requirement, f"the dialect requires {field} of every roll")


def _current(exchange: Exchange) -> list[Mapping[str, Any]]:
    """The secrets without an expires_at."""
    return [secret for secret in secrets_in(exchange) if not has_value(secret.get("expires_at"))]


def _current_uids(exchange: Exchange) -> set[str]:
    return {str(secret["uid"]) for secret in _current(exchange) if has_value(secret.get("uid"))}
