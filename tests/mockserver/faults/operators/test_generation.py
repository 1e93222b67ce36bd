"""What the operators make under a dialect: names, places, violated requirements."""

import json
import random
import subprocess
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final

import pytest

from hookproof.mockserver.collaborators import Collaborators
from hookproof.mockserver.faults.live import BadOrder
from hookproof.mockserver.faults.operators.delivery_laws import DELIVERY_ROWS
from hookproof.mockserver.faults.operators.delivery_places import places_of_deliveries
from hookproof.mockserver.faults.operators.generation import (
    OPERATORS,
    UnknownGeneratedFault,
    find_generated_fault,
    generated_faults,
)
from hookproof.mockserver.faults.operators.laws import requirements_of
from hookproof.mockserver.faults.operators.operator import GeneratedFault
from hookproof.mockserver.faults.operators.place import DELIVERY, PlaceKind
from hookproof.mockserver.faults.operators.places import places_of
from hookproof.mockserver.faults.registry import with_faults
from hookproof.mockserver.faults.selection import parse_fault_options
from hookproof.spec.catalogue import load_catalogue
from hookproof.spec.contract.service_contract import OPERATION_IDS, contract_for
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.openapi_document import openapi_document, request_bodies, resolved, without_null
from tests.quick_start.interpreter import quick_hookproof

REFERENCE = load_dialect("reference")
SEED = 20261123


@cache
def everything() -> tuple[GeneratedFault, ...]:
    return tuple(generated_faults(REFERENCE))


def sample(size: int) -> list[GeneratedFault]:
    return random.Random(SEED).sample([item for item in everything() if item.is_fault], size)


def typed_fields(schema: Mapping[str, Any]) -> Iterator[str]:
    """The paths of all fields of a schema of the document as it is, before any dialect."""
    for name, member in resolved(openapi_document(), dict(schema)).get("properties", {}).items():
        whole = resolved(openapi_document(), without_null(dict(member)))
        if "type" in whole:
            yield name
            yield from (f"{name}.{path}" for path in typed_fields(whole))


def test_there_are_many_operators_and_faults_and_no_two_have_one_name() -> None:
    faults = [item for item in everything() if item.is_fault]
    assert len(OPERATORS) >= 25
    assert len({(item.operator.name, item.place.name) for item in faults}) >= 1500
    assert len({item.name for item in everything()}) == len(everything())


def test_every_operator_is_met_under_the_dialect() -> None:
    assert {item.operator.name for item in everything()} == set(OPERATORS)


def test_places_are_the_fields_of_the_contract() -> None:
    places = places_of(contract_for(REFERENCE), REFERENCE)
    assert {place.operation for place in places} == set(OPERATION_IDS)
    for operation, body in request_bodies(openapi_document()):
        (content,) = body["content"].values()
        taken = {
            ".".join(place.path)
            for place in places
            if place.operation == operation and place.kind is PlaceKind.TAKEN
        }
        further = {"authentication.api_key", "authentication.basic_auth"}  # section 2.5: a gap
        assert taken >= set(typed_fields(content["schema"]))
        assert all(
            path.startswith(tuple(further)) for path in taken - set(typed_fields(content["schema"]))
        )


def test_shown_places_go_into_every_nested_resource() -> None:
    names = {place.name for place in places_of(contract_for(REFERENCE), REFERENCE)}
    endpoint = {name.partition(".shown.")[2] for name in names if name.startswith("getEndpoint.sh")}
    for holder in ("getPortalLink.shown.endpoints_metadata", "createBroadcastEvent.shown"):
        nested = "endpoint_metadata" if "Broadcast" in holder else ""
        for path in endpoint:
            if not path.startswith("envelope"):
                assert ".".join(part for part in (holder, nested, path) if part) in names


NOTHING_ROLLED: Final = ("4.3-3", "4.3-4", "4.3-5", "4.3-6", "4.3-7", "4.3-13", "4.3-16", "6-10")
# An endpoint that was to sign in the advanced format is disabled instead.
NOT_SIGNED_AS_SENT: Final = (
    *("1-1", "2.3-8", "2.3-9", "2.4-3", "3-1", "3-2", "3-5", "3-6"),
    *("4.1-9", "4.8-13", "4.8-14", "6-6", "6-7"),
)


@pytest.mark.parametrize(
    ("name", "violates"),
    [
        (
            "text_cut@createEndpoint.stored.name:length=64",
            ("4.1-4", "4.2-5", "4.3-11"),
        ),
        (
            "text_trimmed@updatePortalLink.taken.owner_id",
            ("4.6-6", "4.6-10", "4.6-11"),
        ),
        ("value_lost@listSources.shown.uid", ("2.7-1",)),
        ("text_lowered@listSources.shown.name", ("2.8-12",)),
        ("text_lowered@getEndpoint.shown.created_at", ("2.8-10", "2.9-2", "2.9-13", "4.2-5")),
        ("filter_ignored@listPortalLinks.filter.q", ("4.4-11", "4.4-13")),
        ("filters_joined_by_or@listSources.list", ("4.7-9", "4.7-11", "4.7-13")),
        ("not_stored@expireEndpointSecret.written", NOTHING_ROLLED),
        ("text_lowered@createEndpoint.shown.project_id", ("1-3", "4.2-5")),
        ("swapped_with_neighbour@createEndpoint.taken.advanced_signatures", NOT_SIGNED_AS_SENT),
        ("key_in_cookie@getPortalLink.access", ("5-5",)),
        ("left_out_cleared@updatePortalLink.taken.auth_type", ("4.6-15",)),
        ("update_lost@updatePortalLink.taken.owner_id", ("4.6-6", "4.6-10", "4.6-11", "4.6-15")),
        ("part_changed@delivery.sent.event_id.last", ("1-20", "4.8-16")),
        ("part_stale@delivery.sent.custom_headers.rolled", ("6-4", "6-5")),
        ("part_stale@delivery.sent.signature.second", ("6-11",)),
        ("final_answer@delivery.answered.302", ("1-12", "1-16", "1-18", "1-19")),
        ("final_answer@delivery.answered.tls", ("1-12", "1-17")),
        ("certificate_trusted@token_request.connected.expired", ("6-27",)),
        ("certificate_trusted@delivery.connected.expired", ("6-21",)),
    ],
)
def test_what_a_fault_violates_follows_from_its_place(name: str, violates: tuple[str, ...]) -> None:
    found = find_generated_fault(name, REFERENCE).defect.violates
    assert set(violates) <= set(found)
    assert len(found) <= len(violates) + 2


