from pathlib import Path

import pytest

from hookproof.conformance.target.definition import Budgets, Project
from hookproof.conformance.target.file import target_from
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.receiver.http.authority import Authority
from hookproof.target.settings import Flags

COMPLETE = """
base_url: http://127.0.0.1:5005/
projects:
  - {id: p1, api_key: "${KEY}"}
  - {id: p2, api_key: "two-${KEY2}"}
dialect: contrary
receiver: {bind: "127.0.0.1:0", public_url: "https://127.0.0.1:8443"}
budgets: {request_s: 3, total_s: 60.5, requests_per_s: 20}
"""
ENVIRONMENT = {"KEY": "first-key", "KEY2": "second"}


def write_file(folder: Path, text: str) -> Flags:
    path = folder / "target.yaml"
    path.write_text(text)
    return Flags(file=path)


def refusal(flags: Flags, environment: dict[str, str] | None = None) -> str:
    with pytest.raises(CommandError) as refused:
        target_from(flags, environment or {})
    assert refused.value.exit_code is ExitCode.USAGE
    return str(refused.value)


def test_a_complete_file_is_read_with_its_environment(tmp_path: Path) -> None:
    target = target_from(write_file(tmp_path, COMPLETE), ENVIRONMENT)
    assert target.base_url == "http://127.0.0.1:5005"
    assert target.projects == (
        Project(id="p1", api_key="first-key"),
        Project(id="p2", api_key="two-second"),
    )
    assert target.dialect.name == "contrary"
    assert target.receiver.public_url == "https://127.0.0.1:8443"
    assert target.budgets == Budgets(request_s=3, total_s=60.5, requests_per_s=20)


def test_flags_take_precedence_over_the_file(tmp_path: Path) -> None:
    file = write_file(tmp_path, COMPLETE).file
    flags = Flags(
        file=file, url="http://127.0.0.1:9", project="p2", api_key="other", dialect="reference"
    )
    target = target_from(flags, ENVIRONMENT)
    assert target.base_url == "http://127.0.0.1:9"
    assert target.projects == (
        Project(id="p2", api_key="other"),
        Project(id="p1", api_key="first-key"),
    )
    assert target.dialect.name == "reference"


def test_flags_alone_make_a_target() -> None:
    target = target_from(Flags(url="https://hooks.example", project="p", api_key="k"), {})
    assert target.projects == (Project(id="p", api_key="k"),)
    assert target.dialect.name == "reference"


def test_a_dialect_file_is_found_beside_the_target_file(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("extends: reference\nname: own\nsummary: Our own.\n")
    target = target_from(
        write_file(tmp_path, COMPLETE.replace("contrary", "own.yaml")), ENVIRONMENT
    )
    assert target.dialect.name == "own"


def test_a_dialect_may_stand_in_the_target_file(tmp_path: Path) -> None:
    inline = "{extends: reference, name: inline, summary: Here.}"
    target = target_from(write_file(tmp_path, COMPLETE.replace("contrary", inline)), ENVIRONMENT)
    assert target.dialect.name == "inline"


def test_the_ca_is_found_beside_the_target_file(tmp_path: Path) -> None:
    Authority(tmp_path / "ca")
    text = COMPLETE.replace("receiver: {", "receiver: {ca: ca/ca.pem, ca_key: ca/ca.key, ")
    target = target_from(write_file(tmp_path, text), ENVIRONMENT)
    assert target.receiver.ca == tmp_path / "ca" / "ca.pem"


def test_every_unset_variable_is_reported_with_its_line(tmp_path: Path) -> None:
    first, second = refusal(write_file(tmp_path, COMPLETE)).splitlines()
    assert "target.yaml:4: projects[0].api_key: the environment variable KEY is not set" in first
    assert "target.yaml:5: projects[1].api_key: the environment variable KEY2 is not set" in second


@pytest.mark.parametrize(
    "key", ["fixture: {}", "provisions: ./hooks.py:P", "capability: {mtls: auto}", "base_ulr: x"]
)
def test_a_key_that_is_not_supported_is_refused(tmp_path: Path, key: str) -> None:
    message = refusal(write_file(tmp_path, f"{COMPLETE}{key}\n"), ENVIRONMENT)
    assert "target.yaml:9" in message
    assert key.partition(":")[0] in message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("base_url: http://127.0.0.1:5005/", "base_url: ftp://x"), "ftp://x"),
        (("base_url: http://127.0.0.1:5005/", "base_url: http://127.0.0.1:99999"), "base URL"),
        (
            ("base_url: http://127.0.0.1:5005/", "base_url: http://a:b@127.0.0.1"),
            "user information",
        ),
        (("base_url: http://127.0.0.1:5005/\n", ""), "no base URL"),
        (("contrary", "contrarry"), "did you mean"),
        (("contrary", "infer"), "infer"),
        (("contrary", "gone.yaml"), "gone.yaml"),
        (('bind: "127.0.0.1:0"', "bind: nowhere"), "nowhere"),
        (("https://127.0.0.1:8443", "8443"), "8443"),
        (("receiver: {", "receiver: {ca: gone.pem, ca_key: gone.key, "), "hookproof ca"),
        (("receiver: {", "receiver: {ca: gone.pem, "), "ca_key"),
        (("receiver: {", "receiver: {tls_cert: gone.pem, "), "tls_key"),
        (("receiver: {", "receiver: {tls_cert: gone.pem, tls_key: a, "), "gone.pem is not a file"),
        (('public_url: "https://127.0.0.1:8443"', "http: true"), "the https URL of the proxy"),
        (("request_s: 3", "request_s: 0"), "request_s"),
        (("request_s: 3", "request_s: soon"), "request_s"),
        (("projects:", "projects: ["), "target.yaml"),
    ],
)
def test_a_wrong_file_is_refused_with_the_reason(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    assert change[0] in COMPLETE
    assert message in refusal(write_file(tmp_path, COMPLETE.replace(*change)), ENVIRONMENT)


def test_a_file_that_does_not_exist_is_named(tmp_path: Path) -> None:
    assert "nowhere.yaml" in refusal(Flags(file=tmp_path / "nowhere.yaml"))


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (Flags(url="http://127.0.0.1:1"), "--project"),
        (Flags(url="http://127.0.0.1:1", project="p"), "--api-key"),
        (Flags(url="http://127.0.0.1:1", project="p", api_key="a\nb"), "printable"),
        (Flags(url="127.0.0.1:1", project="p", api_key="k"), "base URL"),
    ],
)
def test_incomplete_flags_are_refused(flags: Flags, message: str) -> None:
    assert message in refusal(flags)


def test_a_refusal_never_shows_a_key(tmp_path: Path) -> None:
    message = refusal(
        write_file(tmp_path, COMPLETE.replace('"${KEY}"', '"k\\u00e4y-secret"')), ENVIRONMENT
    )
    assert "secret" not in message


def test_egress_probes_are_addresses_and_there_are_none_by_default(tmp_path: Path) -> None:
    assert target_from(write_file(tmp_path, COMPLETE), ENVIRONMENT).egress_probes == ()
    with_probes = f'{COMPLETE}egress_canaries: ["192.0.2.10", "fd00::7"]\n'
    assert target_from(write_file(tmp_path, with_probes), ENVIRONMENT).egress_probes == (
        "192.0.2.10",
        "fd00::7",
    )
    message = refusal(
        write_file(tmp_path, f"{COMPLETE}egress_canaries: [metadata.internal]\n"), ENVIRONMENT
    )
    assert "'metadata.internal' is not an IP address" in message
