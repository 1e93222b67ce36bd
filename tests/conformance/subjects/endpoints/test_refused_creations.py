"""What others create is no effect of a refused request: a portal link shows their endpoints too."""

from dataclasses import replace

import pytest

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.keys.evidence import CallWithKey, CreationsWithoutRight, KeyKind
from tests.conformance.canned_evidence import verdict
from tests.conformance.checks.api.example import (
    OTHER_UID,
    UID,
    created,
    endpoint,
    refusal,
    retrieved,
)
from tests.conformance.subjects.keys.examples import around

ALLOWED, REFUSED, OTHER = (f"https://{name}.invalid/" for name in ("allowed", "refused", "other"))


def creation_refused(allowed_as: str, added: str | None) -> CreationsWithoutRight:
    """A refused creation, after which a portal link shows an endpoint with the URL `added` besides
    the one that is allowed.
    """
    records = [endpoint(uid=UID, url=allowed_as)]
    more = [] if added is None else [endpoint(uid=OTHER_UID, url=added)]
    creations = around(
        CreationsWithoutRight,
        retrieved(endpoints_metadata=records),
        refusal(401, "createEndpoint", role="refused", request={"url": REFUSED}),
        retrieved(endpoints_metadata=[*records, *more]),
        operation_id="createEndpoint",
    )
    allowed = created({"uid": UID}, {"url": ALLOWED}, role="allowed")
    return replace(creations, exchanges=(allowed, *creations.exchanges))


@pytest.mark.parametrize(
    ("allowed_as", "added", "expected"),
    [
        (ALLOWED, None, Verdict.PASS),
        (ALLOWED, REFUSED, Verdict.FAIL),
        (ALLOWED, OTHER, Verdict.PASS),  # made by somebody else
        ("https://allowed.invalid:443/", OTHER, Verdict.FAIL),  # who made it cannot be told
    ],
)
def test_only_the_endpoint_that_was_refused_is_an_effect(
    allowed_as: str, added: str | None, expected: Verdict
) -> None:
    evidence = creation_refused(allowed_as, added)
    assert verdict("5-15", evidence) is expected


@pytest.mark.parametrize(("name", "expected"), [("Portal", Verdict.PASS), ("New", Verdict.FAIL)])
def test_only_what_an_update_sets_is_an_effect_of_one_that_was_refused(
    name: str, expected: Verdict
) -> None:
    mine, of_others = endpoint(uid=UID), endpoint(uid=OTHER_UID)
    evidence = around(
        CallWithKey,
        retrieved(name="Portal", endpoints_metadata=[mine]),
        refusal(401, "updatePortalLink", role="refused", request={"name": "New"}),
        retrieved(name=name, endpoints_metadata=[mine, of_others]),
        kind=KeyKind.WRONG,
        operation_id="updatePortalLink",
    )

    assert verdict("5-15", evidence) is expected
