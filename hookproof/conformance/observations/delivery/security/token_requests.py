"""Requests for access tokens (section 2.5), read while their credentials are in clear."""

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, unquote_plus

from hookproof.conformance.observations.client_assertion import AssertionReading, read_assertion
from hookproof.receiver.inbox.delivery import ReceivedDelivery

# The members of oauth2 that prove who requests a token, and those that say what for.
CLIENT: Final = ("client_id", "client_secret")
GRANT: Final = ("grant_type", "scope", "audience")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequestReading:
    """What a request for an access token showed; `sequence` is that of the receiver's token.

    `missing` are the members of oauth2 whose values it does not carry. `assertion` is what it shows
    of a client assertion, if there is a signing_key.
    """

    sequence: int
    missing: tuple[str, ...]
    assertion: AssertionReading | None = None


def read_token_request(request: ReceivedDelivery, oauth2: Mapping[str, Any]) -> TokenRequestReading:
    """What a request showed of the settings of its endpoint."""
    parameters = parameters_of(request)
    values = parameters.values()
    return TokenRequestReading(
        sequence=request.sequence,
        missing=tuple(
            name for name in (*CLIENT, *GRANT) if name in oauth2 and oauth2[name] not in values
        ),
        assertion=_assertion(values, oauth2["signing_key"]) if "signing_key" in oauth2 else None,
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


def _assertion(values: Iterable[str], signing_key: Mapping[str, str]) -> AssertionReading | None:
    """The assertion among these values; where there are several, one that the key has signed."""
    readings = [
        reading for value in values if (reading := read_assertion(value, signing_key)) is not None
    ]
    by_key = (reading for reading in readings if reading.signed_with is not None)
    return next(by_key, readings[0] if readings else None)


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text + "==").decode("latin-1")
    except ValueError:
        return ""
