"""Where a dialect refuses addresses or ports, endpoints are given a receiver that it takes."""

from typing import Any

import pytest

from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.target.receiver_url import reached_by_name, require_taken
from hookproof.target.settings import ReceiverSettings
from tests.spec.dialect_variants import variant

ADDRESSES: dict[str, Any] = {"requests.url_addresses": "refused"}
PORTS: dict[str, Any] = {"requests.url_other_ports": "refused"}
EITHER: dict[str, Any] = {
    "requests.url_addresses": {"one_of": ["refused", "taken"]},
    "requests.url_other_ports": {"undecided": "nobody asked"},
}


@pytest.mark.parametrize(
    ("bind", "named"),
    [
        ("127.0.0.1:0", "localhost:0"),
        ("[::1]:8443", "localhost:8443"),
        ("10.0.0.7:8443", "10.0.0.7:8443"),
        ("0.0.0.0:8443", "0.0.0.0:8443"),
        ("hooks.internal:8443", "hooks.internal:8443"),
    ],
)
def test_a_receiver_on_this_machine_is_reached_by_name_where_addresses_are_refused(
    bind: str, named: str
) -> None:
    settings = ReceiverSettings(bind=bind)
    assert reached_by_name(settings, variant(ADDRESSES)).bind == named
    for answers in ({}, EITHER, PORTS):
        assert reached_by_name(settings, variant(answers)) == settings


def test_a_public_url_stays_as_it_was_given() -> None:
    settings = ReceiverSettings(public_url="https://hooks.example.org")
    assert reached_by_name(settings, variant(ADDRESSES)) == settings


@pytest.mark.parametrize(
    ("answers", "url", "words"),
    [
        (ADDRESSES, "https://10.0.0.7:8443", "refuses endpoint URLs with an address"),
        (ADDRESSES, "https://[::1]:8443", "refuses endpoint URLs with an address"),
        (ADDRESSES, "https://localhost:8443", None),
        (PORTS, "https://localhost:8443", "refuses endpoint URLs with another port than 443"),
        (PORTS, "https://hooks.example.org", None),
        (PORTS, "https://hooks.example.org:443", None),
        (PORTS, "https://10.0.0.7", None),
        (EITHER, "https://10.0.0.7:8443", None),
        ({}, "https://10.0.0.7:8443", None),
    ],
)
def test_a_receiver_whose_endpoints_are_all_refused_is_named(
    answers: dict[str, Any], url: str, words: str | None
) -> None:
    if words is None:
        require_taken(url, variant(answers))
        return
    with pytest.raises(CommandError, match=words) as refused:
        require_taken(url, variant(answers))
    assert url in str(refused.value)
    assert "--receiver-url" in str(refused.value)
    assert refused.value.exit_code == ExitCode.USAGE
