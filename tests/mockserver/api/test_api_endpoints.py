"""Sections 4.1 to 4.3 over sockets, under every shipped dialect, and which URLs are taken."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.vocabulary import (
    IDENTIFIER_PATTERNS,
    TIMESTAMP_PATTERNS,
    Acceptance,
    AppIdMeaning,
    CertificateEncoding,
    NoValue,
    SecretDisplay,
)
from tests.mockserver.client_certificates import certificate_and_key, written
from tests.mockserver.running_server import every_dialect, run_server

MEMBERS = ("crv", "d", "dp", "dq", "e", "kid", "kty", "n", "p", "q", "qi", "x", "y")
SIGNING_KEY = {member: f"member {member}" for member in MEMBERS}


def fitting_secret(dialect: Dialect, seed: str) -> str:
    return f"{dialect.signatures.secret.prefix}{seed * 8}"


def shown_secret(dialect: Dialect, value: str, *, when_set: bool) -> str:
    display = dialect.representation.secrets_shown.value
    return value if when_set or display is SecretDisplay.ALWAYS else dialect.representation.mask


@every_dialect
async def test_what_was_created_is_what_is_fetched(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        words = server.dialect.words
        given = server.endpoint_body(
            description="läuft 配送",
            content_type="application/x-www-form-urlencoded",
            advanced_signatures=True,
            http_timeout=7,
            rate_limit=5,
            rate_limit_duration=60,
            slack_webhook_url="https://chat.invalid/x",
            support_email="dev@receiver.invalid",
        )
        created = await server.create_endpoint(
            **given,
            authentication={
                "type": words.auth_api_key,
                "api_key": {"header_name": "X-Key", "header_value": "value"},
            },
        )
        assert {field: created[field] for field in given} == given
        assert created["status"] == words.endpoint_active.value
        assert created["authentication"]["api_key"] == {
            "header_name": "X-Key",
            "header_value": "value",
        }
        fetched = await server.call("getEndpoint", target=created["uid"])
        assert server.is_success("getEndpoint", fetched)
        # Secrets may be masked when they are fetched.
        assert {**fetched.data, "secrets": None} == {**created, "secrets": None}


@every_dialect
async def test_identifiers_and_times_have_the_dialects_forms(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        created = await server.create_endpoint()
        shown = server.dialect.representation
        assert re.search(IDENTIFIER_PATTERNS[shown.identifier.value], created["uid"])
        assert re.search(IDENTIFIER_PATTERNS[shown.identifier.value], created["secrets"][0]["uid"])
        assert re.search(TIMESTAMP_PATTERNS[shown.timestamp.value], created["created_at"])


@every_dialect
async def test_a_field_without_value_is_shown_as_the_dialect_says(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        created = await server.create_endpoint()
        if server.dialect.representation.no_value.value is NoValue.NULL:
            assert created["support_email"] is None
            assert created["secrets"][0]["expires_at"] is None
        else:
            assert "support_email" not in created
            assert "expires_at" not in created["secrets"][0]


@every_dialect
async def test_defaults_of_the_document_and_the_dialect_fill_in(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        created = await server.create_endpoint()
        assert created["content_type"] == "application/json"
        assert created["advanced_signatures"] is False
        assert created["http_timeout"] == server.dialect.delivery.default_timeout_s.value


async def test_a_timeout_of_zero_is_shown_as_zero() -> None:
    async with run_server("reference") as server:
        assert server.dialect.requests.http_timeout_minimum == 0
        assert (await server.create_endpoint(http_timeout=0))["http_timeout"] == 0


@every_dialect
async def test_a_disabled_endpoint_has_the_dialects_word_for_it(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        created = await server.create_endpoint(is_disabled=True)
        assert created["status"] == server.dialect.words.endpoint_disabled.value


@every_dialect
async def test_a_given_secret_is_kept_and_shown_where_the_dialect_shows_it(
    dialect_name: str,
) -> None:
    async with run_server(dialect_name) as server:
        secret = fitting_secret(server.dialect, "abcd")
        created = await server.create_endpoint(secret=secret)
        assert [item["value"] for item in created["secrets"]] == [secret]
        fetched = await server.call("getEndpoint", target=created["uid"])
        assert fetched.data["secrets"][0]["value"] == shown_secret(
            server.dialect, secret, when_set=False
        )


@every_dialect
async def test_generated_secrets_are_strong_fitting_and_never_the_same(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        rules = server.dialect.signatures.secret
        values = {(await server.create_endpoint())["secrets"][0]["value"] for _ in range(20)}
        assert len(values) == 20
        for value in values:
            assert value.startswith(rules.prefix)
            assert len(value) - len(rules.prefix) >= rules.generated_bytes * 4 // 3


@every_dialect
async def test_credentials_are_masked_exactly_where_the_dialect_masks_them(
    dialect_name: str,
) -> None:
    async with run_server(dialect_name) as server:
        words = server.dialect.words
        given = {
            "authentication": {
                "type": words.auth_oauth2,
                "basic_auth": {"username": "user", "password": "pass"},
                "oauth2": {
                    "url": "https://token.invalid/",
                    "authentication_type": words.oauth2_assertion,
                    "client_id": "client",
                    "client_secret": "hidden",
                    "grant_type": "client_credentials",
                    "scope": "a b",
                    "audience": "audience",
                    "issuer": "issuer",
                    "subject": "subject",
                    "expiry_time_unit": next(iter(words.oauth2_expiry_units)),
                    "field_mapping": {"access_token": "a", "expires_in": "e", "token_type": "t"},
                    "signing_algorithm": "RS256",
                    "signing_key": SIGNING_KEY,
                },
            },
            "mtls_client_cert": written(certificate_and_key(), server.dialect),
        }
        created = await server.create_endpoint(**given)
        masked = set(server.dialect.representation.masked)

        def compare(wanted: object, shown: object, path: str) -> None:
            if isinstance(wanted, dict):
                assert isinstance(shown, dict)
                for member, value in wanted.items():
                    compare(value, shown[member], f"{path}.{member}" if path else member)
            else:
                assert shown == (
                    server.dialect.representation.mask if path in masked else wanted
                ), path

        compare(given, {name: created[name] for name in given}, "")


@every_dialect
async def test_the_deprecated_app_id_means_what_the_dialect_says(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        alias = server.dialect.requests.app_id.value is AppIdMeaning.OWNER_ALIAS
        body = (
            {"appID": "an app"}
            if "owner_id" not in server.dialect.requests.create_endpoint_requires
            else {"appID": "an app", "owner_id": "an owner"}
        )
        response = await server.call(
            "createEndpoint", body={"name": "n", "url": "https://receiver.invalid/", **body}
        )
        assert response.data.get("owner_id") == ("an app" if alias else body.get("owner_id"))


@every_dialect
async def test_each_roll_keeps_the_old_secrets_with_a_window_of_their_own(
    dialect_name: str,
) -> None:
    async with run_server(dialect_name) as server:
        values = [fitting_secret(server.dialect, seed) for seed in ("aaaa", "bbbb", "cccc", "dddd")]
        created = await server.create_endpoint(secret=values[0])
        windows = (3_600_000, 1_800_000, 60_000)
        ends: list[str] = []
        for value, window in zip(values[1:], windows, strict=True):
            rolled = await server.call(
                "expireEndpointSecret",
                target=created["uid"],
                body={"secret": value, "expiration": window},
            )
            assert server.is_success("expireEndpointSecret", rolled), rolled.body
            *old, newest = rolled.data["secrets"]
            assert newest["value"] == value
            assert not newest.get("expires_at")
            assert [secret["expires_at"] for secret in old][: len(ends)] == ends
            ends = [secret["expires_at"] for secret in old]
        assert [secret["value"] for secret in rolled.data["secrets"]] == values
        assert len(set(ends)) == 3
        assert rolled.data["secrets"][0]["uid"] == created["secrets"][0]["uid"]
        fetched = await server.call("getEndpoint", target=created["uid"])
        assert [secret.get("expires_at") for secret in fetched.data["secrets"]][:-1] == ends


async def test_a_roll_without_a_body_makes_a_secret_where_nothing_is_required() -> None:
    async with run_server("reference") as server:
        created = await server.create_endpoint()
        rolled = await server.call("expireEndpointSecret", target=created["uid"])
        assert server.is_success("expireEndpointSecret", rolled)
        old, new = rolled.data["secrets"]
        assert old["value"] != new["value"]


@every_dialect
async def test_plain_http_and_missing_fields_are_refused(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        invalid = server.dialect.errors.invalid_value.value
        body = server.endpoint_body(url="http://receiver.invalid/")
        assert server.is_refusal(await server.call("createEndpoint", body=body), invalid)
        for field in server.dialect.requests.create_endpoint_requires:
            body = server.endpoint_body()
            del body[field]
            assert server.is_refusal(await server.call("createEndpoint", body=body), invalid), field


@every_dialect
async def test_numbers_beyond_the_dialects_bounds_are_refused(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        rules = server.dialect.requests
        assert rules.http_timeout_maximum is not None
        assert rules.rate_limit_maximum is not None
        assert rules.rate_limit_duration_maximum is not None
        out_of_bounds = (
            {"http_timeout": rules.http_timeout_maximum + 1},
            {"http_timeout": rules.http_timeout_minimum - 1},
            {"rate_limit": rules.rate_limit_maximum + 1},
            {"rate_limit_duration": rules.rate_limit_duration_maximum + 1},
            {"rate_limit": 2**70},
            {"rate_limit": 1.5},
        )
        for fields in out_of_bounds:
            response = await server.call("createEndpoint", body=server.endpoint_body(**fields))
            assert server.is_refusal(response, server.dialect.errors.invalid_value.value), fields


@every_dialect
async def test_an_unknown_endpoint_and_one_of_another_project_look_alike(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        created = await server.create_endpoint()
        unknown = await server.call("getEndpoint", target="unknown")
        foreign = await server.call(
            "getEndpoint", target=created["uid"], project="two", key="key-two"
        )
        errors = server.dialect.errors
        assert server.is_refusal(unknown, errors.unknown_resource.value)
        assert foreign.text == unknown.text
        prefix = server.dialect.signatures.secret.prefix
        body = {"expiration": 1, "secret": f"{prefix}abcdefgh"}
        rolled = await server.call("expireEndpointSecret", target="unknown", body=body)
        status = errors.status("unknown_resource", "expireEndpointSecret")
        assert server.is_refusal(rolled, status.value)


async def test_a_header_that_no_request_can_carry_is_refused_when_an_endpoint_is_created() -> None:
    async with run_server("reference") as server:
        for fields in (
            {"content_type": "text/plain\r\nX: y"},
            {
                "authentication": {
                    "type": "api_key",
                    "api_key": {"header_name": "a b", "header_value": "c"},
                }
            },
            {
                "authentication": {
                    "type": "api_key",
                    "api_key": {"header_name": "a", "header_value": "c\nd"},
                }
            },
        ):
            response = await server.call("createEndpoint", body=server.endpoint_body(**fields))
            assert server.is_refusal(response, 400), fields


UNUSABLE = {
    "no host": {"url": "https:///path"},
    "no host but a port": {"url": "https://:8443/"},
    "port 0": {"url": "https://receiver.invalid:0/"},
    "a port beyond all": {"url": "https://receiver.invalid:65536/"},
    "a port in words": {"url": "https://receiver.invalid:https/"},
    "half an address": {"url": "https://[::1/"},
    "a host with a space": {"url": "https://receiver .invalid/"},
    "no certificate": {"mtls_client_cert": {"client_cert": "none", "client_key": "none"}},
    "half a pair": {"mtls_client_cert": {"client_cert": "only"}},
}


@every_dialect
@pytest.mark.parametrize("settings", UNUSABLE.values(), ids=UNUSABLE)
async def test_settings_that_no_delivery_could_use_are_refused(
    dialect_name: str, settings: dict[str, object]
) -> None:
    async with run_server(dialect_name) as server:
        body = server.endpoint_body(**settings)
        refused = await server.call("createEndpoint", body=body)
        assert refused.status == server.dialect.errors.invalid_value.value


@every_dialect
async def test_a_certificate_and_the_key_of_another_are_refused(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        pair, other = (
            written(certificate_and_key(name), server.dialect) for name in ("one", "another")
        )
        pair = {**pair, "client_key": other["client_key"]}
        refused = await server.call(
            "createEndpoint", body=server.endpoint_body(mtls_client_cert=pair)
        )
        assert refused.status == server.dialect.errors.invalid_value.value


@every_dialect
async def test_a_certificate_in_another_encoding_than_the_dialects_is_refused(
    dialect_name: str,
) -> None:
    async with run_server(dialect_name) as server:
        encoding = server.dialect.requests.client_certificate.value
        pem, other = certificate_and_key(), load_dialect("contrary")
        pair = written(pem, other) if encoding is CertificateEncoding.PEM else pem
        body = server.endpoint_body(mtls_client_cert=pair)
        refused = await server.call("createEndpoint", body=body)
        assert refused.status == server.dialect.errors.invalid_value.value


@every_dialect
@pytest.mark.parametrize("authentication", [{}, {"oauth2": {}}], ids=["left out", "empty"])
async def test_oauth2_without_its_object_is_refused(
    dialect_name: str, authentication: dict[str, object]
) -> None:
    async with run_server(dialect_name) as server:
        kind = {"type": server.dialect.words.auth_oauth2, **authentication}
        refused = await server.call(
            "createEndpoint", body=server.endpoint_body(authentication=kind)
        )
        assert refused.status == server.dialect.errors.invalid_value.value


ADDRESSES = (
    "https://127.0.0.1/",
    "https://127.83.71.5/",
    "https://10.1.2.3/",
    "https://192.168.0.1/a",
    "https://169.254.169.254/latest",
    "https://[::1]/",
    "https://[fd00::1]/",
    "HTTPS://127.0.0.1/",
)
PORTS = ("https://one.invalid:8443/", "https://one.invalid:80/")
USER_INFORMATION = (
    "https://user:password@one.invalid/",
    "https://user@one.invalid/",
    "https://@one.invalid/",
)
ODD_HOSTS = (
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.0.0.1/",
    "https://0177.0.0.1/",
    "https://127.1/",
    "https://127.0.0.1./",
    "https://[::ffff:127.0.0.1]/",
    "https://[::FFFF:8.8.8.8]/",
)
FRAGMENTS = ("https://one.invalid/#part", "https://one.invalid/#", "https://one.invalid/?a#b")
PLAIN = (
    "https://one.invalid/",
    "https://one.invalid:443/a?b=c%23d",
    "https://one.invalid/user@host",
    "https://0x7f.one.invalid/",
    "https://8.8.8.8/",
    "https://[2606:4700::1111]/",
)
KINDS = {
    "url_addresses": ADDRESSES,
    "url_other_ports": PORTS,
    "url_user_information": USER_INFORMATION,
    "url_odd_hosts": ODD_HOSTS,
    "url_fragments": FRAGMENTS,
}


def answering(**answers: Acceptance | None) -> Callable[[Dialect], Dialect]:
    """The change of a dialect that gives these questions about requests an answer, or none."""
    given = {
        name: Answer((), "nobody asked") if answer is None else Answer((answer,))
        for name, answer in answers.items()
    }

    def change(dialect: Dialect) -> Dialect:
        return replace(dialect, requests=replace(dialect.requests, **given))

    return change


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("answer", [Acceptance.TAKEN, Acceptance.REFUSED, None])
async def test_urls_of_one_kind_are_refused_where_the_dialect_says_so(
    name: str, answer: Acceptance | None
) -> None:
    others = dict.fromkeys(KINDS, Acceptance.TAKEN)

    async with run_server("reference", change=answering(**{**others, name: answer})) as server:
        for kind, urls in KINDS.items():
            refused = kind == name and answer is Acceptance.REFUSED
            for url in urls:
                body = {"name": "n", "url": url}
                response = await server.call("createEndpoint", body=body)
                assert response.status == (400 if refused else 201), url
                if refused:
                    assert server.is_refusal(response, 400)
                else:
                    assert response.data["url"] == url


@every_dialect
async def test_a_plain_url_is_taken_whatever_the_dialect_refuses(dialect_name: str) -> None:
    change = answering(**dict.fromkeys(KINDS, Acceptance.REFUSED))
    async with run_server(dialect_name, change=change) as server:
        for url in PLAIN:
            response = await server.call("createEndpoint", body=server.endpoint_body(url=url))
            assert server.is_success("createEndpoint", response), url


async def test_the_reference_dialect_takes_all_of_them() -> None:
    async with run_server("reference") as server:
        for urls in KINDS.values():
            for url in urls:
                response = await server.call("createEndpoint", body=server.endpoint_body(url=url))
                assert server.is_success("createEndpoint", response), url
