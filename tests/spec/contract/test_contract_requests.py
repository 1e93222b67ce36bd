"""Requests are accepted or refused as the document and a dialect say, whatever they contain."""

from typing import Any

import pytest

from hookproof.spec.contract.service_contract import LONGEST_MESSAGE, MOST_PROBLEMS, contract_for
from hookproof.spec.dialect.groups.requests import REQUIRES_ONE_OF
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.openapi_document import operation_named, request_bodies
from tests.spec.contract.valid_bodies import REQUESTS, RESPONSES, spoilt, without
from tests.spec.dialect_variants import UNDECIDED, contract, pointers

REFERENCE = contract({})


@pytest.mark.parametrize("operation_id", REQUESTS)
def test_a_request_that_keeps_the_contract_has_no_problem(operation_id: str) -> None:
    assert REFERENCE.request_problems(operation_id, REQUESTS[operation_id]) == ()


def test_an_operation_without_a_body_cannot_judge_one() -> None:
    with pytest.raises(KeyError):
        REFERENCE.request_problems("getEndpoint", {})


@pytest.mark.parametrize(
    ("operation_id", "pointer", "value"),
    [
        ("createEndpoint", "/url", "http://receiver.invalid"),
        ("createEndpoint", "/url", None),
        ("createEndpoint", "/name", None),
        ("createEndpoint", "/name", 7),
        ("createEndpoint", "/http_timeout", -1),
        ("createEndpoint", "/http_timeout", 3601),
        ("createEndpoint", "/http_timeout", 1.5),
        ("createEndpoint", "/http_timeout", "10"),
        ("createEndpoint", "/http_timeout", True),
        ("createEndpoint", "/rate_limit", -1),
        ("createEndpoint", "/rate_limit", 1_000_001),
        ("createEndpoint", "/rate_limit_duration", 0),
        ("createEndpoint", "/rate_limit_duration", 86_401),
        ("createEndpoint", "/secret", ""),
        ("createEndpoint", "/authentication/type", "magic"),
        ("createEndpoint", "/authentication/oauth2/authentication_type", "magic"),
        ("createEndpoint", "/authentication/oauth2/expiry_time_unit", "fortnights"),
        ("createEndpoint", "/authentication/oauth2/url", None),
        ("createEndpoint", "/authentication/oauth2/field_mapping/expires_in", 3),
        ("createEndpoint", "/authentication/basic_auth", "name:password"),
        ("createEndpoint", "/authentication/api_key", {"header_name": 1}),
        ("expireEndpointSecret", "/expiration", -1),
        ("expireEndpointSecret", "/expiration", 31_536_001),
        ("expireEndpointSecret", "/secret", ""),
        ("updatePortalLink", "/auth_type", "magic"),
        ("updatePortalLink", "/endpoints", ["a", 7]),
        ("createBroadcastEvent", "/data", [1]),
        ("createBroadcastEvent", "/custom_headers", "X-Shop: example"),
    ],
)
def test_a_request_with_a_wrong_value_is_refused_at_that_value(
    operation_id: str, pointer: str, value: object
) -> None:
    problems = REFERENCE.request_problems(
        operation_id, spoilt(REQUESTS[operation_id], pointer, value)
    )
    assert problems
    assert all(place.startswith(pointer) for place in pointers(problems))


@pytest.mark.parametrize(
    ("operation_id", "pointer", "value"),
    [
        ("createEndpoint", "/url", "HTTPS://receiver.invalid/%2F?a=b"),
        ("createEndpoint", "/http_timeout", 3600.0),
        ("createEndpoint", "/rate_limit", 0),
        ("createEndpoint", "/secret", "ключ"),
        ("createEndpoint", "/uid", "mine"),
        ("createEndpoint", "/colour", "red"),
        (
            "createEndpoint",
            "/authentication",
            {"type": "basic_auth", "basic_auth": {"username": "u", "colour": 1}},
        ),
        ("createEndpoint", "/appID", "app"),
        ("createBroadcastEvent", "/acknowledged_at", "any text"),
        ("createBroadcastEvent", "/data", {"deep": [{"er": None}]}),
    ],
)
def test_a_request_with_an_unusual_value_is_accepted(
    operation_id: str, pointer: str, value: object
) -> None:
    body = spoilt(REQUESTS[operation_id], pointer, value)
    assert REFERENCE.request_problems(operation_id, body) == ()


