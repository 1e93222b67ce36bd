"""Who may use the control listener from within a browser: its own page, and no other.

A page of a stranger runs in the developer's browser and can reach this machine. It gives itself
away: by its origin, by what the browser says of where a request comes from, or, if it made its own
name lead here (DNS rebinding), by that name. Programs that are no browsers send none of these and
are not hindered.
"""

import socket
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from ipaddress import ip_address
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Middleware

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Stranger(Exception):
    """The request comes from another page than the receiver's own; the message says how that shows."""


def guard(names: frozenset[str]) -> Middleware:
    """A middleware that refuses the requests of other pages; `names` are host names by which the
    listener is known.
    """

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            check(request, names)
        except Stranger as stranger:
            return web.json_response({"error": str(stranger)}, status=HTTPStatus.FORBIDDEN)
        return await handler(request)

    return guarded


def check(request: web.BaseRequest, names: frozenset[str]) -> None:
    """Raises Stranger unless the request may come from the receiver's own page or from no page at
    all.
    """
    host = request.headers.get("Host", "")
    if not is_own_name(host, names):
        raise Stranger(
            f"{host!r} is not known as a name of this receiver; use its address, or start it with --control-name"
        )
    origin = request.headers.get("Origin")
    if origin is not None and origin.lower().partition("://")[2] != host.lower():
        raise Stranger(
            f"the control API is not for other pages, and this one comes from {origin!r}"
        )
    if request.headers.get("Sec-Fetch-Site") in {"cross-site", "same-site"} and not _is_visit(
        request
    ):
        raise Stranger("the control API is not for other pages")


def is_own_name(host: str, names: frozenset[str]) -> bool:
    """Whether a Host header names the receiver by an address, a name of one word, or one of
    `names`.

    A name that a stranger can point here has a dot in it, so one word is as safe as an address. A
    browser never leaves the header out, so one without it is let through.
    """
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    try:
        ip_address(name)
    except ValueError:
        return "." not in name or name.endswith(".localhost") or name in names
    return True


def own_names(bound: str, allowed: tuple[str, ...]) -> frozenset[str]:
    """The names of a listener: what it is bound to, those that its user allows, and the machine's
    own.
    """
    return frozenset(name.rstrip(".").lower() for name in (bound, *allowed, socket.gethostname()))


def _is_visit(request: web.BaseRequest) -> bool:
    """Whether someone follows a link to the page itself, which may stand anywhere."""
    return (
        request.method == "GET"
        and request.path == "/"
        and request.headers.get("Sec-Fetch-Mode") == "navigate"
    )
