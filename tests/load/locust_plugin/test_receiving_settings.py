"""What the environment says of a service, and what a locustfile asks for, is checked beforehand."""

from pathlib import Path

import pytest

from hookproof.load.locust_plugin.messages import ReceivingRequest
from hookproof.load.locust_plugin.receiving_process import profile_of, settings_for
from hookproof.load.profile.load_profile import LoadEndpointSettings
from hookproof.process.exit_codes import CommandError
from hookproof.receiver.http.authority import Authority

HOST = "http://127.0.0.1:5005"
VARIABLES = ("TARGET", "PROJECT", "API_KEY", "CA_DIR", "DIALECT", "RECEIVER_BIND", "RECEIVER_URL")
TARGET = """
base_url: http://127.0.0.1:5006
projects: [{id: p2, api_key: "${HOOKPROOF_API_KEY}"}]
"""


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An environment that names a project, its key and a CA."""
    Authority(tmp_path / "ca")
    for name in VARIABLES:
        monkeypatch.delenv(f"HOOKPROOF_{name}", raising=False)
    monkeypatch.setenv("HOOKPROOF_PROJECT", "p1")
    monkeypatch.setenv("HOOKPROOF_API_KEY", "key-1")
    monkeypatch.setenv("HOOKPROOF_CA_DIR", str(tmp_path / "ca"))


def test_variables_say_what_options_say_elsewhere(tmp_path: Path) -> None:
    settings = settings_for(HOST)
    assert (settings.base_url, settings.project, settings.api_key) == (HOST, "p1", "key-1")
    assert settings.ca_dir == tmp_path / "ca"


def test_a_target_file_says_what_variables_do_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "target.yaml").write_text(TARGET)
    monkeypatch.setenv("HOOKPROOF_TARGET", str(tmp_path / "target.yaml"))
    monkeypatch.delenv("HOOKPROOF_PROJECT")
    assert settings_for(None).base_url == "http://127.0.0.1:5006"
    settings = settings_for(HOST)
    assert (settings.base_url, settings.project, settings.api_key) == (HOST, "p2", "key-1")


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("PROJECT", "", "set HOOKPROOF_PROJECT and HOOKPROOF_API_KEY"),
        ("API_KEY", "", "no API key for the project 'p1'"),
        ("CA_DIR", "/nowhere", "`hookproof ca DIR` makes a CA"),
    ],
)
def test_what_is_missing_is_said(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str
) -> None:
    monkeypatch.setenv(f"HOOKPROOF_{variable}", value)
    with pytest.raises(CommandError, match=said):
        settings_for(HOST)
    assert not Path("/nowhere").exists()


def asked(endpoints: LoadEndpointSettings) -> ReceivingRequest:
    return ReceivingRequest(
        host=None,
        may_be_embedded=True,
        endpoints=endpoints,
        payload_bytes=500,
        expiration_s=60,
        drain_s=3,
        drain_at_most_s=7,
    )


def test_what_a_locustfile_asks_for_is_a_profile() -> None:
    endpoints = LoadEndpointSettings(count=3, limited=1, rate_limit=5, rate_limit_duration_s=2)
    profile = profile_of(asked(endpoints))
    assert (profile.endpoints, profile.payload_bytes) == (endpoints, 500)
    assert (profile.drain_s, profile.longest_drain_s) == (3, 7)


def test_endpoints_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="limited ones need rate_limit"):
        profile_of(asked(LoadEndpointSettings(limited=1)))
