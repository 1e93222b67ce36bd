"""The service in the style of FastAPI: it answers as it says, and nothing is held against it."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookproof.receiver.http.authority import Authority
from tests.strangers.flow import clean_run
from tests.strangers.services import KEYS, ledgerline

Answer = tuple[int, Any]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("ledgerline")
    Authority(folder / "ca")
    with ledgerline().running(folder / "ca" / "ca.pem") as address:
        yield address


def call(url: str, method: str, path: str, body: object = None, key: str = KEYS["main"]) -> Answer:
    request = urllib.request.Request(
        f"{url}/api/v1/projects/main/{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, json.load(refusal)


def test_identifiers_are_sequential(url: str) -> None:
    sent = {"name": "a", "url": "https://endpoint.invalid/"}
    uids = [call(url, "POST", "endpoints", sent)[1]["data"]["uid"] for _ in range(2)]
    numbers = [int(uid.removeprefix("ep_")) for uid in uids]
    assert numbers[1] == numbers[0] + 1


def test_what_has_no_value_is_null(url: str) -> None:
    _, answer = call(url, "POST", "endpoints", {"name": "a", "url": "https://endpoint.invalid/"})
    shown = answer["data"]
    assert shown["authentication"] is shown["owner_id"] is shown["deleted_at"] is None


def test_everything_invalid_is_answered_with_422_and_a_list(url: str) -> None:
    status, answer = call(url, "POST", "endpoints", {"url": "http://endpoint.invalid/"})
    assert status == 422
    assert [problem["loc"] for problem in answer["detail"]] == [["body", "name"], ["body", "url"]]
    assert call(url, "GET", "sources?perPage=0")[0] == 422
    sent = {"name": "a", "url": "https://endpoint.invalid/"}
    uid = call(url, "POST", "endpoints", sent)[1]["data"]["uid"]
    assert call(url, "PUT", f"endpoints/{uid}/expire_secret", [])[0] == 422


def test_an_expired_secret_stays_listed(url: str) -> None:
    sent = {"name": "a", "url": "https://endpoint.invalid/", "secret": "the-old-one"}
    uid = call(url, "POST", "endpoints", sent)[1]["data"]["uid"]
    call(url, "PUT", f"endpoints/{uid}/expire_secret", {"expiration": 0, "secret": "the-new-one"})
    _, answer = call(url, "GET", f"endpoints/{uid}")
    secrets = answer["data"]["secrets"]
    assert [secret["value"] for secret in secrets] == ["the-old-one", "the-new-one"]
    assert secrets[0]["expires_at"] is not None


def test_a_page_leads_to_the_next_and_back(url: str) -> None:
    data = call(url, "GET", "portal-links?perPage=5")[1]["data"]
    cursor = data["pagination"]["next_page_cursor"]
    second = call(url, "GET", f"portal-links?perPage=5&next_page_cursor={cursor}")[1]["data"]
    back = second["pagination"]["prev_page_cursor"]
    path = f"portal-links?perPage=5&direction=prev&prev_page_cursor={back}"
    assert call(url, "GET", path)[1]["data"]["content"] == data["content"]


def test_a_key_opens_its_own_project_alone(url: str) -> None:
    assert call(url, "GET", "sources", key=KEYS["side"]) == (404, {"detail": "Project not found"})
    assert call(url, "GET", "sources", key="of nobody")[0] == 401


def test_it_is_learned_and_nothing_is_held_against_it(tmp_path: Path) -> None:
    outcome = clean_run(ledgerline(cost_ms=0), tmp_path / "run", "standard", "quick")
    assert outcome.problem == ""
    assert outcome.false == [], outcome.verdict
