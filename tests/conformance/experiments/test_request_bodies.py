"""The bodies that experiments send are ones that every dialect accepts."""

import dataclasses
import itertools
import random
import re
from typing import Any

import pytest

from hookproof.conformance.experiments.support.json_web_key import elliptic_key, rsa_key
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.observations.timestamp import unix_seconds
from hookproof.conformance.subjects.endpoints.experiment import _authentications
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.reader import load_dialect, shipped_dialects
from hookproof.spec.dialect.vocabulary import TIMESTAMP_PATTERNS, TimestampForm
from hookproof.spec.field_roles import plain_body_fields
from tests.spec.dialect_variants import variant

OPERATIONS = ("createEndpoint", "expireEndpointSecret", "updatePortalLink", "createBroadcastEvent")


def bodies_for(name: str, **answers: Any) -> RequestBodies:
    counter = itertools.count()
    return RequestBodies(
        dialect=variant(answers, extends=name) if answers else load_dialect(name),
        random=random.Random(0),
        word=lambda stem: f"{stem}-{next(counter)}",
    )


def bodies_of_every_kind(bodies: RequestBodies) -> dict[str, list[dict[str, Any]]]:
    fields = {field: bodies.endpoint_value(field) for field in plain_body_fields("createEndpoint")}
    return {
        "createEndpoint": [
            bodies.new_endpoint(),
            bodies.quiet_endpoint(),
            bodies.reached_endpoint(),
            bodies.new_endpoint(**fields),
            *(
                bodies.new_endpoint(authentication=authentication)
                for authentication in _authentications(bodies).values()
            ),
        ],
        "expireEndpointSecret": [bodies.roll(secret=bodies.secret(), expiration=1)],
        "updatePortalLink": [
            bodies.portal_link(**{field: bodies.portal_link_value(field)})
            for field in ("name", "owner_id", "auth_type", "can_manage_endpoint", "endpoints")
        ],
        "createBroadcastEvent": [
            bodies.broadcast(**{field: bodies.event_value(field)})
            for field in (
                "event_type",
                "data",
                "custom_headers",
                "idempotency_key",
                "acknowledged_at",
            )
        ],
    }


@pytest.mark.parametrize("dialect", shipped_dialects())
def test_every_body_is_valid_by_the_contract(dialect: str) -> None:
    bodies = bodies_for(dialect)
    contract = contract_for(bodies.dialect)
    for operation_id, bodies_of_operation in bodies_of_every_kind(bodies).items():
        for body in (bodies.required(operation_id), *bodies_of_operation):
            assert contract.request_problems(operation_id, body) == (), (operation_id, body)


@pytest.mark.parametrize("dialect", shipped_dialects())
@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_required_bodies_hold_the_required_fields_alone(dialect: str, operation_id: str) -> None:
    bodies = bodies_for(dialect)
    assert tuple(bodies.required(operation_id)) == tuple(
        bodies.dialect.requests.required_by(operation_id)
    )


@pytest.mark.parametrize("form", TimestampForm)
def test_timestamps_have_the_dialects_form(form: TimestampForm) -> None:
    bodies = bodies_for("reference", **{"representation.timestamp": form.value})
    text = bodies.timestamp()
    assert re.fullmatch(TIMESTAMP_PATTERNS[form], text)
    assert 1_704_067_200 <= (unix_seconds(text, form) or 0) < 1_735_689_600  # the year 2024


@pytest.mark.parametrize("form", TimestampForm)
def test_one_time_is_spelled_in_every_form_and_in_the_dialects_first(form: TimestampForm) -> None:
    bodies = bodies_for("reference", **{"representation.timestamp": form.value})
    first, *others = bodies.timestamps()
    forms = [next(f for f, p in TIMESTAMP_PATTERNS.items() if re.fullmatch(p, t)) for t in others]
    assert re.fullmatch(TIMESTAMP_PATTERNS[form], first)
    assert {form, *forms} == set(TimestampForm)
    assert {unix_seconds(text, of) for text, of in zip(others, forms, strict=True)} == {
        unix_seconds(first, form)
    }


def test_the_type_of_an_event_does_not_look_like_the_marker_of_another() -> None:
    bodies = bodies_for("reference")
    marker_stem, _, _ = bodies.word("event").rpartition("-")
    assert marker_stem not in bodies.broadcast()["event_type"]


def test_a_quiet_endpoint_is_disabled_where_disabled_ones_receive_nothing() -> None:
    assert bodies_for("reference").quiet_endpoint()["is_disabled"] is True
    assert "is_disabled" not in bodies_for("contrary").quiet_endpoint()


def test_an_endpoint_that_broadcasts_reach_has_an_owner_where_the_dialect_requires_one() -> None:
    assert "owner_id" not in bodies_for("reference").reached_endpoint()
    assert bodies_for("contrary").reached_endpoint()["owner_id"].startswith("owner-")


def test_no_two_secrets_are_equal() -> None:
    bodies = bodies_for("reference")
    assert bodies.secret() != bodies.secret()


def test_keys_have_the_members_of_a_signing_key() -> None:
    assert set(elliptic_key("k")) == {"kty", "kid", "crv", "x", "y", "d"}
    assert set(rsa_key("k")) == {"kty", "kid", "n", "e", "d", "p", "q", "dp", "dq", "qi"}


def test_what_a_target_lacks_is_in_no_body() -> None:
    bodies = dataclasses.replace(
        bodies_for("reference"),
        lacking_fields=frozenset({"rate_limit", "authentication"}),
        lacking_mechanisms=frozenset({"oauth2"}),
    )
    body = bodies.quiet_endpoint(rate_limit=7, name="n", authentication=bodies.oauth2())
    assert "rate_limit" not in body
    assert "authentication" not in body
    assert body["name"] == "n"
    by_key = _authentications(bodies)["by api_key"]
    assert bodies.quiet_endpoint(authentication=by_key)["authentication"] == by_key
