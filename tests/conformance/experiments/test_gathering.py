"""What is wrong with one answer hides nothing else: the rest is gathered all the same."""

import pytest

from hookproof.conformance.model.profile import Profile
from hookproof.conformance.mutants.mutant_run import MutantRunOrder, MutantRunResult, run_mutant

CHANGED = "changed_member:operation="
NULL_EVENTS = f"{CHANGED}createBroadcastEvent,member=data,value=null"
NULL_ENDPOINTS = f"{CHANGED}createEndpoint,member=data,value=null"
NO_ENDPOINT_UID = f"{CHANGED}createEndpoint,member=data.uid"
NO_SECRET_AT_CREATION = f"{CHANGED}createEndpoint,member=data.secrets"
NO_AUTHENTICATION_TYPE = f"{CHANGED}createEndpoint,member=data.authentication.type,value=null"
NO_LIST = "server_error:operation=listPortalLinks,status=401"
LINKS_WITHOUT_UID = f"{CHANGED}listPortalLinks,member=data.content.*.uid"


def run_spoiled(fault: str, *experiments: str) -> MutantRunResult:
    order = MutantRunOrder(
        dialect="reference",
        deviations=("--fault", fault),
        experiments=experiments,
        profile=Profile.QUICK,
        seed=0,
        without=(),
    )
    return run_mutant(order)


@pytest.mark.parametrize(
    ("fault", "experiment", "exercised", "hidden"),
    [
        pytest.param(NULL_EVENTS, "broadcast", {"1-1", "6-3", "4.8-15"}, {"2.8-1"}, id="null data"),
        pytest.param(NULL_EVENTS, "signing", {"6-6", "6-7"}, {"2.8-1"}, id="signed null data"),
        pytest.param(NO_ENDPOINT_UID, "signing", {"6-6", "6-7"}, {"4.2-6"}, id="no uid"),
        pytest.param(NO_ENDPOINT_UID, "access", {"5-1", "5-2", "5-8"}, set(), id="keys, no uid"),
        pytest.param(NO_ENDPOINT_UID, "roll", {"4.3-2", "4.3-16"}, set(), id="rolls, no uid"),
        pytest.param(
            NULL_ENDPOINTS, "roll_answers", {"4.3-11", "4.3-14"}, {"2.3-10"}, id="null endpoints"
        ),
        pytest.param(
            NULL_ENDPOINTS, "round_trip", {"2.3-12", "4.1-4", "9-3"}, {"4.2-5"}, id="null trips"
        ),
        pytest.param(
            NULL_ENDPOINTS, "portal_links", {"2.6-3", "2.6-6", "9-4"}, set(), id="null, linked"
        ),
        pytest.param(
            NULL_ENDPOINTS, "endpoint_records", {"2.6-10", "2.8-10"}, set(), id="null records"
        ),
        pytest.param(NO_LIST, "portal_links", {"4.5-1", "4.6-5", "2.6-2"}, {"2.6-7"}, id="no list"),
        pytest.param(NO_LIST, "access", {"5-1", "5-5", "5-6"}, set(), id="keys, no list"),
        pytest.param(NO_LIST, "isolation", {"1-4", "1-6", "1-9"}, {"1-8"}, id="projects, no list"),
        pytest.param(
            LINKS_WITHOUT_UID, "portal_links", {"4.5-1", "4.6-5"}, set(), id="no link uid"
        ),
        pytest.param(
            NO_SECRET_AT_CREATION, "signing", {"6-6", "2.4-3"}, set(), id="secrets when fetched"
        ),
        pytest.param(
            NO_AUTHENTICATION_TYPE, "credentials", {"2.5-9", "2.5-10"}, set(), id="no mechanism"
        ),
        pytest.param(
            "pagination_besides", "paging", {"4.4-9", "4.7-11"}, {"2.2-10"}, id="no pagination"
        ),
        pytest.param(
            "cursors_as_numbers", "paging", {"4.4-6", "4.4-8", "4.7-10"}, {"2.2-13"}, id="numbers"
        ),
        pytest.param(
            "zero_limit_refused", "rate_limit", {"8-1", "8-2"}, {"8-5"}, id="no limit of zero"
        ),
        pytest.param(
            "explicit_false_refused", "fan_out", {"1-2", "3-6"}, {"3-5"}, id="no explicit false"
        ),
        pytest.param(
            "auth_type_in_capitals", "access", {"5-6"}, set(), id="a link that is put back"
        ),
        pytest.param(
            "more_required", "own_events", {"6-16"}, set(), id="the smallest body refused"
        ),
        pytest.param("empty_data_refused", "broadcast", {"6-4", "6-5"}, set(), id="no empty data"),
    ],
)
def test_what_does_not_depend_on_a_spoiled_answer_is_exercised(
    fault: str, experiment: str, exercised: set[str], hidden: set[str]
) -> None:
    result = run_spoiled(fault, experiment)
    assert result.problems == ()
    assert exercised <= result.exercised
    assert not hidden & result.exercised, "the fault spoils nothing"
    assert not exercised & result.detected
