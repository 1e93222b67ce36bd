"""What the receiver answers: per token, replies in order; the last one repeats indefinitely.

The members of a reply are validated on input, so every accepted script can be carried out.
"""

from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Final, Literal

import msgspec

from hookproof.receiver.inbox.arrival import Arrival
from hookproof.receiver.signatures.schemes.catalogue import shipped_schemes
from hookproof.receiver.signatures.schemes.challenge import Challenge

# A token is one segment of a path.
TokenName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9._~-]{1,128}\Z")]
HeaderName = Annotated[
    str, msgspec.Meta(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z", max_length=1024)
]
HeaderLine = Annotated[str, msgspec.Meta(pattern=r"^[\t -~\x80-\xff]*\Z", max_length=32768)]
FoldedValue = Annotated[tuple[HeaderLine, ...], msgspec.Meta(min_length=2, max_length=64)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=3600)]
Count = Annotated[int, msgspec.Meta(ge=1, le=10**9)]

FRAMING_HEADERS: Final = frozenset({"content-length", "transfer-encoding", "connection"})
STATUSES_WITHOUT_BODY: Final = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})
LARGEST_BODY: Final = 2**40
SHORTEST_PAUSE_S: Final = 0.001
SHORTEST_CUT_BODY: Final = 2


class Interim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Interim answers before the final one.

    `times` of them are sent, `every_s` seconds apart, or `endless` ones.
    """

    status: Annotated[int, msgspec.Meta(ge=100, le=199)] = HTTPStatus.CONTINUE.value
    times: Count = 1
    every_s: Seconds = 0.0
    endless: bool = False

    def __post_init__(self) -> None:
        """Refuse what would end the exchange or loop without a pause."""
        if self.status == HTTPStatus.SWITCHING_PROTOCOLS:
            raise ValueError(
                f"{self.status} is not an interim answer, it ends HTTP on the connection"
            )
        if self.endless and self.every_s < SHORTEST_PAUSE_S:
            raise ValueError(
                f"endless interim answers need every_s of at least {SHORTEST_PAUSE_S:g}"
            )


class Cut(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the exchange is cut, and how.

    `before_reading` leaves the request's body unread, `before_answer` sends nothing,
    `after_headers` sends the head of the answer, `mid_body` also half of its body. `close` closes
    the connection normally, `reset` by a TCP reset; `half_close` closes only the receiver's half
    and keeps reading until the sender closes.
    """

    at: Literal["before_reading", "before_answer", "after_headers", "mid_body"]
    by: Literal["close", "reset", "half_close"] = "close"


class Reply(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One scripted answer, used `times` times.

    It is sent after `delay_s`; with `hang` nothing is sent and the connection stays open until the
    sender closes it. The body is sent as UTF-8. With `drip_s` it never ends: one byte of it is sent
    every `drip_s` seconds, repeatedly (spaces if it is empty). With `body_bytes` the body is
    repeated (spaces if it is empty) up to this number of bytes, before it is `compressed`.
    `framing` is how the end of the body is marked; by default it is `length` if the length is
    known, `chunked` otherwise, and `close` if the sender uses HTTP/1.0.

    A header's value is one line, or several that are folded into one header (RFC 9112, section
    5.2); `headers_in` is the encoding of their text. `filler_headers` is the number of additional
    headers. `retry_after_s` becomes a Retry-After header, in seconds or as a date.
    """

    status: Annotated[int, msgspec.Meta(ge=HTTPStatus.OK.value, lt=1000)] = HTTPStatus.OK.value
    headers: tuple[tuple[HeaderName, HeaderLine | FoldedValue], ...] = ()
    headers_in: Literal["utf-8", "latin-1"] = "utf-8"
    filler_headers: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 0
    retry_after_s: Annotated[int, msgspec.Meta(ge=0, le=10**6)] | None = None
    retry_after_as: Literal["seconds", "date"] = "seconds"
    body: str = ""
    body_bytes: Annotated[int, msgspec.Meta(ge=0, le=LARGEST_BODY)] | None = None
    compressed: Literal["gzip", "deflate"] | None = None
    framing: Literal["length", "chunked", "close"] | None = None
    interim: Interim | None = None
    delay_s: Seconds = 0.0
    drip_s: Seconds = 0.0
    hang: bool = False
    cut: Cut | None = None
    times: Count = 1

    def __post_init__(self) -> None:
        """Refuse what cannot be carried out; msgspec converts ValueError to its own."""
        framing = [name for name, _ in self.headers if name.lower() in FRAMING_HEADERS]
        if framing:
            raise ValueError(f"the receiver sets {framing[0]} itself; see framing")
        if self.drip_s and (
            self.body_bytes is not None or self.compressed or self.framing or self.cut
        ):
            raise ValueError(
                "drip_s sends the body indefinitely: "
                "leave out body_bytes, compressed, framing and cut"
            )
        if self.framing == "length" and self.compressed and self.body_bytes is not None:
            raise ValueError(
                "the length of compressed body_bytes is not known in advance: use chunked or close"
            )
        if self.status in STATUSES_WITHOUT_BODY and (
            self.body or self.body_bytes or self.drip_s or self.compressed
        ):
            raise ValueError(f"an answer {self.status} has no body")
        if self.cut and self.cut.at == "mid_body" and self.uncompressed_length < SHORTEST_CUT_BODY:
            raise ValueError(
                f"only a body of at least {SHORTEST_CUT_BODY} bytes can be cut in the middle"
            )

    @property
    def cuts_before_reading(self) -> bool:
        """Whether the request's body stays unread."""
        return self.cut is not None and self.cut.at == "before_reading"

    @property
    def uncompressed_length(self) -> int:
        """The length of the body in bytes before it is compressed; does not apply to `drip_s`."""
        return len(self.body.encode()) if self.body_bytes is None else self.body_bytes


