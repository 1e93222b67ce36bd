"""Protects a control listener from other pages in the user's browser.

A foreign page that runs in the developer's browser can reach this machine. It is recognised by its
origin, by the browser's fetch metadata, or, if it made its own name resolve to this machine (DNS
rebinding), by that name. Programs other than browsers send none of these and are not affected.
"""

import socket
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Middleware

from hookproof.control.authority import is_authority

NextHandler = Callable[[web.Request], Awaitable[web.StreamResponse]]
# Writes a refusal in the listener's own form.
WriteRefusal = Callable[[HTTPStatus, str], web.Response]

# The option that allows a further host name.
NAME_OPTION: Final = "--control-name"
# The name of this machine to itself, and what ends with it (RFC 6761, section 6.3).
LOCAL_NAME: Final = "localhost"


class ForeignPage(Exception):
    """The request comes from another page than the listener's own; the message says why."""


def guard(names: frozenset[str], refusal: WriteRefusal) -> Middleware:
    """A middleware that refuses requests of other pages.

    `names` are the host names by which the listener may be reached.
    """

    @web.middleware
    async def check_then_handle(request: web.Request, handler: NextHandler) -> web.StreamResponse:
        try:
            check_origin(request, names)
        except ForeignPage as foreign_page:
            return refusal(HTTPStatus.FORBIDDEN, str(foreign_page))
        return await handler(request)

    return check_then_handle


def check_origin(request: web.BaseRequest, names: frozenset[str]) -> None:
    """Raise ForeignPage unless the request comes from the listener's own page or from no page."""
    host = request.headers.get("Host", "")
    if not is_own_name(host, names):
        raise ForeignPage(
            f"{host!r} is not known as a name of this listener; "
            f"use its address, or start it with {NAME_OPTION}"
        )
    origin = request.headers.get("Origin")
    if origin is not None and origin.lower().partition("://")[2] != host.lower():
        raise ForeignPage(
            f"the control listener is not for other pages, and this one comes from {origin!r}"
        )
    if request.headers.get("Sec-Fetch-Site") in {"cross-site", "same-site"} and not _is_visit(
        request
    ):
        raise ForeignPage("the control listener is not for other pages")


def is_own_name(host: str, names: frozenset[str]) -> bool:
    """Whether a Host header is empty, an address, a local name, or one of `names`.

    A name without a dot is no safer than others: a network's search list completes it, and whoever
    answers for that network's names decides where it leads. A browser always sends the header, so
    requests without it are allowed.
    """
    if not host:
        return True
    if not is_authority(host):
        return False
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    try:
        ip_address(name)
    except ValueError:
        return name == LOCAL_NAME or name.endswith(f".{LOCAL_NAME}") or name in names
    return True


def own_names(bound: str, allowed: tuple[str, ...]) -> frozenset[str]:
    """The names of a listener: what it is bound to, those the user allows, and the host name."""
    return frozenset(name.rstrip(".").lower() for name in (bound, *allowed, socket.gethostname()))


def _is_visit(request: web.BaseRequest) -> bool:
    """Whether a user follows a link to the page itself, which may be on any other page."""
    return (
        request.method == "GET"
        and request.path == "/"
        and request.headers.get("Sec-Fetch-Mode") == "navigate"
    )
