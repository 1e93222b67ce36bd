"""Responses and refusals keep the contract or break it, as the document and a dialect say."""

from copy import deepcopy
from typing import Any

import pytest

from hookproof.spec.contract.service_contract import OPERATION_IDS
from tests.spec.contract.valid_bodies import RESPONSES, TIME, UID, spoilt, without
from tests.spec.dialect_variants import UNDECIDED, contract, pointers

UUID = "123e4567-e89b-42d3-a456-426614174000"
REFERENCE = contract({})


@pytest.mark.parametrize("operation_id", OPERATION_IDS)
def test_a_response_that_keeps_the_contract_has_no_problem(operation_id: str) -> None:
    assert REFERENCE.response_problems(operation_id, RESPONSES[operation_id]) == ()


@pytest.mark.parametrize("operation_id", OPERATION_IDS)
@pytest.mark.parametrize("field", ["message", "status", "data"])
def test_a_response_has_the_whole_envelope(operation_id: str, field: str) -> None:
    assert REFERENCE.response_problems(operation_id, without(RESPONSES[operation_id], f"/{field}"))
    problems = REFERENCE.response_problems(
        operation_id, spoilt(RESPONSES[operation_id], f"/{field}", None)
    )
    assert set(pointers(problems)) == {f"/{field}"}


@pytest.mark.parametrize(
    ("operation_id", "pointer", "value"),
    [
        ("createEndpoint", "/status", "true"),
        ("createEndpoint", "/data", []),
        ("createEndpoint", "/data/uid", 7),
        ("createEndpoint", "/data/uid", "endpoint-1"),
        ("createEndpoint", "/data/uid", None),
        ("createEndpoint", "/data/project_id", None),
        ("createEndpoint", "/data/url", None),
        ("createEndpoint", "/data/status", None),
        ("createEndpoint", "/data/advanced_signatures", None),
        ("createEndpoint", "/data/name", 7),
        ("createEndpoint", "/data/failure_rate", 0.5),
        ("createEndpoint", "/data/created_at", "2030-01-02T03:04:05Z"),
        ("createEndpoint", "/data/created_at", None),
        ("createEndpoint", "/data/deleted_at", "never"),
        ("createEndpoint", "/data/deleted_at", ""),
        ("createEndpoint", "/data/secrets/0", None),
        ("createEndpoint", "/data/secrets/0/uid", "secret-1"),
        ("createEndpoint", "/data/secrets/0/value", 7),
        ("createEndpoint", "/data/secrets/0/expires_at", "soon"),
        ("createEndpoint", "/data/authentication/api_key/header_value", 7),
        ("createEndpoint", "/data/authentication/type", 7),
        ("createEndpoint", "/data/mtls_client_cert", "pem"),
        ("listPortalLinks", "/data/content", None),
        ("listPortalLinks", "/data/content/0", None),
        ("listPortalLinks", "/data/content/0/endpoint_count", None),
        ("listPortalLinks", "/data/content/0/endpoints_metadata/0", None),
        ("listPortalLinks", "/data/content/0/endpoints_metadata/0/secrets/0/value", 7),
        ("listPortalLinks", "/data/pagination", None),
        ("listPortalLinks", "/data/pagination/has_next_page", None),
        ("listPortalLinks", "/data/pagination/per_page", "20"),
        ("listSources", "/data/pagination/next_page_cursor", 7),
        ("listSources", "/data/content/0/verifier/type", 7),
        ("listSources", "/data/content/0/type", None),
        ("createBroadcastEvent", "/data/data", "{}"),
        ("createBroadcastEvent", "/data/data/0", "{"),
        ("createBroadcastEvent", "/data/is_duplicate_event", None),
        ("createBroadcastEvent", "/data/source_metadata", {"uid": "source-1"}),
        ("createBroadcastEvent", "/data/acknowledged_at", 7),
    ],
)
def test_a_response_with_a_wrong_value_is_reported_at_that_value(
    operation_id: str, pointer: str, value: object
) -> None:
    problems = REFERENCE.response_problems(
        operation_id, spoilt(RESPONSES[operation_id], pointer, value)
    )
    assert problems
    assert all(place.startswith(pointer) for place in pointers(problems))


@pytest.mark.parametrize("field", ["content", "pagination"])
def test_a_page_has_content_and_pagination(field: str) -> None:
    assert REFERENCE.response_problems(
        "listSources", without(RESPONSES["listSources"], f"/data/{field}")
    )


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/data/failure_rate", 200.0),
        ("/data/name", None),
        ("/data/secrets", None),
        ("/data/authentication", None),
        ("/data/colour", "red"),
        ("/data/secrets/0/colour", "red"),
        ("/data/status", "a word that nobody listed"),
        ("/colour", "red"),
    ],
)
def test_a_response_stays_open_where_the_document_is(pointer: str, value: object) -> None:
    assert (
        REFERENCE.response_problems("getEndpoint", spoilt(RESPONSES["getEndpoint"], pointer, value))
        == ()
    )


