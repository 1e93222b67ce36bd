"""convoy-python, a public client, works unchanged against the dialect convoy, as far as it goes.

What it gets wrong by itself is asserted too, so that nobody takes it for the server's mistake.
"""

import json
import subprocess
import urllib.request
from contextlib import suppress
from typing import Any, Final

import pytest

from hookproof import Receiver, Service
from tests.clients.tools import ADVICE, FOLDER, tool
from tests.polling import poll_until
from tests.source_tree import ROOT

SCRIPT: Final = ROOT / "tests" / "clients" / "convoy_calls.py"
SECRET: Final = "whsec-of-convoy-python-01"
EVENT: Final = {"order": 1, "paid": True}
WITHIN_S: Final = 60

pytestmark = pytest.mark.parametrize("webhook_dialect", ["convoy"])


@pytest.fixture
def python() -> str:
    if not list(FOLDER.glob("lib/python*/site-packages/convoy")):
        pytest.skip(f"convoy-python is not installed: {ADVICE}")
    return tool("python")


def results(python: str, service: Service, *calls: list[Any], end_of_uri: str = "") -> list[Any]:
    """What these calls of the client return: a body and a status, or a verdict."""
    uri = f"{service.url}/api/v1/projects/{service.project}{end_of_uri}"
    given = {"config": {"uri": uri, "api_key": service.api_key}, "calls": calls}
    done = subprocess.run(
        [python, SCRIPT], input=json.dumps(given), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


def creation(url: str, **further: object) -> list[Any]:
    record = {"name": "orders", "url": url, "description": "", "secret": SECRET, "events": ["*"]}
    return ["endpoint", "create", [{}, record | further]]


def signature_of_delivery(
    python: str, service: Service, receiver: Receiver, **further: object
) -> tuple[str, str]:
    """The body and the signature of an event delivered to an endpoint that the client created."""
    [[created, status]] = results(python, service, creation(receiver.url, **further))
    assert status == 201, created
    receiver.secrets(SECRET, dialect="convoy")
    # A new endpoint is reached some seconds after its creation, when it has been visited.
    poll_until(lambda: broadcast_reaches(service, receiver), "a delivery", WITHIN_S)
    delivery = receiver.deliveries[-1]
    assert delivery.verified, delivery.problem
    signature = delivery.header("X-Convoy-Signature")
    assert signature is not None
    return delivery.text, signature


def broadcast_reaches(service: Service, receiver: Receiver) -> bool:
    """Whether an event that is broadcast now reaches the receiver within a second."""
    request = urllib.request.Request(
        f"{service.url}/api/v1/projects/{service.project}/events/broadcast",
        json.dumps({"event_type": "order.paid", "data": EVENT}).encode(),
        {"Authorization": service.authorization, "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request):
        pass
    with suppress(AssertionError):
        receiver.wait_for(1, timeout_s=1)
    return bool(receiver.deliveries)


def test_convoy_python_creates_an_endpoint_and_lists_sources(
    python: str, webhook_service: Service, webhook_receiver: Receiver
) -> None:
    source = webhook_service.add_source(name="shop", type="http")
    [[created, status], [listed, listing_status]] = results(
        python, webhook_service, creation(webhook_receiver.url), ["source", "all", [{}]]
    )
    assert (status, listing_status) == (201, 200)
    assert created["data"]["secrets"][0]["value"] == SECRET
    assert source["uid"] in {each["uid"] for each in listed["data"]["content"]}


def test_convoy_python_fetches_no_endpoint_as_it_leaves_out_a_slash(
    python: str, webhook_service: Service, webhook_receiver: Receiver
) -> None:
    [[created, _]] = results(python, webhook_service, creation(webhook_receiver.url))
    uid = created["data"]["uid"]
    find = ["endpoint", "find", [uid, {}]]
    [[_, wrong]] = results(python, webhook_service, find)
    [[found, right]] = results(python, webhook_service, find, end_of_uri="/")
    assert (wrong, right) == (404, 200)
    assert found["data"]["uid"] == uid


def test_convoy_python_verifies_simple_signatures(
    python: str, webhook_service: Service, webhook_receiver: Receiver
) -> None:
    body, signature = signature_of_delivery(python, webhook_service, webhook_receiver)
    verify = "verify_signature"
    right, other = results(
        python,
        webhook_service,
        ["webhook", verify, [body, signature], {"secret": SECRET}],
        ["webhook", verify, [body, signature], {"secret": SECRET[:-1]}],
    )
    assert right is True
    assert other == "Invalid signature."  # a text, which is true


def test_convoy_python_leaves_the_time_out_of_advanced_signatures(
    python: str, webhook_service: Service, webhook_receiver: Receiver
) -> None:
    body, signature = signature_of_delivery(
        python, webhook_service, webhook_receiver, advanced_signatures=True
    )
    [found] = results(
        python,
        webhook_service,
        ["webhook", "verify_signature", [body, signature], {"secret": SECRET}],
    )
    assert signature.startswith("t=")
    assert found == "Invalid signature."
