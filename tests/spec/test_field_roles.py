"""The roles of fields in openapi.yaml."""

import pytest

from hookproof.spec.catalogue import load_catalogue
from hookproof.spec.field_roles import (
    ROLE,
    SHOWN_AS_SENT,
    SHOWN_IN,
    Role,
    body_fields,
    fields_with,
    plain_body_fields,
    resource_parameter,
    resource_shown_by,
    role_of,
    shown_as_sent,
    shown_in,
)
from hookproof.spec.openapi_document import field_at, openapi_document
from tests.spec.document_operations import OPERATIONS
from tests.spec.document_tables import TABLES
from tests.spec.test_openapi import SCHEMAS, all_schemas

BODIES = {operation.body for operation in OPERATIONS.values() if operation.body}
WITH_BODY = [name for name, operation in OPERATIONS.items() if operation.body]


def test_every_field_of_an_answer_has_a_role_and_none_of_a_body_has() -> None:
    roles = {
        name: [role_of(name, field) for field in SCHEMAS[name]["properties"]] for name in TABLES
    }
    assert {name for name, of_fields in roles.items() if None in of_fields} == BODIES
    assert all({*roles[name]} == {None} for name in BODIES)


def test_the_role_of_a_schema_is_that_of_a_field_that_says_nothing_else() -> None:
    assert role_of("Source", "provider") is Role.GIVEN
    assert role_of("Source", "uid") is Role.ASSIGNED


@pytest.mark.parametrize("operation", WITH_BODY)
def test_every_field_of_a_body_is_shown_somewhere(operation: str) -> None:
    """Where it has one role: what a client gives is given, or follows from it."""
    resource = resource_shown_by(operation)
    for name in body_fields(operation):
        place = shown_in(operation, name).split(".")
        steps = [place[0]]
        owner = resource
        if len(place) == 2:  # within an array of objects
            array = field_at(openapi_document(), resource, place[:1])
            assert array is not None
            owner, steps = array["items"]["$ref"].rpartition("/")[2], place[1:]
        assert field_at(openapi_document(), owner, steps) is not None, name
        assert role_of(owner, steps[0]) in (Role.GIVEN, Role.CHANGING), name


@pytest.mark.parametrize("operation", WITH_BODY)
def test_what_is_shown_as_sent_is_given_and_its_requirement_names_it(operation: str) -> None:
    requirements = load_catalogue().requirements
    given = fields_with(resource_shown_by(operation), Role.GIVEN)
    for field, requirement in shown_as_sent(operation).items():
        assert field in given
        assert requirements[requirement].operations[0] == operation
        assert f" {field} " in f" {requirements[requirement].text} "


def test_each_requirement_is_about_one_field() -> None:
    cited = [schema[SHOWN_AS_SENT] for _, schema in all_schemas() if SHOWN_AS_SENT in schema]
    assert len(set(cited)) == len(cited) == sum(len(shown_as_sent(name)) for name in WITH_BODY)


def test_the_keys_stand_only_where_they_are_read() -> None:
    misplaced = [
        name
        for name, schema in all_schemas()
        for key in (ROLE, SHOWN_IN, SHOWN_AS_SENT)
        if key in schema and (name.partition(".")[0] in BODIES) is (key == ROLE)
    ]
    assert misplaced == []


def test_a_field_of_a_body_is_plain_unless_it_is_an_object() -> None:
    objects = {name: body_fields(name).keys() - plain_body_fields(name) for name in WITH_BODY}
    assert objects == {
        "createEndpoint": {"authentication", "mtls_client_cert"},
        "expireEndpointSecret": set(),
        "updatePortalLink": set(),
        "createBroadcastEvent": {"custom_headers", "data"},
    }


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_resource_is_named_by_the_last_parameter_of_its_path(operation: str) -> None:
    project, *resource = OPERATIONS[operation].path_parameters
    assert project == "projectID"
    assert resource_parameter(operation) == "".join(resource)


def test_there_are_no_parameters_of_an_unknown_operation() -> None:
    with pytest.raises(KeyError):
        resource_parameter("deleteEndpoint")


@pytest.mark.parametrize(
    ("operation", "resource"),
    [(name, operation.data) for name, operation in OPERATIONS.items()],
)
def test_an_operation_shows_the_resource_of_its_table(operation: str, resource: str) -> None:
    assert resource_shown_by(operation) == resource.removesuffix("Page")
