"""Dialects: what the shipped ones answer, and how files that answer badly are refused."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import yaml

from hookproof.spec.dialect.answer import Answer, Undecided
from hookproof.spec.dialect.answers import require_decided, undecided_fields
from hookproof.spec.dialect.file_schema import dialect_writing, writing_of
from hookproof.spec.dialect.reader import load_dialect, shipped_dialects
from hookproof.spec.dialect.vocabulary import (
    AboveMaximum,
    Duplicate,
    Encoding,
    Hash,
    KeyScope,
    Match,
    NoValue,
    RedirectOutcome,
    SigningSecrets,
    TimeUnit,
)
from tests.spec.dialect.dialect_files import DIALECTS, answers
from tests.spec.dialect_variants import ANSWERED, variant

# Answers in which contrary.yaml does not differ from reference.yaml, and why.
NO_OTHER_ANSWER = {
    "authentication.missing_key_status": (
        "401 is what HTTP has for a missing key; the pair with a wrong key differs"
    ),
    "requests.update_portal_link_requires_one_of": "another answer is in unusual.yaml",
    "requests.create_broadcast_event_requires_one_of": "another answer is in unusual.yaml",
    "authentication.other_key_formats": "another answer is in unusual.yaml; one is learned",
    "requests.url_addresses": "another answer is in unusual.yaml: receivers have one by default",
    "requests.url_other_ports": "another would refuse every endpoint at the receiver",
    "requests.given_http_timeout": "another answer is in unusual.yaml and convoy.yaml",
    "requests.given_contacts": "another answer is in unusual.yaml and convoy.yaml",
    "delivery.failed_visit": "another answer is in visiting.yaml",
    "words.other_words_of": "another answer is in unusual.yaml",
    "representation.identifier_of": "another answer is in unusual.yaml",
    "representation.no_value_of": "another answer is in unusual.yaml",
    "words.auth_api_key": "the document shows this value (section 2.5)",
    "words.oauth2_shared_secret": "the document shows this value (section 2.5)",
    "signatures.secret.prefix_in_key": "its secrets are base64, which no prefix can be part of",
    "signatures.simple.algorithm": "another answer is in tests/spec/signing_dialects.py",
    "signatures.simple.public_key": "another answer is in tests/spec/signing_dialects.py",
    "signatures.simple.private_key": "another answer is in tests/spec/signing_dialects.py",
    "signatures.advanced.algorithm": "another answer is in tests/spec/signing_dialects.py",
    "signatures.advanced.public_key": "another answer is in tests/spec/signing_dialects.py",
    "signatures.advanced.private_key": "another answer is in tests/spec/signing_dialects.py",
}

# Sections 2.5 to 2.8 and 3: values that appear.
SHOWN_BY_THE_DOCUMENT = {
    "words.endpoint_active": "active",
    "words.event_created": "Processing",
    "words.auth_api_key": "api_key",
    "words.oauth2_shared_secret": "shared_secret",
    "words.oauth2_expiry_units": "seconds",
    "words.portal_auth_types": "refresh_token",
    "words.source_types": "http",
    "words.source_providers": "github",
    "words.verifier_types": "noop",
    "words.pub_sub_types": "sqs",
}


def allowed(answer: object) -> object:
    return answer.allowed if isinstance(answer, Answer) else answer


# ---- The shipped dialects


def test_five_dialects_are_shipped() -> None:
    assert shipped_dialects() == (
        "contrary",
        "convoy",
        "reference",
        "standard-webhooks",
        "undecided",
    )


@pytest.mark.parametrize("name", shipped_dialects())
def test_a_shipped_dialect_loads_and_has_the_name_of_its_file(name: str) -> None:
    assert load_dialect(name).name == name


@pytest.mark.parametrize("name", ANSWERED)
def test_a_shipped_dialect_allows_what_the_document_shows(name: str) -> None:
    all_answers = answers(name)
    for path, word in SHOWN_BY_THE_DOCUMENT.items():
        words: Any = allowed(all_answers[path])
        assert word in ([words] if isinstance(words, str) else words), path


@pytest.mark.parametrize("name", ANSWERED)
def test_a_server_can_act_on_a_shipped_dialect(name: str) -> None:
    require_decided(load_dialect(name))


def test_the_reference_dialect_decides_everything() -> None:
    assert undecided_fields(load_dialect("reference")) == ()


def test_the_undecided_dialect_leaves_every_question_open_that_may_stay_open() -> None:
    undecided = answers("undecided")
    may_stay_open = [name for name, answer in undecided.items() if isinstance(answer, Answer)]
    assert undecided_fields(load_dialect("undecided")) == tuple(may_stay_open)
    written = yaml.safe_load((DIALECTS / "undecided.yaml").read_text())
    inherited = [name for name in may_stay_open if not _has(written, name.split("."))]
    assert inherited == [], "an answer of the dialect that it extends would accuse a stranger"


def test_the_undecided_dialect_answers_nothing_itself() -> None:
    reference, undecided = answers("reference"), answers("undecided")
    others = [name for name, answer in undecided.items() if not isinstance(answer, Answer)]
    differing = [name for name in others if undecided[name] != reference[name]]
    assert differing == ["name", "summary", "policy"]


def _has(group: Mapping[str, Any], path: Sequence[str]) -> bool:
    name, *rest = path
    return name in group and (not rest or _has(group[name], rest))


def test_a_server_cannot_act_on_the_undecided_dialect_and_is_told_so_in_one_line() -> None:
    with pytest.raises(Undecided) as refused:
        require_decided(load_dialect("undecided"))
    [line] = str(refused.value).splitlines()
    assert line.startswith(
        "the dialect undecided cannot be acted on, since it leaves undecided:"
        " authentication.key_scope, authentication.missing_key_status, "
    )
    assert line.endswith(" more; give each of them a value")
    assert len(line) < 500


def test_the_contrary_dialect_leaves_undecided_what_it_gives_a_reason_for() -> None:
    dialect = load_dialect("contrary")
    assert undecided_fields(dialect) == ("requests.update_left_out", "delivery.own_events")
    assert dialect.requests.update_left_out.reason
    assert dialect.delivery.own_events.reason


def test_the_contrary_dialect_answers_every_gap_otherwise_than_the_reference() -> None:
    reference, contrary = answers("reference"), answers("contrary")
    assert reference.keys() == contrary.keys()
    same = {
        path for path, answer in reference.items() if allowed(answer) == allowed(contrary[path])
    }
    assert same == set(NO_OTHER_ANSWER)


def test_the_contrary_dialect_prefers_other_values_than_the_reference() -> None:
    reference, contrary = answers("reference"), answers("contrary")
    for path, answer in reference.items():
        other = contrary[path]
        if (
            path not in NO_OTHER_ANSWER
            and isinstance(answer, Answer)
            and isinstance(other, Answer)
            and other.decided
        ):
            assert answer.value != other.value, path


def test_the_contrary_dialect_inherits_nothing() -> None:
    mapping = yaml.safe_load((DIALECTS / "contrary.yaml").read_text())
    assert "extends" not in mapping
    assert mapping.keys() == yaml.safe_load((DIALECTS / "reference.yaml").read_text()).keys()


def test_the_standard_webhooks_dialect_differs_in_how_deliveries_are_signed_only() -> None:
    reference, standard = answers("reference"), answers("standard-webhooks")
    differing = {path for path, answer in reference.items() if answer != standard[path]}
    differing -= {"name", "summary", "delivery.event_id_header"}
    assert differing
    assert all(path.startswith("signatures.") for path in differing)


@pytest.mark.parametrize("advanced", [False, True])
def test_the_standard_webhooks_dialect_signs_as_its_specification_says(advanced: bool) -> None:
    dialect = load_dialect("standard-webhooks")
    scheme = dialect.signatures.scheme(advanced=advanced)
    assert dialect.delivery.event_id_header == "webhook-id"
    assert (scheme.header, scheme.timestamp_header) == ("webhook-signature", "webhook-timestamp")
    assert (scheme.hash, scheme.encoding, scheme.timestamp_unit) == (
        Hash.SHA256,
        Encoding.BASE64,
        TimeUnit.SECONDS,
    )
    assert (scheme.signed, scheme.value, scheme.separator) == (
        "{id}.{timestamp}.{body}",
        "{signatures}",
        " ",
    )
    assert (scheme.item, scheme.versions) == ("{version},{signature}", ("v1",))
    assert scheme.secrets is (
        SigningSecrets.ALL_OLDEST_FIRST if advanced else SigningSecrets.NEWEST
    )
    assert dialect.signatures.secret.prefix == "whsec_"
    assert 24 <= dialect.signatures.secret.generated_bytes <= 64


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("authentication.key_format", "Bearer {key}"),
        ("authentication.key_scope", KeyScope.PROJECT),
        ("authentication.missing_key_status", 401),
        ("authentication.wrong_key_status", 401),
        ("errors.unknown_resource", 404),
        ("errors.invalid_value", 400),
        ("errors.method_not_allowed", 405),
        ("errors.body_too_large", 413),
        ("errors.unsupported_media_type", 415),
        ("errors.body", {"status": False, "message": "{message}"}),
        ("requests.create_endpoint_requires", ("name", "url")),
        ("requests.update_portal_link_requires", ("name",)),
        ("requests.create_broadcast_event_requires", ("event_type", "data")),
        ("requests.expire_endpoint_secret_requires", ()),
        ("paging.owner_filter", "ownerId"),
        ("paging.owner_match", Match.EXACT),
        ("paging.name_filter", "q"),
        ("paging.name_match", Match.SUBSTRING_ANY_CASE),
        ("paging.default_per_page", 20),
        ("paging.maximum_per_page", 100),
        ("paging.above_maximum", AboveMaximum.REFUSE),
        ("rolling.expiration_unit", TimeUnit.SECONDS),
        ("delivery.rate_limit_unit", TimeUnit.SECONDS),
        ("delivery.event_id_header", "X-Webhook-Event-Id"),
        ("delivery.attempt_header", "X-Webhook-Attempt"),
        ("delivery.disabled_receives", False),
        ("words.endpoint_disabled", "inactive"),
        ("retry.attempts", 5),
        ("retry.initial_s", 1.0),
        ("retry.redirect", RedirectOutcome.FAILURE),
        ("idempotency.duplicate", Duplicate.FLAGGED_EVENT),
        ("idempotency.duplicate_status", 201),
        ("signatures.simple.header", "X-Webhook-Signature"),
        ("signatures.simple.signed", "{body}"),
        ("signatures.advanced.signed", "{timestamp},{body}"),
        ("signatures.advanced.value", "t={timestamp},{signatures}"),
        ("signatures.advanced.item", "{version}={signature}"),
        ("signatures.advanced.versions", ("v1",)),
        ("signatures.advanced.secrets", SigningSecrets.ALL_OLDEST_FIRST),
    ],
)
def test_the_reference_dialect_answers_what_its_readers_were_promised(
    path: str, answer: object
) -> None:
    actual = answers("reference")[path]
    assert (actual.value if isinstance(actual, Answer) else actual) == answer


# ---- Answers


def test_an_answer_with_one_value_allows_that_value_alone() -> None:
    attempts = variant({"retry.attempts": 3}).retry.attempts
    assert (attempts.value, attempts.decided) == (3, True)
    assert attempts.allows(3)
    assert not attempts.allows(4)


def test_an_answer_with_several_values_prefers_the_first() -> None:
    answer = variant(
        {"authentication.missing_key_status": {"one_of": [403, 401]}}
    ).authentication.missing_key_status
    assert answer.value == 403
    assert [answer.allows(status) for status in (401, 403, 404)] == [True, True, False]


def test_an_undecided_answer_agrees_with_all_and_keeps_its_reason() -> None:
    answer = variant(
        {"representation.no_value": {"undecided": "it depends"}}
    ).representation.no_value
    assert answer.allows(NoValue.NULL)
    assert answer.allows(NoValue.ABSENT)
    assert not answer.decided
    with pytest.raises(Undecided, match="it depends"):
        _ = answer.value


def test_words_become_members_and_numbers_become_what_the_field_is() -> None:
    dialect = variant(
        {"retry.initial_s": 2, "retry.maximum_s": {"one_of": [5, 6.5]}, "retry.attempts": 4.0}
    )
    assert dialect.representation.no_value.value is NoValue.NULL
    assert dialect.words.oauth2_expiry_units["hours"] is TimeUnit.HOURS
    assert dialect.rolling.expiration_unit is TimeUnit.SECONDS
    assert [
        type(value) for value in (dialect.retry.initial_s.value, *dialect.retry.maximum_s.allowed)
    ] == [float] * 3
    assert type(dialect.retry.attempts.value) is int


def test_a_header_that_is_not_sent_is_null() -> None:
    assert load_dialect("reference").delivery.event_type_header is None
    assert variant({"delivery.attempt_header": None}).delivery.attempt_header is None


def test_a_server_refuses_a_dialect_that_leaves_open_what_it_acts_on() -> None:
    undecided = {"undecided": "nobody knows"}
    dialect = variant(
        {"retry.attempts": undecided, "delivery.notify_on": undecided, "delivery.excess": undecided}
    )
    assert undecided_fields(dialect) == ("retry.attempts", "delivery.excess", "delivery.notify_on")
    with pytest.raises(
        Undecided,
        match=r"^the dialect variant .* undecided: retry\.attempts, delivery\.excess; give",
    ):
        require_decided(dialect)
    require_decided(dialect, except_for=undecided_fields(dialect))


def test_every_field_says_what_it_is_for() -> None:
    def described(schema: Mapping[str, Any], path: str) -> None:
        for name, field in schema["properties"].items():
            assert field.get("description"), f"{path}{name}"
            if "properties" in field:
                described(field, f"{path}{name}.")

    described(dialect_writing().schema, "")


@pytest.mark.parametrize("kind", [bytes, set[str], complex])
def test_a_type_that_no_file_can_express_is_an_error_of_the_classes(kind: object) -> None:
    with pytest.raises(TypeError, match="a dialect file cannot express"):
        writing_of(kind)
