"""Which secrets sign while an old one expires (section 4.3)."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from hookproof.conformance.checks.wrong_signatures import OF_NO_SECRET, HeaderSignatures
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, Subject, judged
from hookproof.conformance.subjects.rolls.evidence import (
    RollsUnderTraffic,
    SecretsOfDelivery,
    SignedDelivery,
)
from hookproof.spec.dialect.signing_key import signs_by_itself
from hookproof.spec.dialect.vocabulary import SigningSecrets


@check("4.3-2", "4.3-3")
def both_secrets_sign_until_the_old_one_expires(
    rolls: RollsUnderTraffic, context: CheckContext
) -> Iterator[Judgement]:
    """Deliveries in the window carry a signature by the old secret and one by the new one."""
    for signed in rolls.deliveries_with_both_secrets(context, advanced=True):
        yield signs("4.3-2", "old secret", signed.roll.old_secret, signed, rolls, context)
        yield signs("4.3-3", "new secret", signed.roll.new_secret, signed, rolls, context)
    yield from newest_of_several("4.3-3", rolls, context)


@check("4.3-4", "4.3-5")
def only_the_new_secret_signs_when_the_old_one_has_expired(
    rolls: RollsUnderTraffic, context: CheckContext
) -> Iterator[Judgement]:
    """Events that were sent after the window are signed by the new secret alone."""
    for signed in rolls.deliveries_after_expiry(context):
        yield signs(
            "4.3-4", "old secret", signed.roll.old_secret, signed, rolls, context, wanted=False
        )
        yield signs("4.3-5", "new secret", signed.roll.new_secret, signed, rolls, context)
    yield from newest_of_several("4.3-5", rolls, context)
    for secrets in rolls.deliveries_between_rolls(context, advanced=True):
        if secrets.newest_alone:
            yield from expired_ones("4.3-4", secrets, rolls, context)


@check("4.3-6")
def each_of_two_replaced_secrets_has_its_own_time(
    rolls: RollsUnderTraffic, context: CheckContext
) -> Iterator[Judgement]:
    """After two rolls and more each old secret signs until its own window is over, whatever the
    others'.
    """
    for secrets in rolls.deliveries_between_rolls(context, advanced=True):
        if secrets.rolls > 1:
            for number, secret in secrets.valid.items():
                which = f"secret that roll {number} replaced"
                yield signs("4.3-6", which, secret, secrets.signed, rolls, context)
            if secrets.valid:  # when all may have expired, 4.3-4 says what signs
                yield from expired_ones("4.3-6", secrets, rolls, context)


def expired_ones(
    requirement: str, secrets: SecretsOfDelivery, rolls: RollsUnderTraffic, context: CheckContext
) -> Iterator[Judgement]:
    """Whether none of the secrets that have expired signs."""
    for number, secret in secrets.expired.items():
        which = f"secret that roll {number} replaced"
        yield signs(requirement, which, secret, secrets.signed, rolls, context, wanted=False)


def newest_of_several(
    requirement: str, rolls: RollsUnderTraffic, context: CheckContext
) -> Iterator[Judgement]:
    """Whether the newest secret signs however often there was a roll: while an old one is valid
    (4.3-3), or when all have expired (4.3-5).
    """
    for secrets in rolls.deliveries_between_rolls(context, advanced=True):
        if secrets.newest is None or not (secrets.valid or secrets.newest_alone):
            continue
        if requirement == ("4.3-3" if secrets.valid else "4.3-5"):
            which = f"secret of roll {secrets.rolls}"
            yield signs(requirement, which, secrets.newest, secrets.signed, rolls, context)


def named_one_of_several(rolls: RollsUnderTraffic, context: CheckContext) -> Iterator[Judgement]:
    """Whether the dialect chooses between the secrets (4.3-7), however many are valid."""
    kind = context.dialect.signatures.simple.secrets
    for secrets in rolls.deliveries_between_rolls(context, advanced=False):
        if not (secrets.all_known and secrets.valid and secrets.newest):
            continue
        signed, known = secrets.signed, secrets.signed.destination.secrets
        wanted = in_order(kind, (*secrets.valid.values(), secrets.newest))
        signers = [secret for secret in known if signed.is_signed_by(secret)]
        yield judged(
            set(signers) == set(wanted),
            "4.3-7",
            "In the time of several secrets the simple format is not signed by the one that the"
            " dialect names",
            expected=f"signed by secret {numbers_of(wanted, known)} of {len(known)}",
            actual=f"signed by secret {numbers_of(signers, known) or 'none'}",
            exchanges=proof(rolls, signed),
            deliveries=[signed.delivery],
            subject=Subject.SIGNATURE,
        )


@check("4.3-7")
def the_simple_format_is_signed_by_the_secret_that_the_dialect_names(
    rolls: RollsUnderTraffic, context: CheckContext
) -> Iterator[Judgement]:
    """While both secrets are valid, the dialect chooses between them."""
    kind = context.dialect.signatures.simple.secrets
    for signed in rolls.deliveries_with_both_secrets(context, advanced=False):
        roll, signers = signed.roll, set(signed.signature.secrets)
        wanted = set(in_order(kind, (roll.old_secret, roll.new_secret)))
        yield judged(
            signers == wanted,
            "4.3-7",
            "In the time of both secrets the simple format is not signed by the one that the"
            " dialect names",
            expected=f"signed by {in_words(wanted, signed)}",
            actual=f"signed by {in_words(signers, signed)}",
            exchanges=proof(rolls, signed),
            deliveries=[signed.delivery],
            subject=Subject.SIGNATURE,
        )
    yield from named_one_of_several(rolls, context)


@check("4.3-16")
def an_old_secret_stops_signing_when_it_said(
    rolls: RollsUnderTraffic, context: CheckContext
) -> Iterator[Judgement]:
    """The expires_at in the answer to a roll is kept: the old secret signs until then and not
    after.
    """
    for advanced in (True, False):
        if signs_by_itself(context.dialect, advanced=advanced):
            continue
        kind = context.dialect.signatures.scheme(advanced=advanced).secrets
        for signed in rolls.signed_deliveries(context, rolls=1, advanced=advanced):
            roll, window = signed.roll, rolls.shown_window_of(signed, context)
            signing = roll.old_secret in in_order(kind, (roll.old_secret, roll.new_secret))
            if window and signing and window.is_valid(rolls, signed.event, signed.delivery):
                yield signs("4.3-16", "old secret", roll.old_secret, signed, rolls, context)
            elif window and window.is_expired(rolls, signed.event):
                yield signs(
                    "4.3-16", "old secret", roll.old_secret, signed, rolls, context, wanted=False
                )


@check("6-10")
def two_living_secrets_sign_in_the_dialects_order(
    rolls: RollsUnderTraffic, context: CheckContext
) -> Iterator[Judgement]:
    """In the window the header holds the dialect's signatures in the dialect's order."""
    kind = context.dialect.signatures.advanced.secrets
    for signed in rolls.deliveries_with_both_secrets(context, advanced=True):
        known = (signed.roll.old_secret, signed.roll.new_secret)
        wanted = tuple(known.index(secret) for secret in in_order(kind, known))
        actual = tuple(
            None if secret is None else known.index(secret) for secret in signed.signature.in_order
        )
        judgement = judged(
            actual == wanted,
            "6-10",
            "The advanced format does not carry the dialect's signatures in the dialect's order",
            expected=f"signatures by secrets {wanted}, 0 being the old one",
            actual=f"signatures by secrets {actual}",
            exchanges=proof(rolls, signed),
            deliveries=[signed.delivery],
            subject=Subject.SIGNATURE,
        )
        wrong = {
            place: OF_NO_SECRET[None] if number is None else f"by secret {number}"
            for place, (number, right) in enumerate(zip_longest(actual, wanted))
            if number != right and place < len(actual)
        }
        yield header_of(signed, context).pointed_out_at(judgement, wrong)


def in_order(kind: SigningSecrets, valid: tuple[str, ...]) -> tuple[str, ...]:
    """The secrets that sign, in the order of their signatures; `valid` is in order from the oldest
    to the newest.
    """
    return {
        SigningSecrets.NEWEST: valid[-1:],
        SigningSecrets.OLDEST: valid[:1],
        SigningSecrets.ALL_OLDEST_FIRST: valid,
        SigningSecrets.ALL_NEWEST_FIRST: valid[::-1],
    }[kind]


def signs(
    requirement: str,
    which: str,
    secret: str,
    signed: SignedDelivery,
    rolls: RollsUnderTraffic,
    context: CheckContext,
    *,
    wanted: bool = True,
) -> Judgement:
    """Whether one secret signed a delivery as it should have or should not have."""
    judgement = judged(
        signed.is_signed_by(secret) is wanted,
        requirement,
        f"A delivery carries {'no' if wanted else 'a'} signature by the {which}",
        expected="a signature by it, since it is still valid"
        if wanted
        else "none by it, since it has expired",
        actual="none" if wanted else "one",
        exchanges=proof(rolls, signed),
        deliveries=[signed.delivery],
        subject=Subject.SIGNATURE,
    )
    header = header_of(signed, context)
    return header.pointed_out(judgement, OF_NO_SECRET if wanted else {secret: f"by the {which}"})


def header_of(signed: SignedDelivery, context: CheckContext) -> HeaderSignatures:
    return HeaderSignatures(
        delivery=signed.delivery,
        reading=signed.signature,
        dialect=context.dialect,
        advanced=signed.destination.advanced,
    )


def proof(rolls: RollsUnderTraffic, signed: SignedDelivery) -> list[Exchange | None]:
    """The creation of an endpoint and its rolls."""
    roles = (signed.destination.name, *(roll.role for roll in signed.destination.rolls))
    return [rolls.exchange(role) for role in roles]


def in_words(secrets: Iterable[str], signed: SignedDelivery) -> str:
    """These secrets, called by their place in the roll."""
    names = {
        signed.roll.old_secret: "the old secret",
        **dict.fromkeys(signed.destination.secrets[1:], "the new secret"),
    }
    return " and ".join(sorted(names[secret] for secret in secrets)) or "none of its secrets"


def numbers_of(secrets: Iterable[str], known: Sequence[str]) -> str:
    """The numbers of these secrets among all that the endpoint ever had, the oldest being 1."""
    return " and ".join(str(known.index(secret) + 1) for secret in secrets)
