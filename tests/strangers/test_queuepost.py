"""The service with a queue and background jobs: it answers as it says, and nothing is held against
it but what is true.
"""

import json
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookproof.receiver.http.authority import Authority
from tests.polling import poll_until
from tests.strangers.flow import clean_run
from tests.strangers.services import KEYS, Stranger, queuepost

Answer = tuple[int, Any]
ENDPOINT = {"name": "a", "url": "https://endpoint.invalid/"}

pytestmark = pytest.mark.skipif(
    shutil.which("go") is None, reason="go builds the service, and is not installed"
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    return queuepost(tmp_path_factory.mktemp("program"))


@pytest.fixture(scope="module")
def url(service: Stranger, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("queuepost")
    Authority(folder / "ca")
    with service.running(folder / "ca" / "ca.pem") as address:
        yield address


def call(url: str, method: str, path: str, body: object = None, *, project: str = "main") -> Answer:
    request = urllib.request.Request(
        f"{url}/api/v1/projects/{project}/{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {KEYS['main']}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, json.load(refusal)


def test_a_broadcast_is_answered_without_data(url: str) -> None:
    status, answer = call(url, "POST", "events/broadcast", {"event_type": "a", "data": {}})
    assert (status, answer["data"]) == (201, None)


def test_a_key_opens_its_own_project_under_every_path(url: str) -> None:
    uid = call(url, "POST", "endpoints", ENDPOINT)[1]["data"]["uid"]
    status, answer = call(url, "GET", f"endpoints/{uid}", project="no-such-project")
    assert (status, answer["data"]["project_id"]) == (200, "main")


def test_portal_links_need_a_licence(url: str) -> None:
    assert call(url, "GET", "portal-links")[0] == 401


def test_what_needs_a_licence_is_fixed_or_dropped(url: str) -> None:
    sent = {**ENDPOINT, "http_timeout": 3, "support_email": "a@example.invalid"}
    shown = call(url, "POST", "endpoints", sent)[1]["data"]
    assert (shown["http_timeout"], shown["support_email"]) == (10, "")


def test_a_job_marks_a_rolled_secret_afterwards(url: str) -> None:
    uid = call(url, "POST", "endpoints", ENDPOINT)[1]["data"]["uid"]
    rolled = call(url, "PUT", f"endpoints/{uid}/expire_secret", {"expiration": 1})[1]["data"]
    assert rolled["secrets"][0]["deleted_at"] is None

    def is_marked() -> bool:
        shown = call(url, "GET", f"endpoints/{uid}")[1]["data"]
        return shown["secrets"][0]["deleted_at"] is not None

    poll_until(is_marked, "the secret is marked")


def test_an_unknown_endpoint_is_refused_otherwise_by_a_roll(url: str) -> None:
    assert call(url, "GET", "endpoints/none")[0] == 404
    assert call(url, "PUT", "endpoints/none/expire_secret", {})[0] == 400


def test_it_is_learned_and_nothing_false_is_held_against_it(
    service: Stranger, tmp_path: Path
) -> None:
    outcome = clean_run(service, tmp_path / "run", "standard", "quick")
    assert outcome.problem == ""
    assert outcome.false == [], outcome.verdict
