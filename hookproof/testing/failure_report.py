"""What the report of a failed test shows of the fixtures of Hookproof that it used."""

from collections.abc import Iterator, Mapping

from hookproof.receiver.client.control_api import ReceiverFailed
from hookproof.testing.receiver import Receiver
from hookproof.testing.service import Service, ServiceFailed


def fixture_sections(fixtures: Mapping[str, object], message: str) -> Iterator[tuple[str, str]]:
    """Name and content of each section; none for what the failure's message contains already.

    A user may have a fixture of the same name, which is left alone.
    """
    for name, fixture in fixtures.items():
        if isinstance(fixture, Receiver | Service):
            try:
                described = fixture.describe()
            except (ReceiverFailed, ServiceFailed) as failure:
                described = str(failure)
            if described not in message:
                yield name, described
