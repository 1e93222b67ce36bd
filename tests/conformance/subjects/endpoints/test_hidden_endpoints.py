"""A creation that hides its endpoint, or the uid alone: what is shown elsewhere is judged there."""

from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.portal_link import (
    PortalLinkOfOwner,
    PortalLinkUpdate,
)
from hookproof.conformance.observations.round_trip import MinimalEndpoints
from hookproof.conformance.subjects.isolation.evidence import OneOwnerInTwoProjects
from hookproof.conformance.subjects.secrets.evidence import RollAnswer
from tests.conformance.canned_evidence import context, exchange, observation, verdict, verdicts
from tests.conformance.checks.api.example import (
    OTHER_UID,
    UID,
    created,
    endpoint,
    fetched,
    retrieved,
    secret,
)
from tests.conformance.subjects.endpoints.examples import shown_with
from tests.conformance.subjects.secrets.examples import (
    BODY,
    EXPIRING,
    GIVEN,
    NEW,
    OLD,
    roll,
    with_secrets,
)

URL = "https://one.invalid/hook"
OTHER_URL = "https://two.invalid/hook"


def hidden(role: str = "create", url: str = URL, **body: Any) -> Exchange:
    """A creation that succeeded and shows no endpoint."""
    return exchange(role, "createEndpoint", data=None, request={"url": url, **body})


def unnamed(role: str = "create", url: str = URL) -> Exchange:
    """A creation that shows its endpoint without uid."""
    return created({"uid": None, "url": url}, {"url": url}, role=role)


@pytest.mark.parametrize(("name", "expected"), [("n", Verdict.PASS), ("m", Verdict.FAIL)])
def test_what_was_sent_is_looked_for_when_the_endpoint_is_fetched(
    name: str, expected: Verdict
) -> None:
    trip = shown_with(hidden(name="n"), fetched({"name": name}))
    assert verdict("4.1-4", trip) is expected


def test_an_endpoint_that_no_answer_shows_is_not_judged() -> None:
    for trip in (
        shown_with(hidden(name="n")),
        shown_with(hidden(name="n"), fetched({"url": OTHER_URL})),
        shown_with(hidden(name="n"), exchange("fetch", "getEndpoint", data=None)),
    ):
        assert verdicts("3-1 4.1-4 4.1-6 4.2-5", trip) == {}


def test_a_hidden_uid_is_no_difference_to_the_endpoint_as_fetched() -> None:
    assert verdict("4.2-5", shown_with(unnamed(), fetched())) is Verdict.PASS
    assert verdict("4.2-5", shown_with(hidden(), fetched())) is None
    other = fetched({"description": "another"})
    assert verdict("4.2-5", shown_with(unnamed(), other)) is Verdict.FAIL


@pytest.mark.parametrize(("uid", "expected"), [(OTHER_UID, Verdict.PASS), (UID, Verdict.FAIL)])
def test_uids_are_compared_as_fetched(uid: str, expected: Verdict) -> None:
    second = fetched({"uid": uid, "url": OTHER_URL})
    trip = shown_with(unnamed(), fetched(), unnamed(url=OTHER_URL), second)
    assert verdict("2.3-2", trip) is expected


@pytest.mark.parametrize(("word", "expected"), [("oauth2", Verdict.PASS), ("x", Verdict.FAIL)])
def test_the_authentication_is_looked_for_when_the_endpoint_is_fetched(
    word: str, expected: Verdict
) -> None:
    creation = hidden(authentication={"type": "oauth2"})
    trip = shown_with(creation, fetched({"authentication": {"type": word}}))
    assert verdict("2.5-1", trip) is expected


def test_the_deprecated_app_id_is_looked_for_when_the_endpoint_is_fetched() -> None:
    trip = shown_with(hidden(appID="app"), fetched({"owner_id": "app"}))

    assert verdicts("9-1 9-3", trip) == {"9-3": Verdict.PASS}


def test_secrets_are_looked_for_where_fetching_shows_them() -> None:
    trip = shown_with(hidden(secret="given"), fetched())
    assert verdict("2.3-11", trip) is Verdict.FAIL
    assert verdict("2.3-11", trip, "contrary") is None
    made = observation(
        MinimalEndpoints,
        hidden(),
        fetched(),
        hidden(url=OTHER_URL),
        fetched({"uid": OTHER_UID, "url": OTHER_URL, "secrets": [secret(value="t" * 43)]}),
    ).examined(context().dialect)
    assert verdicts("2.3-12 2.3-13 2.3-14", made) == {
        "2.3-12": Verdict.PASS,
        "2.3-13": Verdict.PASS,
        "2.3-14": Verdict.PASS,
    }


def test_secrets_of_another_endpoint_are_compared_with_those_fetched_before() -> None:
    rolled = roll(EXPIRING, secret(NEW, "new-secret"), body=BODY)
    before = with_secrets("fetch other before", "getEndpoint", secret(OTHER_UID))
    exchanges = (hidden("create other"), before, *rolled.exchanges[1:])

    evidence = replace(rolled, exchanges=exchanges)
    assert verdict("4.3-14", evidence) is Verdict.PASS
    changed = with_secrets("fetch other", "getEndpoint", secret(NEW))
    evidence = replace(rolled, exchanges=(*exchanges[:-1], changed))
    assert verdict("4.3-14", evidence) is Verdict.FAIL


def rolled_unseen(*secrets: dict[str, Any], body: dict[str, Any]) -> RollAnswer:
    """A roll whose answer shows nothing, and these secrets when the endpoint is fetched."""
    rolled = roll(*secrets, body=body)
    unseen = exchange("roll", "expireEndpointSecret", data=None, request=body)
    exchanges = tuple(unseen if one.role == "roll" else one for one in rolled.exchanges)
    return replace(rolled, exchanges=exchanges).examined(context().dialect)


