"""A script can be for some requests of a token only."""

import pytest

from hookproof.receiver.replies.script import Cut, Reply, Script
from tests.receiver.receiver_process import receiver


def test_a_script_for_some_requests_is_not_used_up_by_others() -> None:
    with receiver("--http") as running:
        token = running.new_token()
        replies = [Reply(status=503), Reply(status=201)]
        running.call(lambda client: client.script(token, replies, only_for="mine"))
        bodies = (b"yours", b'{"is": "mine"}', b"yours", b"mine too")
        answers = [running.post(f"/{token}", body) for body in bodies]
        assert [answer.split(b" ", 2)[1] for answer in answers] == [b"200", b"503", b"200", b"201"]
        marked = running.post(f"/{token}", headers=b"X-Marker: mine\r\n")
        assert marked.startswith(b"HTTP/1.1 201 ")


def test_a_script_for_some_requests_has_to_read_them() -> None:
    unread = Reply(cut=Cut(at="before_reading"))
    with pytest.raises(ValueError, match="only_for looks into requests"):
        Script(replies=(unread,), only_for="mine")
    with pytest.raises(ValueError, match="a visit has no body"):
        Script(replies=(unread,), visits=True)
