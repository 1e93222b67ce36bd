"""`hookproof receive` and `hookproof ca` as users run them."""

import contextlib
import re
import signal
import socket
import ssl
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookproof.receiver.http.authority import Authority
from hookproof.receiver.replies.script import Reply
from tests.receiver.receiver_process import (
    COMMAND,
    DEADLINE_S,
    empty_post,
    read_to_end,
    receiver,
    run,
    start,
)
from tests.source_tree import ROOT


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bind", "nonsense"], "'nonsense' is not an address"),
        (["--bind", "127.0.0.1"], "is not an address"),
        (["--tls-cert", "LICENSE"], "--tls-cert and --tls-key are needed together"),
        (["--tls-key", "LICENSE"], "--tls-cert and --tls-key are needed together"),
        (["--tls-cert", "gone", "--tls-key", "LICENSE"], "'gone' does not exist"),
        (["--http", "--tls-cert", "LICENSE", "--tls-key", "LICENSE"], "leave out --http"),
        (["--tls-cert", "LICENSE", "--tls-key", "LICENSE"], "LICENSE cannot be used for TLS"),
        (["--bind", "127.0.0.1:65536"], "is not an address"),
        (["--bind", "127.0.0.1:-1"], "is not an address"),
        (["--control", "127.0.0.1:1:2"], "is not an address"),
        (["--bind", "192.0.2.1:0"], "cannot listen on 192.0.2.1:0"),
        (["--http", "--bind", "no such host:0"], "is not an address"),
        (["--http", "--bind", "nowhere.invalid:0"], "cannot listen on nowhere.invalid:0"),
        (["--bind", "under_score.invalid:0"], "cannot make a certificate for under_score.invalid"),
        (["--public-url", "ftp://x"], "is not a base URL"),
        (["--public-url", "https://x/?a=b"], "is not a base URL"),
        (["--public-url", "https://[x"], "--public-url"),
        (["--ca-dir", __file__], "is not a folder"),
        (["--ca-dir", __file__ + "/below"], "cannot use the folder"),
        (["--unheard-of"], "--unheard-of"),
        (["surplus"], "surplus"),
    ],
)
def test_a_setting_that_cannot_be_used_is_reported_in_one_line_with_exit_code_64(
    arguments: list[str], message: str
) -> None:
    completed = run("receive", *arguments)
    assert completed.returncode == 64
    assert completed.stdout == ""
    assert message in completed.stderr
    assert completed.stderr.count("\n") == 1


@pytest.mark.parametrize("option", ["--bind", "--control"])
def test_a_port_in_use_is_reported_in_one_line_with_exit_code_64(option: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        completed = run("receive", option, address)
    assert completed.returncode == 64
    assert f"cannot listen on {address}" in completed.stderr
    assert completed.stderr.count("\n") == 1


def test_the_authority_is_made_once_and_kept(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "ca"
    first = run("ca", str(folder))
    content = {path.name: path.read_bytes() for path in folder.iterdir()}
    second = run("ca", str(folder))
    assert (first.returncode, second.returncode) == (0, 0)
    assert first.stdout == second.stdout == f"{folder / 'ca.pem'}\n"
    assert sorted(content) == ["ca.key", "ca.pem"]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == content
    assert stat.S_IMODE((folder / "ca.key").stat().st_mode) == 0o600
    for made in (first, second):
        assert "127.0.0.0/8" in made.stderr
        assert f"whoever can read {folder / 'ca.key'}" in made.stderr


def test_an_authority_is_for_the_names_that_it_was_made_for(tmp_path: Path) -> None:
    made = run("ca", str(tmp_path), "--name", "hooks.example.org", "--name", "10.0.0.0/8")
    assert made.returncode == 0
    assert "hooks.example.org, 10.0.0.0/8" in made.stderr
    public = ("receive", "--ca-dir", str(tmp_path), "--public-url")
    refused = run(*public, "https://other.example.org:8443")
    assert refused.returncode == 64
    assert "not for other.example.org" in refused.stderr
    with receiver(*public[1:], "https://hooks.example.org:8443") as running:
        assert running.url == "https://hooks.example.org:8443"


def test_a_temporary_authority_is_gone_however_the_receiver_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        with receiver() as running:
            assert list(tmp_path.rglob("ca.key"))
            running.process.send_signal(number)
            assert running.process.wait(60) == 0
        assert list(tmp_path.iterdir()) == []
    killed = start(forked=False)
    assert killed.stdout is not None
    assert killed.stdout.readline()
    killed.kill()
    killed.communicate()
    assert list(tmp_path.rglob("ca.key")), "nobody was there to remove it"
    with receiver() as running:
        assert len(list(tmp_path.rglob("ca.key"))) == 1
    assert list(tmp_path.iterdir()) == []


def test_two_receivers_of_one_authority_are_trusted_through_one_certificate(tmp_path: Path) -> None:
    with (
        receiver("--ca-dir", str(tmp_path)) as first,
        receiver("--ca-dir", str(tmp_path)) as second,
    ):
        assert first.ca == second.ca == str(tmp_path / "ca.pem")
        assert first.post("/x").startswith(b"HTTP/1.1 200 ")
        assert second.post("/x").startswith(b"HTTP/1.1 200 ")
    assert (tmp_path / "ca.key").exists()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"ca.pem": None}, "without its other half"),
        ({"ca.key": None}, "without its other half"),
        ({"ca.pem": "nonsense", "ca.key": None}, "not a PEM file"),
        ({"ca.pem": None, "ca.key": "nonsense"}, "not a PEM file"),
        ({"ca.pem": None, "ca.key": "other"}, "is not the key of"),
        ({"ca.pem": "leaf", "ca.key": "leaf"}, "not the certificate of an authority"),
    ],
    ids=[
        "no key",
        "no certificate",
        "broken certificate",
        "broken key",
        "another's key",
        "no authority",
    ],
)
@pytest.mark.parametrize("command", [["ca"], ["receive", "--ca-dir"]], ids=["ca", "receive"])
def test_an_authority_that_cannot_be_read_is_reported_and_left_alone(
    tmp_path: Path, command: list[str], files: dict[str, str | None], message: str
) -> None:
    good, other, leaf, folder = (tmp_path / name for name in ("good", "other", "leaf", "ca"))
    Authority(other)
    leaf.mkdir()
    folder.mkdir()
    certificate, key = Authority(good).client_certificate("no authority")
    (leaf / "ca.pem").write_text(certificate)
    (leaf / "ca.key").write_text(key)
    for name, text in files.items():
        source = {None: good, "other": other, "leaf": leaf}.get(text)
        (folder / name).write_text((source / name).read_text() if source else "nonsense")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    completed = run(*command, str(folder))

    assert completed.returncode == 64
    assert message in completed.stderr
    assert completed.stderr.count("\n") == 1
    assert "restore both files or remove both" in completed.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_cleanly_though_a_reply_hangs_and_a_client_waits(
    number: signal.Signals,
) -> None:
    with receiver() as process:
        token = process.new_token()
        process.call(lambda client: client.script(token, [Reply(hang=True)]))
        host, _, port = process.control.removeprefix("http://").partition(":")
        with (
            process.connection() as sender,
            socket.create_connection((host, int(port)), timeout=DEADLINE_S) as waiter,
        ):
            sender.sendall(empty_post(token))
            waiter.sendall(
                f"GET /tokens/{token}/deliveries?count=9&timeout=999 HTTP/1.1\r\n"
                "Host: x\r\n\r\n".encode()
            )
            process.call(lambda client: client.deliveries(token))
            process.process.send_signal(number)
            assert process.process.wait(DEADLINE_S) == 0
        assert process.log.empty(), process.log.get()