OF_ROLL = "4.3-12 4.3-13 4.3-15 4.3-17 4.3-18"


def test_what_a_roll_hides_is_looked_for_when_the_endpoint_is_fetched() -> None:
    right = rolled_unseen(EXPIRING, secret(NEW, "new-secret"), body=BODY)
    judged = dict.fromkeys(("4.3-13", "4.3-15", "4.3-17"), Verdict.PASS)
    assert verdicts(OF_ROLL, right) == judged
    wrong = rolled_unseen(secret(OLD, GIVEN), body=BODY)
    assert verdicts(OF_ROLL, wrong) == dict.fromkeys(judged, Verdict.FAIL)
    assert verdicts(OF_ROLL, right, "contrary") == {"4.3-18": Verdict.NOT_APPLICABLE}


def test_a_retrieval_after_two_unseen_rolls_tells_nothing_of_either() -> None:
    rolled = rolled_unseen(EXPIRING, secret(NEW, "new-secret"), body=BODY)
    unseen = rolled.rolls[0]
    twice = replace(rolled, exchanges=(unseen, *rolled.exchanges))
    assert verdicts(OF_ROLL, twice) == {"4.3-13": Verdict.PASS}


@pytest.mark.parametrize(("name", "expected"), [("New", Verdict.PASS), ("Old", Verdict.FAIL)])
def test_an_update_that_shows_nothing_is_judged_by_the_retrieval_afterwards(
    name: str, expected: Verdict
) -> None:
    update = exchange("update", "updatePortalLink", data=None, request={"name": "New"})
    after = retrieved("after", name=name)
    evidence = observation(PortalLinkUpdate, update, after, field="name")
    assert verdicts("4.6-5 4.6-9", evidence) == {"4.6-5": expected}


def link_with(role: str, *urls: str) -> Exchange:
    """A portal link with endpoints of these URLs."""
    records = [endpoint(uid=f"e{place}", url=url) for place, url in enumerate(urls)]
    return retrieved(role, owner_id="mine", endpoints_metadata=records)


MINE = hidden("same owner", owner_id="mine")
THEIRS = hidden("other owner", OTHER_URL, owner_id="theirs")


@pytest.mark.parametrize(
    ("exchanges", "expected"),
    [
        ((MINE, THEIRS, link_with("retrieve", URL)), {"2.6-2": "pass", "2.6-3": "pass"}),
        ((MINE, THEIRS, link_with("retrieve", URL, OTHER_URL)), {"2.6-2": "pass"}),
        ((MINE, THEIRS, link_with("retrieve", f"{URL}/")), {}),
        ((unnamed("same owner"), link_with("retrieve", OTHER_URL)), {"2.6-2": "fail"}),
        ((unnamed("other owner"), link_with("retrieve", URL)), {"2.6-3": "fail"}),
    ],
    ids=["right", "owner hidden", "spelled otherwise", "missing", "not its own"],
)
def test_endpoints_in_a_portal_link_are_told_by_their_url(
    exchanges: tuple[Exchange, ...], expected: dict[str, str]
) -> None:
    evidence = observation(PortalLinkOfOwner, *exchanges)
    actual = verdicts("2.6-2 2.6-3 2.6-4 4.6-10 4.6-11", evidence)
    assert actual == {name: Verdict[expected.upper()] for name, expected in expected.items()}


@pytest.mark.parametrize(
    ("urls", "expected"),
    [
        ([URL], {"1-10": Verdict.PASS}),
        ([URL, OTHER_URL], {"1-10": Verdict.FAIL}),
        ([f"{URL}/"], {}),
    ],
    ids=["apart", "taken up", "spelled otherwise"],
)
def test_an_endpoint_of_another_project_is_told_by_its_url(
    urls: list[str], expected: dict[str, Verdict]
) -> None:
    evidence = observation(
        OneOwnerInTwoProjects,
        hidden("here"),
        hidden("elsewhere", OTHER_URL),
        link_with("after", *urls),
    )

    assert verdicts("1-10", evidence) == expected


def test_a_named_endpoint_may_hide_its_uid() -> None:
    def updated(creation: Exchange) -> PortalLinkUpdate:
        request = {"endpoints": [UID]}
        update = retrieved("update", "updatePortalLink", request)
        after = retrieved("after", endpoints_metadata=[endpoint()])
        return observation(PortalLinkUpdate, creation, update, after, field="endpoints")

    assert verdicts("9-2 9-4", updated(hidden("named endpoint"))) == {
        "9-2": Verdict.PASS,
        "9-4": Verdict.PASS,
    }
    assert verdicts("9-2 9-4", updated(exchange("named endpoint", status=422))) == {}
    assert verdicts("9-2 9-4", updated(created({"uid": OTHER_UID}, role="named endpoint"))) == {}


@pytest.mark.parametrize(
    ("disabled", "status", "expected"),
    [
        (False, "active", Verdict.PASS),
        (False, "inactive", Verdict.PASS),  # disabled since by the service
        (False, None, Verdict.FAIL),
        (True, "inactive", Verdict.PASS),
        (True, "active", Verdict.FAIL),
        (True, None, Verdict.FAIL),
    ],
)
def test_a_fetched_endpoint_has_a_status_and_is_not_enabled_by_itself(
    disabled: bool, status: str | None, expected: Verdict
) -> None:
    first = "inactive" if disabled else "active"
    trip = shown_with(
        created({"status": first}, {"is_disabled": disabled}), fetched({"status": status})
    )
    expected = {"3-2" if disabled else "3-1": expected}
    assert verdicts("3-1 3-2 3-4", trip) == expected