def test_required_fields_are_those_of_the_dialect() -> None:
    service = contract_for(load_dialect("contrary"))
    full: dict[str, dict[str, Any]] = {
        "createEndpoint": {"url": "https://x.invalid", "owner_id": "o"},
        "expireEndpointSecret": {"expiration": 1, "secret": "hs_AAAA"},
        "updatePortalLink": {"name": "n", "owner_id": "o"},
        "createBroadcastEvent": {"data": {}, "idempotency_key": "k"},
    }
    for operation_id, body in full.items():
        assert service.request_problems(operation_id, body) == ()
        for field in body:
            (problem,) = service.request_problems(operation_id, without(body, f"/{field}"))
            assert f'"{field}"' in problem.message
    assert REFERENCE.request_problems("expireEndpointSecret", {}) == ()


def test_a_body_is_required_where_a_field_is() -> None:
    def required(operation_id: str) -> bool:
        return bool(
            operation_named(REFERENCE.document, operation_id)["requestBody"].get("required", False)
        )

    assert [required(operation_id) for operation_id in REQUESTS] == [True, False, True, True]


@pytest.mark.parametrize(
    ("answers", "body", "expected"),
    [
        ({"requests.unknown_fields": "refused"}, {"colour": 1}, [""]),
        (
            {"requests.unknown_fields": "refused"},
            {"authentication": {"oauth2": {"colour": 1}}},
            ["/authentication/oauth2"],
        ),
        (
            {"requests.unknown_fields": "refused"},
            {"mtls_client_cert": {"colour": 1}},
            ["/mtls_client_cert"],
        ),
        (
            {"requests.unknown_fields": "refused"},
            {"authentication": {"basic_auth": {"username": "u"}}},
            [],
        ),
        ({"requests.unknown_fields": "refused"}, {"uid": "mine"}, []),
        ({"requests.unknown_fields": {"one_of": ["refused", "ignored"]}}, {"colour": 1}, []),
        ({"requests.unknown_fields": UNDECIDED}, {"colour": 1}, []),
        ({"requests.service_assigned_input": "refused"}, {"uid": "mine"}, ["/uid"]),
        ({"requests.service_assigned_input": "refused"}, {"colour": 1}, []),
        (
            {"requests.service_assigned_input": "refused", "requests.service_assigned": ["url"]},
            {},
            [],
        ),
        ({"requests.service_assigned_input": UNDECIDED}, {"uid": "mine"}, []),
        ({"words.other_words": "ignored"}, {"authentication": {"type": "magic"}}, []),
        ({"words.other_words": UNDECIDED}, {"authentication": {"type": "magic"}}, []),
        (
            {"words.auth_basic": "basic"},
            {"authentication": {"type": "basic_auth"}},
            ["/authentication/type"],
        ),
        ({"words.auth_basic": "basic"}, {"authentication": {"type": "basic"}}, []),
        ({"delivery.zero_rate_limit": "refused"}, {"rate_limit": 0}, ["/rate_limit"]),
        ({"delivery.zero_rate_limit": UNDECIDED}, {"rate_limit": 0}, []),
        ({"requests.http_timeout_minimum": 5}, {"http_timeout": 4}, ["/http_timeout"]),
        ({"delivery.zero_http_timeout": "refused"}, {"http_timeout": 0}, ["/http_timeout"]),
        (
            {"requests.partial_field_mapping": "refused"},
            {
                "authentication": {
                    "oauth2": {"field_mapping": {"access_token": "a", "expires_in": "e"}}
                }
            },
            ["/authentication/oauth2/field_mapping"],
        ),
        (
            {"requests.partial_field_mapping": UNDECIDED},
            {
                "authentication": {
                    "oauth2": {"field_mapping": {"access_token": "a", "expires_in": "e"}}
                }
            },
            [],
        ),
        ({"delivery.zero_http_timeout": "refused"}, {"http_timeout": 1}, []),
        ({"delivery.zero_http_timeout": UNDECIDED}, {"http_timeout": 0}, []),
        ({"requests.rate_limit_maximum": 5}, {"rate_limit": 6}, ["/rate_limit"]),
        (
            {"signatures.secret.prefix": "p.", "signatures.secret.form": "text"},
            {"secret": "p.x\ny"},
            [],
        ),
        (
            {"signatures.secret.prefix": "p.", "signatures.secret.form": "text"},
            {"secret": "p."},
            ["/secret"],
        ),
        (
            {"signatures.secret.prefix": "p.", "signatures.secret.form": "text"},
            {"secret": "pxy"},
            ["/secret"],
        ),
        ({"signatures.secret.form": "base64"}, {"secret": "AAAA"}, []),
        ({"signatures.secret.form": "base64"}, {"secret": "AA=="}, []),
        ({"signatures.secret.form": "base64"}, {"secret": "AAA="}, []),
        ({"signatures.secret.form": "base64"}, {"secret": "AAA"}, ["/secret"]),
        ({"signatures.secret.form": "base64"}, {"secret": ""}, ["/secret"]),
        ({"signatures.secret.form": "base64"}, {"secret": "AA-_"}, ["/secret"]),
        (
            {"signatures.secret.form": "base64", "signatures.secret.other_forms": "ignored"},
            {"secret": "AAA"},
            [],
        ),
    ],
)
def test_requests_are_accepted_or_refused_as_the_dialect_says(
    answers: dict[str, Any], body: dict[str, Any], expected: list[str]
) -> None:
    body = {"name": "n", "url": "https://x.invalid", **body}
    assert pointers(contract(answers).request_problems("createEndpoint", body)) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("refused", ["/data"]), ("taken", []), (UNDECIDED, [])],
)
def test_data_may_be_no_object_where_the_dialect_lets_it(answer: Any, expected: list[str]) -> None:
    service = contract({"requests.other_data": answer})
    for data in ([1], "text", 7, None):
        body = {**REQUESTS["createBroadcastEvent"], "data": data}
        assert pointers(service.request_problems("createBroadcastEvent", body)) == expected


