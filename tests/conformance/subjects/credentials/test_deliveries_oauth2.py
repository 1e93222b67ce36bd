import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.model.evidence import NotExaminedError, Observation
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.credentials.evidence import (
    FURTHER,
    PartlyMappedToken,
    RedirectedTokenUrl,
    RepeatedDeliveries,
    SharedTokenUrl,
    ShortLivedToken,
    TypedToken,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import event, observed, sent
from tests.conformance.canned_evidence import NOW, delivery, verdict, verdicts
from tests.conformance.subjects.credentials.canned_oauth2 import (
    GIVEN,
    MAPPING,
    authorized,
    masked,
    token_request,
    with_oauth2,
)

PASS, FAIL = Verdict.PASS, Verdict.FAIL


def test_a_delivery_with_an_issued_token_passes() -> None:
    mapped = authorized(field_mapping={"access_token": "issued"})
    assert verdicts("2.5-3 2.5-6", with_oauth2()) == {"2.5-3": PASS}
    assert verdicts("2.5-3 2.5-6", with_oauth2(where=mapped)) == {"2.5-6": PASS}


def test_a_delivery_with_another_token_fails() -> None:
    assert verdicts("2.5-3 2.5-6", with_oauth2(authorization="Bearer decoy")) == {"2.5-3": FAIL}


FORM = "client_id=me&client_secret=s%2B1&grant_type=client_credentials&scope=a&audience=b"


def test_a_token_request_with_all_that_was_given_passes() -> None:
    basic = base64.b64encode(b"me:s%2B1").decode()
    header = token_request(
        "grant_type=client_credentials&scope=a&audience=b", Authorization=f"Basic {basic}"
    )
    for request in (token_request(FORM), token_request(json.dumps(GIVEN)), header):
        assert verdicts("2.5-4 2.5-5", with_oauth2(requests=[request])) == {
            "2.5-4": PASS,
            "2.5-5": PASS,
        }


def test_a_token_request_that_leaves_something_out_fails() -> None:
    no_scope = FORM.replace("&scope=a", "")
    other_client = FORM.replace("client_id=me", "client_id=you")
    assert verdicts("2.5-4 2.5-5", with_oauth2(requests=[token_request(no_scope)])) == {
        "2.5-4": PASS,
        "2.5-5": FAIL,
    }
    assert verdicts("2.5-4 2.5-5", with_oauth2(requests=[token_request(other_client)])) == {
        "2.5-4": FAIL,
        "2.5-5": PASS,
    }


@pytest.mark.parametrize(
    ("rest", "asked_for", "expected"),
    [
        ("?t=a%2Fb&l=1&l=2", "?l=1&l=2&t=a/b&grant_type=client_credentials", {"2.5-28": PASS}),
        ("?t=a%2Fb&l=1&l=2", "?l=2&t=a/b", {"2.5-28": FAIL}),
        ("?t=a%2Fb", "?t=a%252Fb", {"2.5-28": FAIL}),
        ("?t=1", "/token?t=1", {"2.5-28": FAIL}),
        ("?t=1", "", {"2.5-28": FAIL}),
        ("", "?added=1", {}),
    ],
)
def test_a_token_is_requested_where_its_url_says(
    rest: str, asked_for: str, expected: dict[str, Verdict]
) -> None:
    where = authorized(url=f"https://receiver.example/token%20server{rest}")
    asked = replace(token_request(FORM), path=f"/token%20server{asked_for}")
    assert verdicts("2.5-28", with_oauth2(requests=[asked], where=where)) == expected


def after_its_end(token: str, **members: Any) -> Observation:
    where, after = authorized(**members), event("after")
    arrived = sent(after, where, headers=[("Authorization", f"Bearer {token}")])
    observation = observed(
        ShortLivedToken,
        where,
        arrived,
        events=[after],
        issued=("first", "second"),
        token_server="token server",
    )
    return masked(observation)


def test_a_token_that_is_used_beyond_its_lifetime_fails() -> None:
    assert verdicts("2.5-7 2.5-17", after_its_end("second")) == {"2.5-7": PASS}
    assert verdicts("2.5-7 2.5-17", after_its_end("first")) == {"2.5-7": FAIL}


def test_a_token_that_a_late_machine_gave_out_late_is_not_judged() -> None:
    with pytest.raises(NotExaminedError, match="this machine was late by 1200 ms"):
        verdicts("2.5-7 2.5-17", replace(after_its_end("first"), late_s=1.2))
    assert verdicts("2.5-7 2.5-17", replace(after_its_end("second"), late_s=1.2)) == {"2.5-7": PASS}


def test_a_token_that_is_used_beyond_the_lifetime_under_its_mapped_name_fails() -> None:
    for token, expected in (("second", PASS), ("first", FAIL)):
        assert verdicts("2.5-7 2.5-17", after_its_end(token, field_mapping=MAPPING)) == {
            "2.5-17": expected
        }


def redirected(*arrived: ReceivedDelivery) -> RedirectedTokenUrl:
    return observed(
        RedirectedTokenUrl, authorized(), *arrived, aside="aside", token_server="token server"
    )


def test_a_redirect_of_the_token_url_that_is_followed_fails() -> None:
    assert verdict("2.5-14", redirected(token_request())) is PASS
    assert verdict("2.5-14", redirected(token_request(), delivery("aside"))) is FAIL
    assert verdict("2.5-14", redirected()) is None


@pytest.mark.parametrize("scheme", ["Bearer", "kind", ""])
def test_a_scheme_that_is_not_read_under_the_usual_name_passes(scheme: str) -> None:
    shown = with_oauth2(
        where=authorized(field_mapping=MAPPING), authorization=f"{scheme} issued-1".strip()
    )
    assert verdict("2.5-15", shown) is PASS


def test_a_token_type_that_is_read_under_its_usual_name_fails() -> None:
    mapped = authorized(field_mapping=MAPPING)
    assert verdict("2.5-15", with_oauth2(where=mapped, authorization="Decoy issued-1")) is FAIL
    assert verdict("2.5-15", with_oauth2(authorization="Decoy issued-1")) is None
    assert verdict("2.5-15", with_oauth2(where=mapped, authorization="Bearer other")) is None


@pytest.mark.parametrize(
    ("scheme", "in_reference", "in_contrary"),
    [("custom", PASS, FAIL), ("bearer", FAIL, PASS), ("decoy", FAIL, FAIL), ("", FAIL, FAIL)],
)
def test_a_scheme_is_the_one_of_the_dialect(
    scheme: str, in_reference: Verdict, in_contrary: Verdict
) -> None:
    typed = with_oauth2(
        TypedToken,
        where=authorized(field_mapping=MAPPING),
        authorization=f"{scheme} issued-1".strip(),
        token_type="Custom",
    )
    assert verdict("2.5-16", typed) is in_reference
    assert verdict("2.5-16", typed, "contrary") is in_contrary


def test_no_scheme_is_judged_where_no_token_is_shown() -> None:
    typed = with_oauth2(TypedToken, authorization="Bearer other", token_type="Custom")
    with pytest.raises(NotExaminedError, match="no access token"):
        verdict("2.5-16", typed)


def repeatedly(*tokens: str, before: int | None = None) -> Observation:
    """Deliveries of as many events, each with one of the tokens that were issued; a pause follows
    so many of them.
    """
    where = authorized()
    events = [event(f"again-{place}") for place in range(len(tokens))]
    arrived = [
        sent(
            what,
            where,
            at=NOW + place,
            headers=[("Authorization", f"Bearer {token}")],
            attempt=place,
        )
        for place, (what, token) in enumerate(zip(events, tokens, strict=True), start=1)
    ]
    issued = tuple(f"issued-{letter}" for letter in "abcdefgh")
    return masked(
        observed(
            RepeatedDeliveries,
            where,
            *arrived,
            events=events,
            issued=issued,
            token_server="token server",
            pause=None if before is None else (NOW + before, NOW + before + 0.5),
        )
    )


def test_a_token_that_is_used_again_passes() -> None:
    assert verdict("2.5-18", repeatedly("issued-a", "issued-a")) is PASS
    several_caches = [f"issued-{letter}" for letter in "abcdefc"]
    assert verdict("2.5-18", repeatedly(*several_caches)) is PASS


def test_a_token_for_every_delivery_fails() -> None:
    assert verdict("2.5-18", repeatedly(*(f"issued-{letter}" for letter in "abcdef"))) is FAIL


def test_a_token_that_is_valid_is_kept_over_a_pause() -> None:
    a, b, c = "issued-a", "issued-b", "issued-c"
    assert verdict("2.5-18", repeatedly(a, a, a, b, before=2)) is PASS
    assert verdict("2.5-18", repeatedly(a, a, b, b, before=2)) is FAIL
    several_caches = repeatedly(a, b, a, c, before=3)
    assert verdict("2.5-18", several_caches) is PASS
    assert verdict("2.5-18", repeatedly(a, a, before=2)) is PASS


@pytest.mark.parametrize("letters", ["", "abcde", "abcdehh"])
def test_too_few_tokens_show_nothing_about_their_use(letters: str) -> None:
    """The last token is issued again and again."""
    observation = repeatedly(*(f"issued-{letter}" for letter in letters))
    with pytest.raises(NotExaminedError, match="only"):
        verdict("2.5-18", observation)


def sharing(*carried: tuple[str, str], requests: tuple[str, ...]) -> SharedTokenUrl:
    """Five endpoints, of which four share a token URL; `carried` says which delivered with which
    token, and `requests` the forms of the requests for tokens, in order.
    """
    members = {
        "authorized": {"client_id": "me", "scope": "a", "audience": "x"},
        "another client": {"client_id": "you", "scope": "b", "audience": "z"},
        "another scope": {"client_id": "me", "scope": "c", "audience": "x"},
        "another audience": {"client_id": "me", "scope": "a", "audience": "y"},
        "another token server": {"client_id": "me", "scope": "a", "audience": "x"},
    }
    where = {
        name: replace(authorized(**own), name=name, token=name) for name, own in members.items()
    }
    observation = masked(
        observed(
            SharedTokenUrl,
            where.values(),
            *(
                sent(event(), where[name], headers=[("Authorization", f"Bearer {token}")])
                for name, token in carried
            ),
            *map(token_request, requests),
            issued=("issued-first", "issued-second", "issued-third", "issued-last"),
            token_server="token server",
        )
    )
    assert isinstance(observation, SharedTokenUrl)
    return observation


FIRST, SECOND, THIRD = (
    f"client_id={client}&scope={scope}"
    for client, scope in (("me", "a"), ("you", "b"), ("me", "c"))
)


def test_tokens_of_each_endpoints_own_pass() -> None:
    own = sharing(
        ("authorized", "issued-first"),
        ("another client", "issued-second"),
        ("another scope", "issued-third"),
        requests=(FIRST, SECOND, THIRD),
    )
    assert verdicts("2.5-25 2.5-26", own) == {"2.5-25": PASS, "2.5-26": PASS}


def test_a_token_of_another_client_fails() -> None:
    shared = sharing(("another client", "issued-first"), requests=(FIRST,))
    assert verdicts("2.5-25 2.5-26", shared) == {"2.5-25": FAIL}


def test_a_token_for_another_scope_fails() -> None:
    shared = sharing(("another scope", "issued-first"), requests=(FIRST,))
    assert verdicts("2.5-25 2.5-26", shared) == {"2.5-25": PASS, "2.5-26": FAIL}


def test_a_token_for_another_audience_fails() -> None:
    first, second = (f"{FIRST}&audience={word}" for word in ("x", "y"))
    own = [("authorized", "issued-first"), ("another audience", "issued-second")]
    passed = verdicts("2.5-25 2.5-26", sharing(*own, requests=(first, second)))
    assert passed == {"2.5-25": PASS, "2.5-26": PASS}
    shared = sharing(("another audience", "issued-first"), requests=(first,))
    assert verdicts("2.5-25 2.5-26", shared) == {"2.5-25": PASS, "2.5-26": FAIL}


def test_a_token_of_another_token_url_fails() -> None:
    for token, expected in (("issued-first", {"2.5-3": FAIL}), ("issued-elsewhere", {})):
        shared = sharing(("another token server", token), requests=(FIRST,))
        assert verdicts("2.5-3", shared) == expected


def test_a_service_that_sends_no_scope_is_not_judged_by_it() -> None:
    shared = sharing(("another scope", "issued-first"), requests=("client_id=me",))
    assert verdicts("2.5-25 2.5-26", shared) == {"2.5-25": PASS}


@pytest.mark.parametrize("form", ["assertion=x", "client_id=nobody&scope=a"])
def test_a_request_that_shows_no_known_client_proves_nothing(form: str) -> None:
    shared = sharing(("another client", "issued-first"), requests=(form,))
    assert verdicts("2.5-25 2.5-26", shared) == {}


def test_the_token_that_is_issued_again_and_again_proves_nothing() -> None:
    requests = (FIRST, FIRST, FIRST, FIRST)
    assert (
        verdicts("2.5-25 2.5-26", sharing(("another client", "issued-last"), requests=requests))
        == {}
    )


@pytest.mark.parametrize(
    ("partly", "fully", "expected"),
    [
        ("issued-1", "issued-2", {"2.5-27": PASS}),
        ("issued-1", "none", {"2.5-27": PASS}),
        ("decoy", "issued-1", {"2.5-27": FAIL}),
        (None, "issued-1", {"2.5-27": FAIL}),
        ("decoy", "none", {}),
    ],
)
def test_a_token_that_is_not_mapped_is_read_under_its_standard_name(
    partly: str | None, fully: str, expected: dict[str, Verdict]
) -> None:
    mapped = replace(authorized(), name="fully mapped", token="fully mapped")
    carried = [(authorized(), partly), (mapped, fully)]
    observation = masked(
        observed(
            PartlyMappedToken,
            (authorized(), mapped),
            *(
                sent(event(), where, headers=[("Authorization", f"Bearer {token}")])
                for where, token in carried
                if token is not None
            ),
            issued=("issued-1", "issued-2"),
            token_server="token server",
            events=(event(), event(FURTHER)),
        )
    )
    assert verdicts("2.5-27", observation) == expected
    assert verdict("2.5-27", observation, "contrary") is None
