"""The token endpoint follows RFC 6749, and misbehaves exactly as it is configured."""

import base64
import json
import time
from typing import Any
from urllib.parse import quote_plus, urlencode

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof.receiver.replies.script import Reply
from hookproof.receiver.replies.token_server_settings import (
    Client,
    FieldNames,
    TokenServerSettings,
    Turn,
)
from hookproof.spec.dialect.vocabulary import TimeUnit
from tests.receiver.receiver_process import receiver
from tests.receiver.replies.token_server_fixtures import (
    EC,
    FORM,
    NOW,
    SHOP,
    assertion_form,
    last_record,
    make_request,
    make_server,
    request_token,
)

BODY = {"grant_type": "client_credentials", "client_id": "shop", "client_secret": "hush & \xe9:"}


def basic(user: str, password: str) -> tuple[str, str]:
    pair = f"{quote_plus(user)}:{quote_plus(password)}"
    return "Authorization", "Basic " + base64.b64encode(pair.encode()).decode()


def test_a_secret_in_the_body_is_granted_a_token() -> None:
    server = make_server(SHOP)
    assert request_token(server, {**BODY, "scope": "a b", "audience": "x"}) == (
        200,
        {"access_token": "token-0", "expires_in": 3600, "token_type": "Bearer"},
    )
    record = last_record(server)
    assert (record["client_id"], record["proved_by"], record["scope"], record["audience"]) == (
        "shop",
        "body",
        "a b",
        "x",
    )
    assert (record["gave"], record["reason"], record["access_token"]) == (
        "token",
        None,
        "token-0",
    )
    assert (record["at"], record["expires_at"]) == (NOW, NOW + 3600)


def test_a_secret_in_the_header_is_granted_a_token() -> None:
    server = make_server(SHOP)
    assert (
        request_token(server, {"grant_type": "client_credentials"}, basic("shop", "hush & \xe9:"))[
            0
        ]
        == 200
    )
    assert last_record(server)["proved_by"] == "basic"


def test_one_that_is_to_grant_all_refuses_no_client_any_more() -> None:
    server = make_server(SHOP, turns=(Turn(gives="server_error"),))
    assert request_token(server, BODY)[0] == 500
    server.grant_all()
    assert request_token(server, BODY)[0] == 200


def test_without_clients_everyone_is_granted_a_token() -> None:
    assert request_token(make_server(), {"grant_type": "client_credentials"})[0] == 200


@pytest.mark.parametrize(
    ("form", "headers", "status", "error", "reason"),
    [
        ({**BODY, "client_secret": "hush"}, [], 401, "invalid_client", "secret is wrong"),
        ({**BODY, "client_id": "other"}, [], 401, "invalid_client", "no client 'other'"),
        (
            {"grant_type": "client_credentials", "client_id": "shop"},
            [],
            401,
            "invalid_client",
            "does not prove",
        ),
        ({**BODY, "grant_type": "password"}, [], 400, "unsupported_grant_type", "'password'"),
        ({"client_id": "shop"}, [], 400, "invalid_request", "grant_type"),
        ({**BODY, "scope": "a c"}, [], 400, "invalid_scope", "'c'"),
        (BODY, [basic("shop", "hush & \xe9:")], 400, "invalid_request", "more than one way"),
        (
            {"grant_type": "client_credentials"},
            [basic("shop", "x")],
            401,
            "invalid_client",
            "secret is wrong",
        ),
        (
            {"grant_type": "client_credentials", "client_id": "b"},
            [basic("shop", "x")],
            400,
            "invalid_request",
            "two client ids",
        ),
        (BODY, [("Authorization", "Bearer x")], 401, "invalid_client", "scheme Basic"),
        (
            {"grant_type": "client_credentials"},
            [("Authorization", "Basic \xff")],
            401,
            "invalid_client",
            "not base64",
        ),
        (
            {"grant_type": "client_credentials"},
            [("Authorization", "Basic eA==")],
            401,
            "invalid_client",
            "no colon",
        ),
    ],
)
def test_a_request_that_gets_no_token_is_refused_and_kept(
    form: dict[str, str], headers: list[tuple[str, str]], status: int, error: str, reason: str
) -> None:
    server = make_server(SHOP, scopes=("a", "b"))
    code, answer = request_token(server, form, *headers)
    assert (code, answer["error"]) == (status, error)
    assert reason in answer["error_description"]
    assert (last_record(server)["gave"], last_record(server)["access_token"]) == (error, None)
    assert reason in last_record(server)["reason"]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"{}", "application/json"),
        (b"grant_type", FORM),
        (b"a=1&a=2", FORM),
        (b"\xff=1", FORM),
        (b"a=1", ""),
    ],
)
def test_a_body_that_is_not_a_form_is_refused(body: bytes, kind: str) -> None:
    reply = make_server(SHOP).reply(make_request(body, ("Content-Type", kind)))
    assert (reply.status, json.loads(reply.body)["error"]) == (400, "invalid_request")


