"""Clients that authenticate by signed assertions (RFC 7523)."""

import pytest
from joserfc.jwk import ECKey

from hookproof.receiver.replies.token_server_settings import Client
from tests.receiver.replies.token_server_fixtures import (
    EC,
    KEYED,
    NOW,
    RSA,
    assertion_form,
    last_record,
    make_server,
    request_token,
)


def test_a_signed_assertion_is_granted_a_token() -> None:
    server = make_server(Client(client_id="other", public_key=RSA.as_dict(private=False)), KEYED)
    assert request_token(server, assertion_form())[0] == 200
    assert (last_record(server)["client_id"], last_record(server)["proved_by"]) == (
        "shop",
        "assertion",
    )
    rsa = make_server(Client(client_id="shop", public_key=RSA.as_dict(private=False)))
    assert request_token(rsa, assertion_form(RSA, "PS256"))[0] == 200


def test_issuer_subject_and_audience_can_be_others() -> None:
    client = Client(
        client_id="shop",
        public_key=EC.as_dict(private=False),
        issuer="i",
        subject="s",
        audiences=("https://a",),
    )
    assert (
        request_token(
            make_server(client), assertion_form(iss="i", sub="s", aud=["x", "https://a"])
        )[0]
        == 200
    )
    assert request_token(make_server(client), assertion_form())[0] == 401


@pytest.mark.parametrize(
    "form",
    [
        assertion_form(ECKey.generate_key("P-256")),
        assertion_form(aud="https://elsewhere.invalid"),
        assertion_form(iss="other"),
        assertion_form(sub="other"),
        assertion_form(exp=int(NOW) - 60),
        assertion_form(exp=None),
        assertion_form(iat=int(NOW) + 600),
        assertion_form(nbf=int(NOW) + 600),
        {
            **assertion_form(),
            "client_assertion": assertion_form()["client_assertion"][:-4] + "AAAA",
        },
        {**assertion_form(), "client_assertion": "a.b.c"},
        {**assertion_form(), "client_assertion": "eyJhbGciOiJub25lIn0.e30."},
        {**assertion_form(), "client_assertion": "\u00e9"},
        {**assertion_form(), "client_assertion": ""},
        {**assertion_form(), "client_id": "other"},
    ],
    ids=[
        "key",
        "aud",
        "iss",
        "sub",
        "exp",
        "no exp",
        "iat",
        "nbf",
        "tail",
        "text",
        "none",
        "unicode",
        "empty",
        "id",
    ],
)
def test_an_assertion_that_proves_nothing_is_refused(form: dict[str, str]) -> None:
    server = make_server(KEYED)
    status, answer = request_token(server, form)
    assert (status, answer["error"]) == (401, "invalid_client")


def test_another_type_of_assertion_is_refused() -> None:
    assert (
        request_token(make_server(KEYED), {**assertion_form(), "client_assertion_type": "x"})[1][
            "error"
        ]
        == "invalid_request"
    )


def test_an_assertion_is_accepted_once_where_replays_are_refused() -> None:
    server = make_server(KEYED, single_use=True)
    assert request_token(server, assertion_form(jti="1"))[0] == 200
    status, answer = request_token(server, assertion_form(jti="1"))
    assert (status, answer["error_description"]) == (401, "the jti '1' was used before")
    assert request_token(server, assertion_form(jti="2"))[0] == 200
    for jti in (None, "", 7):
        assert request_token(server, assertion_form(jti=jti))[0] == 401


def test_an_assertion_is_accepted_again_where_nothing_forbids_it() -> None:
    server = make_server(KEYED)
    assert [request_token(server, assertion_form())[0] for _ in range(2)] == [200, 200]


def test_a_jti_that_was_refused_is_not_used_up() -> None:
    server = make_server(KEYED, single_use=True)
    assert request_token(server, assertion_form(aud="https://elsewhere.invalid"))[0] == 401
    assert request_token(server, assertion_form())[0] == 200


@pytest.mark.parametrize(("kid", "status"), [("key-1", 200), ("key-2", 401), (None, 200)])
def test_the_kid_of_an_assertion_is_that_of_the_key(kid: str | None, status: int) -> None:
    public_key = {**EC.as_dict(private=False), "kid": "key-1"}
    server = make_server(Client(client_id="shop", public_key=public_key))
    assert request_token(server, assertion_form(kid=kid))[0] == status
