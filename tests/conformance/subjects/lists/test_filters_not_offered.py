"""A service may offer no filter of portal links (section 4.4 does not show their names)."""

from hookproof.conformance.model.verdict import Verdict
from hookproof.spec.contract.service_contract import contract_for
from tests.conformance.canned_evidence import verdicts
from tests.conformance.subjects.lists.examples import LINKS, walk
from tests.spec.dialect_variants import variant

WALK = walk("c", "a", operation_id=LINKS)
BOTH = {"paging.owner_filter": None, "paging.name_filter": None}
FILTERED = "4.4-9 4.4-10 4.4-11 4.4-12 4.4-13"


def test_a_filter_that_is_not_there_is_not_applicable() -> None:
    assert verdicts(FILTERED, WALK) == {}
    without_owner = verdicts(FILTERED, WALK, {"paging.owner_filter": None})
    assert without_owner == dict.fromkeys(("4.4-9", "4.4-10"), Verdict.NOT_APPLICABLE)
    assert verdicts(FILTERED, WALK, BOTH) == dict.fromkeys(FILTERED.split(), Verdict.NOT_APPLICABLE)


def test_the_contract_names_only_filters_that_are_offered() -> None:
    def names(answers: dict[str, None]) -> set[str]:
        operation = contract_for(variant(answers)).operations["listPortalLinks"]
        return {parameter.name for parameter in operation.query}

    assert names({}) - names(BOTH) == {"ownerId", "q"}
