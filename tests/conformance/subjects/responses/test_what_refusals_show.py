"""What a refusal shows of a resource: only what the right key alone is shown counts (5-17); and by
its status (5-11).
"""

from dataclasses import replace

import pytest

from hookproof.conformance.model.judgement import Verdict
from hookproof.conformance.subjects.keys.evidence import KeyKind
from tests.conformance.canned_evidence import verdict, verdicts
from tests.conformance.checks.api.example import (
    OTHER_UID,
    UID,
    accepted,
    fetched,
    page,
    refusal,
    retrieved,
)
from tests.conformance.subjects.keys.examples import GET, call_with, denied, fetched_without_key

PASS, FAIL = {"5-17": Verdict.PASS}, {"5-17": Verdict.FAIL}


@pytest.mark.parametrize(
    "message",
    [
        f"endpoint {UID} is not for this key",
        "keys are explained at https://docs.invalid/keys",
    ],
)
def test_what_the_request_named_may_be_in_its_refusal(message: str) -> None:
    assert verdicts("5-17", fetched_without_key(message)) == PASS


def test_a_url_with_escapes_is_found() -> None:
    url = "https://one.invalid/hook?a=1&b=2"
    shown = replace(fetched({"url": url}), role="authorized")
    escaped = url.replace("/", "\\/").replace("&", "\\u0026").encode()
    tried = replace(refusal(401, GET, role="refused"), response_body=b'{"seen": "%s"}' % escaped)
    assert verdicts("5-17", call_with(KeyKind.NONE, shown, tried, operation_id=GET)) == FAIL


def test_another_endpoints_url_is_nothing_of_the_resource() -> None:
    assert verdicts("5-17", fetched_without_key("https://two.invalid/hook")) == PASS


@pytest.mark.parametrize("uid", ["7", "customer"])
def test_texts_that_may_stand_there_by_chance_prove_nothing(uid: str) -> None:
    shown = fetched({"uid": uid, "url": "/hook", "secrets": []})
    assert verdict("5-17", fetched_without_key(f"{uid} /hook", shown)) is None


def test_a_list_is_not_for_every_key() -> None:
    listed = page("listSources", [{"uid": OTHER_UID}], role="authorized")
    for shown, expected in (("no", PASS), (f"no: {OTHER_UID}", FAIL)):
        body = {"status": False, "message": shown}
        tried = refusal(401, "listSources", role="refused", body=body)
        called = call_with(KeyKind.WRONG, listed, tried, operation_id="listSources")
        assert verdicts("5-17", called) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://portal.invalid/t0ken", FAIL),
        (f"https://portal.invalid/{UID}", FAIL),
        ("https://portal.invalid/", {}),
    ],
)
def test_the_url_of_a_portal_link_is_its_own_if_it_names_it(
    url: str, expected: dict[str, Verdict]
) -> None:
    link = retrieved("authorized", token="t0ken", url=url, endpoints_metadata=[])
    body = {"status": False, "message": f"no: {url}"}
    path = {"portalLinkID": UID}
    tried = refusal(401, "getPortalLink", role="refused", body=body, path=path)
    called = call_with(KeyKind.NONE, link, tried, operation_id="getPortalLink")
    assert verdicts("5-17", called) == expected


def test_without_the_right_answer_or_a_refusal_nothing_is_said() -> None:
    refused_too = refusal(401, GET, role="authorized")
    assert verdict("5-17", fetched_without_key("no", refused_too)) is None
    allowed, opened = (replace(fetched(), role=role) for role in ("authorized", "refused"))
    assert verdict("5-17", call_with(KeyKind.NONE, allowed, opened, operation_id=GET)) is None
    created = call_with(KeyKind.NONE, accepted(role="authorized"), refusal(401, role="refused"))
    assert verdict("5-17", created) is None


@pytest.mark.parametrize(("status", "expected"), [(401, {"5-11": Verdict.FAIL}), (200, {})])
def test_a_key_that_opens_a_resource_says_nothing_by_one_that_there_is_not(
    status: int, expected: dict[str, Verdict]
) -> None:
    known = refusal(status, role="known")
    call = call_with(KeyKind.WRONG, accepted(role="authorized"), known, denied(404))
    assert verdicts("5-10 5-11", call) == expected
