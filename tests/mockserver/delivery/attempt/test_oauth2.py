"""OAuth 2 tokens: requested, reused and renewed (section 2.5)."""

import asyncio
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from hookproof.mockserver.delivery.store_port import DeliveryState, Failure
from tests.mockserver.delivery.endpoints import (
    EndpointRequest,
    EndpointServer,
    LoopbackAuthority,
    reply,
)
from tests.mockserver.delivery.engines import PROMPT, dialect
from tests.mockserver.delivery.memory_store import settings
from tests.mockserver.delivery.scenario import running


class TokenIssuer:
    """A server that issues tokens at /token and accepts the valid ones at other paths."""

    def __init__(self, **answer: Any) -> None:
        self.forms: list[dict[str, str]] = []
        self.valid: set[str] = set()
        self.answer = {"token_type": "bearer", "expires_in": 3600, **answer}
        self.token_name = "access_token"
        self.release: asyncio.Event | None = None
        self.status = 200

    async def __call__(self, request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
        if request.target != "/token":
            writer.write(reply(200 if request.header("Authorization") in self.valid else 401))
            return
        self.forms.append(dict(parse_qsl(request.body.decode(), strict_parsing=True)))
        if self.release is not None:
            await self.release.wait()
        token = f"token-{len(self.forms)}"
        self.valid.add(f"Bearer {token}")
        body = json.dumps({self.token_name: token, **self.answer}).encode()
        writer.write(reply(self.status, "Content-Type: application/json", body=body))


def oauth2(endpoint: EndpointServer, **members: Any) -> dict[str, Any]:
    """Return an OAuth 2 authentication with a shared secret."""
    oauth2_settings = {
        "url": f"{endpoint.url}/token",
        "client_id": "me",
        "client_secret": "hush",
        **members,
    }
    return {"type": "oauth2", "oauth2": oauth2_settings}


async def test_a_token_is_requested_with_the_shared_secret_and_presented(
    authority: LoopbackAuthority,
) -> None:
    issuer = TokenIssuer()

    async with running(authority, issuer) as (store, endpoint):
        members = {"authentication_type": "shared_secret", "scope": "a b", "audience": "them"}
        authentication = oauth2(endpoint, **members, grant_type="client_credentials")
        store.endpoints["e"] = settings("e", endpoint.url, authentication=authentication)
        delivery = store.accept("e")
        await store.until_final()
        assert store.states[delivery] is DeliveryState.DELIVERED
        assert issuer.forms == [
            {
                "grant_type": "client_credentials",
                "client_id": "me",
                "client_secret": "hush",
                "scope": "a b",
                "audience": "them",
            }
        ]


async def test_many_deliveries_at_once_share_one_fetch(authority: LoopbackAuthority) -> None:
    issuer = TokenIssuer()

    async with running(authority, issuer, answers=dialect(retry={**PROMPT, "attempts": 1})) as (
        store,
        endpoint,
    ):
        store.endpoints["e"] = settings("e", endpoint.url)
        for _ in range(64):  # widen the queue first
            store.accept("e")
        await store.until_final()
        issuer.release = asyncio.Event()
        arrived = len(endpoint.arrived)
        store.endpoints["e"] = settings("e", endpoint.url, authentication=oauth2(endpoint))
        for _ in range(30):
            store.accept("e")
        await endpoint.wait_for_requests(arrived + 1)
        issuer.release.set()
        await store.until_final()
        assert len(issuer.forms) == 1
        assert len(endpoint.arrived) == arrived + 1 + 30


@pytest.mark.parametrize(
    ("unit", "expires_in", "life_s"),
    [
        ("seconds", 100, 100),
        ("minutes", 2, 120),
        ("milliseconds", 100_000, 100),
        (None, 100, 100),
        ("seconds", "100", 100),
    ],
)
async def test_a_token_is_reused_until_shortly_before_it_expires(
    authority: LoopbackAuthority, unit: str | None, expires_in: object, life_s: float
) -> None:
    now = [1_800_000_000.0]
    issuer = TokenIssuer(expires_in=expires_in)

    async with running(authority, issuer, clock=lambda: now[0]) as (store, endpoint):
        authentication = oauth2(endpoint, **({"expiry_time_unit": unit} if unit else {}))
        store.endpoints["e"] = settings("e", endpoint.url, authentication=authentication)
        for share, fetches in ((0, 1), (0.85, 1), (0.95, 2)):
            now[0] = 1_800_000_000.0 + share * life_s
            store.accept("e")
            await store.until_final()
            assert len(issuer.forms) == fetches


async def test_the_token_response_is_read_by_the_field_mapping_of_the_endpoint(
    authority: LoopbackAuthority,
) -> None:
    issuer = TokenIssuer(kind="Bearer", token_type="forged", life=1000, expires_in=0)
    issuer.token_name = "ticket"

    async with running(authority, issuer) as (store, endpoint):
        names = {"access_token": "ticket", "token_type": "kind", "expires_in": "life"}
        store.endpoints["e"] = settings(
            "e", endpoint.url, authentication=oauth2(endpoint, field_mapping=names)
        )
        for _ in range(2):
            store.accept("e")
            await store.until_final()
        assert [request.header("Authorization") for request in endpoint.requests_at("/")] == [
            "Bearer token-1"
        ] * 2
        assert len(issuer.forms) == 1


@pytest.mark.parametrize(("scheme", "expected"), [("token_type", "Custom"), ("bearer", "Bearer")])
async def test_the_scheme_of_the_header_is_the_one_of_the_dialect(
    authority: LoopbackAuthority, scheme: str, expected: str
) -> None:
    issuer = TokenIssuer(token_type="Custom")

    answers = dialect(delivery={"token_scheme": scheme}, retry={**PROMPT, "attempts": 1})
    async with running(authority, issuer, answers=answers) as (store, endpoint):
        store.endpoints["e"] = settings("e", endpoint.url, authentication=oauth2(endpoint))
        store.accept("e")
        await store.until_final()
        [arrived] = endpoint.requests_at("/")
        assert arrived.header("Authorization") == f"{expected} token-1"


async def test_a_refused_token_is_renewed_once_and_without_delay(
    authority: LoopbackAuthority,
) -> None:
    issuer = TokenIssuer()

    # Ten minutes between attempts: without an immediate second attempt the test would not end.
    async with running(
        authority, issuer, answers=dialect(retry={"initial_s": 600, "maximum_s": 600})
    ) as (store, endpoint):
        store.endpoints["e"] = settings("e", endpoint.url, authentication=oauth2(endpoint))
        store.accept("e")
        await store.until_final()
        issuer.valid.clear()
        second = store.accept("e")
        await store.until_final()
        assert [outcome.status for outcome in store.outcomes[second]] == [401, 200]
        assert len(issuer.forms) == 2


async def test_an_endpoint_that_refuses_every_token_is_retried_with_pauses(
    authority: LoopbackAuthority,
) -> None:
    class RefusingIssuer(TokenIssuer):
        async def __call__(self, request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
            await super().__call__(request, writer)
            if len(self.forms) > 1:
                self.valid.clear()

    issuer = RefusingIssuer()

    async with running(
        authority, issuer, answers=dialect(retry={"initial_s": 60, "maximum_s": 60})
    ) as (store, endpoint):
        store.endpoints["e"] = settings("e", endpoint.url, authentication=oauth2(endpoint))
        store.accept("e")
        await store.until_final()
        issuer.valid.clear()
        delivery = store.accept("e")
        await store.until(lambda: len(store.outcomes.get(delivery, ())) == 2)
        [waiting] = store.pending("e", 1)
        assert waiting.due_at > store.outcomes[delivery][-1].finished_at + 50
        assert len(issuer.forms) == 2


@pytest.mark.parametrize("status", [400, 500])
async def test_a_failed_token_request_is_a_failure_and_is_retried(
    authority: LoopbackAuthority, status: int
) -> None:
    issuer = TokenIssuer()
    issuer.status = status

    async with running(authority, issuer, answers=dialect(retry={**PROMPT, "attempts": 2})) as (
        store,
        endpoint,
    ):
        store.endpoints["e"] = settings("e", endpoint.url, authentication=oauth2(endpoint))
        delivery = store.accept("e")
        await store.until_final()
        assert [outcome.failure for outcome in store.outcomes[delivery]] == [
            Failure.CREDENTIALS
        ] * 2
        assert len(issuer.forms) == 2


KEYS: dict[str, Callable[[], RSAKey | ECKey]] = {
    "RS256": lambda: RSAKey.generate_key(2048, private=True),
    "PS384": lambda: RSAKey.generate_key(2048, private=True),
    "ES256": lambda: ECKey.generate_key("P-256", private=True),
    "ES512": lambda: ECKey.generate_key("P-521", private=True),
}


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("algorithm", KEYS)
async def test_a_signed_assertion_proves_the_client(
    authority: LoopbackAuthority, algorithm: str, named: bool
) -> None:
    issuer, key, now = TokenIssuer(), KEYS[algorithm](), 1_800_000_000.0
    private = {
        name: value for name, value in key.as_dict(private=True).items() if isinstance(value, str)
    }

    async with running(authority, issuer, clock=lambda: now) as (store, endpoint):
        members = (
            {"issuer": "us", "subject": "it", "audience": "them", "signing_algorithm": algorithm}
            if named
            else {}
        )
        store.endpoints["e"] = settings(
            "e",
            endpoint.url,
            authentication=oauth2(
                endpoint,
                authentication_type="client_assertion",
                signing_key={**private, "kid": "key-1", "use": ""},
                **members,
            ),
        )
        store.accept("e")
        await store.until_final()
        [form] = issuer.forms
        assert "client_secret" not in form
        assert (
            form["client_assertion_type"]
            == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        )
        token = jwt.decode(form["client_assertion"], key, algorithms=[*KEYS, "RS256"])
        claims = token.claims
        expected = ("us", "it", "them") if named else ("me", "me", f"{endpoint.url}/token")
        assert (claims["iss"], claims["sub"], claims["aud"]) == expected
        assert claims["iat"] == now < claims["exp"]
        assert claims["jti"]
        assert token.header["kid"] == "key-1"
        if named:
            assert token.header["alg"] == algorithm
