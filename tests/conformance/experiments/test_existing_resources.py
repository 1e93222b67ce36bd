"""Updates of a portal link name what the dialect requires as the portal link has it."""

import random
from dataclasses import replace

from hookproof.conformance.experiments.support.existing_resources import kept_fields
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.spec.dialect.reader import load_dialect


def bodies_requiring(*fields: str) -> RequestBodies:
    dialect = load_dialect("reference")
    requests = replace(dialect.requests, update_portal_link_requires=fields)
    return RequestBodies(
        dialect=replace(dialect, requests=requests), random=random.Random(0), word=str
    )


def test_a_required_field_that_is_false_is_kept() -> None:
    link = {"name": "portal", "can_manage_endpoint": False, "owner_id": "owner"}
    bodies = bodies_requiring("name", "can_manage_endpoint")
    assert kept_fields(bodies, link) == {"name": "portal", "can_manage_endpoint": False}


def test_a_required_field_without_a_value_is_not_kept() -> None:
    assert kept_fields(bodies_requiring("name", "owner_id"), {"name": "", "owner_id": None}) == {}
