"""Whether a token request is one, and whether its client is who it says (RFC 6749, sections 2.3 and
4.4; RFC 7523).
"""

import base64
import binascii
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import parse_qsl, unquote_plus

from joserfc import jwt
from joserfc.errors import JoseError

from hookproof.receiver.inbox.arrival import Arrival
from hookproof.receiver.replies.token_server_settings import (
    ALGORITHMS,
    Client,
    Method,
    TokenServerSettings,
)

FORM: Final = "application/x-www-form-urlencoded"
CLIENT_CREDENTIALS: Final = "client_credentials"
JWT_BEARER: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ASSERTION: Final = "client_assertion"
LEEWAY_S: Final = 5
MOST_PARAMETERS: Final = 64

ErrorCode = Literal[
    "invalid_request", "invalid_client", "unsupported_grant_type", "invalid_scope", "server_error"
]


class Refused(Exception):
    """The request gets no token; `code` is the error that RFC 6749, section 5.2 has for it."""

    def __init__(self, code: ErrorCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """How a client says who it is; None: not at all. `client_id` may be named by the assertion
    alone.
    """

    method: Method | None
    client_id: str | None
    secret: str = ""
    assertion: str = ""


def form_of(arrival: Arrival) -> Mapping[str, str]:
    """The parameters of a request; raises Refused."""
    kinds = [value for name, value in arrival.text_headers() if name.lower() == "content-type"]
    if len(kinds) != 1 or kinds[0].partition(";")[0].strip().lower() != FORM:
        raise Refused("invalid_request", f"the content type is not {FORM}")
    try:
        text = arrival.body.decode("ascii")
        pairs = parse_qsl(
            text, keep_blank_values=True, strict_parsing=True, max_num_fields=MOST_PARAMETERS
        )
    except ValueError:
        raise Refused("invalid_request", "the body is no form") from None
    form = dict(pairs)
    if len(form) != len(pairs):
        raise Refused("invalid_request", "a parameter stands twice")
    return form


def proof_of(arrival: Arrival, form: Mapping[str, str]) -> Proof:
    """How the client says who it is; raises Refused where it says so in two ways."""
    basic = _basic(arrival)
    ways = [basic is not None, "client_secret" in form, ASSERTION in form]
    if sum(ways) > 1:
        raise Refused("invalid_request", "the client proves itself in more than one way")
    if basic is not None:
        client_id, secret = basic
        if form.get("client_id", client_id) != client_id:
            raise Refused("invalid_request", "two client ids are given")
        return Proof(method="basic", client_id=client_id, secret=secret)
    if ASSERTION in form:
        return Proof(method="assertion", client_id=form.get("client_id"), assertion=form[ASSERTION])
    method: Method | None = "body" if "client_secret" in form else None
    return Proof(
        method=method, client_id=form.get("client_id"), secret=form.get("client_secret", "")
    )


def check(
    settings: TokenServerSettings, form: Mapping[str, str], proof: Proof, url: str, now: float
) -> str | None:
    """Whether a token may be granted, at `now` in Unix seconds; the client's id. Raises Refused."""
    grant = form.get("grant_type")
    if grant != CLIENT_CREDENTIALS:
        code: ErrorCode = "invalid_request" if grant is None else "unsupported_grant_type"
        raise Refused(code, f"the grant_type is {grant!r}, not {CLIENT_CREDENTIALS}")
    if settings.scopes and (surplus := set(form.get("scope", "").split()) - set(settings.scopes)):
        raise Refused("invalid_scope", f"the scope {min(surplus)!r} is not given")
    if not settings.clients:
        return proof.client_id
    if proof.method == "assertion":
        return _asserted(settings, form, proof, url, now)
    client = next((one for one in settings.clients if one.client_id == proof.client_id), None)
    if client is None:
        raise Refused("invalid_client", f"there is no client {proof.client_id!r}")
    _check_method(client, proof)
    if not hmac.compare_digest(proof.secret.encode(), (client.client_secret or "").encode()):
        raise Refused("invalid_client", "the client secret is wrong")
    return client.client_id


def _basic(arrival: Arrival) -> tuple[str, str] | None:
    """The user name and password of the Authorization header, if that is what it holds; raises
    Refused.
    """
    values = [value for name, value in arrival.text_headers() if name.lower() == "authorization"]
    if not values:
        return None
    scheme, _, credentials = values[0].partition(" ")
    if len(values) > 1 or scheme.lower() != "basic":
        raise Refused("invalid_client", "the Authorization header is not one of the scheme Basic")
    try:
        user, colon, password = (
            base64.b64decode(credentials.strip(), validate=True).decode().partition(":")
        )
    except (binascii.Error, ValueError):
        raise Refused(
            "invalid_client", "the credentials of the Authorization header are no base64 of UTF-8"
        ) from None
    if not colon:
        raise Refused("invalid_client", "the credentials of the Authorization header have no colon")
    return unquote_plus(user), unquote_plus(password)  # RFC 6749, section 2.3.1


def _check_method(client: Client, proof: Proof) -> None:
    if proof.method is None:
        raise Refused("invalid_client", "the client does not prove who it is")
    if not client.allows(proof.method):
        raise Refused(
            "invalid_client", f"the client may not prove itself by the method {proof.method!r}"
        )


def _asserted(
    settings: TokenServerSettings, form: Mapping[str, str], proof: Proof, url: str, now: float
) -> str:
    """The id of the client whose assertion this is; raises Refused with what is wrong by the
    likeliest client.
    """
    if form.get("client_assertion_type") != JWT_BEARER:
        raise Refused("invalid_request", f"the client_assertion_type is not {JWT_BEARER}")
    asked = [one for one in settings.clients if proof.client_id in (None, one.client_id)]
    if not asked:
        raise Refused("invalid_client", f"there is no client {proof.client_id!r}")
    reasons = []
    for client in asked:
        try:
            _check_method(client, proof)
            _check_assertion(client, proof.assertion, url, now)
        except Refused as refused:
            reasons.append(refused)
        else:
            return client.client_id
    raise reasons[0]


def _check_assertion(client: Client, assertion: str, url: str, now: float) -> None:
    claims = jwt.JWTClaimsRegistry(
        now=int(now),
        leeway=LEEWAY_S,
        iss={"essential": True, "value": client.issuer or client.client_id},
        sub={"essential": True, "value": client.subject or client.client_id},
        aud={"essential": True, "values": [url, *client.audiences]},
        exp={"essential": True},
    )
    allowed = [name for name in client.algorithms if name in ALGORITHMS]
    try:
        claims.validate(jwt.decode(assertion, client.key(), algorithms=allowed).claims)
    except (JoseError, ValueError, TypeError) as error:
        told = " ".join(str(error).split()) or type(error).__name__
        raise Refused("invalid_client", f"the assertion is not valid: {told}") from None
