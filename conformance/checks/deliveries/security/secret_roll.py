"""Which secrets sign while an old one expires (section 4.3)."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, Subject, holds, violated
from hookproof.conformance.observations.case import Case, deliveries_of, destinations, events
from hookproof.conformance.observations.destinations import Destination, Event
from hookproof.conformance.observations.secret_windows import asked_window, shown_window
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.vocabulary import SigningSecrets

ROLL: Final = ("roll",)

Signed = tuple[Destination, Event, ReceivedDelivery, frozenset[str]]


def signed_deliveries(
    case: Case, context: CheckContext, *, rolls: int, advanced: bool
) -> Iterator[Signed]:
    """Each delivery to a destination with so many rolls, and the secrets that signed it."""
    for destination in destinations(case):
        if len(destination.rolls) != rolls or destination.advanced is not advanced:
            continue
        for event in events(case):
            for delivery in deliveries_of(case, destination, event, context.dialect):
                yield (
                    destination,
                    event,
                    delivery,
                    frozenset(case.signature(delivery, context).secrets),
                )


@check("4.3-2", "4.3-3", experiments=ROLL)
def both_secrets_sign_until_the_old_one_expires(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Deliveries in the window carry a signature by the old secret and one by the new one."""
    for destination, event, delivery, found in signed_deliveries(
        case, context, rolls=1, advanced=True
    ):
        roll = destination.rolls[0]
        window = asked_window(case, roll, context.dialect)
        if window is None or not window.alive(case, event, delivery):
            continue
        yield signs("4.3-2", "old", roll.old_secret in found, case, destination, delivery)
        yield signs("4.3-3", "new", roll.new_secret in found, case, destination, delivery)


