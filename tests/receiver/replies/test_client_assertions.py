"""Clients that authenticate by signed assertions (RFC 7523)."""

import pytest
from joserfc.jwk import ECKey

from hookproof.receiver.replies.token_server_settings import (
    Client,
)
from tests.receiver.replies.token_server_fixtures import (
    EC,
    KEYED,
    NOW,
    RSA,
    asked,
    asserted,
    last,
    served,
)


def test_a_signed_assertion_is_granted_a_token() -> None:
    server = served(Client(client_id="other", public_key=RSA.as_dict(private=False)), KEYED)
    assert asked(server, asserted())[0] == 200
    assert (last(server)["client_id"], last(server)["proved_by"]) == ("shop", "assertion")
    rsa = served(Client(client_id="shop", public_key=RSA.as_dict(private=False)))
    assert asked(rsa, asserted(RSA, "PS256"))[0] == 200


def test_issuer_subject_and_audience_can_be_others() -> None:
    client = Client(
        client_id="shop",
        public_key=EC.as_dict(private=False),
        issuer="i",
        subject="s",
        audiences=("https://a",),
    )
    assert asked(served(client), asserted(iss="i", sub="s", aud=["x", "https://a"]))[0] == 200
    assert asked(served(client), asserted())[0] == 401


@pytest.mark.parametrize(
    "form",
    [
        asserted(ECKey.generate_key("P-256")),
        asserted(aud="https://elsewhere.invalid"),
        asserted(iss="other"),
        asserted(sub="other"),
        asserted(exp=int(NOW) - 60),
        asserted(exp=None),
        asserted(iat=int(NOW) + 600),
        asserted(nbf=int(NOW) + 600),
        {**asserted(), "client_assertion": asserted()["client_assertion"][:-4] + "AAAA"},
        {**asserted(), "client_assertion": "a.b.c"},
        {**asserted(), "client_assertion": "eyJhbGciOiJub25lIn0.e30."},
        {**asserted(), "client_assertion": "\u00e9"},
        {**asserted(), "client_assertion": ""},
        {**asserted(), "client_id": "other"},
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
    server = served(KEYED)
    status, answer = asked(server, form)
    assert (status, answer["error"]) == (401, "invalid_client")


def test_another_type_of_assertion_is_refused() -> None:
    assert (
        asked(served(KEYED), {**asserted(), "client_assertion_type": "x"})[1]["error"]
        == "invalid_request"
    )
