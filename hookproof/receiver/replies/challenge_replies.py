"""Replies to the requests by which senders try a URL, for tokens without a script of their own."""

import logging
from collections.abc import Sequence
from typing import Final

from hookproof.receiver.inbox.arrival import Arrival
from hookproof.receiver.replies.script import Reply
from hookproof.receiver.signatures.schemes.challenge import Challenge, SecretMissing
from hookproof.receiver.signatures.schemes.request_values import Request

LOG: Final = logging.getLogger(__name__)


def challenge_reply(
    challenges: Sequence[Challenge], secret: str | None, arrival: Arrival
) -> Reply | None:
    """The reply that the first of these challenges asks for; None if the request is none.

    Without the secret that a reply is made with, the request is answered as any other.
    """
    request = Request(arrival.method, arrival.path, arrival.text_headers(), arrival.body)
    for challenge in challenges:
        try:
            answer = challenge.answer(request, secret)
        except SecretMissing:
            LOG.warning("a sender tries the URL, and the answer needs its secret")
            continue
        if answer is not None:
            return Reply(headers=answer.headers, headers_in="latin-1", body=answer.body)
    return None
