"""What a run file holds of the requests that were sent, and of how the receiver answered."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Final

from hookproof.conformance.model.evidence import LONGEST_URL, Exchange
from hookproof.conformance.results.behaviour.stored_cases import StoredCase, stored_cases
from hookproof.conformance.results.run_file import CutOff, Header, NotARun, read_run
from hookproof.conformance.target.client import Key
from hookproof.conformance.target.preflight import REDIRECTS
from hookproof.process.exit_codes import CommandError
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.replies.script import Cut, Reply
from hookproof.target.masking.quotation_mask import VARIABLE

# A replay sends what the first repetition sent.
FIRST: Final = 1
# In seconds. A receiver that took longer was told to.
PROMPT_S: Final = 0.1
# What exceeds these was written into the file to do harm.
LONGEST_S: Final = 86_400.0
MOST_DELIVERIES: Final = 100_000
# By such requests a service may try a URL; they use up no reply.
VISITS: Final = frozenset({"GET", "HEAD", "OPTIONS"})

# `$HOOKPROOF_API_KEY_2`, or `${HOOKPROOF_API_KEY_2%?}` for a key without its last character.
KEY: Final = re.compile(rf"\$(?P<cut>\{{)?{VARIABLE}(?:_(?P<number>\d+))?(?(cut)%\?\}})")
KINDS_OF_KEY: Final = frozenset(key.value for key in Key)

NOT_WHOLE: Final = "whose bodies are not whole in the file"
TOO_LONG: Final = "whose URLs are not whole in the file"
ELSEWHERE: Final = "that were sent outside the address of the target"
UNFINISHED: Final = "that were begun and never completed"

# A request, as the observations that show it have it in common.
RequestKey = tuple[float, str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The requests of a run, in the order in which they were sent; each is there once, even if
    several observations (`cases`) show it.

    `left_out` counts requests that cannot be sent again, by the reason. `replies` are those of the
    receiver to each of its tokens, as far as deliveries show them.
    """

    header: Header
    cases: tuple[StoredCase, ...]
    requests: tuple[Exchange, ...]
    left_out: Mapping[str, int]
    replies: Mapping[str, tuple[Reply, ...]]

    @property
    def lasted_s(self) -> float:
        """From the first request to the last one."""
        return self.requests[-1].sent_at - self.requests[0].sent_at

    @property
    def projects(self) -> list[str]:
        """The ids of the projects that requests or their keys are of, in the target's order."""
        used = {request.project for request in self.requests}
        keys = {key_number(match) for match in map(key_in, self.requests) if match is not None}
        return [
            project
            for number, project in enumerate(self.header.projects, 1)
            if project in used or number in keys
        ]


def key_in(request: Exchange) -> re.Match[str] | None:
    """Where the name of the key stands in the credentials of a request, if it carries one."""
    found = (
        KEY.search(value)
        for name, value in request.request_headers
        if name.lower() == "authorization"
    )
    return next(filter(None, found), None)


def key_number(match: re.Match[str]) -> int:
    """Which project of the run, counted from 1, a key is of that `KEY` has matched."""
    return int(match["number"] or 1)


def request_key(exchange: Exchange) -> RequestKey:
    return exchange.sent_at, exchange.method, exchange.url, exchange.project


def read_recording(path: Path) -> Recording:
    """The recording in a run file, which may be cut off.

    Raises NotARun if the file is damaged, and CommandError if nothing in it can be sent again.
    """
    header = _header(path)
    if not (header.nonce and header.projects and header.receiver_url):
        raise CommandError(
            f"{path} is of an earlier version of hookproof, which did not note what a replay needs;"
            " check the target again to get a run that can be replayed"
        )
    cases = [case for case in stored_cases(path) if case.repetition == FIRST]
    requests: dict[RequestKey, Exchange] = {}
    left_out: dict[RequestKey, str] = {}
    for case in cases:
        for exchange in case.exchanges:
            if exchange.key not in KINDS_OF_KEY:
                raise NotARun(f"{path} holds a request with a key that is {exchange.key!r}")
            named = key_in(exchange)
            if named is not None and not 1 <= key_number(named) <= len(header.projects):
                raise NotARun(f"{path} names a key of a project that it does not name: {named[0]}")
            key, reason = request_key(exchange), _left_out(exchange, header.target)
            if reason:
                left_out[key] = reason
            else:
                requests.setdefault(key, exchange)
    if not requests:
        raise CommandError(f"{path} holds no request that can be sent again")
    in_order = sorted(requests.values(), key=lambda each: each.sent_at)
    if not 0 <= in_order[-1].sent_at - in_order[0].sent_at <= LONGEST_S:
        raise NotARun(f"{path} holds requests that no run sent: more than a day lies between them")
    not_whole = sum(case.not_whole for case in cases)
    reasons = Counter(left_out.values()) + Counter({NOT_WHOLE: not_whole})
    return Recording(
        header=header,
        cases=tuple(_with_exchanges(case, requests) for case in cases),
        requests=tuple(in_order),
        left_out=dict(reasons),
        replies=_replies(delivery for case in cases for delivery in case.deliveries),
    )


def _header(path: Path) -> Header:
    try:
        return read_run(path).header
    except CutOff as cut_off:
        return cut_off.header


def _left_out(exchange: Exchange, base_url: str) -> str:
    """Why this request cannot be sent again; empty if it can.

    What stands behind an address without a slash could name another host, which would get the key.
    """
    if not exchange.url.startswith(f"{base_url.rstrip('/')}/"):
        return ELSEWHERE
    if len(exchange.url) > LONGEST_URL:
        return TOO_LONG
    # The client itself never names the length; what announces more than it sends does.
    if any(name.lower() == "content-length" for name, _ in exchange.request_headers):
        return UNFINISHED
    return ""


def _with_exchanges(case: StoredCase, requests: Mapping[RequestKey, Exchange]) -> StoredCase:
    kept = (exchange for exchange in case.exchanges if request_key(exchange) in requests)
    return replace(case, exchanges=tuple(kept))


def _replies(deliveries: Iterable[ReceivedDelivery]) -> dict[str, tuple[Reply, ...]]:
    by_token: defaultdict[str, dict[int, Reply]] = defaultdict(dict)
    for delivery in deliveries:
        if delivery.method not in VISITS and 0 < delivery.sequence <= MOST_DELIVERIES:
            by_token[delivery.token][delivery.sequence] = _reply(delivery)
    return {
        # What no observation shows was answered as usual.
        token: tuple(replies.get(number, Reply()) for number in range(1, max(replies) + 1))
        for token, replies in by_token.items()
    }


def _reply(delivery: ReceivedDelivery) -> Reply:
    delay_s = round(delivery.lasted_s, 1) if delivery.lasted_s >= PROMPT_S else 0.0
    if delivery.status is None:
        cut = Cut(at="before_answer")
        return Reply(hang=True) if delay_s else Reply(cut=cut)
    status = max(HTTPStatus.OK.value, delivery.status)
    # Where to is not known. Nobody is to follow, and who does comes here again.
    location = (("Location", delivery.path),) if status in REDIRECTS else ()
    return Reply(status=status, delay_s=delay_s, headers=location)