@check("4.3-4", "4.3-5", experiments=ROLL)
def only_the_new_secret_signs_when_the_old_one_has_expired(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Events that were sent after the window are signed by the new secret alone."""
    for destination, event, delivery, found in signed_deliveries(
        case, context, rolls=1, advanced=True
    ):
        roll = destination.rolls[0]
        window = asked_window(case, roll, context.dialect)
        if window is None or not window.dead(case, event):
            continue
        yield signs(
            "4.3-4", "old", roll.old_secret in found, case, destination, delivery, wanted=False
        )
        yield signs("4.3-5", "new", roll.new_secret in found, case, destination, delivery)


@check("4.3-6", experiments=ROLL)
def each_of_two_replaced_secrets_has_its_own_time(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """After two rolls each old secret signs until its own window is over, whatever the other's is."""
    for destination, event, delivery, found in signed_deliveries(
        case, context, rolls=2, advanced=True
    ):
        windows = {
            roll.old_secret: asked_window(case, roll, context.dialect) for roll in destination.rolls
        }
        last = windows[destination.rolls[-1].old_secret]
        if last is None or last.before(case, event):
            continue
        for (secret, window), ordinal in zip(windows.items(), ("first", "second"), strict=True):
            if window and window.alive(case, event, delivery):
                yield signs("4.3-6", ordinal, secret in found, case, destination, delivery)
            elif window and window.dead(case, event):
                yield signs(
                    "4.3-6", ordinal, secret in found, case, destination, delivery, wanted=False
                )


@check("4.3-7", experiments=ROLL)
def the_simple_format_is_signed_by_the_secret_that_the_dialect_names(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """In the window the dialect chooses among the two secrets."""
    kind = context.dialect.signatures.simple.secrets
    for destination, event, delivery, found in signed_deliveries(
        case, context, rolls=1, advanced=False
    ):
        roll = destination.rolls[0]
        window = asked_window(case, roll, context.dialect)
        if window is None or not window.alive(case, event, delivery):
            continue
        wanted = frozenset(in_order(kind, (roll.old_secret, roll.new_secret)))
        if found == wanted:
            yield holds("4.3-7", deliveries=[delivery])
        else:
            yield violated(
                "4.3-7",
                "In the time of both secrets the simple format is not signed by the one that the dialect names",
                expected=f"signed by {named(roll.old_secret, wanted, destination)}",
                actual=f"signed by {named(roll.old_secret, found, destination)}",
                exchanges=[case.exchange(roll.role)],
                deliveries=[delivery],
                subject=Subject.SIGNATURE,
            )


@check("4.3-16", experiments=ROLL)
def an_old_secret_stops_signing_when_it_said(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """The expires_at in the answer to a roll is kept: the old secret signs until then and not
    after.
    """
    for advanced in (True, False):
        chosen = context.dialect.signatures.scheme(advanced=advanced).secrets
        for destination, event, delivery, found in signed_deliveries(
            case, context, rolls=1, advanced=advanced
        ):
            roll = destination.rolls[0]
            window = shown_window(case, roll, context.dialect)
            signing = roll.old_secret in in_order(chosen, (roll.old_secret, roll.new_secret))
            if window and signing and window.alive(case, event, delivery):
                yield signs("4.3-16", "old", roll.old_secret in found, case, destination, delivery)
            elif window and window.dead(case, event):
                yield signs(
                    "4.3-16",
                    "old",
                    roll.old_secret in found,
                    case,
                    destination,
                    delivery,
                    wanted=False,
                )


@check("6-10", experiments=ROLL)
def two_living_secrets_sign_in_the_dialects_order(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """In the window the header holds the dialect's signatures in the dialect's order."""
    kind = context.dialect.signatures.advanced.secrets
    for destination, event, delivery, _ in signed_deliveries(case, context, rolls=1, advanced=True):
        roll = destination.rolls[0]
        window = asked_window(case, roll, context.dialect)
        if window is None or not window.alive(case, event, delivery):
            continue
        known = (roll.old_secret, roll.new_secret)
        wanted = tuple(known.index(secret) for secret in in_order(kind, known))
        found = case.signature(delivery, context)
        in_header = tuple(None if one is None else known.index(one) for one in found.in_order)
        if in_header == wanted:
            yield holds("6-10", deliveries=[delivery])
        else:
            yield violated(
                "6-10",
                "The advanced format does not carry the dialect's signatures in the dialect's order",
                expected=f"signatures by secrets {wanted}, 0 being the old one",
                actual=f"signatures by secrets {in_header}",
                exchanges=[case.exchange(roll.role)],
                deliveries=[delivery],
                subject=Subject.SIGNATURE,
            )


def in_order(kind: SigningSecrets, living: tuple[str, ...]) -> tuple[str, ...]:
    """The secrets that sign, in the order of their signatures; `living` goes from the oldest to the
    newest.
    """
    return {
        SigningSecrets.NEWEST: living[-1:],
        SigningSecrets.OLDEST: living[:1],
        SigningSecrets.ALL_OLDEST_FIRST: living,
        SigningSecrets.ALL_NEWEST_FIRST: living[::-1],
    }[kind]


def signs(
    requirement: str,
    which: str,
    found: bool,
    case: Case,
    destination: Destination,
    delivery: ReceivedDelivery,
    *,
    wanted: bool = True,
) -> Judgement:
    """Whether one secret signed a delivery as it should have or should not have."""
    if found is wanted:
        return holds(requirement, deliveries=[delivery])
    return violated(
        requirement,
        f"A delivery carries {'no' if wanted else 'a'} signature by the {which} secret",
        expected="a signature by it, since it lives"
        if wanted
        else "none by it, since it has expired",
        actual="none" if wanted else "one",
        exchanges=[case.exchange(roll.role) for roll in destination.rolls],
        deliveries=[delivery],
        subject=Subject.SIGNATURE,
    )


def named(old: str, found: frozenset[str], destination: Destination) -> str:
    """Secrets in words."""
    words = {
        secret: "the old secret" if secret == old else "the new secret"
        for secret in destination.secrets
    }
    return " and ".join(sorted(words[secret] for secret in found)) or "none of its secrets"