def test_every_violated_requirement_can_be_tested() -> None:
    requirements = load_catalogue().requirements
    named = {name for item in everything() for name in item.defect.violates}
    assert not [name for name in named if requirements[name].untestable]


def test_each_row_of_deliveries_is_about_a_place_and_laws_that_exist() -> None:
    places = [place.name.removeprefix(f"{DELIVERY}.") for place in places_of_deliveries()]
    for _words, pattern, laws in DELIVERY_ROWS:
        assert requirements_of(laws)
        assert any(fnmatchcase(place, pattern) for place in places), pattern


@pytest.mark.parametrize("name", ["reference", "contrary", "standard-webhooks"])
def test_every_fault_of_a_delivery_violates_something_or_says_why_not(name: str) -> None:
    dialect = load_dialect(name)
    made = [
        (place, operator, operator.defect(place, parameters, dialect))
        for place in places_of_deliveries()
        for operator in OPERATORS.values()
        for parameters in operator.parameters
    ]
    found = [(place, operator, defect) for place, operator, defect in made if defect is not None]
    assert {operator.group for _, operator, _ in found} == {"deliveries", "secrets"}
    assert not [
        (operator.name, place.name)
        for place, operator, defect in found
        if not defect.violates and not defect.equivalent
    ]


@pytest.mark.parametrize("name", ["reference", "contrary", "standard-webhooks", "convoy"])
def test_the_document_calls_every_generated_server_wrong_or_allows_it(name: str) -> None:
    assert not [
        item.name
        for item in generated_faults(load_dialect(name))
        if not item.defect.violates and not item.defect.equivalent
    ]


def test_a_fault_that_violates_nothing_is_none() -> None:
    item = find_generated_fault("text_lowered@listPortalLinks.shown.url", REFERENCE)
    assert not item.is_fault
    with pytest.raises(BadOrder, match="perhaps anew for each answer"):
        parse_fault_options([item.name], [], REFERENCE)


def test_an_equivalent_says_why() -> None:
    item = find_generated_fault("sign_lost@createEndpoint.taken.rate_limit", REFERENCE)
    assert item.defect.equivalent == "it changes none of the numbers that can stand there"
    with pytest.raises(BadOrder, match="not a fault under the dialect reference: it changes none"):
        parse_fault_options([item.name], [], REFERENCE)


def test_a_sample_is_parsed_back_from_its_names_and_built() -> None:
    for item in sample(25):
        (fault,) = parse_fault_options([item.name], [], REFERENCE).catalogued
        assert (fault.name, fault.violates) == (item.name, item.defect.violates)
        assert with_faults(Collaborators(), [fault]) != Collaborators()


def test_every_operator_builds_each_of_its_kinds_of_faults() -> None:
    one_of_each = {
        (item.operator.name, item.place.operation, item.place.kind): item for item in everything()
    }
    for item in one_of_each.values():
        assert with_faults(Collaborators(), [item.fault()]) != Collaborators()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("text_kut@createEndpoint.stored.name", "no operator 'text_kut'; did you mean text_cut"),
        ("text_cut@createEndpoint.stored.nam:length=64", "did you mean createEndpoint.stored.name"),
        ("text_cut@createEndpoint.stored.name:length=65", "text_cut accepts length=64 or"),
        ("text_cut@createEndpoint.stored.name", "text_cut accepts length=64 or"),
        ("text_cut@createEndpoint.stored.rate_limit:length=64", "it is for texts"),
        ("no_key_needed@createEndpoint.written", "it is for the access to every operation"),
    ],
)
def test_a_wrong_name_is_refused_with_what_there_is(name: str, message: str) -> None:
    with pytest.raises(UnknownGeneratedFault, match=message):
        find_generated_fault(name, REFERENCE)


@pytest.mark.parametrize("name", ["contrary", "standard-webhooks"])
def test_other_dialects_have_faults_of_their_own(name: str) -> None:
    dialect = load_dialect(name)
    item = find_generated_fault("value_lost@getEndpoint.shown.description", dialect)
    assert item.is_fault
    assert "4.2-5" in item.fault().violates


def test_the_command_line_lists_and_refuses_them() -> None:
    listed = subprocess.run(
        [*quick_hookproof(), "serve", "--list-generated", "--json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    described = json.loads(listed.stdout)
    assert [item["name"] for item in described["operators"]] == list(OPERATORS)
    assert len(described["faults"]) == len(everything())
    wrong = subprocess.run(
        [*quick_hookproof(), "serve", "--fault", "text_cut@nowhere:length=64"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (wrong.returncode, wrong.stdout) == (64, "")
    assert "there is no place 'nowhere'" in wrong.stderr
