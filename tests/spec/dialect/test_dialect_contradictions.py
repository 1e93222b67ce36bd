"""Answers that are valid one by one, but contradict each other, are refused."""

from typing import Any

import pytest

from hookproof.spec.dialect.vocabulary import Algorithm
from hookproof.spec.strict_yaml.file_problem import FileProblems
from tests.spec.dialect_variants import variant
from tests.spec.signing_dialects import SEEDS, key_pair, own_key_answers

# A good public key of ed25519: that of RFC 8032, section 7.1, test 1.
PUBLIC_EXPECTED = "expected a public key for ed25519 in PEM, or in base64"
PRIVATE_EXPECTED = "expected a private key for ed25519 in PEM, without a password"
SEED_EXPECTED = "signatures.secret.{}: expected {}, since each secret is a private key of ed25519"
OTHER_KEY = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="

# Answers beside those of the reference dialect, and the problem that they make.
CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    (
        {"authentication.key_format": "{key} {kye}"},
        "authentication.key_format: unknown placeholder {kye}; did you mean key?",
    ),
    (
        {"authentication.key_format": "{key}{}"},
        "authentication.key_format: unknown placeholder {}; expected one of: {key}",
    ),
    (
        {"errors.body": {"a": [1, {"b": "{mesage}"}]}},
        "errors.body.a[1].b: unknown placeholder {mesage}; did you mean message?",
    ),
    (
        {"signatures.simple.signed": "{id}{body}{key}"},
        (
            "signatures.simple.signed: unknown placeholder {key}; expected one of: {body},"
            " {timestamp}, {id}, {url}"
        ),
    ),
    (
        {"signatures.simple.value": "{signatures};{version}"},
        (
            "signatures.simple.value: unknown placeholder {version}; expected one of: {timestamp},"
            " {id}, {signatures}"
        ),
    ),
    (
        {"signatures.simple.value": "{signatures} {signatures}"},
        ("signatures.simple.value: the placeholder {signatures} occurs 2 times; expected it once"),
    ),
    (
        {"signatures.simple.signed": "{timestamp}.{body}"},
        (
            "signatures.simple.signed: {timestamp} is signed but not sent; put it into value or"
            " name a timestamp_header"
        ),
    ),
    (
        {"signatures.simple.item": "{version}={signature}"},
        "signatures.simple.versions: expected at least one label, since item holds {version}",
    ),
    (
        {"signatures.simple.versions": ["v1"]},
        "signatures.simple.versions: expected none, since item does not hold {version}",
    ),
    (
        {"signatures.advanced.versions": ["v,1"]},
        "signatures.advanced.versions: expected labels without the separator; found v,1",
    ),
    (
        {"signatures.advanced.value": "{timestamp}{signatures}"},
        (
            "signatures.advanced.value: two placeholders stand side by side; expected text between"
            " them"
        ),
    ),
    (
        {"signatures.advanced.item": "{version}{signature}"},
        "signatures.advanced.item: two placeholders stand side by side; expected text between them",
    ),
    (
        {"signatures.advanced.separator": ""},
        "signatures.advanced.separator: expected text that cannot be part of a signature in hex",
    ),
    (
        {"signatures.advanced.separator": "ab"},
        "signatures.advanced.separator: expected text that cannot be part of a signature in hex",
    ),
    (
        {"signatures.advanced.encoding": "base64", "signatures.advanced.separator": "+"},
        "signatures.advanced.separator: expected text that cannot be part of a signature in base64",
    ),
    (
        {"signatures.advanced.secrets": "newest"},
        (
            "signatures.advanced.secrets: expected an answer by which all living secrets sign"
            " (section 4.3)"
        ),
    ),
    (
        {"requests.http_timeout_minimum": 31},
        "requests.http_timeout_minimum: expected at most 30 (delivery.default_timeout_s); found 31",
    ),
    (
        {"requests.http_timeout_maximum": 29},
        "delivery.default_timeout_s: expected at most 29 (requests.http_timeout_maximum); found 30",
    ),
    (
        {"paging.default_per_page": {"one_of": [101, 500]}},
        "paging.default_per_page: expected at most 100 (paging.maximum_per_page); found 101",
    ),
    (
        {"retry.initial_s": 60.5},
        "retry.initial_s: expected at most 60 (retry.maximum_s); found 60.5",
    ),
    (
        {"rolling.default_expiration": 31536001},
        (
            "rolling.default_expiration: expected at most 31536000 (requests.expiration_maximum);"
            " found 31536001"
        ),
    ),
    (
        {"requests.rate_limit_duration_maximum": 5, "delivery.default_rate_limit_duration": 6},
        (
            "delivery.default_rate_limit_duration: expected at most 5"
            " (requests.rate_limit_duration_maximum); found 6"
        ),
    ),
    (
        {"words.endpoint_disabled": {"one_of": ["off", "active"]}},
        (
            "words.endpoint_disabled: expected another value than that of words.endpoint_active;"
            " found active"
        ),
    ),
    (
        {"words.auth_oauth2": "basic_auth"},
        "words.auth_oauth2: expected another value than that of words.auth_basic; found basic_auth",
    ),
    (
        {"words.oauth2_assertion": "shared_secret"},
        (
            "words.oauth2_assertion: expected another value than that of"
            " words.oauth2_shared_secret; found shared_secret"
        ),
    ),
    (
        {"paging.name_filter": "ownerId"},
        (
            "paging.name_filter: expected another value than that of paging.owner_filter; found"
            " ownerId"
        ),
    ),
    (
        {"paging.name_filter": "sort"},
        (
            "paging.name_filter: sort is already the name of another query parameter of"
            " listPortalLinks"
        ),
    ),
    (
        {"delivery.event_id_header": "Hook-Id", "delivery.attempt_header": "HOOK-ID"},
        (
            "delivery.attempt_header: expected another value than that of"
            " delivery.event_id_header; found hook-id"
        ),
    ),
    (
        {"delivery.event_id_header": None, "signatures.simple.signed": "{id}.{body}"},
        (
            "signatures.simple.signed: {id} is signed but not sent; put it into value or name a"
            " delivery.event_id_header"
        ),
    ),
    *(
        (
            {"signatures.advanced.versions": versions},
            (
                "signatures.advanced.versions: expected {n} once and in the last label alone;"
                f" found {versions[0]}"
            ),
        )
        for versions in (["v{n}", "v2"], ["v{n}{n}"], ["v{number}"])
    ),
    (
        {"signatures.secret.prefix_in_key": True, "signatures.secret.form": "base64"},
        "signatures.secret.prefix_in_key: expected false, since a prefix is no base64",
    ),
    (
        {"signatures.simple.algorithm": "token"},
        (
            "signatures.simple.algorithm: expected an algorithm that signs the body"
            " (section 6, item 3)"
        ),
    ),
    (
        {"signatures.simple.public_key": key_pair(Algorithm.RSA)[0]},
        "signatures.simple.public_key: expected null, since hmac signs with secrets",
    ),
    (
        {"signatures.advanced.algorithm": "rsa"},
        (
            "signatures.advanced.public_key: expected the public key of the service, since rsa"
            " needs one"
        ),
    ),
    (
        {"signatures.advanced.algorithm": "ed25519"},
        SEED_EXPECTED.format("form", "hex or a form of base64"),
    ),
    (
        {**SEEDS, "signatures.secret.generated_bytes": 24},
        SEED_EXPECTED.format("generated_bytes", 32),
    ),
    (
        {**SEEDS, "signatures.simple.private_key": key_pair(Algorithm.ED25519)[1]},
        (
            "signatures.simple.private_key: expected null, since without public_key each secret is"
            " a private key"
        ),
    ),
    *(
        (
            {**own_key_answers(Algorithm.ED25519), f"signatures.simple.{field}": text},
            f"signatures.simple.{field}: {words}",
        )
        for field, text, words in (
            ("public_key", "c2hvcnQ=", PUBLIC_EXPECTED),
            ("public_key", key_pair(Algorithm.RSA)[0], PUBLIC_EXPECTED),
            ("private_key", "no key", PRIVATE_EXPECTED),
            ("private_key", key_pair(Algorithm.RSA)[1], PRIVATE_EXPECTED),
        )
    ),
    (
        {**own_key_answers(Algorithm.ED25519), "signatures.simple.public_key": OTHER_KEY},
        "signatures.simple.private_key: expected the private key that public_key belongs to",
    ),
    (
        {"errors.by_operation": {"getEndpont": {"unknown_resource": 404}}},
        ("errors.by_operation.getEndpont: there is no such operation; did you mean getEndpoint?"),
    ),
    (
        {"errors.by_operation": {"getEndpoint": {"unknown_path": 404}}},
        (
            "errors.by_operation.getEndpoint.unknown_path: no operation has such a refusal; did you"
            " mean unknown_project?"
        ),
    ),
    (
        {"errors.bodies": {"method_not_alowed": None}},
        (
            "errors.bodies.method_not_alowed: there is no such refusal; did you mean"
            " method_not_allowed?"
        ),
    ),
    (
        {"requests.update_portal_link_requires_one_of": ["owner_id", "owner"]},
        (
            "requests.update_portal_link_requires_one_of[1]: the document knows no such field,"
            " owner; did you mean owner_id?"
        ),
    ),
    (
        {"requests.update_portal_link_requires_one_of": ["owner_id", "name"]},
        (
            "requests.update_portal_link_requires_one_of[1]: name is required anyway, by"
            " requests.update_portal_link_requires"
        ),
    ),
    (
        {"representation.identifier_of": {"Endpont": "ep_[0-9]{4}"}},
        (
            "representation.identifier_of.Endpont: no such resource has an identifier; did you mean"
            " Endpoint?"
        ),
    ),
    (
        {"representation.identifier_of": {"Endpoint": "ep_[9-0]{4}"}},
        (
            "representation.identifier_of.Endpoint: the pattern cannot be read: bad character range"
            " 9-0 at position 4"
        ),
    ),
    (
        {"words.other_words_of": {"authtype": "refused"}},
        (
            "words.other_words_of.authtype: requests have no such field of words; did you mean"
            " auth_type?"
        ),
    ),
    (
        {"representation.no_value_of": {"deleted_att": "null", "array": "empty"}},
        (
            "representation.no_value_of.deleted_att: the document knows no such field,"
            " deleted_att; did you mean deleted_at?"
        ),
    ),
    (
        {"requests.text_maximum_of": {"nam": 100}},
        (
            "requests.text_maximum_of.nam: expected one of name, description, owner_id, event_type,"
            " idempotency_key; found nam; did you mean name?"
        ),
    ),
    (
        {"errors.bodies": {"unknown_path": "none"}},
        "errors.bodies.unknown_path: expected an object, or null for no body",
    ),
    (
        {"errors.bodies": {"unknown_path": {"text": "{mesage}"}}},
        ("errors.bodies.unknown_path.text: unknown placeholder {mesage}; did you mean message?"),
    ),
    (
        {"signatures.simple.header": "Hook", "signatures.simple.timestamp_header": "HOOK"},
        (
            "signatures.simple.timestamp_header: expected another value than that of"
            " signatures.simple.header; found hook"
        ),
    ),
    (
        {"requests.create_endpoint_requires": ["url", "nam"]},
        (
            "requests.create_endpoint_requires[1]: the document knows no such field, nam; did you"
            " mean name?"
        ),
    ),
    (
        {"requests.create_broadcast_event_requires": ["url"]},
        "requests.create_broadcast_event_requires[0]: the document knows no such field, url",
    ),
    (
        {"requests.service_assigned": ["uid", "ui"]},
        "requests.service_assigned[1]: the document knows no such field, ui; did you mean uid?",
    ),
    (
        {"representation.masked": ["name", "secrets.value"]},
        "representation.masked[1]: an endpoint has no field secrets.value (section 2.3)",
    ),
    (
        {"representation.masked": ["authentication.basic_auth.passwd"]},
        (
            "representation.masked[0]: an endpoint has no field authentication.basic_auth.passwd"
            " (section 2.3)"
        ),
    ),
]


