"""An OAuth 2 token endpoint for client credentials, at a token of the receiver (section 2.5).

It is what an endpoint's `oauth2.url` points at. Each request is a delivery like any other, and what
was made of it is kept beside it: who asked, how it proved itself, what it was given, and for how
long.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any, Final

import orjson

from hookproof.receiver.inbox.arrival import Arrival
from hookproof.receiver.replies.script import Reply
from hookproof.receiver.replies.token_request import Refused, check, form_of, proof_of
from hookproof.receiver.replies.token_server_settings import Field, TokenServerSettings, Turn

MOST_REQUESTS: Final = 10_000
# What a turn can be told to refuse with; every other refusal is a 400.
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
    """What was made of one request.

    `sequence` is that of the delivery, `at` its arrival in Unix seconds. `gave` is what the turn
    says, the error that was answered, or `reply` for a scripted one. `proved_by` is how the client
    tried to prove itself, `reason` why it got no token. `expires_at` is in Unix seconds.
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
    """One token server; `url` is where it is asked, `new_token` makes what it grants."""

    def __init__(
        self, settings: TokenServerSettings, *, url: str, new_token: Callable[[], str]
    ) -> None:
        self._settings = settings
        self._url = url
        self._new_token = new_token
        self._asked = 0
        self._requests: deque[TokenRequest] = deque(maxlen=MOST_REQUESTS)

    def due_turn(self) -> Turn:
        """What becomes of the next request."""
        return self._settings.turn(self._asked)

    def reply(self, arrival: Arrival) -> Reply:
        """The answer to a request, which is kept."""
        turn = self.due_turn()
        self._asked += 1
        seen: dict[str, Any] = {"sequence": arrival.sequence, "at": arrival.arrived_at}
        try:
            self._look(arrival, seen)
            reply = self._grant(turn, seen)
        except Refused as refused:
            told = turn.gives if turn.gives in REFUSALS else refused.code
            seen |= {"gave": told, "reason": refused.reason}
            reply = _refusal(told, refused.reason, turn.delay_s)
        if turn.reply is not None:
            seen["gave"] = "reply"
        self._requests.append(TokenRequest(**seen))
        return turn.reply or reply

    def to_json(self) -> dict[str, object]:
        """The requests so far, the oldest first, and how many older ones are not kept any more."""
        return {
            "requests": [asdict(request) for request in self._requests],
            "dropped": self._asked - len(self._requests),
        }

    def _look(self, arrival: Arrival, seen: dict[str, Any]) -> None:
        """Note what a request asks for and who asks; raises Refused if it gets no token."""
        form = form_of(arrival)
        seen |= {name: form.get(name) for name in ("client_id", "scope", "audience")}
        proof = proof_of(arrival, form)
        seen |= {"client_id": proof.client_id, "proved_by": proof.method}
        seen["client_id"] = check(self._settings, form, proof, self._url, arrival.arrived_at)

    def _grant(self, turn: Turn, seen: dict[str, Any]) -> Reply:
        """The answer with a token; raises Refused if the turn is to refuse."""
        if turn.gives in REFUSALS:
            raise Refused("invalid_request", "it is told to refuse")
        token = self._new_token()
        lifetime_s = 0.0 if turn.gives == "expired" else self._settings.lifetime_s
        seen |= {"gave": turn.gives, "access_token": token, "expires_at": seen["at"] + lifetime_s}
        body = orjson.dumps(self._answer(turn, token, lifetime_s)).decode()
        if turn.gives == "malformed":
            body = body[: len(body) // 2]
        return Reply(headers=HEADERS, body=body, delay_s=turn.delay_s)

    def _answer(self, turn: Turn, token: str, lifetime_s: float) -> dict[str, object]:
        """The members of an answer that grants a token."""
        settings = self._settings
        told = lifetime_s / settings.expires_unit.in_seconds
        amount = int(told) if told == int(told) else told
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
