"""The page's files, read once from the package, and the headers that restrict the page."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from aiohttp import web

MEDIA_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
FIRST_PAGE: Final = "index.html"

# Everything is loaded from here, nothing is inline, and no text can become markup.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
SECURITY_HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def page_files() -> Mapping[str, bytes]:
    """The files of the page, by name."""
    folder = files(__package__).joinpath("page")
    return {
        file.name: file.read_bytes()
        for file in folder.iterdir()
        if file.name.rpartition(".")[2] in MEDIA_TYPES
    }


def file_response(content: Mapping[str, bytes], name: str) -> web.Response:
    """Serve one file of the page; raises HTTPNotFound."""
    if name not in content:
        raise web.HTTPNotFound
    media_type = MEDIA_TYPES[name.rpartition(".")[2]]
    return web.Response(
        body=content[name], headers={**SECURITY_HEADERS, "Content-Type": media_type}
    )
