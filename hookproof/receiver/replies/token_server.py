"""An OAuth 2 token endpoint for client credentials, at a token of the receiver (section 2.5).

An endpoint's `oauth2.url` points to it. Each request is a delivery like any other; in addition a
record says who asked, how it authenticated, and which token it was granted for how long. Requests
are validated by RFC 6749, sections 2.3 and 4.4, and RFC 7523.
"""

import base64
import binascii
import hmac
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any, Final, Literal
from urllib.parse import parse_qsl, unquote_plus

import msgspec
import orjson
from joserfc import jwt
from joserfc.errors import JoseError

from hookproof.receiver.inbox.arrival import Arrival
from hookproof.receiver.replies.script import Reply
from hookproof.receiver.replies.token_server_settings import (
    ALGORITHMS,
    Client,
    Field,
    Method,
    TokenServerSettings,
    Turn,
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


class TokenRefused(Exception):
    """The request gets no token; `code` is the error of RFC 6749, section 5.2."""

    def __init__(self, code: ErrorCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientProof:
    """How a client authenticates; `method` None: not at all.

    `client_id` may be None, since an assertion names the client, too.
    """

    method: Method | None
    client_id: str | None
    secret: str = ""
    assertion: str = ""


def read_form(arrival: Arrival) -> Mapping[str, str]:
    """Read the parameters of a request; raises TokenRefused."""
    content_types = [
        value for name, value in arrival.text_headers() if name.lower() == "content-type"
    ]
    if len(content_types) != 1 or content_types[0].partition(";")[0].strip().lower() != FORM:
        raise TokenRefused("invalid_request", f"the content type is not {FORM}")
    try:
        text = arrival.body.decode("ascii")
        pairs = parse_qsl(
            text, keep_blank_values=True, strict_parsing=True, max_num_fields=MOST_PARAMETERS
        )
    except ValueError:
        raise TokenRefused("invalid_request", "the body is not a form") from None
    form = dict(pairs)
    if len(form) != len(pairs):
        raise TokenRefused("invalid_request", "a parameter occurs twice")
    return form


def read_proof(arrival: Arrival, form: Mapping[str, str]) -> ClientProof:
    """Read how the client authenticates.

    Raises TokenRefused if it does so in more than one way.
    """
    basic = _read_basic(arrival)
    methods = [basic is not None, "client_secret" in form, ASSERTION in form]
    if sum(methods) > 1:
        raise TokenRefused("invalid_request", "the client proves itself in more than one way")
    if basic is not None:
        client_id, secret = basic
        if form.get("client_id", client_id) != client_id:
            raise TokenRefused("invalid_request", "two client ids are given")
        return ClientProof(method="basic", client_id=client_id, secret=secret)
    if ASSERTION in form:
        return ClientProof(
            method="assertion", client_id=form.get("client_id"), assertion=form[ASSERTION]
        )
    method: Method | None = "body" if "client_secret" in form else None
    return ClientProof(
        method=method, client_id=form.get("client_id"), secret=form.get("client_secret", "")
    )


class UsedAssertions:
    """The assertions that were accepted, by client and jti, until they expire."""

    def __init__(self) -> None:
        self._expiries: dict[tuple[str, str], float] = {}

    def use(self, client_id: str, claims: Mapping[str, Any], now: float) -> None:
        """Accept an assertion whose other claims are valid; raises TokenRefused."""
        jti = claims.get("jti")
        if not isinstance(jti, str) or not jti:
            raise TokenRefused("invalid_client", "the assertion has no jti")
        if (client_id, jti) in self._expiries:
            raise TokenRefused("invalid_client", f"the jti {jti!r} was used before")
        self._expiries = {key: end for key, end in self._expiries.items() if end > now}
        self._expiries[client_id, jti] = claims["exp"] + LEEWAY_S


def check_grant(
    settings: TokenServerSettings,
    form: Mapping[str, str],
    proof: ClientProof,
    url: str,
    now: float,
    used: UsedAssertions,
) -> str | None:
    """Check that a token may be granted, at `now` in Unix seconds; return the client's id.

    Raises TokenRefused.
    """
    grant_type = form.get("grant_type")
    if grant_type != CLIENT_CREDENTIALS:
        code: ErrorCode = "invalid_request" if grant_type is None else "unsupported_grant_type"
        raise TokenRefused(code, f"the grant_type is {grant_type!r}, not {CLIENT_CREDENTIALS}")
    if settings.scopes and (unknown := set(form.get("scope", "").split()) - set(settings.scopes)):
        raise TokenRefused("invalid_scope", f"the scope {min(unknown)!r} is not granted")
    if not settings.clients:
        return proof.client_id
    if proof.method == "assertion":
        client_id, claims = _client_of_assertion(settings, form, proof, url, now)
        if settings.single_use:
            used.use(client_id, claims, now)
        return client_id
    client = _find_client(settings, proof.client_id)
    if client is None:
        raise TokenRefused("invalid_client", f"there is no client {proof.client_id!r}")
    _check_method(client, proof)
    if not hmac.compare_digest(proof.secret.encode(), (client.client_secret or "").encode()):
        raise TokenRefused("invalid_client", "the client secret is wrong")
    return client.client_id


def _find_client(settings: TokenServerSettings, client_id: str | None) -> Client | None:
    return next((client for client in settings.clients if client.client_id == client_id), None)


def _read_basic(arrival: Arrival) -> tuple[str, str] | None:
    """The user name and password of a Basic Authorization header, None without that header.

    Raises TokenRefused.
    """
    values = [value for name, value in arrival.text_headers() if name.lower() == "authorization"]
    if not values:
        return None
    scheme, _, credentials = values[0].partition(" ")
    if len(values) > 1 or scheme.lower() != "basic":
        raise TokenRefused(
            "invalid_client", "the Authorization header is not one of the scheme Basic"
        )
    try:
        user, colon, password = (
            base64.b64decode(credentials.strip(), validate=True).decode().partition(":")
        )
    except (binascii.Error, ValueError):
        raise TokenRefused(
            "invalid_client", "the credentials of the Authorization header are not base64 of UTF-8"
        ) from None
    if not colon:
        raise TokenRefused(
            "invalid_client", "the credentials of the Authorization header have no colon"
        )
    return unquote_plus(user), unquote_plus(password)  # RFC 6749, section 2.3.1


def _check_method(client: Client, proof: ClientProof) -> None:
    if proof.method is None:
        raise TokenRefused("invalid_client", "the client does not prove who it is")
    if not client.allows(proof.method):
        raise TokenRefused(
            "invalid_client", f"the client may not prove itself by the method {proof.method!r}"
        )


def _client_of_assertion(
    settings: TokenServerSettings, form: Mapping[str, str], proof: ClientProof, url: str, now: float
) -> tuple[str, Mapping[str, Any]]:
    """The id of the client whose assertion this is, and its claims.

    Raises TokenRefused with what is wrong for the likeliest client.
    """
    if form.get("client_assertion_type") != JWT_BEARER:
        raise TokenRefused("invalid_request", f"the client_assertion_type is not {JWT_BEARER}")
    candidates = [
        client for client in settings.clients if proof.client_id in (None, client.client_id)
    ]
    if not candidates:
        raise TokenRefused("invalid_client", f"there is no client {proof.client_id!r}")
    refusals = []
    for client in candidates:
        try:
            _check_method(client, proof)
            claims = _check_assertion(client, proof.assertion, url, now)
        except TokenRefused as refused:
            refusals.append(refused)
        else:
            return client.client_id, claims
    raise refusals[0]


def _check_assertion(client: Client, assertion: str, url: str, now: float) -> Mapping[str, Any]:
    registry = jwt.JWTClaimsRegistry(
        now=int(now),
        leeway=LEEWAY_S,
        iss={"essential": True, "value": client.issuer or client.client_id},
        sub={"essential": True, "value": client.subject or client.client_id},
        aud={"essential": True, "values": [url, *client.audiences]},
        exp={"essential": True},
    )
    allowed = [name for name in client.algorithms if name in ALGORITHMS]
    try:
        token = jwt.decode(assertion, client.key(), algorithms=allowed)
        registry.validate(token.claims)
    except (JoseError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise TokenRefused("invalid_client", f"the assertion is not valid: {reason}") from None
    kid, registered = token.header.get("kid"), (client.public_key or {}).get("kid")
    if None not in (kid, registered) and kid != registered:
        raise TokenRefused("invalid_client", f"the kid {kid!r} is not that of the client's key")
    return token.claims


MOST_REQUESTS: Final = 10_000
# The errors that a turn can refuse with; every other refusal is a 400.
REFUSALS: Final = {
    "invalid_request": HTTPStatus.BAD_REQUEST,
    "invalid_client": HTTPStatus.UNAUTHORIZED,
    "server_error": HTTPStatus.INTERNAL_SERVER_ERROR,
}
HEADERS: Final = (("Content-Type", "application/json"), ("Cache-Control", "no-store"))
CHALLENGE: Final = ("WWW-Authenticate", 'Basic realm="hookproof"')
DECOY: Final = "decoy"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """The record of one request.

    `sequence` is that of the delivery, `at` its arrival in Unix seconds. `gave` is what the turn
    defines, the error that was answered, or `reply` for a scripted one. `proved_by` is how the
    client tried to authenticate, `reason` why it got no token. `expires_at` is in Unix seconds.
    """

    sequence: int
    at: float
    gave: str
    client_id: str | None = None
    proved_by: str | None = None
    scope: str | None = None
    audience: str | None = None
    reason: str | None = None
    access_token: str | None = None
    expires_at: float | None = None


class TokenServer:
    """One token server; `url` is its own URL, `new_token` makes the tokens that it grants."""

    def __init__(
        self, settings: TokenServerSettings, *, url: str, new_token: Callable[[], str]
    ) -> None:
        self._settings = settings
        self._url = url
        self._new_token = new_token
        self._used = UsedAssertions()
        self._request_count = 0
        self._requests: deque[TokenRequest] = deque(maxlen=MOST_REQUESTS)

    def grant_all(self) -> None:
        """Grant a token to every client that authenticates from now on."""
        self._settings = msgspec.structs.replace(self._settings, turns=(Turn(),))

    def due_turn(self) -> Turn:
        """The turn of the next request."""
        return self._settings.turn(self._request_count)

    def reply(self, arrival: Arrival) -> Reply:
        """Answer a request, and record it."""
        turn = self.due_turn()
        self._request_count += 1
        record: dict[str, Any] = {"sequence": arrival.sequence, "at": arrival.arrived_at}
        try:
            self._authenticate(arrival, record)
            reply = self._grant(turn, record)
        except TokenRefused as refused:
            code = turn.gives if turn.gives in REFUSALS else refused.code
            record |= {"gave": code, "reason": refused.reason}
            reply = _refusal(code, refused.reason, turn.delay_s)
        if turn.reply is not None:
            record["gave"] = "reply"
        self._requests.append(TokenRequest(**record))
        return turn.reply or reply

    def to_json(self) -> dict[str, object]:
        """The recorded requests, oldest first, and how many older ones were dropped."""
        return {
            "requests": [asdict(request) for request in self._requests],
            "dropped": self._request_count - len(self._requests),
        }

    def _authenticate(self, arrival: Arrival, record: dict[str, Any]) -> None:
        """Record what a request asks for and who asks; raises TokenRefused."""
        form = read_form(arrival)
        record |= {name: form.get(name) for name in ("client_id", "scope", "audience")}
        proof = read_proof(arrival, form)
        record |= {"client_id": proof.client_id, "proved_by": proof.method}
        record["client_id"] = check_grant(
            self._settings, form, proof, self._url, arrival.arrived_at, self._used
        )

    def _grant(self, turn: Turn, record: dict[str, Any]) -> Reply:
        """The answer with a token; raises TokenRefused if the turn refuses."""
        if turn.gives in REFUSALS:
            raise TokenRefused("invalid_request", "the turn refuses every request")
        token = self._new_token()
        lifetime_s = 0.0 if turn.gives == "expired" else self._settings.lifetime_s
        record |= {
            "gave": turn.gives,
            "access_token": token,
            "expires_at": record["at"] + lifetime_s,
        }
        body = orjson.dumps(self._token_members(turn, token, lifetime_s)).decode()
        if turn.gives == "malformed":
            body = body[: len(body) // 2]
        return Reply(headers=HEADERS, body=body, delay_s=turn.delay_s)

    def _token_members(self, turn: Turn, token: str, lifetime_s: float) -> dict[str, object]:
        """The members of an answer that grants a token."""
        settings = self._settings
        lifetime = lifetime_s / settings.expires_unit.in_seconds
        amount = int(lifetime) if lifetime == int(lifetime) else lifetime
        given: dict[Field, object] = {
            "access_token": token,
            "expires_in": str(amount) if settings.expires_as_text else amount,
            "token_type": settings.token_type,
        }
        names: dict[Field, str] = {field: getattr(settings.fields, field) for field in given}
        decoys = {name: DECOY for name in given if settings.decoys and name not in names.values()}
        return decoys | {
            names[field]: value for field, value in given.items() if field not in turn.omit
        }


def _refusal(code: str, reason: str, delay_s: float) -> Reply:
    challenge = (CHALLENGE,) if code == "invalid_client" else ()
    return Reply(
        status=REFUSALS.get(code, HTTPStatus.BAD_REQUEST).value,
        headers=(*HEADERS, *challenge),
        body=orjson.dumps({"error": code, "error_description": reason}).decode(),
        delay_s=delay_s,
    )
