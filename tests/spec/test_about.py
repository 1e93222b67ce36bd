"""What requirements are about: laws, the fields that they name, and those that bear on them."""

import pytest

from hookproof.spec.about import SETTINGS, Use, documented_fields, read_about
from hookproof.spec.catalogue import UnknownLaw, load_catalogue
from hookproof.spec.contract.service_contract import OPERATION_IDS

CATALOGUE = load_catalogue()


def test_what_is_said_of_several_operations_or_fields_can_be_told_apart() -> None:
    for requirement in CATALOGUE.requirements.values():
        law = requirement.about.law
        references = [
            f"{law}@{operation}{field}"
            for operation in requirement.operations or ("delivery",)
            for field in ("", *(f".{name}" for name in requirement.about.fields))
        ]
        alone = (requirement.id,)
        assert requirement.untestable or alone in [CATALOGUE.of_laws([one]) for one in references]


@pytest.mark.parametrize(
    ("reference", "ids"),
    [
        ("typed@getEndpoint", ("4.2-3",)),
        ("typed@endpoints", ("4.1-3", "4.2-3", "4.3-9")),
        ("echoed@createEndpoint.name", ("4.1-4",)),
        ("echoed@*.name", ("4.1-4", "4.6-5")),
        ("next_page", ("4.4-4", "4.7-4")),
        ("body_is_data@delivery", ("6-3",)),
        ("4.2-3", ("4.2-3",)),
    ],
)
def test_a_reference_stands_for_requirements(reference: str, ids: tuple[str, ...]) -> None:
    assert CATALOGUE.of_laws([reference]) == ids
    assert CATALOGUE.of_laws([reference, reference]) == ids


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("next_pages", "no requirement has the law next_pages; did you mean next_page?"),
        ("next_page@getEndpoint", "no requirement has the law next_page@getEndpoint$"),
        ("echoed@*.names", "no requirement has the law echoed@"),
        ("body_is_data@createEndpoint", "no requirement"),
    ],
)
def test_a_reference_that_stands_for_nothing_is_refused(reference: str, message: str) -> None:
    with pytest.raises(UnknownLaw, match=message):
        CATALOGUE.of_laws([reference])


def test_what_is_echoed_is_shown_and_taken_by_its_operations() -> None:
    about = read_about({"law": "echoed", "fields": ["name"]}, ["updatePortalLink", "getPortalLink"])
    assert about.depends_on(Use.SHOWN, "getPortalLink", "name")
    assert about.depends_on(Use.TAKEN, "updatePortalLink", "name")
    assert not about.depends_on(Use.TAKEN, "getPortalLink", "name")
    assert not about.depends_on(Use.STORED, "updatePortalLink", "name")
    given = read_about({"law": "echoed", "fields": ["name"], "taken": {}}, ["updatePortalLink"])
    assert not given.depends_on(Use.TAKEN, "updatePortalLink", "name")


def test_places_may_name_groups_of_operations_and_of_fields() -> None:
    given = {"law": "typed", "shown": {"endpoints": [SETTINGS], "getPortalLink": ["secrets.*"]}}
    about = read_about(given, [])
    assert about.depends_on(Use.SHOWN, "expireEndpointSecret", "authentication.oauth2.scope")
    assert not about.depends_on(Use.SHOWN, "getEndpoint", "events")
    assert about.depends_on(Use.SHOWN, "getPortalLink", "secrets.value")
    assert not about.depends_on(Use.SHOWN, "getPortalLink", "secrets")
    within = read_about({"law": "typed", "shown": {"all": [f"endpoint_metadata.{SETTINGS}"]}}, [])
    assert within.depends_on(Use.SHOWN, "createBroadcastEvent", "endpoint_metadata.name")
    assert not within.depends_on(Use.SHOWN, "createBroadcastEvent", "name")


def test_fields_are_those_of_the_document() -> None:
    shown = {name: documented_fields(name, Use.SHOWN) for name in OPERATION_IDS}
    assert all({"envelope.message", "envelope.data"} <= fields for fields in shown.values())
    assert {"content", "pagination.per_page", "endpoints_metadata.secrets.uid"} <= shown[
        "listPortalLinks"
    ]
    assert "content" not in shown["getEndpoint"]
    assert {"secret", "expiration"} == documented_fields("expireEndpointSecret", Use.TAKEN)
    assert documented_fields("getEndpoint", Use.TAKEN) == frozenset()
