"""convoy-go, a public client, works unchanged against the dialect convoy, as far as it goes."""

import json
import subprocess
from contextlib import suppress
from typing import Any, Final

import pytest

from hookproof import Receiver, Service
from tests.clients.tools import tool
from tests.polling import poll_until

SECRET: Final = "whsec-of-convoy-go-000001"
NEW_SECRET: Final = "whsec-of-convoy-go-000002"
INVALID: Final = "webhook has no valid signature"
WITHIN_S: Final = 60

pytestmark = pytest.mark.parametrize("webhook_dialect", ["convoy"])


@pytest.fixture
def program() -> str:
    return tool("convoy-go")


def results(program: str, service: Service, *calls: list[Any]) -> list[dict[str, Any]]:
    """What these calls of the client return: a value, or an error."""
    given = {
        "url": f"{service.url}/api/v1",
        "api_key": service.api_key,
        "project": service.project,
        "calls": calls,
    }
    done = subprocess.run(
        [program], input=json.dumps(given), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def value(program: str, service: Service, *call: Any) -> Any:
    [result] = results(program, service, [*call])
    assert result["error"] == ""
    return result["value"]


def test_convoy_go_calls_all_eight_operations(
    program: str, webhook_service: Service, webhook_receiver: Receiver
) -> None:
    link = webhook_service.add_portal_link(name="shop", owner_id="owner-1")
    source = webhook_service.add_source(name="shop", type="http")
    creation = {"name": "orders", "url": webhook_receiver.url, "secret": SECRET}
    created = value(program, webhook_service, "create", creation)
    changes = {"name": "shop 2", "endpoints": [created["uid"]], "owner_id": "owner-2"}
    fetched, rolled, listed, retrieved, updated, sources, broadcast = results(
        program,
        webhook_service,
        ["fetch", created["uid"]],
        ["roll", created["uid"], {"expiration": 1}],
        ["links"],
        ["link", link["uid"]],
        ["update link", link["uid"], changes],
        ["sources"],
        ["broadcast", {"event_type": "order.paid", "data": {"order": 1}}],
    )
    assert created["secrets"][0]["value"] == SECRET
    assert fetched == {"value": created, "error": ""}
    assert rolled == broadcast == {"value": None, "error": ""}
    assert listed["value"]["content"] == [retrieved["value"]]
    assert updated["value"]["name"] == "shop 2"
    assert updated["value"]["endpoints_metadata"][0]["uid"] == created["uid"]
    assert [each["uid"] for each in sources["value"]["content"]] == [source["uid"]]


def test_what_convoy_go_leaves_unset_is_accepted_as_the_null_that_it_sends(
    program: str, webhook_service: Service, webhook_receiver: Receiver
) -> None:
    link = webhook_service.add_portal_link(name="shop", owner_id="owner-1")
    # advanced_signatures, endpoints and custom_headers
    value(program, webhook_service, "create", {"name": "orders", "url": webhook_receiver.url})
    value(program, webhook_service, "update link", link["uid"], {"name": "shop 2"})
    value(program, webhook_service, "broadcast", {"event_type": "order.paid", "data": {}})


def test_convoy_go_says_why_a_request_was_refused(program: str, webhook_service: Service) -> None:
    [refused] = results(program, webhook_service, ["fetch", "unknown"])
    assert refused["value"] is None
    assert refused["error"].startswith("convoy error: ")


def test_convoy_go_reads_no_times_of_portal_links(program: str, webhook_service: Service) -> None:
    link = webhook_service.add_portal_link(name="shop", owner_id="owner-1")
    found = value(program, webhook_service, "link", link["uid"])
    # Its fields have no names of JSON, and created_at is another name.
    assert found["CreatedAt"] == found["UpdatedAt"] == "0001-01-01T00:00:00Z"


@pytest.mark.parametrize("advanced", [False, True])
def test_convoy_go_verifies_deliveries_before_and_after_a_roll(
    program: str, webhook_service: Service, webhook_receiver: Receiver, advanced: bool
) -> None:
    creation = {
        "name": "orders",
        "url": webhook_receiver.url,
        "secret": SECRET,
        "advanced_signatures": advanced,
    }
    created = value(program, webhook_service, "create", creation)
    webhook_receiver.secrets(SECRET, NEW_SECRET, dialect="convoy")
    assert verdicts(program, webhook_service, webhook_receiver) == ["", INVALID]
    roll = {"expiration": 1, "secret": NEW_SECRET}
    value(program, webhook_service, "roll", created["uid"], roll)
    verdicts_after = verdicts(program, webhook_service, webhook_receiver)
    # An advanced header carries the signatures of both secrets, a simple one that of one.
    assert verdicts_after == (["", ""] if advanced else [INVALID, ""])


def verdicts(program: str, service: Service, receiver: Receiver) -> list[str]:
    """What it says of the signature of a new delivery under the old secret and the new one."""
    poll_until(lambda: broadcast_reaches(program, service, receiver), "a delivery", WITHIN_S)
    delivery = receiver.deliveries[-1]
    signature = delivery.header("X-Convoy-Signature")
    calls = [["verify", secret, delivery.text, signature] for secret in (SECRET, NEW_SECRET)]
    return [result["error"] for result in results(program, service, *calls)]


def broadcast_reaches(program: str, service: Service, receiver: Receiver) -> bool:
    """Whether an event that is broadcast now is delivered within a second."""
    arrived = len(receiver.deliveries)
    value(program, service, "broadcast", {"event_type": "order.paid", "data": {"order": 1}})
    with suppress(AssertionError):
        receiver.wait_for(arrived + 1, timeout_s=1)
    return len(receiver.deliveries) > arrived
