"""Both filters of a list at once: what is asked for, and who answers for a refusal."""

from types import SimpleNamespace
from typing import Any

import pytest

from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.lists.evidence import PageWalk
from hookproof.conformance.subjects.lists.walks import PlannedWalk, planned_walks
from hookproof.spec.dialect.reader import load_dialect
from tests.conformance.canned_evidence import all_verdicts, exchange, observation

REFERENCE = load_dialect("reference")


def pairs(operation_id: str, *listed: dict[str, Any]) -> list[Any]:
    """The filters of those walks that have two."""
    context: Any = SimpleNamespace(dialect=REFERENCE, profile=Profile.QUICK, word=str)
    walks = planned_walks(context, PlannedWalk(operation_id=operation_id), listed)
    return [walk.filter for walk in walks if len(walk.filter or {}) > 1]


def link(owner_id: Any, name: Any) -> dict[str, Any]:
    return {"uid": f"{owner_id} {name}", "owner_id": owner_id, "name": name}


def source(provider: Any, kind: Any) -> dict[str, Any]:
    return {"uid": f"{provider} {kind}", "provider": provider, "type": kind}


def test_each_filter_lets_through_what_the_other_one_does_not() -> None:
    (filters,) = pairs("listPortalLinks", link("one", "abcd"), link("two", "wxyz"))
    assert filters["ownerId"] == "one"
    assert filters["q"].lower() in "wxyz"
    assert pairs("listSources", source("github", "http"), source("x", "pub_sub")) == [
        {"provider": "github", "type": "pub_sub"}
    ]


def test_a_long_list_of_resources_that_are_alike_hides_no_pair() -> None:
    alike = [{**link("one", "abcd"), "uid": str(number)} for number in range(1000)]
    assert len(pairs("listPortalLinks", *alike, link("two", "wxyz"))) == 1


@pytest.mark.parametrize(
    "others",
    [
        [link("one", "wxyz")],
        [link("two", "abcd")],
        [{"uid": "neither"}],
    ],
)
def test_without_two_such_resources_nothing_is_asked_for(others: list[dict[str, Any]]) -> None:
    assert pairs("listPortalLinks", link("one", "abcd"), *others) == []


@pytest.mark.parametrize(
    ("filters", "judged"),
    [({"ownerId": "one"}, {"4.4-1": Verdict.FAIL}), ({"ownerId": "one", "q": "b"}, {})],
)
def test_a_service_may_refuse_two_filters_at_once(
    filters: dict[str, str], judged: dict[str, Verdict]
) -> None:
    walk = observation(
        PageWalk,
        exchange("page", "listPortalLinks", status=400),
        operation_id="listPortalLinks",
        sort=None,
        per_page=None,
        filter=filters,
        listed=(),
        complete=False,
    )
    assert all_verdicts(walk) == judged
