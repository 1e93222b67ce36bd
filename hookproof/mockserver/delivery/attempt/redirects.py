"""Follows redirects of endpoints, where the dialect says so (section 1; RFC 9110, section 15.4).

Every address passes the egress guard as the endpoint's own does. Credentials are for the endpoint
alone, and https is never left for http.
"""

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from urllib.parse import urljoin

from hookproof.mockserver.delivery.attempt.headers import Headers
from hookproof.mockserver.delivery.http_client.http1 import Response
from hookproof.mockserver.delivery.http_client.transport import Transport, UrlError, parse_url
from hookproof.mockserver.delivery.store_port import ClientCertificate

REDIRECTION: Final = 3  # the class of statuses, RFC 9110, section 15.4
LOCATION: Final = "Location"
MOST_REDIRECTS: Final = 5
# With these the request is repeated as it is; after others it becomes a GET without a body.
REPEATING: Final = (HTTPStatus.TEMPORARY_REDIRECT, HTTPStatus.PERMANENT_REDIRECT)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentRequest:
    """What was sent to an endpoint; `credentials` are those of `headers` that are secret."""

    url: str
    method: str
    headers: Headers
    credentials: Headers
    certificate: ClientCertificate | None
    body: bytes


async def follow_redirects(
    transport: Transport, sent: SentRequest, response: Response, deadline: float
) -> Response:
    """The response at the end of the redirects, or the last redirect if it leads nowhere.

    `deadline` is in seconds of the event loop. Raises what the transport raises, and UrlError.
    """
    method, body, target = sent.method, sent.body, sent.url
    for _ in range(MOST_REDIRECTS):
        location = response.header(LOCATION)
        if response.status // 100 != REDIRECTION or location is None:
            break
        target = _resolved(target, location)
        if not target.lower().startswith("https:"):
            break
        if response.status not in REPEATING:
            method, body = "GET", b""
        is_same = parse_url(target).authority == parse_url(sent.url).authority
        response = await transport.exchange(
            method,
            parse_url(target, sent.certificate if is_same else None),
            sent.headers if is_same else _without(sent.headers, sent.credentials),
            body,
            timeout_s=max(0.0, deadline - asyncio.get_running_loop().time()),
        )
    return response


def _resolved(target: str, location: str) -> str:
    """The absolute URL of a Location; raises UrlError."""
    try:
        return urljoin(target, location)
    except ValueError as error:
        raise UrlError(f"{location!r} is not a URL: {error}") from None


def _without(headers: Headers, credentials: Headers) -> Headers:
    return tuple(header for header in headers if header not in credentials)
