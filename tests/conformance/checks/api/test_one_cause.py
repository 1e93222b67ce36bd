"""What is wrong with a flag, a uid, a type or the form of a time is blamed on nothing else."""

from dataclasses import replace

import pytest

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.portal_link import ListedPortalLinks
from hookproof.conformance.observations.round_trip import EndpointsOfOneOwner
from tests.conformance.canned_evidence import all_verdicts, observation, verdict, verdicts
from tests.conformance.checks.api.example import (
    OTHER_UID,
    UID,
    created,
    fetched,
    link,
    page,
    retrieved,
    secret,
)
from tests.conformance.subjects.endpoints.examples import shown_with
from tests.conformance.subjects.lists.examples import ITEMS, LINKS, walk
from tests.conformance.subjects.secrets.examples import (
    BODY,
    EXPIRING,
    GIVEN,
    NEW,
    roll,
    with_secrets,
)
from tests.conformance.subjects.sequences import examples as steps


def test_a_walk_that_ends_too_early_shows_no_other_order() -> None:
    short = walk("cb", per_page=2)
    assert verdict("2.2-10", short) is Verdict.FAIL
    assert verdict("2.2-15", short) is Verdict.PASS


def test_a_page_that_shows_the_first_one_again_has_none_before_it() -> None:
    none_before = {"has_prev_page": False}
    again, later = (walk(*pages, last=none_before) for pages in (("c", "c"), ("cb", "ba")))
    assert verdict("2.2-12", again) is None
    assert verdict("2.2-12", later) is Verdict.FAIL


def test_a_full_page_lacks_nothing_of_a_walk_that_ended_too_early() -> None:
    full = replace(walk("ab", sort="ASC", per_page=2), listed=(ITEMS["c"],))

    assert verdicts("4.4-7 4.4-8", full) == {}
    lacking = replace(walk("ab", sort="ASC", per_page=3), listed=(ITEMS["c"], ITEMS["b"]))
    assert verdicts("4.4-7 4.4-8", lacking) == {"4.4-8": Verdict.FAIL}


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ((["o"], ["o"]), {"2.3-4": Verdict.PASS}),
        (("O", "O"), {"2.3-4": Verdict.PASS}),
        (("o", "p"), {"2.3-4": Verdict.FAIL}),
        (("o", ""), {"2.3-4": Verdict.FAIL}),
        (("", ""), {}),
    ],
)
def test_endpoints_share_an_owner_however_it_is_shown(
    shown: tuple[object, object], expected: dict[str, Verdict]
) -> None:
    answers = [created({"owner_id": one}, {"owner_id": "o"}) for one in shown]
    shared = observation(EndpointsOfOneOwner, *answers)
    assert verdicts("2.3-4", shared) == expected


def test_a_time_in_another_form_is_not_another_time() -> None:
    for escaped in ("2024-01-01T00%3A00%3A00.000000Z", "yesterday"):
        again = shown_with(created(), fetched({"created_at": escaped}))
        assert Verdict.FAIL not in verdicts("2.9-13", again).values()


def test_where_no_fetch_shows_secrets_a_roll_removes_none() -> None:
    rolled = roll(EXPIRING, secret(NEW, "new-secret"), body=BODY, fetched_secrets=[])
    exchanges = (
        with_secrets("create other", "createEndpoint", secret(OTHER_UID)),
        *rolled.exchanges[1:-1],
        with_secrets("fetch other", "getEndpoint"),
    )

    assert verdict("4.3-14", replace(rolled, exchanges=exchanges)) is None
    rolled = roll(EXPIRING, secret(NEW, "new-secret"), body=BODY)
    exchanges = (exchanges[0], *rolled.exchanges[1:-1], exchanges[-1])
    assert verdict("4.3-14", replace(rolled, exchanges=exchanges)) is Verdict.FAIL


def test_an_owner_of_another_type_makes_no_endpoint_foreign() -> None:
    listed = steps.sequence(steps.created(owner_id=["o"]), steps.retrieved(UID, UID, owner_id="o"))
    assert verdict("2.6-3", listed) is None
    foreign = steps.sequence(
        steps.created(owner_id="another"), steps.retrieved(UID, UID, owner_id="o")
    )
    assert verdict("2.6-3", foreign) is Verdict.FAIL


def test_a_portal_links_owner_of_another_type_tells_nothing_of_its_endpoints() -> None:
    mine, moved = steps.created(owner_id="o"), steps.updated(owner_id="o", at=1)
    in_a_list = steps.sequence(mine, moved, steps.retrieved(UID, UID, owner_id=["o"]))
    told = all_verdicts(in_a_list)
    assert not {"2.6-3", "4.6-10", "4.6-11"} & set(told)


def test_an_answer_about_another_portal_link_says_nothing_of_the_list() -> None:
    evidence = observation(
        ListedPortalLinks, page(LINKS, [link()], "inventory"), retrieved(uid=OTHER_UID)
    )
    assert verdicts("2.6-7 4.4-14", evidence) == {}


@pytest.mark.parametrize(
    ("first", "later", "expected"),
    [
        ("another", "another", {}),
        ("another", "a third", {"2.4-4": Verdict.FAIL}),
        (GIVEN, "another", {"2.4-4": Verdict.FAIL}),
        ("********", "********", {"2.4-4": Verdict.FAIL}),
        (GIVEN, GIVEN, {"2.4-4": Verdict.PASS}),
    ],
)
def test_a_secret_that_replaces_the_given_one_is_not_hidden(
    first: str, later: str, expected: dict[str, Verdict]
) -> None:
    trip = shown_with(
        created({"secrets": [secret(value=first)]}, {"secret": GIVEN}),
        fetched({"secrets": [secret(value=later)]}),
    )
    assert verdicts("2.4-4", trip) == expected


def test_a_portal_link_is_not_missing_where_another_one_has_two_entries() -> None:
    other = link(uid=OTHER_UID)
    once, twice = (page(LINKS, [other] * times, "inventory") for times in (1, 2))

    assert verdicts("2.6-7 4.4-14", observation(ListedPortalLinks, once, retrieved())) == {
        "4.4-14": Verdict.FAIL
    }
    assert verdicts("2.6-7 4.4-14", observation(ListedPortalLinks, twice, retrieved())) == {}

    for pages, expected in ((once, Verdict.FAIL), (twice, None)):
        actual = all_verdicts(steps.sequence(steps.retrieved(), pages))
        assert actual.get("4.4-14") is expected