def test_the_authority_of_one_run_is_removed_with_it() -> None:
    with receiver() as process:
        assert process.ca is not None
        folder = Path(process.ca).parent
        assert folder.is_dir()
    assert not folder.exists()


@contextlib.contextmanager
def run_by_hand(*arguments: str) -> Iterator[str]:
    """The first line of a receiver that is started by hand, and stopped by a signal."""
    command = [*COMMAND, "receive", *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=ROOT, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline()
            process.terminate()
            assert process.wait(DEADLINE_S) == 0
        finally:
            process.kill()


def test_for_people_it_says_in_a_sentence_where_it_is_and_lasts_though_standard_input_ends() -> (
    None
):
    with run_by_hand("--http") as line:
        local = r"http://127\.0\.0\.1:(\d+)"
        matched = re.fullmatch(
            rf"Receiving at {local}/TOKEN, live page and control API at {local}\. Ctrl-C stops\.\n",
            line,
        )
        assert matched is not None
        with socket.create_connection(("127.0.0.1", int(matched[1])), timeout=DEADLINE_S) as sender:
            sender.sendall(b"POST /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert read_to_end(sender).startswith(b"HTTP/1.1 200 ")


def test_a_public_url_is_what_tokens_are_given() -> None:
    with receiver("--public-url", "https://hooks.example.org:8443/in/") as process:
        token = process.call(lambda client: client.new_token())
        assert process.url == "https://hooks.example.org:8443/in"
        assert token.url == f"https://hooks.example.org:8443/in/{token.token}"


def test_the_certificate_is_valid_for_the_host_of_the_public_url() -> None:
    with run_by_hand("--public-url", "https://hooks.example.org") as line:
        matched = re.search(
            r"listening at https://127\.0\.0\.1:(\d+)\).* trust (.*)\. Ctrl-C", line
        )
        assert matched is not None
        context = ssl.create_default_context(cafile=matched[2])
        with (
            socket.create_connection(("127.0.0.1", int(matched[1])), timeout=DEADLINE_S) as plain,
            context.wrap_socket(plain, server_hostname="hooks.example.org") as sender,
        ):
            sender.sendall(b"POST /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert read_to_end(sender).startswith(b"HTTP/1.1 200 ")


def test_the_listener_can_be_bound_to_every_address() -> None:
    with receiver("--bind", "0.0.0.0:0") as process:
        assert process.url.startswith("https://127.0.0.1:")
        assert process.post("/x").startswith(b"HTTP/1.1 200 ")


def test_an_ipv6_address_is_written_in_brackets() -> None:
    with receiver("--bind", "[::1]:0") as process:
        assert process.url.startswith("https://[::1]:")
        assert process.post("/x").startswith(b"HTTP/1.1 200 ")
