"""What the report of a failed test shows of its `webhook_receiver`."""

from hookproof.receiver.client.control_api import ReceiverFailed
from hookproof.testing.receiver import Receiver


def what_arrived(fixture: object) -> str:
    """The deliveries in words; nothing if a user has a fixture of the same name."""
    if not isinstance(fixture, Receiver):
        return ""
    try:
        return fixture.describe()
    except ReceiverFailed as failure:
        return str(failure)
