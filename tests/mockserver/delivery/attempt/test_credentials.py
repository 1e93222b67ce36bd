"""The credentials that deliveries present (section 5, item 4)."""

import base64
from collections.abc import Mapping
from typing import Any

import pytest
import trustme
from cryptography.hazmat.primitives import serialization

from hookproof.mockserver.delivery.store_port import ClientCertificate, Failure
from tests.mockserver.delivery.endpoints import EndpointRequest, LoopbackAuthority
from tests.mockserver.delivery.engines import PROMPT, dialect
from tests.mockserver.delivery.memory_store import settings
from tests.mockserver.delivery.scenario import running

ONCE = dialect(retry={**PROMPT, "attempts": 1})


async def deliver_with(
    authority: LoopbackAuthority, authentication: Mapping[str, Any], **custom: str
) -> EndpointRequest:
    """Deliver to an endpoint with this authentication and return the request."""
    async with running(authority) as (store, endpoint):
        store.endpoints["e"] = settings("e", endpoint.url, authentication=authentication)
        store.accept("e", custom_headers=custom)
        await store.until_final()
        [request] = endpoint.arrived
        return request


async def test_an_api_key_goes_in_its_header_and_no_custom_header_replaces_it(
    authority: LoopbackAuthority,
) -> None:
    authentication = {"type": "api_key", "api_key": {"header_name": "X-Key", "header_value": "k-1"}}
    request = await deliver_with(authority, authentication, **{"x-key": "forged", "X-Other": "1"})
    assert [value for name, value in request.headers if name.lower() == "x-key"] == ["k-1"]
    assert request.header("X-Other") == "1"


async def test_an_api_key_may_use_the_authorization_header(authority: LoopbackAuthority) -> None:
    authentication = {
        "type": "api_key",
        "api_key": {"header_name": "Authorization", "header_value": "Key k-1"},
    }
    assert (await deliver_with(authority, authentication)).header("Authorization") == "Key k-1"


async def test_basic_auth_sends_user_name_and_password(authority: LoopbackAuthority) -> None:
    authentication = {"type": "basic_auth", "basic_auth": {"username": "ü", "password": "p:w"}}
    value = (await deliver_with(authority, authentication)).header("Authorization")
    assert value is not None
    assert base64.b64decode(value.removeprefix("Basic ")).decode() == "ü:p:w"


@pytest.mark.parametrize("authentication", [{}, {"type": ""}, {"api_key": {"header_name": "a"}}])
async def test_an_authentication_without_type_presents_nothing(
    authority: LoopbackAuthority, authentication: dict[str, Any]
) -> None:
    assert (await deliver_with(authority, authentication)).header("Authorization") is None


@pytest.mark.parametrize(
    "authentication",
    [
        {"type": "unheard_of"},
        {"type": "api_key"},
        {"type": "api_key", "api_key": {"header_name": "X\r\nY", "header_value": "the-secret"}},
        {
            "type": "api_key",
            "api_key": {"header_name": "X-Key", "header_value": "the-secret\r\nX: 1"},
        },
        {"type": "api_key", "api_key": {"header_name": "Host", "header_value": "the-secret"}},
        {
            "type": "api_key",
            "api_key": {"header_name": "X-Webhook-Signature", "header_value": "the-secret"},
        },
        {"type": "oauth2"},
        {"type": "oauth2", "oauth2": {"url": "nonsense", "client_secret": "the-secret"}},
        {"type": "oauth2", "oauth2": {"url": "https://10.0.0.1/", "client_secret": "the-secret"}},
        {"type": "oauth2", "oauth2": {"url": "https://a.invalid/", "client_secret": "the-secret"}},
        {
            "type": "oauth2",
            "oauth2": {"authentication_type": "unheard_of", "client_secret": "the-secret"},
        },
        {
            "type": "oauth2",
            "oauth2": {
                "authentication_type": "client_assertion",
                "signing_key": {"d": "the-secret"},
            },
        },
    ],
)
async def test_unusable_credentials_are_a_failure_whose_detail_contains_none(
    authority: LoopbackAuthority, authentication: dict[str, Any]
) -> None:
    async with running(authority, answers=ONCE) as (store, endpoint):
        store.endpoints["e"] = settings("e", endpoint.url, authentication=authentication)
        delivery = store.accept("e")
        await store.until_final()
        [outcome] = store.outcomes[delivery]
        assert outcome.failure is Failure.CREDENTIALS
        assert "the-secret" not in outcome.detail
        assert endpoint.arrived == []


async def test_a_client_certificate_is_presented_to_its_endpoint_and_no_other(
    authority: LoopbackAuthority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hookproof.mockserver.delivery.http_client.pool.IDLE_S", 300.0)
    issued = authority.ca.issue_cert("the-client")
    pair = ClientCertificate(
        certificate=issued.cert_chain_pems[0].bytes().decode(),
        key=issued.private_key_pem.bytes().decode(),
    )

    async with running(authority) as (store, endpoint):
        store.endpoints["mutual"] = settings(
            "mutual", f"{endpoint.url}/mutual", client_certificate=pair
        )
        store.endpoints["plain"] = settings("plain", f"{endpoint.url}/plain")
        for uid in ("mutual", "plain", "mutual"):
            store.accept(uid)
            await store.until_final()
        assert endpoint.requests_at("/plain")[0].client_certificate is None
        certificates = [request.client_certificate for request in endpoint.requests_at("/mutual")]
        assert certificates[0] is not None
        assert certificates == [certificates[0]] * 2
        assert endpoint.connections == 2


def encrypted_key(pem: str) -> str:
    key = serialization.load_pem_private_key(pem.encode(), None)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"pass"),
    ).decode()


@pytest.mark.parametrize("case", ["nonsense", "another key", "an encrypted key"])
async def test_an_unusable_client_certificate_is_a_failure_whose_detail_contains_no_key(
    authority: LoopbackAuthority, case: str
) -> None:
    issued = authority.ca.issue_cert("the-client")
    certificate, key = (
        issued.cert_chain_pems[0].bytes().decode(),
        issued.private_key_pem.bytes().decode(),
    )
    keys = {
        "nonsense": "the-secret",
        "another key": trustme.CA().issue_cert("x").private_key_pem.bytes().decode(),
        "an encrypted key": encrypted_key(key),
    }
    pair = ClientCertificate(certificate=certificate, key=keys[case])

    async with running(authority, answers=ONCE) as (store, endpoint):
        store.endpoints["e"] = settings("e", endpoint.url, client_certificate=pair)
        delivery = store.accept("e")
        await store.until_final()
        [outcome] = store.outcomes[delivery]
        assert outcome.failure is Failure.CONFIGURATION
        assert "mtls_client_cert" in outcome.detail
        assert "the-secret" not in outcome.detail