class Script(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The replies for one token, in order; the last one serves all further requests.

    With `only_for` these are the requests that contain this text in the body or in the value of a
    header; others are answered with 200 at once and use up no reply. So are GET, HEAD and OPTIONS,
    by which a service may try a URL, unless the script is for such `visits` too.

    Before all that, a request that is the `challenge` of a sender is answered as it asks: that of a
    scheme by its name, or one that is described.
    """

    replies: Annotated[tuple[Reply, ...], msgspec.Meta(min_length=1)] = (Reply(),)
    only_for: str = ""
    visits: bool = False
    challenge: Challenge | str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be carried out; msgspec converts ValueError to its own."""
        if self.only_for and any(reply.cuts_before_reading for reply in self.replies):
            raise ValueError("only_for looks into requests, and before_reading does not read them")
        if self.challenge is not None:
            challenge_of(self.challenge)
            if any(reply.cuts_before_reading for reply in self.replies):
                raise ValueError("a challenge is read, and before_reading does not read requests")
        if self.visits and any(reply.cuts_before_reading for reply in self.replies):
            raise ValueError("a visit has no body that before_reading could leave unread")

    def reply(self, index: int) -> Reply:
        """The reply to a request, by its index since the script was set."""
        for reply in self.replies:
            index -= reply.times
            if index < 0:
                return reply
        return self.replies[-1]


def challenge_of(named: Challenge | str) -> Challenge:
    """A challenge, or that of a shipped scheme by its name; raises ValueError."""
    if isinstance(named, Challenge):
        return named
    scheme = shipped_schemes().get(named)
    if scheme is None:
        raise ValueError(f"there is no scheme {named!r}; `hookproof scheme list` shows all")
    if scheme.entry.challenge is None:
        raise ValueError(f"the sender {named} tries no URL before it delivers there")
    return scheme.entry.challenge


class Scripts:
    """The scripts of all tokens, each with the number of requests that it has answered."""

    def __init__(self) -> None:
        self._scripts: dict[str, Script] = {}
        self._answered: Counter[str] = Counter()

    def put(self, token: str, script: Script) -> None:
        """Set a token's script, which starts with its first reply."""
        self._scripts[token] = script
        self._answered[token] = 0

    def challenge(self, token: str) -> Challenge | None:
        """The challenge that a token answers, if it answers one."""
        script = self._scripts.get(token)
        named = script.challenge if script else None
        return challenge_of(named) if named is not None else None

    def due_reply(self, token: str) -> Reply:
        """The reply to the next request, without using it up."""
        script = self._scripts.get(token)
        return DEFAULT_REPLY if script is None else script.reply(self._answered[token])

    def next_reply(self, arrival: Arrival, *, visit: bool) -> Reply:
        """Use up the reply to the request that just arrived."""
        token = arrival.token
        script = self._scripts.get(token)
        if visit and not (script is not None and script.visits):
            return DEFAULT_REPLY
        if script is not None and script.only_for and not _contains(arrival, script.only_for):
            return DEFAULT_REPLY
        reply = self.due_reply(token)
        if reply is not DEFAULT_REPLY:
            self._answered[token] += 1
        return reply

    def clear(self) -> None:
        self._scripts.clear()
        self._answered.clear()


DEFAULT_REPLY: Final = Reply()


def script_json(replies: Sequence[Reply], only_for: str = "", *, visits: bool = False) -> bytes:
    """A script as the control API accepts it."""
    return msgspec.json.encode(Script(replies=tuple(replies), only_for=only_for, visits=visits))


def _contains(arrival: Arrival, text: str) -> bool:
    wanted = text.encode()
    return wanted in arrival.body or any(wanted in value for _, value in arrival.headers)
