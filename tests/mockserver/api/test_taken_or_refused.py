"""Requests on which the document is silent are taken or refused as the dialect says."""

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum

import pytest

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Acceptance, OnInput
from tests.mockserver.running_server import run_server


def answering(name: str, value: StrEnum | None) -> Callable[[Dialect], Dialect]:
    """The change of a dialect that gives one question about requests this answer, or none."""
    answer = Answer((), "nobody asked") if value is None else Answer((value,))

    def change(dialect: Dialect) -> Dialect:
        return replace(dialect, requests=replace(dialect.requests, **{name: answer}))

    return change


@pytest.mark.parametrize(
    ("answer", "status"), [(OnInput.REFUSED, 400), (OnInput.IGNORED, 202), (None, 202)]
)
async def test_an_identifier_in_endpoints_that_names_nothing(
    answer: OnInput | None, status: int
) -> None:
    async with run_server(
        "reference", change=answering("unknown_listed_endpoints", answer)
    ) as server:
        known = (await server.create_endpoint())["uid"]
        foreign = await server.call(
            "createEndpoint", body=server.endpoint_body(), project="two", key="key-two"
        )
        link = await server.create_portal_link(name="link")
        for unknown in ("unknown", foreign.data["uid"]):
            body = {"name": "changed", "endpoints": [known, unknown]}
            response = await server.call("updatePortalLink", target=link["uid"], body=body)
            assert response.status == status
        fetched = await server.call("getPortalLink", target=link["uid"])
        was_changed = status == 202
        assert fetched.data["name"] == ("changed" if was_changed else "link")
        assert fetched.data["endpoints"] == ([known] if was_changed else [])
        body = {"name": "changed", "endpoints": [known]}
        response = await server.call("updatePortalLink", target=link["uid"], body=body)
        assert response.status == 202


@pytest.mark.parametrize(
    ("answer", "status"), [(Acceptance.REFUSED, 400), (Acceptance.TAKEN, 200), (None, 200)]
)
async def test_a_roll_without_any_body(answer: Acceptance | None, status: int) -> None:
    async with run_server("reference", change=answering("roll_without_body", answer)) as server:
        uid = (await server.create_endpoint())["uid"]
        url = f"{server.base}/api/v1/projects/one/endpoints/{uid}/expire_secret"
        headers = {"Authorization": "Bearer key-one"}
        for data in (None, b""):
            async with server.session.put(
                url, data=data, headers=headers, skip_auto_headers=("Content-Type",)
            ) as response:
                assert response.status == status
        rolled = await server.call("expireEndpointSecret", target=uid, body={})
        assert rolled.status == 200


@pytest.mark.parametrize(
    ("answer", "status"), [(Acceptance.REFUSED, 415), (Acceptance.TAKEN, 201), (None, 415)]
)
async def test_a_body_without_a_content_type(answer: Acceptance | None, status: int) -> None:
    async with run_server("reference", change=answering("undeclared_body", answer)) as server:
        url = f"{server.base}/api/v1/projects/one/endpoints"
        for content_type, expected in ((None, status), ("text/plain", 415)):
            headers = {"Authorization": "Bearer key-one"}
            if content_type is not None:
                headers["Content-Type"] = content_type
            async with server.session.post(
                url,
                data=b'{"name": "n", "url": "https://one.invalid/"}',
                headers=headers,
                skip_auto_headers=("Content-Type",),
            ) as response:
                assert response.status == expected


@pytest.mark.parametrize(
    ("answer", "status"), [(Acceptance.REFUSED, 400), (Acceptance.TAKEN, 201), (None, 201)]
)
async def test_data_that_is_no_object(answer: Acceptance | None, status: int) -> None:
    async with run_server("reference", change=answering("other_data", answer)) as server:
        for text in (b"[1, 2.50]", b'"text"', b"12.50", b"true"):
            raw = b'{"event_type": "t", "data": ' + text + b"}"
            response = await server.call("createBroadcastEvent", raw=raw)
            assert response.status == status
            if status == 201:
                assert bytes(response.data["data"]) == text


@pytest.mark.parametrize(
    ("answer", "status"), [(Acceptance.REFUSED, 400), (Acceptance.TAKEN, 201), (None, 400)]
)
async def test_null_in_place_of_a_field(answer: Acceptance | None, status: int) -> None:
    async with run_server("reference", change=answering("null_fields", answer)) as server:
        endpoint = {"name": "n", "url": "https://a.invalid/", "is_disabled": True}
        mapping = {"type": "api_key", "oauth2": {"field_mapping": None}, "basic_auth": None}
        unset = {"advanced_signatures": None, "owner_id": None, "authentication": mapping}
        body = {**endpoint, **unset}
        created = await server.call("createEndpoint", body=body)
        assert created.status == status
        if status == 201:
            assert created.data["advanced_signatures"] is False
        required = await server.call("createEndpoint", body={**endpoint, "name": None})
        assert required.status == 400
        event = {"event_type": "t", "data": {"kept": None}, "custom_headers": None}
        broadcast = await server.call("createBroadcastEvent", body=event)
        assert broadcast.status == status
        if status == 201:
            assert bytes(broadcast.data["data"]).replace(b" ", b"") == b'{"kept":null}'
        assert (
            await server.call("createBroadcastEvent", body={**event, "data": None})
        ).status == 400


async def test_texts_and_data_are_as_long_and_deep_as_the_dialect_says() -> None:
    def change(dialect: Dialect) -> Dialect:
        rules = replace(
            dialect.requests, text_maximum_of={"name": 50}, nesting_maximum=Answer((20,))
        )
        return replace(dialect, requests=rules)

    async with run_server("reference", change=change) as server:
        for name, expected in (("\u00e9" * 50, 201), ("\u00e9" * 51, 400)):
            body = {"name": name, "url": "https://a.invalid/", "is_disabled": True}
            assert (await server.call("createEndpoint", body=body)).status == expected
        for levels, expected in ((20, 201), (21, 400)):
            data = b'{"a]\\"[":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"
            raw = b'{"event_type": "t", "data": ' + data + b"}"
            assert (await server.call("createBroadcastEvent", raw=raw)).status == expected
