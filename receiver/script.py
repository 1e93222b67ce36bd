"""What the receiver answers: per token, replies in order, the last of them for ever.

A reply's members are checked where they come in, so that a script that was taken can be played.
"""

from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated

import msgspec

HeaderName = Annotated[str, msgspec.Meta(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z", max_length=1024)]
HeaderValue = Annotated[str, msgspec.Meta(pattern=r"^[\t -~\x80-\xff]*\Z", max_length=32768)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=3600)]
FRAMING_HEADERS = frozenset({"content-length", "transfer-encoding", "connection"})


class Reply(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One scripted answer, given `times` times.

    `delay_s` is waited before it is sent; with `hang` nothing is sent at all and the connection stays open until the
    sender closes it. The body is sent as UTF-8; with `drip_s` it never ends: one byte of it is sent each `drip_s`
    seconds, over and over (spaces if it is empty).
    """

    status: Annotated[int, msgspec.Meta(ge=HTTPStatus.OK.value, lt=1000)] = HTTPStatus.OK.value
    headers: tuple[tuple[HeaderName, HeaderValue], ...] = ()
    body: str = ""
    delay_s: Seconds = 0.0
    drip_s: Seconds = 0.0
    hang: bool = False
    times: Annotated[int, msgspec.Meta(ge=1)] = 1

    def __post_init__(self) -> None:
        """Refuse headers that would break the message's framing; msgspec turns ValueError into its own."""
        framing = [name for name, _ in self.headers if name.lower() in FRAMING_HEADERS]
        if framing:
            raise ValueError(f"the receiver sets {framing[0]} by itself")


class Script(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The replies for one token, in order; the last one serves all further requests."""

    replies: Annotated[tuple[Reply, ...], msgspec.Meta(min_length=1)] = (Reply(),)

    def reply(self, place: int) -> Reply:
        """The reply to the token's request number `place`, counted from 0 when the script was set."""
        for reply in self.replies:
            place -= reply.times
            if place < 0:
                return reply
        return self.replies[-1]


class Scripts:
    """The scripts of all tokens, each with the count of requests that it has answered."""

    def __init__(self) -> None:
        self._scripts: dict[str, Script] = {}
        self._answered: Counter[str] = Counter()

    def put(self, token: str, script: Script) -> None:
        """Give a token a new script, which begins with its first reply."""
        self._scripts[token] = script
        self._answered[token] = 0

    def next_reply(self, token: str) -> Reply:
        """The reply to the request that arrived just now."""
        script = self._scripts.get(token)
        if script is None:
            return DEFAULT_REPLY
        self._answered[token] += 1
        return script.reply(self._answered[token] - 1)

    def clear(self) -> None:
        """Forget all scripts."""
        self._scripts.clear()
        self._answered.clear()


DEFAULT_REPLY = Reply()


def script_json(replies: Sequence[Reply]) -> bytes:
    """A script as the control API takes it."""
    return msgspec.json.encode(Script(replies=tuple(replies)))
