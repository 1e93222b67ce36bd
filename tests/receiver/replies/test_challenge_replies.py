"""Who tries a URL before it delivers there is answered: by --scheme, by scripts, or by a server."""

import hashlib
import hmac
import json
from pathlib import Path
from typing import Final

import pytest

from tests.receiver.cli.test_watching_commands import post, start_receiver, wait_for_end
from tests.receiver.receiver_process import ReceiverProcess, receiver, run
from tests.receiver.sending.consumer_thread import Recorder, serving

SECRET: Final = "a secret"
SLACK: Final = b'{"type":"url_verification","challenge":"3eZbrw1aBm"}'
ZOOM: Final = (
    b'{"event":"endpoint.url_validation","payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"}}'
)
ZOOM_ANSWER: Final = {
    "plainToken": "qgg8vlvZRS6UYooatFL8Aw",
    "encryptedToken": hmac.new(
        SECRET.encode(), b"qgg8vlvZRS6UYooatFL8Aw", hashlib.sha256
    ).hexdigest(),
}
META: Final = "/t?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=x"


def get(running: ReceiverProcess, path: str) -> tuple[bytes, bytes]:
    """The head and the body of an answer."""
    request = f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    head, _, body = running.exchange(request.encode()).partition(b"\r\n\r\n")
    return head, body


def posted(running: ReceiverProcess, path: str, body: bytes) -> tuple[bytes, bytes]:
    head, _, content = running.post(path, body).partition(b"\r\n\r\n")
    return head, content


def test_a_scheme_answers_its_sender_and_others_as_before() -> None:
    with receiver("--http", "--scheme", "zoom", "--secret", SECRET) as running:
        head, body = posted(running, "/t", ZOOM)
        assert head.startswith(b"HTTP/1.1 200 ")
        assert b"Content-Type: application/json" in head
        assert json.loads(body) == ZOOM_ANSWER
        assert posted(running, "/t", SLACK)[1] == b""
        assert posted(running, "/t", b"{}")[1] == b""
        assert len(running.call(lambda client: client.deliveries("t"))) == 3


def test_all_senders_are_answered_where_headers_tell_who_it_is() -> None:
    with receiver("--http", "--scheme", "auto", "--secret", SECRET) as running:
        assert get(running, META)[1] == b"1158201444"
        assert get(running, "/t?hub.mode=other&hub.challenge=1")[1] == b""
        assert posted(running, "/t", SLACK)[1] == b"3eZbrw1aBm"
        assert json.loads(posted(running, "/t", ZOOM)[1]) == ZOOM_ANSWER
        assert posted(running, "/t", b'{"type":"event_callback"}')[1] == b""
        answer = running.post("/t", b"{}", headers=b"X-Hook-Secret: b537\r\n")
        assert b"\r\nX-Hook-Secret: b537\r\n" in answer


def test_without_a_scheme_nobody_is_answered() -> None:
    with receiver("--http") as running:
        assert get(running, META)[1] == posted(running, "/t", SLACK)[1] == b""


def test_an_answer_that_needs_a_secret_is_not_made_up() -> None:
    with receiver("--http", "--scheme", "zoom") as running:
        assert "signatures are not verified" in running.next_log_line()
        assert posted(running, "/t", ZOOM)[1] == b""
        assert "the answer needs its secret" in running.next_log_line()


def test_the_server_that_deliveries_go_to_answers_by_itself() -> None:
    server = Recorder(status=418)
    with serving(server) as url:
        arguments = ("--forward-to", url, "--once", "--scheme", "slack")
        with start_receiver(*arguments) as (process, port):
            assert post(port, SLACK).startswith(b"HTTP/1.1 418 ")
            wait_for_end(process)
    assert [each.body for each in server.requests] == [SLACK]


SCRIPT: Final = """
tokens:
  zoom:
    challenge: zoom
    secrets: {secrets: [a secret]}
    replies: [{status: 503, times: 1}, {status: 202}]
  own:
    challenge:
      when: {method: GET, "query:validationToken": "*"}
      body: "{query:validationToken}"
"""


def test_scripts_answer_by_a_scheme_or_as_they_describe_before_their_replies(
    tmp_path: Path,
) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(SCRIPT)
    with receiver("--http", "--script", str(path)) as running:
        assert json.loads(posted(running, "/zoom", ZOOM)[1]) == ZOOM_ANSWER
        assert posted(running, "/zoom", b"{}")[0].startswith(b"HTTP/1.1 503 ")
        assert json.loads(posted(running, "/zoom", ZOOM)[1]) == ZOOM_ANSWER
        assert posted(running, "/zoom", b"{}")[0].startswith(b"HTTP/1.1 202 ")
        assert get(running, "/own?validationToken=a%20b")[1] == b"a b"
        assert get(running, "/own")[1] == b""
        assert posted(running, "/own", ZOOM)[0].startswith(b"HTTP/1.1 200 ")


def test_the_control_api_takes_a_challenge_and_refuses_one_that_is_none() -> None:
    with receiver("--http") as running:
        for script, status in (
            ({"challenge": "slack"}, 200),
            ({"challenge": {"when": {"body:type": "x"}, "body": "y"}}, 200),
            ({"challenge": "github"}, 400),
            ({"challenge": "no such"}, 400),
            ({"challenge": {"when": {"type": "x"}}}, 400),
            ({"challenge": {"when": {}}}, 400),
            ({"challenge": "slack"}, 200),
        ):
            answered, text = running.call_over_http(
                "PUT", "/tokens/t/script", json.dumps(script).encode()
            )
            assert answered // 100 * 100 == status, (script, text)
        assert posted(running, "/t", SLACK)[1] == b"3eZbrw1aBm"


@pytest.mark.parametrize(
    ("challenge", "message"),
    [
        ("github", "the sender github tries no URL before it delivers there"),
        ("slak", "there is no scheme 'slak'"),
        ("{when: {type: x}}", "'type' is no value of a request: give method, header:NAME"),
        ("{body: x}", "when"),
        ("{when: {method: GET}, bdy: x}", "bdy"),
        ("3", "challenge"),
        ("/etc/passwd.yaml", "there is no scheme '/etc/passwd.yaml'"),
        (
            "slack\n    replies: [{cut: {at: before_reading}}]",
            "a challenge is read, and before_reading does not read requests",
        ),
        ("slack\n    token_server: {}", "a token_server answers no challenge"),
    ],
)
def test_a_script_with_a_wrong_challenge_is_refused(
    challenge: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(f"tokens:\n  a:\n    challenge: {challenge}\n")
    completed = run("receive", "--script", str(path))
    assert completed.returncode == 64
    assert message in completed.stderr
    assert completed.stderr.count("\n") == 1