@pytest.mark.parametrize(
    ("operation_id", "fields", "body"),
    [
        ("updatePortalLink", ["owner_id", "endpoints"], {"name": "n"}),
        (
            "createBroadcastEvent",
            ["acknowledged_at", "idempotency_key"],
            {"event_type": "e", "data": {}},
        ),
    ],
)
def test_one_of_several_fields_may_be_required(
    operation_id: str, fields: list[str], body: dict[str, Any]
) -> None:
    service = contract({f"requests.{REQUIRES_ONE_OF[operation_id]}": fields})
    assert pointers(service.request_problems(operation_id, body)) == [""]
    assert REFERENCE.request_problems(operation_id, body) == ()
    for field in fields:
        value: Any = [] if field == "endpoints" else "given"
        assert service.request_problems(operation_id, {**body, field: value}) == ()


@pytest.mark.parametrize(
    ("answer", "needs_one"), [("refused", True), ("taken", False), (UNDECIDED, False)]
)
def test_a_roll_needs_a_body_where_the_dialect_says_so(answer: Any, needs_one: bool) -> None:
    document = contract({"requests.roll_without_body": answer}).document
    body = dict(request_bodies(document))["expireEndpointSecret"]
    assert body.get("required", False) is needs_one


# ---- Values that nobody expects


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


HOSTILE: list[Any] = [
    None,
    [],
    "text",
    7,
    {"\udfff": 1},
    {"url": "\ud800"},
    {"url": nested(5_000)},
    {"http_timeout": 10**400},
    {"http_timeout": float("nan")},
    {"http_timeout": float("inf")},
    {"rate_limit": 2**64},
]


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_value_is_a_problem_and_never_an_exception(value: object) -> None:
    body = {"name": "n", **value} if isinstance(value, dict) else value
    for problems in (
        REFERENCE.request_problems("createEndpoint", body),
        REFERENCE.response_problems("createEndpoint", body),
        REFERENCE.error_problems(body),
    ):
        assert problems
        assert all(len(problem.message) <= LONGEST_MESSAGE for problem in problems)


