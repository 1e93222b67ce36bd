"""The headers and the connection that a target file names for requests to the API."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from hookproof.conformance.target.file import target_from
from hookproof.load.target.settings import target_settings
from hookproof.process.exit_codes import CommandError
from hookproof.receiver.http.authority import Authority
from hookproof.target.connection import DIRECT, PROXIED, UNVERIFIED, ApiConnection
from hookproof.target.settings import Flags

HEAD = "base_url: https://api.example\nprojects: [{id: p1, api_key: key-one}]\n"
HEADERS = 'headers: {X-Version: "7", X-Gateway: "${GATEWAY}"}\n'
FILES = "connection: {ca: api-ca/ca.pem, client_cert: client.pem, client_key: client.key}\n"


def connection(folder: Path, text: str) -> ApiConnection:
    path = folder / "target.yaml"
    path.write_text(HEAD + text)
    return target_from(Flags(file=path), {"GATEWAY": "open sesame"}).connection


def write_files(folder: Path) -> None:
    texts = Authority(folder / "api-ca").client_certificate("the client")
    for name, text in zip(("client.pem", "client.key"), texts, strict=True):
        (folder / name).write_text(text)


def test_a_file_without_them_says_that_the_api_is_reached_directly(tmp_path: Path) -> None:
    assert connection(tmp_path, "") == DIRECT


def test_headers_may_come_from_the_environment_and_are_not_shown(tmp_path: Path) -> None:
    read = connection(tmp_path, HEADERS)
    assert read.headers == (("X-Version", "7"), ("X-Gateway", "open sesame"))
    assert "sesame" not in repr(read)


def test_files_are_found_beside_the_target_file(tmp_path: Path) -> None:
    write_files(tmp_path)
    read = connection(tmp_path, FILES)
    assert (read.ca, read.client_cert, read.client_key) == (
        tmp_path / "api-ca" / "ca.pem",
        tmp_path / "client.pem",
        tmp_path / "client.key",
    )


def test_another_process_reads_the_same_connection(tmp_path: Path) -> None:
    write_files(tmp_path)
    for text in ("", HEADERS, FILES, "connection: {verify: false, proxy: 'http://u:p@h:1'}\n"):
        read = connection(tmp_path, text)
        assert ApiConnection.from_json(read.to_json()) == read


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("headers: {authorization: x}", "headers.authorization: authorization is written by"),
        ("headers: {Host: x}", "written by hookproof itself"),
        ("headers: {'X Y': x}", "'X Y' cannot be the name of a header"),
        ('headers: {X-A: "a\\r\\nX-B: b"}', "headers.X-A: the value cannot stand in a header"),
        ("headers: {X-A: ''}", "the value cannot stand in a header"),
        ("headers: {X-A: 1, x-a: 2}", "headers.X-A"),
        ("headers: {X-A: a, x-a: b}", "another spelling"),
        ("connection: {proxy: 'https://proxy:3128'}", "connection.proxy: not the URL of an HTTP"),
        ("connection: {proxy: proxy}", "connection.proxy: not the URL of an HTTP proxy"),
        ("connection: {proxy: 'http://proxy:port'}", "connection.proxy: not the URL of an HTTP"),
        ("connection: {ca: gone.pem}", "connection.ca: "),
        ("connection: {client_cert: a.pem}", "client_cert and client_key stand together"),
        ("connection: {ca: target.yaml}", "cannot be used for TLS"),
        ("connection: {verify: 'no'}", "connection.verify"),
        ("connection: {verified: no}", "connection.verified"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(CommandError) as refused:
        connection(tmp_path, f"{text}\n")
    assert message in str(refused.value)


def test_a_key_with_a_password_is_refused_and_the_password_is_not_asked_for(tmp_path: Path) -> None:
    write_files(tmp_path)
    path = tmp_path / "client.key"
    key = load_pem_private_key(path.read_bytes(), password=None)
    path.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"hush"))
    )
    with pytest.raises(CommandError, match="without a password"):
        connection(tmp_path, FILES)


def test_a_load_run_uses_the_same_connection_and_says_that_nothing_is_verified(
    tmp_path: Path,
) -> None:
    path = tmp_path / "target.yaml"
    path.write_text(f"{HEAD}connection: {{verify: false}}\n{HEADERS}")
    settings = target_settings(Flags(file=path), {"GATEWAY": "open sesame"})
    assert (
        settings.connection == target_from(Flags(file=path), {"GATEWAY": "open sesame"}).connection
    )
    assert settings.warnings == (UNVERIFIED,)


def test_a_load_run_through_a_proxy_says_that_it_is_measured_too(tmp_path: Path) -> None:
    path = tmp_path / "target.yaml"
    path.write_text(HEAD + "connection: {proxy: 'http://proxy:3128'}\n")
    assert target_settings(Flags(file=path), {}).warnings == (PROXIED,)
