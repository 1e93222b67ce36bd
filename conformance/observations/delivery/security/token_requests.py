"""Requests for access tokens (section 2.5), read while their credentials are in clear."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, unquote_plus

from hookproof.conformance.observations.client_assertion import (
    PARTS,
    NoAssertion,
    claims_of,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery

# The members of oauth2 that prove who requests a token, and those that say what for.
CLIENT: Final = ("client_id", "client_secret")
GRANT: Final = ("grant_type", "scope", "audience")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequestReading:
    """What a request for an access token showed; `sequence` is that of the receiver's token.

    `missing` are the members of oauth2 whose values it does not carry. `assertion_problem` is what
    is wrong with its client assertion; None if it is valid, or if there is no signing_key.
    """

    sequence: int
    missing: tuple[str, ...]
    assertion_problem: str | None


def read_token_request(request: ReceivedDelivery, oauth2: Mapping[str, Any]) -> TokenRequestReading:
    """What a request showed of the settings of its endpoint."""
    parameters = parameters_of(request)
    values = parameters.values()
    signs = "signing_key" in oauth2
    return TokenRequestReading(
        sequence=request.sequence,
        missing=tuple(
            name for name in (*CLIENT, *GRANT) if name in oauth2 and oauth2[name] not in values
        ),
        assertion_problem=_assertion_problem(parameters, oauth2) if signs else None,
    )


def parameters_of(request: ReceivedDelivery) -> Mapping[str, str]:
    """The parameters in a request's query, its body (a form or JSON) and its Basic credentials."""
    query = request.path.partition("?")[2]
    parameters = dict(parse_qsl(query) + parse_qsl(request.body.decode("latin-1")))
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, dict):
        parameters |= {str(name): str(value) for name, value in body.items()}
    scheme, _, text = (request.header("Authorization") or "").partition(" ")
    if scheme.lower() == "basic":
        user, _, password = _decoded(text).partition(":")
        # RFC 6749, section 2.3.1: both are written as in a form before they are put together.
        parameters |= {"client_id": unquote_plus(user), "client_secret": unquote_plus(password)}
    return parameters


def _assertion_problem(parameters: Mapping[str, str], oauth2: Mapping[str, Any]) -> str | None:
    problem = "no parameter is an assertion"
    for text in parameters.values():
        try:
            claims = claims_of(text, oauth2["signing_key"])
        except NoAssertion as reason:
            if text.count(".") == PARTS - 1:  # it looks like an assertion
                problem = str(reason)
            continue
        wanted = {"iss": oauth2["issuer"], "sub": oauth2["subject"]}
        wrong = {
            name: claims.get(name) for name, value in wanted.items() if claims.get(name) != value
        }
        return f"its claims are {wrong}" if wrong else None
    return problem


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text + "==").decode("latin-1")
    except ValueError:
        return ""