def test_a_client_may_be_held_to_one_way_of_authentication() -> None:
    server = make_server(Client(client_id="shop", client_secret="s", methods=("basic",)))
    assert request_token(server, {**BODY, "client_secret": "s"})[0] == 401
    assert request_token(server, {"grant_type": "client_credentials"}, basic("shop", "s"))[0] == 200


def test_fields_can_have_other_names_with_decoys_under_the_usual_ones() -> None:
    names = FieldNames(access_token="issued", expires_in="lifetime", token_type="kind")
    assert request_token(make_server(fields=names), {"grant_type": "client_credentials"})[1] == {
        "issued": "token-0",
        "lifetime": 3600,
        "kind": "Bearer",
    }
    answer = request_token(
        make_server(fields=names, decoys=True), {"grant_type": "client_credentials"}
    )[1]
    assert {answer[name] for name in ("access_token", "expires_in", "token_type")} == {"decoy"}


@pytest.mark.parametrize(
    ("unit", "expected"),
    [("milliseconds", 3600000), ("seconds", 3600), ("minutes", 60), ("hours", 1)],
)
def test_a_lifetime_is_reported_in_any_unit(unit: str, expected: int) -> None:
    server = make_server(expires_unit=TimeUnit(unit))
    assert request_token(server, {"grant_type": "client_credentials"})[1]["expires_in"] == expected
    assert last_record(server)["expires_at"] == NOW + 3600
    texts = make_server(expires_unit=TimeUnit(unit), expires_as_text=True)
    assert request_token(texts, {"grant_type": "client_credentials"})[1]["expires_in"] == str(
        expected
    )


def test_turns_apply_in_order_and_the_last_one_indefinitely() -> None:
    server = make_server(
        turns=(
            Turn(gives="server_error", times=2),
            Turn(gives="invalid_request"),
            Turn(gives="invalid_client"),
            Turn(omit=("expires_in",)),
            Turn(gives="expired"),
            Turn(),
        )
    )
    form = {"grant_type": "client_credentials"}
    answers = [request_token(server, form) for _ in range(8)]
    assert [status for status, _ in answers] == [500, 500, 400, 401, 200, 200, 200, 200]
    assert "expires_in" not in answers[4][1]
    assert answers[5][1]["expires_in"] == 0
    assert [record["gave"] for record in server.to_json()["requests"]] == [  # type: ignore[attr-defined]
        *["server_error"] * 2,
        "invalid_request",
        "invalid_client",
        "token",
        "expired",
        *["token"] * 2,
    ]


def test_a_malformed_answer_is_not_json_and_is_sent_after_its_delay() -> None:
    reply = make_server(turns=(Turn(gives="malformed", delay_s=1.5),)).reply(
        make_request(b"grant_type=client_credentials", ("Content-Type", FORM))
    )
    assert (reply.status, reply.delay_s) == (200, 1.5)
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads(reply.body)


