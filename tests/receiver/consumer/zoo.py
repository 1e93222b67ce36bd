"""Consumers of Standard Webhooks: good ones, and bad ones, each of which has one mistake.

`GoodConsumer` says in its methods what a consumer has to do; the others do one of them otherwise.
"""

import asyncio
import base64
import hmac
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import web

SECRET: Final = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLw=="
EXPIRED: Final = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
TOLERANCE_S: Final = 300
MOST_BYTES: Final = 2**21


class Refused(Exception):
    """A delivery is not taken; the argument is the status."""


@dataclass
class GoodConsumer:
    """Verifies the raw body, keeps identifiers with their effect, and answers 401 for refusals."""

    effects: int = 0
    known: set[str] = field(default_factory=set)
    refusal = 401

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/effects":
            return web.Response(text=f"{self.effects}\n")
        try:
            return web.Response(status=await self.taken(request))
        except Refused as refused:
            return web.Response(status=refused.args[0])

    async def taken(self, request: web.Request) -> int:
        body = await self.read(request)
        headers = self.headers(request)
        if not self.verified(headers, body):
            raise Refused(self.refusal)
        event = self.parsed(body)
        await self.process(headers["webhook-id"], event)
        return 200

    async def read(self, request: web.Request) -> bytes:
        body = await request.read()
        if len(body) > MOST_BYTES:
            raise Refused(413)
        return body

    def headers(self, request: web.Request) -> Mapping[str, str]:
        return request.headers

    def verified(self, headers: Mapping[str, str], body: bytes) -> bool:
        signatures = self.signatures(headers)
        when = headers.get("webhook-timestamp", "")
        if not signatures or not self.timely(when):
            return False
        message = f"{headers.get('webhook-id', '')}.{when}.".encode() + self.signed_body(body)
        wanted = [
            base64.b64encode(hmac.digest(key, message, "sha256")).decode() for key in self.keys()
        ]
        return any(self.equal(one, each) for one in wanted for each in signatures)

    def signatures(self, headers: Mapping[str, str]) -> list[str]:
        items = headers.get("webhook-signature", "").split(" ")
        return [item.removeprefix("v1,") for item in items if item.startswith("v1,")]

    def keys(self) -> list[bytes]:
        return [base64.b64decode(SECRET.removeprefix("whsec_"))]

    def timely(self, when: str) -> bool:
        return when.isdigit() and abs(time.time() - int(when)) <= TOLERANCE_S

    def signed_body(self, body: bytes) -> bytes:
        return body

    def equal(self, wanted: str, given: str) -> bool:
        return hmac.compare_digest(wanted.encode(), given.encode())

    def parsed(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except ValueError:
            raise Refused(400) from None

    async def process(self, identifier: str, event: Any) -> None:
        if identifier not in self.known:
            self.known.add(identifier)
            self.effects += 1


class SlowConsumer(GoodConsumer):
    async def taken(self, request: web.Request) -> int:
        status = await super().taken(request)
        await asyncio.sleep(0.02)
        return status


class QueueingConsumer(GoodConsumer):
    """Answers 202, and lets the effect come later."""

    async def taken(self, request: web.Request) -> int:
        return 202 if await super().taken(request) else 500

    async def process(self, identifier: str, event: Any) -> None:
        if identifier not in self.known:
            self.known.add(identifier)
            asyncio.get_running_loop().call_later(self.delay_s(), self.have_effect)

    def delay_s(self) -> float:
        return 0.05

    def have_effect(self) -> None:
        self.effects += 1


class IrregularlyQueueingConsumer(QueueingConsumer):
    """The first effects come sooner than the others."""

    def delay_s(self) -> float:
        return 0.02 if len(self.known) < 5 else 0.4


class ReplaysRefused(GoodConsumer):
    """Refuses the very same delivery, since a sender signs a repetition anew."""

    def __init__(self) -> None:
        super().__init__()
        self.replayed: set[str] = set()

    async def taken(self, request: web.Request) -> int:
        signature = request.headers.get("webhook-signature", "")
        if signature in self.replayed:
            raise Refused(409)
        status = await super().taken(request)
        self.replayed.add(signature)
        return status


class BadRequestConsumer(GoodConsumer):
    refusal = 400


class SilentConsumer(GoodConsumer):
    """Answers 200 to everything, so that nobody learns anything, and drops what is wrong."""

    refusal = 200


class TwoByTwo(GoodConsumer):
    """Writes two rows for each event."""

    async def process(self, identifier: str, event: Any) -> None:
        before = len(self.known)
        await super().process(identifier, event)
        self.effects += len(self.known) - before


class NothingVerified(GoodConsumer):
    def verified(self, headers: Mapping[str, str], body: bytes) -> bool:
        return True


class UnsignedTaken(GoodConsumer):
    def verified(self, headers: Mapping[str, str], body: bytes) -> bool:
        return "webhook-signature" not in headers or super().verified(headers, body)


class BlankTaken(GoodConsumer):
    def verified(self, headers: Mapping[str, str], body: bytes) -> bool:
        return headers.get("webhook-signature") == "" or super().verified(headers, body)


class PrefixCompared(GoodConsumer):
    def equal(self, wanted: str, given: str) -> bool:
        return wanted.startswith(given)


class FailsOnUnreadable(GoodConsumer):
    def signatures(self, headers: Mapping[str, str]) -> list[str]:
        value = headers.get("webhook-signature")
        return [item.split(",")[1] for item in value.split(" ")] if value else []

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        try:
            return await super().__call__(request)
        except IndexError:
            return web.Response(status=500)


class FailsOnWrongSignatures(GoodConsumer):
    refusal = 500


class NoAnswerToBlank(GoodConsumer):
    async def taken(self, request: web.Request) -> int:
        if request.headers.get("webhook-signature") == "":
            assert request.transport is not None
            request.transport.close()
        return await super().taken(request)


class CaseOfBodyIgnored(GoodConsumer):
    def signed_body(self, body: bytes) -> bytes:
        return body.lower()


class EmptySecret(GoodConsumer):
    def keys(self) -> list[bytes]:
        return [*super().keys(), b""]


class ExpiredSecret(GoodConsumer):
    def keys(self) -> list[bytes]:
        return [*super().keys(), base64.b64decode(EXPIRED.removeprefix("whsec_"))]


class AgeNotJudged(GoodConsumer):
    def timely(self, when: str) -> bool:
        return when.isdigit()


class FutureFails(GoodConsumer):
    def timely(self, when: str) -> bool:
        if when.isdigit() and int(when) > time.time() + TOLERANCE_S:
            raise Refused(500)
        return super().timely(when)


class ImpatientConsumer(GoodConsumer):
    def timely(self, when: str) -> bool:
        return when.isdigit() and abs(time.time() - int(when)) <= 10


class DuplicatesRefused(GoodConsumer):
    async def process(self, identifier: str, event: Any) -> None:
        if identifier in self.known:
            raise Refused(409)
        await super().process(identifier, event)


class DuplicatesTaken(GoodConsumer):
    async def process(self, identifier: str, event: Any) -> None:
        self.effects += 1


class DuplicatesRaced(GoodConsumer):
    """Asks whether the event is known, and notes that it is after its effect."""

    async def process(self, identifier: str, event: Any) -> None:
        if identifier not in self.known:
            await asyncio.sleep(0.05)
            self.effects += 1
            self.known.add(identifier)


class OrderRequired(GoodConsumer):
    """Refuses what is two seconds older than what it has taken; repetitions are a second apart."""

    latest = 0

    def timely(self, when: str) -> bool:
        if super().timely(when) and int(when) <= self.latest - 2:
            raise Refused(422)
        if super().timely(when) and int(when) <= time.time() + 1:
            self.latest = max(self.latest, int(when))
        return super().timely(when)


class FirstSignatureAlone(GoodConsumer):
    def signatures(self, headers: Mapping[str, str]) -> list[str]:
        return super().signatures(headers)[:1]


class WrittenAgain(GoodConsumer):
    def signed_body(self, body: bytes) -> bytes:
        try:
            return json.dumps(json.loads(body), separators=(",", ":")).encode()
        except ValueError:
            return body


class AsciiAlone(GoodConsumer):
    def signed_body(self, body: bytes) -> bytes:
        return body.decode("latin-1").encode()


class CaseOfNames(GoodConsumer):
    """Reads the names of headers as its sender writes them."""

    def headers(self, request: web.Request) -> Mapping[str, str]:
        named = {name.decode(): value.decode() for name, value in request.raw_headers}
        return {} if "Content-Type" not in named else request.headers


class LengthRequired(GoodConsumer):
    async def read(self, request: web.Request) -> bytes:
        return (await request.read())[: int(request.headers.get("Content-Length", 0))]


class FirstPieceAlone(GoodConsumer):
    async def read(self, request: web.Request) -> bytes:
        length = int(request.headers.get("Content-Length", 0))
        if length > 1000 or not length:
            return await super().read(request)
        return await request.content.readany()


class LargeFails(GoodConsumer):
    async def read(self, request: web.Request) -> bytes:
        body = await super().read(request)
        if len(body) > 100_000:
            raise Refused(500)
        return body


class CompressedFails(GoodConsumer):
    async def taken(self, request: web.Request) -> int:
        return 500 if "Content-Encoding" in request.headers else await super().taken(request)


class UnparsableFails(GoodConsumer):
    def parsed(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except UnicodeDecodeError:
            raise Refused(400) from None
        except ValueError:
            raise Refused(500 if body else 400) from None


class EmptyFails(GoodConsumer):
    def parsed(self, body: bytes) -> Any:
        if not body:
            raise Refused(502)
        return super().parsed(body)


class BinaryFails(GoodConsumer):
    def parsed(self, body: bytes) -> Any:
        try:
            body.decode()
        except UnicodeDecodeError:
            raise Refused(500) from None
        return super().parsed(body)


class KnownTooEarly(GoodConsumer):
    """Notes the identifier when the headers have come, before it has read the body."""

    async def taken(self, request: web.Request) -> int:
        identifier = request.headers.get("webhook-id", "")
        if identifier in self.known:
            return 200
        self.known.add(identifier)
        return await super().taken(request)

    async def process(self, identifier: str, event: Any) -> None:
        self.effects += 1


class ProcessedBeforeVerified(GoodConsumer):
    async def taken(self, request: web.Request) -> int:
        body = await self.read(request)
        with suppress(Refused):
            await self.process(request.headers["webhook-id"], self.parsed(body))
        return await super().taken(request)


class AcknowledgedAndLost(GoodConsumer):
    """Answers 200 before it reads, and drops what comes in chunks."""

    async def process(self, identifier: str, event: Any) -> None:
        if not self.chunked:
            await super().process(identifier, event)

    async def read(self, request: web.Request) -> bytes:
        self.chunked = "Content-Length" not in request.headers
        return await super().read(request)


REFUSALS: Final = {
    f"refuses-{name}"
    for name in (
        "unsigned", "blank-signature", "unreadable-signature", "changed-signature",
        "half-signature", "tampered-body", "other-secret", "empty-secret", "expired-secret", "old",
        "changed-time",
    )
}  # fmt: skip
GOOD: Final = (
    GoodConsumer, SlowConsumer, QueueingConsumer, BadRequestConsumer, SilentConsumer, TwoByTwo,
    ReplaysRefused, IrregularlyQueueingConsumer,
)  # fmt: skip
# Each bad consumer with all requirements that it does not meet.
BAD: Final[Mapping[type[GoodConsumer], set[str]]] = {
    NothingVerified: REFUSALS,
    UnsignedTaken: {"refuses-unsigned"},
    BlankTaken: {"refuses-blank-signature"},
    PrefixCompared: {"refuses-half-signature"},
    FailsOnUnreadable: {"refuses-unreadable-signature"},
    FailsOnWrongSignatures: REFUSALS | {"survives-future"},
    NoAnswerToBlank: {"refuses-blank-signature"},
    CaseOfBodyIgnored: {"refuses-tampered-body", "takes-beyond-ascii"},
    EmptySecret: {"refuses-empty-secret"},
    ExpiredSecret: {"refuses-expired-secret"},
    AgeNotJudged: {"refuses-old"},
    FutureFails: {"survives-future"},
    ImpatientConsumer: {"takes-late"},
    DuplicatesRefused: {"takes-duplicate"},
    DuplicatesTaken: {"one-effect", "one-effect-at-once"},
    DuplicatesRaced: {"one-effect-at-once"},
    OrderRequired: {"takes-other-order", "takes-late"},
    FirstSignatureAlone: {"takes-rolled"},
    WrittenAgain: {"takes-indented", "takes-reordered", "takes-beyond-ascii", "survives-large"},
    AsciiAlone: {"takes-beyond-ascii"},
    CaseOfNames: {"takes-lower-case-names"},
    LengthRequired: {"takes-chunked"},
    FirstPieceAlone: {"takes-slow"},
    LargeFails: {"survives-large"},
    CompressedFails: {"survives-compressed"},
    UnparsableFails: {"survives-unparsable"},
    EmptyFails: {"survives-empty"},
    BinaryFails: {"survives-binary", "survives-compressed"},
    KnownTooEarly: {"takes-what-was-broken-off"},
    ProcessedBeforeVerified: REFUSALS,
    AcknowledgedAndLost: {"takes-chunked"},
}
