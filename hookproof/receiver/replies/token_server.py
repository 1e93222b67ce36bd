"""An OAuth 2 token endpoint for client credentials, at a token of the receiver (section 2.5).

An endpoint's `oauth2.url` points to it. Each request is a delivery like any other; in addition a
record says who asked, how it authenticated, and which token it was granted for how long.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any, Final

import msgspec
import orjson

from hookproof.receiver.inbox.arrival import Arrival
from hookproof.receiver.replies.script import Reply
from hookproof.receiver.replies.token_request import (
    TokenRefused,
    UsedAssertions,
    check_grant,
    read_form,
    read_proof,
)
from hookproof.receiver.replies.token_server_settings import Field, TokenServerSettings, Turn

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