def test_a_turn_can_send_any_reply() -> None:
    server = make_server(turns=(Turn(reply=Reply(status=418, hang=True)),))
    reply = server.reply(make_request(b"grant_type=client_credentials", ("Content-Type", FORM)))
    assert (reply.status, reply.hang, last_record(server)["gave"]) == (418, True, "reply")


@given(
    st.binary(max_size=200),
    st.lists(
        st.tuples(
            st.sampled_from(["Content-Type", "Authorization"]),
            st.text(st.characters(max_codepoint=255), max_size=40),
        ),
        max_size=3,
    ),
)
def test_no_request_makes_the_server_raise(body: bytes, headers: list[tuple[str, str]]) -> None:
    server = make_server(SHOP, Client(client_id="k", public_key=EC.as_dict(private=False)))
    assert server.reply(make_request(body, ("Content-Type", FORM), *headers)).status in {400, 401}
    assert server.reply(
        make_request(b"client_assertion=" + body.hex().encode(), *headers)
    ).status in {
        400,
        401,
    }


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"clients": [{"client_id": "a"}]}, "needs a client_secret or a public_key"),
        ({"clients": [{"client_id": "a", "public_key": {"kty": "EC"}}]}, "not a public JWK"),
        (
            {"clients": [{"client_id": "a", "public_key": {"kty": "oct", "k": "AA"}}]},
            "not a public JWK",
        ),
        (
            {"clients": [{"client_id": "a", "public_key": EC.as_dict(private=True)}]},
            "holds a private key",
        ),
        (
            {"clients": [{"client_id": "a", "client_secret": "s", "methods": ["assertion"]}]},
            "does not have",
        ),
        (
            {"clients": [{"client_id": "a", "client_secret": "s", "algorithms": ["none"]}]},
            "not one of the algorithms",
        ),
        ({"clients": [{"client_id": "a", "client_secret": "s"}] * 2}, "the same client_id"),
        ({"fields": {"access_token": "x", "expires_in": "x"}}, "the same name"),
        ({"expires_unit": "fortnights"}, "fortnights"),
        ({"lifetime_s": 0}, "lifetime_s"),
        ({"turns": []}, "length >= 1"),
        ({"turns": [{"gives": "cake"}]}, "cake"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_one_line(
    written: dict[str, Any], message: str
) -> None:
    with pytest.raises(msgspec.ValidationError, match=message) as refused:
        msgspec.convert(written, TokenServerSettings)
    assert "\n" not in str(refused.value)


def test_a_receiver_serves_tokens_and_records_the_requests() -> None:
    with receiver("--http") as process:
        token = process.new_token()
        key = Client(client_id="shop", public_key=EC.as_dict(private=False))
        process.call(
            lambda client: client.token_server(
                token,
                TokenServerSettings(clients=(key, Client(client_id="b", client_secret="s"))),
            )
        )
        kind = b"Content-Type: " + FORM.encode() + b"\r\n"
        now = int(time.time())
        form = assertion_form(aud=f"{process.url}/{token}", exp=now + 60, iat=now)
        answer = process.post(f"/{token}", urlencode(form).encode(), headers=kind)
        assert b" 200 OK\r\n" in answer
        granted = json.loads(answer.partition(b"\r\n\r\n")[2])["access_token"]
        assert b" 401 " in process.post(
            f"/{token}", b"grant_type=client_credentials&client_id=b", headers=kind
        )
        first, second = process.call(lambda client: client.token_requests(token))
        assert (first.sequence, first.client_id, first.access_token) == (1, "shop", granted)
        assert (second.sequence, second.gave) == (2, "invalid_client")
        assert len(process.call(lambda client: client.deliveries(token, 2))) == 2
        process.call(lambda client: client.script(token, [Reply(status=503)]))
        assert b" 503 " in process.post(f"/{token}")
        assert process.log.empty(), process.log.get()
