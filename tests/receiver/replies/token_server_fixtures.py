"""Token servers, and requests to them."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from hookproof.receiver.inbox.arrival import Arrival, Sender
from hookproof.receiver.replies.token_server import TokenServer
from hookproof.receiver.replies.token_server_settings import Client, TokenServerSettings

NOW = 1735689600.0
URL = "https://127.0.0.1:1/login"
FORM = "application/x-www-form-urlencoded"
JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

SHOP = Client(client_id="shop", client_secret="hush & \xe9:")

EC = ECKey.generate_key("P-256")
RSA = RSAKey.generate_key(2048)
KEYED = Client(client_id="shop", public_key=EC.as_dict(private=False))


def make_server(*clients: Client, **settings: Any) -> TokenServer:
    tokens = iter(f"token-{number}" for number in range(100))
    return TokenServer(
        TokenServerSettings(clients=clients, **settings), url=URL, new_token=lambda: next(tokens)
    )


def make_request(body: bytes, *headers: tuple[str, str]) -> Arrival:
    return Arrival(
        token="login",
        method="POST",
        path="/login",
        headers=tuple((name.encode(), value.encode("latin-1")) for name, value in headers),
        body=body,
        arrived_at=NOW,
        arrived_monotonic=1.0,
        sender=Sender(40000),
        sequence=1,
    )


def request_token(
    server: TokenServer, form: Mapping[str, str], *headers: tuple[str, str]
) -> tuple[int, dict[str, Any]]:
    reply = server.reply(make_request(urlencode(form).encode(), ("Content-Type", FORM), *headers))
    return reply.status, json.loads(reply.body)


def last_record(server: TokenServer) -> Any:
    return server.to_json()["requests"][-1]  # type: ignore[index]


def assertion_form(
    key: ECKey | RSAKey = EC, alg: str = "ES256", kid: str | None = None, **claims: Any
) -> dict[str, str]:
    """A request with a valid assertion, except for these claims; None leaves a claim out."""
    members = {
        "iss": "shop",
        "sub": "shop",
        "aud": URL,
        "exp": int(NOW) + 60,
        "iat": int(NOW),
        "jti": "1",
    } | claims
    header = {"alg": alg, **({} if kid is None else {"kid": kid})}
    present = {name: value for name, value in members.items() if value is not None}
    return {
        "grant_type": "client_credentials",
        "client_assertion_type": JWT_BEARER,
        "client_assertion": jwt.encode(header, present, key, algorithms=[alg]),
    }
