"""`schemathesis.toml`: which checks of Schemathesis presume what a dialect answers."""

import json
import re
import tomllib
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from schemathesis.config import SchemathesisConfig

from hookproof.spec.contract.published import document_of
from hookproof.spec.contract.schemathesis_settings import KEY_AS_IN, schemathesis_settings
from hookproof.spec.dialect.assumptions import wholly_assumed
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect, load_dialect_mapping, shipped_dialects
from hookproof.spec.openapi_document import openapi_document, operation_named, schema_named
from tests.source_tree import ROOT

# Every check that presumes an answer, under a dialect that gives none.
PRESUMING = {
    "content_type_conformance",
    "positive_data_acceptance",
    "negative_data_rejection",
    "missing_required_header",
    "ignored_auth",
    "unsupported_method",
}


def settings_of(dialect: str | None) -> dict[str, Any]:
    return tomllib.loads(schemathesis_settings(None if dialect is None else load_dialect(dialect)))


def switched_off(settings: dict[str, Any]) -> set[str]:
    return {name for name, check in settings["checks"].items() if check.get("enabled") is False}


def test_the_shipped_file_is_for_a_service_of_any_dialect() -> None:
    shipped = (ROOT / "hookproof" / "spec" / "schemathesis.toml").read_text("utf-8")
    assert shipped == schemathesis_settings(None)


@pytest.mark.parametrize("dialect", [None, *shipped_dialects()])
def test_schemathesis_takes_the_settings(
    dialect: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOKPROOF_PROJECT", "p1")
    monkeypatch.setenv("HOOKPROOF_API_KEY", "key-1")
    config = SchemathesisConfig.from_dict(settings_of(dialect))
    key_format = load_dialect(dialect or KEY_AS_IN).authentication.key_format
    assert config.projects.default.headers == {
        "Authorization": key_format.replace("{key}", "key-1")
    }
    assert config.projects.default.parameters["path.projectID"] == "p1"


@pytest.mark.parametrize(
    ("dialect", "off"),
    [
        (None, {*PRESUMING, "status_code_conformance"}),
        ("undecided", PRESUMING),
        ("reference", set()),
        # it answers another method with 404, and has one question about requests left open
        (
            "contrary",
            {"positive_data_acceptance", "negative_data_rejection", "unsupported_method"},
        ),
    ],
)
def test_a_check_is_off_where_the_dialect_lacks_what_it_presumes(
    dialect: str | None, off: set[str]
) -> None:
    assert switched_off(settings_of(dialect)) == off


def test_what_is_only_assumed_is_not_known() -> None:
    assumed = schemathesis_settings(wholly_assumed(load_dialect("reference")))
    assert switched_off(tomllib.loads(assumed)) == PRESUMING


def test_null_in_place_of_a_field_is_no_wrong_value_where_it_is_taken() -> None:
    lenient = load_dialect_mapping(
        {
            "extends": "reference",
            "name": "lenient",
            "summary": "Null is taken.",
            "requests": {"null_fields": "taken"},
        },
        "lenient.yaml",
    )
    assert switched_off(tomllib.loads(schemathesis_settings(lenient))) == {
        "negative_data_rejection"
    }


def test_a_quotation_mark_in_the_form_of_a_key_ends_no_text() -> None:
    odd = load_dialect_mapping(
        {
            "extends": "reference",
            "name": "odd",
            "summary": "An odd key.",
            "authentication": {"key_format": 'Key="{key}"'},
        },
        "odd.yaml",
    )
    headers = tomllib.loads(schemathesis_settings(odd))["headers"]
    assert headers == {"Authorization": 'Key="${HOOKPROOF_API_KEY}"'}


@pytest.mark.parametrize(
    ("headers", "fits"),
    [
        ({"X-Shop": "one two", "a!#$%&'*+-.^_`|~9": ""}, True),
        ({"X Shop": "one"}, False),
        ({"": "one"}, False),
        ({"X-Shop": "a\nb"}, False),
        ({"X-Shop": "\u20ac"}, False),
    ],
)
def test_a_published_document_says_what_a_header_can_be(
    headers: dict[str, str], fits: bool
) -> None:
    document = document_of(load_dialect("reference"))
    custom = schema_named(document, "CreateBroadcastEvent")["properties"]["custom_headers"]
    assert Draft202012Validator(custom).is_valid(headers) is fits


def test_a_published_document_says_what_the_header_of_a_key_is_called() -> None:
    document = document_of(load_dialect("reference"))
    name = Draft202012Validator(schema_named(document, "ApiKeyInput")["properties"]["header_name"])
    assert [name.is_valid(each) for each in ("X-Key", "", "X Key")] == [True, False, False]


@pytest.mark.parametrize(
    ("dialect", "has_form"),
    [
        (load_dialect("contrary"), True),
        (load_dialect("reference"), False),
        (wholly_assumed(load_dialect("contrary")), False),
    ],
    ids=["identifiers", "opaque", "assumed"],
)
def test_a_published_document_says_what_form_cursors_have(dialect: Dialect, has_form: bool) -> None:
    parameters = document_of(dialect)["components"]["parameters"]
    for name in ("next_page_cursor", "prev_page_cursor"):
        pattern = parameters[name]["schema"].get("pattern")
        assert (pattern is not None) is has_form
        assert pattern is None or not re.search(pattern, "no identifier")


def test_a_published_document_says_nothing_that_is_only_assumed() -> None:
    document = document_of(wholly_assumed(load_dialect("contrary")))
    error = openapi_document()["components"]["responses"]["Error"]
    assert document["components"]["responses"]["Error"] == error
    assert set(operation_named(document, "createEndpoint")["responses"]) == {"2XX", "4XX"}
    assert json.dumps(document)  # it can be written