def test_a_lone_surrogate_is_reported_as_what_it_is() -> None:
    (problem,) = REFERENCE.request_problems("createEndpoint", {"name": "n", "url": "\ud800"})
    assert problem.message == "holds a lone surrogate, which is not text"


def test_what_the_contract_leaves_open_may_be_nested_deep() -> None:
    body = {**REQUESTS["createBroadcastEvent"], "data": {"deep": nested(5_000)}}
    assert REFERENCE.request_problems("createBroadcastEvent", body) == ()


def test_of_any_number_of_problems_a_limited_number_is_reported() -> None:
    event = spoilt(RESPONSES["createBroadcastEvent"], "/data/data", ["x"] * 10_000)
    assert len(REFERENCE.response_problems("createBroadcastEvent", event)) == MOST_PROBLEMS


def test_a_problem_does_not_quote_the_value() -> None:
    body = spoilt(REQUESTS["createEndpoint"], "/secret", ["swordfish"])
    (problem,) = REFERENCE.request_problems("createEndpoint", body)
    assert "swordfish" not in str(problem)
    assert str(problem).startswith("/secret: ")


def test_a_problem_with_many_long_names_is_reported_in_part() -> None:
    service = contract({"requests.unknown_fields": "refused"})
    body = {**REQUESTS["createEndpoint"], **{f"{'x' * 1000}{number}": 1 for number in range(100)}}
    (problem,) = service.request_problems("createEndpoint", body)
    assert len(problem.message) == LONGEST_MESSAGE


def test_a_pointer_escapes_what_it_must() -> None:
    service = contract({"errors.body": {"a/b~c": {"d": 1}}})
    assert pointers(service.error_problems({"a/b~c": {"d": 2}})) == ["/a~1b~0c/d"]


def test_a_problem_with_the_whole_body_says_so() -> None:
    (problem,) = REFERENCE.error_problems([])
    assert str(problem).startswith("the body: ")


@pytest.mark.parametrize(
    ("form", "taken"),
    [
        ("base64", "+/8="),
        ("base64_unpadded", "+/8"),
        ("base64url", "-_8="),
        ("base64url_unpadded", "-_8"),
    ],
)
def test_a_secret_has_the_alphabet_and_the_padding_of_its_form(form: str, taken: str) -> None:
    rules = {"prefix": "p_", "form": form, "other_forms": "refused"}
    service = contract({f"signatures.secret.{name}": rule for name, rule in rules.items()})
    body = REQUESTS["expireEndpointSecret"]
    accepted = [
        text
        for text in ("+/8=", "+/8", "-_8=", "-_8")
        if not service.request_problems("expireEndpointSecret", {**body, "secret": f"p_{text}"})
    ]
    assert accepted == [taken]


@pytest.mark.parametrize(
    ("usual", "single", "refused"),
    [
        ("refused", {"auth_type": "ignored"}, {"/authentication/type"}),
        ("ignored", {"auth_type": "refused"}, {"/auth_type"}),
        ("ignored", {"type": "refused", "auth_type": UNDECIDED}, {"/authentication/type"}),
    ],
)
def test_unknown_words_may_be_treated_otherwise_in_single_fields(
    usual: str, single: dict[str, Any], refused: set[str]
) -> None:
    service = contract({"words.other_words": usual, "words.other_words_of": single})
    endpoint = {**REQUESTS["createEndpoint"], "authentication": {"type": "a-new-word"}}
    link = {**REQUESTS["updatePortalLink"], "auth_type": "a-new-word"}
    problems = (
        *pointers(service.request_problems("createEndpoint", endpoint)),
        *pointers(service.request_problems("updatePortalLink", link)),
    )
    assert set(problems) == refused


@pytest.mark.parametrize("prefix", ["sk-", "a b", "#&~", "$^*+?()[]{}|\\.", "/é\n"])
def test_a_prefix_of_secrets_is_compared_literally(prefix: str) -> None:
    service = contract({"signatures.secret.prefix": prefix})
    body = REQUESTS["expireEndpointSecret"]
    assert service.request_problems("expireEndpointSecret", {**body, "secret": f"{prefix}x"}) == ()
    assert pointers(service.request_problems("expireEndpointSecret", {**body, "secret": "x"})) == [
        "/secret"
    ]
