"""Authentication objects of endpoints, with each mechanism (section 2.5)."""

from collections.abc import Mapping
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.json_web_key import elliptic_key, rsa_key
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.observations.destinations import KEY_HEADER
from hookproof.conformance.observations.round_trip import (
    AuthenticationRoundTrip,
    RoundTrip,
)
from hookproof.target.file_schema import Presence

# The body of createEndpoint shows type and oauth2 only; each of these is a capability, too.
SHOWN_IN_RESPONSES: Final = ("api_key", "basic_auth")


def api_key(word: str, value: str, header: str = KEY_HEADER) -> dict[str, Any]:
    """A header of its own; `word` is the type."""
    return {"type": word, "api_key": {"header_name": header, "header_value": value}}


def basic_auth(word: str, user: str, password: str) -> dict[str, Any]:
    """HTTP Basic; `word` is the type."""
    return {"type": word, "basic_auth": {"username": user, "password": password}}


def fixed_credentials(bodies: RequestBodies) -> dict[str, dict[str, Any]]:
    """The mechanisms that only responses show, by their names, with plain texts."""
    words, word = bodies.dialect.words, bodies.word
    return {
        "api_key": api_key(words.auth_api_key, word("key")),
        "basic_auth": basic_auth(words.auth_basic, word("user"), word("password")),
    }


def with_assertion(bodies: RequestBodies) -> dict[str, Any]:
    """All of oauth2 that a signed assertion needs."""
    return _assertion(bodies, elliptic_key(bodies.word("kid")), "ES256")


def with_assertion_by_rsa(bodies: RequestBodies) -> dict[str, Any]:
    """The same with the other kind of key."""
    return _assertion(bodies, rsa_key(bodies.word("kid")), "RS256")


def _assertion(
    bodies: RequestBodies, signing_key: dict[str, str], algorithm: str
) -> dict[str, Any]:
    authentication = bodies.oauth2()
    members = {
        **authentication["oauth2"],
        "authentication_type": bodies.dialect.words.oauth2_assertion,
        "issuer": bodies.word("issuer"),
        "subject": bodies.word("subject"),
        "signing_algorithm": algorithm,
        "signing_key": signing_key,
    }
    del members["client_secret"]
    return {**authentication, "oauth2": members}


def observe_round_trip(
    context: ExperimentContext,
    trial: Trial,
    mechanism: str,
    fields: Mapping[str, Any],
    kind: type[RoundTrip],
) -> Evidence:
    """What came back of an endpoint with these fields, which a target may lack the mechanism for
    unless it is promised; of this kind where createEndpoint shows it.
    """
    if mechanism in SHOWN_IN_RESPONSES:
        promised = context.presence(mechanism) is Presence.YES
        return trial.observe(AuthenticationRoundTrip, fields=tuple(fields), promised=promised)
    return trial.observe(kind, fields=tuple(fields))
