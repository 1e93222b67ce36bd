"""Section 2.5: what an endpoint shows of its outgoing authentication."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import (
    Judgement,
    judged,
    not_applicable,
    not_applicable_here,
)
from hookproof.conformance.observations.answer import refused, sent, shown, was_successful
from hookproof.conformance.observations.resources.round_trip import EndpointCreation, RoundTrip
from hookproof.conformance.observations.resources.sequence import EndpointFieldCombination
from hookproof.conformance.observations.resources.shown_secret import shows_credential

MECHANISMS: Final = {"oauth2": "2.5-2", "api_key": "2.5-11"}

# Either path masks the private key.
CLIENT_KEY: Final = frozenset({"mtls_client_cert", "mtls_client_cert.client_key"})

# The document shows neither api_key nor basic_auth in the body of a creation (section 2.5).
NONE_SHOWN: Final = (
    "The target shows no {} of an endpoint that was created with it, and need not accept any."
)


def at(value: Any, path: str) -> Any:
    """The member at a dotted path, None if any step is missing."""
    for step in path.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every value within nested objects, with its dotted path."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from leaves(member, f"{path}.{name}")
    else:
        yield path, value


@check("2.5-1")
def the_authentication_type_is_the_one_given(
    creation: RoundTrip | EndpointFieldCombination, _context: CheckContext
) -> Iterator[Judgement]:
    """For every mechanism that the dialect has a word for."""
    message = "The authentication type of an endpoint is not the one given"
    for created in creation.created:
        yield from _shown_as_given("2.5-1", message, creation, created, "authentication.type")


@check(*MECHANISMS.values())
def the_members_of_a_mechanism_are_shown_as_given(
    creation: RoundTrip | EndpointFieldCombination, context: CheckContext
) -> Iterator[Judgement]:
    """All but the masked ones."""
    masked = context.dialect.representation.masked
    for created in creation.created:
        answer = creation.first_shown(created)
        for mechanism, requirement in MECHANISMS.items():
            root = f"authentication.{mechanism}"
            given = dict(leaves(at(sent(created), root), root)) if at(sent(created), root) else {}
            if given and _lacks_optional(creation, answer, mechanism):
                yield not_applicable_here(requirement, NONE_SHOWN.format(mechanism))
                continue
            different = {
                path: value
                for path, value in given.items()
                if path not in masked and at(shown(answer), path) != value
            }
            if given and shown(answer):
                yield judged(
                    not different,
                    requirement,
                    f"A member of {mechanism} is not shown as it was given",
                    expected=different,
                    actual={path: at(shown(answer), path) for path in different},
                    exchanges=dict.fromkeys([created, answer]),
                )


@check("2.5-12")
def the_user_name_is_shown_as_given(
    creation: RoundTrip | EndpointFieldCombination, _context: CheckContext
) -> Iterator[Judgement]:
    """The password may be masked."""
    path = "authentication.basic_auth.username"
    message = "The user name of basic_auth is not shown as it was given"
    for created in creation.created:
        if at(sent(created), path) is None:
            continue
        if _lacks_optional(creation, creation.first_shown(created), "basic_auth"):
            yield not_applicable_here("2.5-12", NONE_SHOWN.format("basic_auth"))
        else:
            yield from _shown_as_given("2.5-12", message, creation, created, path)


@check("4.1-15")
def the_client_certificate_is_the_one_sent(
    creation: RoundTrip | EndpointFieldCombination, context: CheckContext
) -> Iterator[Judgement]:
    """Line breaks at its ends aside, which PEM does not count."""
    path = "mtls_client_cert.client_cert"
    if path in context.dialect.representation.masked:
        return
    for created in creation.created:
        answer = creation.first_shown(created)
        given, actual = at(sent(created), path), at(shown(answer), path)
        if isinstance(given, str) and shown(answer):
            yield judged(
                isinstance(actual, str) and actual.strip() == given.strip(),
                "4.1-15",
                "The client certificate of an endpoint is not the one sent",
                expected=given,
                actual=actual,
                exchanges=dict.fromkeys([created, answer]),
            )


@check("2.5-24")
def the_client_key_is_the_one_sent(
    creation: RoundTrip | EndpointFieldCombination, context: CheckContext
) -> Iterator[Judgement]:
    """Wherever it is shown, in any form of PEM."""
    if not CLIENT_KEY.isdisjoint(context.dialect.representation.masked):
        yield not_applicable("2.5-24", "the dialect masks the client_key")
        return
    for key in creation.shown_client_keys:
        yield judged(
            key.is_the_one_sent,
            "2.5-24",
            "The client_key of an endpoint is not the one sent",
            expected="the same private key",
            actual="another text",
            exchanges=[creation.exchanges[key.creation], creation.exchanges[key.answer]],
        )


@check("2.5-13")
def masked_credentials_are_not_shown_in_clear(
    creation: RoundTrip | EndpointFieldCombination, context: CheckContext
) -> Iterator[Judgement]:
    """Nowhere in an answer."""
    if not context.dialect.representation.masked:
        yield not_applicable("2.5-13", "the dialect masks nothing")
    for created in creation.created:
        for path in context.dialect.representation.masked:
            given = at(sent(created), path)
            if isinstance(given, str) and given:
                leaking = [
                    exchange
                    for exchange in creation.exchanges
                    if exchange.succeeded and shows_credential(exchange, given)
                ]
                if not leaking and not was_successful(creation.first_shown(created)):
                    continue  # nothing was shown, in clear or otherwise
                yield judged(
                    not leaking,
                    "2.5-13",
                    f"A credential that the dialect masks is shown in clear: {path}",
                    expected=context.dialect.representation.mask,
                    actual="the credential",
                    exchanges=leaking or [created],
                )


def _shown_as_given(
    requirement: str, message: str, creation: EndpointCreation, created: Exchange, path: str
) -> Iterator[Judgement]:
    """Whether the first answer with the endpoint shows the value that was sent at this path, if any
    was.
    """
    answer = creation.first_shown(created)
    given, actual = at(sent(created), path), at(shown(answer), path)
    if given is not None and shown(answer):
        yield judged(
            actual == given,
            requirement,
            message,
            expected=given,
            actual=actual,
            exchanges=dict.fromkeys([created, answer]),
        )


def _lacks_optional(creation: EndpointCreation, answer: Exchange, mechanism: str) -> bool:
    """Whether the target shows nothing of a mechanism that it did not promise; an answer that shows
    nothing of the endpoint either tells nothing.
    """
    return (
        creation.may_lack_mechanism
        and (refused(answer) or bool(shown(answer)))
        and not at(shown(answer), f"authentication.{mechanism}")
    )
