"""Section 2.5: what an endpoint shows of its outgoing authentication."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged, not_applicable
from hookproof.conformance.observations.answer import sent, shown
from hookproof.conformance.observations.case import Case

MECHANISMS: Final = {"oauth2": "2.5-2", "api_key": "2.5-11"}
# Credentials of fewer characters may stand in an answer by chance.
SHORTEST_TOLD_APART = 6


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


@check("2.5-1", experiments=("round_trip", "pairs"))
def the_authentication_type_is_the_one_given(
    case: Case, _context: CheckContext
) -> Iterator[Judgement]:
    """For every mechanism that the dialect has a word for."""
    for created in case.all_exchanges("create"):
        given = at(sent(created), "authentication.type")
        if given is not None and shown(created):
            actual = at(shown(created), "authentication.type")
            message = "The authentication type of an endpoint is not the one given"
            yield judged(
                actual == given,
                "2.5-1",
                message,
                expected=given,
                actual=actual,
                exchanges=[created],
            )


@check(*MECHANISMS.values(), experiments=("round_trip", "pairs"))
def the_members_of_a_mechanism_are_shown_as_given(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """All but the masked ones."""
    masked = context.dialect.representation.masked
    for created in case.all_exchanges("create"):
        for mechanism, requirement in MECHANISMS.items():
            root = f"authentication.{mechanism}"
            given = dict(leaves(at(sent(created), root), root)) if at(sent(created), root) else {}
            if given and _may_be_left_out(case, created, mechanism):
                yield not_applicable(
                    requirement,
                    f"The target does not take {mechanism} when an endpoint is created.",
                )
                continue
            different = {
                path: value
                for path, value in given.items()
                if path not in masked and at(shown(created), path) != value
            }
            if given and shown(created):
                yield judged(
                    not different,
                    requirement,
                    f"A member of {mechanism} is not shown as it was given",
                    expected=different,
                    actual={path: at(shown(created), path) for path in different},
                    exchanges=[created],
                )


@check("2.5-12", experiments=("round_trip", "pairs"))
def the_user_name_is_shown_as_given(case: Case, _context: CheckContext) -> Iterator[Judgement]:
    """The password may be masked."""
    path = "authentication.basic_auth.username"
    for created in case.all_exchanges("create"):
        given = at(sent(created), path)
        if given is not None and _may_be_left_out(case, created, "basic_auth"):
            yield not_applicable(
                "2.5-12", "The target does not take basic_auth when an endpoint is created."
            )
        elif given is not None and shown(created):
            actual = at(shown(created), path)
            message = "The user name of basic_auth is not shown as it was given"
            yield judged(
                actual == given,
                "2.5-12",
                message,
                expected=given,
                actual=actual,
                exchanges=[created],
            )


@check("4.1-15", experiments=("round_trip", "pairs"))
def the_client_certificate_is_the_one_sent(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Line breaks at its ends aside, which PEM does not count."""
    path = "mtls_client_cert.client_cert"
    if path in context.dialect.representation.masked:
        return
    for created in case.all_exchanges("create"):
        given, actual = at(sent(created), path), at(shown(created), path)
        if isinstance(given, str) and shown(created):
            same = isinstance(actual, str) and actual.strip() == given.strip()
            message = "The client certificate of an endpoint is not the one sent"
            yield judged(
                same, "4.1-15", message, expected=given, actual=actual, exchanges=[created]
            )


@check("2.5-13", experiments=("round_trip", "pairs"))
def masked_credentials_are_not_shown_in_clear(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Nowhere in an answer."""
    if not context.dialect.representation.masked:
        yield not_applicable("2.5-13", "the dialect masks nothing")
    for created in case.all_exchanges("create"):
        for path in context.dialect.representation.masked:
            given = at(sent(created), path)
            if isinstance(given, str) and len(given) >= SHORTEST_TOLD_APART:
                leaking = [one for one in case.exchanges if one.succeeded and _holds(one, given)]
                yield judged(
                    not leaking,
                    "2.5-13",
                    f"A credential that the dialect masks is shown in clear: {path}",
                    expected=context.dialect.representation.mask,
                    actual="the credential",
                    exchanges=leaking or [created],
                )


def _may_be_left_out(case: Case, created: Exchange, mechanism: str) -> bool:
    """Whether the target shows nothing of a mechanism that the document has in responses alone, and
    promised none.
    """
    return case.facts.get("promised") is False and not at(
        shown(created), f"authentication.{mechanism}"
    )


def _holds(exchange: Exchange, text: str) -> bool:
    """Whether any text in the answer is or contains this one."""
    return any(isinstance(value, str) and text in value for value in _texts(exchange.json))


def _texts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for member in value.values():
            yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)
    else:
        yield value
