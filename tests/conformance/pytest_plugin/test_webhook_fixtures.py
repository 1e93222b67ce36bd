"""The fixtures of the plugin as a user's tests use them."""

from pathlib import Path

import pytest

from tests.conformance.pytest_plugin.test_pytest_plugin import outcome_counts, user_pytest

SENDER = Path(__file__).parents[2] / "testing" / "sender.py"

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
    (folder / "sender.py").write_text(SENDER.read_text())
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


@pytest.mark.parametrize("content", [OWN_FIXTURE, UNUSED], ids=["another's", "unused"])
def test_nothing_is_done_for_tests_that_do_not_use_it(tmp_path: Path, content: str) -> None:
    write_tests(tmp_path, content)
    done = user_pytest(tmp_path, "-p", "no:cacheprovider")
    failed = 1 if content is OWN_FIXTURE else 0
    assert outcome_counts(done).get("failed", 0) == failed, done.stdout
    assert "INTERNALERROR" not in done.stdout
    assert "--- webhook_receiver ---" not in done.stdout