@pytest.mark.parametrize(("answers", "problem"), CONTRADICTIONS)
def test_answers_that_contradict_each_other_are_refused(
    answers: dict[str, Any], problem: str
) -> None:
    with pytest.raises(FileProblems) as caught:
        variant(answers)
    assert [str(reported) for reported in caught.value.problems] == [problem]


@pytest.mark.parametrize(
    "answers",
    [
        {"paging.default_per_page": 100},
        {"paging.default_per_page": {"one_of": [20, 500]}},
        {"paging.default_per_page": {"undecided": "unknown"}},
        {"signatures.simple.separator": ""},
        {
            "signatures.simple.timestamp_header": "Hook-Time",
            "signatures.simple.signed": "{timestamp}{body}",
        },
        {"signatures.simple.header": "Hook", "signatures.advanced.timestamp_header": "Hook"},
        {"representation.masked": ["authentication.oauth2.signing_key.d", "mtls_client_cert"]},
        {"requests.service_assigned": ["token", "status", "mask_id"]},
    ],
)
def test_answers_that_do_not_contradict_each_other_are_accepted(answers: dict[str, Any]) -> None:
    assert variant(answers).name == "variant"


def test_a_label_that_a_header_cannot_contain_is_refused() -> None:
    with pytest.raises(FileProblems, match=r"versions\[1\]: expected printable ASCII text"):
        variant({"signatures.advanced.versions": ["v1", "v\u00e9"]})
