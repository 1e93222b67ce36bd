"""The fixtures of the plugin as a user's tests use them."""

import re
from pathlib import Path

import pytest

from tests.conformance.pytest_plugin.test_pytest_plugin import outcome_counts, user_pytest

TESTING = Path(__file__).parents[2] / "testing"
SUPPORT = [TESTING / "sender.py", TESTING / "api_caller.py"]

# Each test sends one delivery to a URL of its own.
RECEIVING = """
import pytest
from sender import SECRET, post, signature

URLS = set()

@pytest.mark.parametrize("number", range(2))
def test_each_has_its_own(webhook_receiver, number):
    URLS.add(webhook_receiver.url)
    post(webhook_receiver.url, webhook_receiver.ca_file)
    assert len(webhook_receiver.wait_for()) == 1
    assert len(URLS) == number + 1
    assert len({url.rpartition("/")[0] for url in URLS}) == 1

def test_a_wrong_signature(webhook_receiver):
    webhook_receiver.secrets(SECRET)
    post(webhook_receiver.url, webhook_receiver.ca_file, b"[1, 2]", signature(b"[1,2]"))
    assert webhook_receiver.wait_for()[0].verified

def test_something_else(webhook_receiver):
    post(webhook_receiver.url, webhook_receiver.ca_file, b"12345")
    assert 1 == 2

def test_nothing_came(webhook_receiver):
    webhook_receiver.wait_for(timeout_s=0.1)
"""

# The second test would fail if the first one left something behind.
SERVING = """
import pytest
from api_caller import broadcast_to, call

URLS = set()

@pytest.mark.parametrize("number", range(2))
def test_nothing_is_left_by_another_test(webhook_service, number):
    assert webhook_service.journal("requests") == []
    assert call(webhook_service, "GET", "sources")[1]["content"] == []
    webhook_service.add_source(name="Pushes", type="http")
    webhook_service.arm_fault("server_error", status=503)
    assert call(webhook_service, "GET", "sources")[0] == 503
    URLS.add(webhook_service.url)
    assert len(URLS) == 1

@pytest.mark.parametrize("webhook_dialect", ["reference", "contrary"])
def test_under_a_dialect(webhook_service, webhook_dialect):
    bearer = webhook_service.authorization.startswith("Bearer")
    assert bearer == (webhook_dialect == "reference")
    assert call(webhook_service, "GET", "sources")[0] // 100 == 2

def test_from_end_to_end(webhook_service, webhook_receiver):
    webhook_receiver.secrets("a secret")
    broadcast_to(webhook_service, webhook_receiver.url, "a secret")
    assert webhook_receiver.wait_for()[0].verified
    webhook_service.journal("deliveries", count=1, state="delivered")
    assert 1 == 2
"""

# What a user has already, and what is not ours to describe.
OWN_FIXTURE = """
import pytest

@pytest.fixture
def webhook_receiver():
    return "mine"

def test_own(webhook_receiver):
    assert webhook_receiver == "yours"
"""

UNUSED = """
import threading

def test_nothing_runs(request):
    assert threading.active_count() == 1
    assert "webhook_receiver" in request.session._fixturemanager._arg2fixturedefs
"""


def write_tests(folder: Path, content: str) -> None:
    for module in SUPPORT:
        (folder / module.name).write_text(module.read_text())
    (folder / "test_webhooks.py").write_text(content)


def test_a_receiver_for_each_test_and_what_arrived_beside_a_failure(tmp_path: Path) -> None:
    write_tests(tmp_path, RECEIVING)
    done = user_pytest(tmp_path, "-W", "error", "-rN")
    assert outcome_counts(done) == {"passed": 3, "failed": 3}
    _, signed, other, nothing = done.stdout.split("\n____")
    section = "--- webhook_receiver ---"
    assert "signed the compact form of the body, sent it with spaces" in signed.split(section)[1]
    assert "5 bytes, answered 200" in other.split(section)[1]
    assert section not in nothing
    assert nothing.count("nothing arrived at https://") == 1


def test_a_service_for_all_tests_that_is_emptied_between_them(tmp_path: Path) -> None:
    write_tests(tmp_path, SERVING)
    done = user_pytest(tmp_path, "-W", "error", "-rN")
    assert outcome_counts(done) == {"passed": 5, "failed": 1}, done.stdout
    assert "--- webhook_receiver ---" in done.stdout
    section = done.stdout.split("--- webhook_service ---")[1]
    assert "201 (createEndpoint)" in section
    assert re.search(r"order.paid to \w+, delivered: 200\n", section)


@pytest.mark.parametrize("content", [OWN_FIXTURE, UNUSED], ids=["another's", "unused"])
def test_nothing_is_done_for_tests_that_do_not_use_it(tmp_path: Path, content: str) -> None:
    write_tests(tmp_path, content)
    done = user_pytest(tmp_path, "-p", "no:cacheprovider")
    failed = 1 if content is OWN_FIXTURE else 0
    assert outcome_counts(done).get("failed", 0) == failed, done.stdout
    assert "INTERNALERROR" not in done.stdout
    assert "--- webhook_receiver ---" not in done.stdout