@pytest.mark.parametrize(
    ("no_value", "accepted"),
    [
        ("null", {"null"}),
        ("absent", set()),
        ("empty", {"empty"}),
        ({"one_of": ["absent", "null"]}, {"null"}),
        ({"one_of": ["empty", "null"]}, {"null", "empty"}),
        (UNDECIDED, {"null", "empty"}),
    ],
)
@pytest.mark.parametrize("pointer", ["/data/deleted_at", "/data/secrets/0/expires_at"])
def test_a_field_without_value_is_shown_as_the_dialect_says(
    no_value: object, accepted: set[str], pointer: str
) -> None:
    service = contract({"representation.no_value": no_value})
    body = deepcopy(RESPONSES["getEndpoint"])
    for place in (
        "/data/mtls_client_cert",
        "/data/deleted_at",
        "/data/secrets/0/expires_at",
        "/data/authentication/oauth2",
    ):
        body = without(body, place)
    assert service.response_problems("getEndpoint", body) == ()
    for name, value in (("null", None), ("empty", "")):
        problems = service.response_problems("getEndpoint", spoilt(body, pointer, value))
        assert pointers(problems) == ([] if name in accepted else [pointer])
    for wrong in (7, "soon"):
        assert pointers(service.response_problems("getEndpoint", spoilt(body, pointer, wrong))) == [
            pointer
        ]


@pytest.mark.parametrize(
    ("answers", "pointer", "value", "valid"),
    [
        ({"representation.identifier": "uuid"}, "/data/uid", UUID, True),
        ({"representation.identifier": "uuid"}, "/data/uid", UID, False),
        ({"representation.identifier": "opaque"}, "/data/uid", "x", True),
        ({"representation.identifier": "opaque"}, "/data/uid", "", False),
        ({"representation.identifier": {"one_of": ["uuid", "ulid"]}}, "/data/uid", UUID, True),
        ({"representation.identifier": {"one_of": ["uuid", "ulid"]}}, "/data/uid", UID, True),
        ({"representation.identifier": {"one_of": ["uuid", "ulid"]}}, "/data/uid", "x", False),
        ({"representation.identifier_of": {"Endpoint": "ep_[0-9]{2}"}}, "/data/uid", "ep_42", True),
        ({"representation.identifier_of": {"Endpoint": "ep_[0-9]{2}"}}, "/data/uid", "ep_4", False),
        ({"representation.identifier_of": {"Endpoint": "ep_[0-9]{2}"}}, "/data/uid", UID, False),
        ({"representation.identifier_of": {"Secret": "ep_[0-9]{2}"}}, "/data/uid", UID, True),
        ({"representation.identifier": UNDECIDED}, "/data/uid", "", True),
        ({"representation.identifier": UNDECIDED}, "/data/uid", 7, False),
        ({}, "/data/uid", f"{UID}\n", False),
        (
            {"representation.timestamp": "rfc3339"},
            "/data/created_at",
            "2030-01-02T03:04:05+02:00",
            True,
        ),
        ({"representation.timestamp": "rfc3339"}, "/data/created_at", TIME, True),
        (
            {"representation.timestamp": "unix_milliseconds"},
            "/data/created_at",
            "1893553445678",
            True,
        ),
        (
            {"representation.timestamp": "unix_milliseconds"},
            "/data/updated_at",
            "9007199254740992000",  # as far away as an expiration of 2^53 seconds
            True,
        ),
        (
            {"representation.timestamp": "unix_milliseconds"},
            "/data/created_at",
            1893553445678,
            False,
        ),
        ({"representation.timestamp": "unix_milliseconds"}, "/data/created_at", TIME, False),
        ({"representation.timestamp": UNDECIDED}, "/data/created_at", "noon", True),
        ({}, "/data/updated_at", "٢٠٣٠-01-02T03:04:05.678901Z", False),
    ],
)
def test_values_have_the_form_that_the_dialect_gives_them(
    answers: dict[str, Any], pointer: str, value: object, valid: bool
) -> None:
    loose = {"representation.identifier": UNDECIDED, "representation.timestamp": UNDECIDED}
    path = "representation.identifier" if pointer == "/data/uid" else "representation.timestamp"
    other = {name: answer for name, answer in loose.items() if name != path}
    service = contract({**other, **answers})
    body = spoilt(without(RESPONSES["getEndpoint"], "/data/secrets"), pointer, value)
    if pointer == "/data/updated_at":
        body = without(body, "/data/created_at")
    problems = [
        problem
        for problem in pointers(service.response_problems("getEndpoint", body))
        if problem == pointer
    ]
    assert problems == ([] if valid else [pointer])


# ---- Refusals


@pytest.mark.parametrize(
    ("template", "valid", "invalid"),
    [
        (
            {"ok": False, "text": "{message}"},
            {"ok": False, "text": "no"},
            {"ok": True, "text": "no"},
        ),
        ({"ok": False, "text": "{message}"}, {"ok": False, "text": "", "more": 1}, {"ok": False}),
        (
            {"ok": False, "text": "{message}"},
            {"ok": False, "text": "a\nb"},
            {"ok": False, "text": 7},
        ),
        (
            {"error": {"code": "E{status}"}},
            {"error": {"code": "E404"}},
            {"error": {"code": "E4045"}},
        ),
        (
            {"error": {"code": "E{status}"}},
            {"error": {"code": "E404", "more": 1}},
            {"error": "E404"},
        ),
        ({"code": "E_{any}"}, {"code": "E_NOT_FOUND"}, {"code": "NOT_FOUND"}),
        ({"text": "({status}) {message}."}, {"text": "(422) no."}, {"text": "(422) no"}),
        ({"help": None}, {"help": None}, {"help": "none"}),
        ({"count": 0}, {"count": 0}, {"count": False}),
        ({"all": ["{message}", 1]}, {"all": ["no", 1, 2]}, {"all": ["no"]}),
        ({"all": [{"m": "{message}"}]}, {"all": [{"m": "no"}]}, {"all": [{"m": 1}]}),
        ({}, {"anything": 1}, []),
    ],
)
def test_an_error_body_follows_the_template_of_the_dialect(
    template: dict[str, Any], valid: object, invalid: object
) -> None:
    service = contract({"errors.body": template})
    assert service.error_problems(valid) == ()
    assert service.error_problems(invalid)
