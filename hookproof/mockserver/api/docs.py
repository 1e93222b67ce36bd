"""The contract for people and tools: `/openapi.yaml` and `/openapi.json`, specialised for the
dialect, and `/docs`.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from gzip import decompress
from http import HTTPStatus
from importlib.resources import files
from typing import Final

from hookproof.mockserver.api.request_pipeline import DocsPage
from hookproof.mockserver.api.response import ApiResponse
from hookproof.spec.contract.published import published_document, yaml_text
from hookproof.spec.contract.service_contract import Contract
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.openapi_document import Document

DOCUMENT_PATH: Final = "/openapi.yaml"
JSON_PATH: Final = "/openapi.json"
DOCS_PATH: Final = "/docs"
# Files of the npm package swagger-ui-dist, which `make swagger-ui` fetches.
_ASSETS: Final = {"swagger-ui.css": "text/css", "swagger-ui-bundle.js": "text/javascript"}
_HTML: Final = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Webhook delivery service</title>
<link rel="icon" href="{DOCS_PATH}/icon.svg">
<link rel="stylesheet" href="{DOCS_PATH}/swagger-ui.css">
<link rel="stylesheet" href="{DOCS_PATH}/docs.css">
</head>
<body>
<div id="docs"></div>
<script src="{DOCS_PATH}/swagger-ui-bundle.js"></script>
<script src="{DOCS_PATH}/start.js"></script>
</body>
</html>
"""
# How the document says where the server is, before that is known, and a host that can be said so.
_NOWHERE: Final = {DOCUMENT_PATH: b"servers:\n- url: /\n", JSON_PATH: b'"servers": [{"url": "/"}]'}
_HOST: Final = re.compile(r"[A-Za-z0-9._-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")
# A page knows better than the server how it is reached, where a proxy ends TLS.
_START: Final = f"""document.title = `Webhook delivery service at ${{location.host}}`;
const named = (answer) => {{
  if (new URL(answer.url).pathname === "{DOCUMENT_PATH}") {{
    answer.text = answer.text.replace(/^servers:\\n- url: .*$/m,
      `servers:\\n- url: ${{location.origin}}`);
  }}
  return answer;
}};
SwaggerUIBundle({{url: "{DOCUMENT_PATH}", dom_id: "#docs", validatorUrl: null, deepLinking: true,
  responseInterceptor: named}});
"""
_ICON: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
    '<rect width="32" height="32" rx="8" fill="#3b5bdb"/><path d="M8 10h16M8 16h16M8 22h10"'
    ' stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>\n'
)
# Nothing is loaded from other hosts: the page works offline and reveals nothing to them.
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"
    ),
    "X-Content-Type-Options": "nosniff",
}


def build_docs_pages(contract: Contract, dialect: Dialect) -> Mapping[str, DocsPage]:
    """Return the pages by path. Each is built when it is first requested: start-up stays fast."""

    @cache
    def served() -> Document:
        # An address relative to that of the document.
        return {**published_document(contract.document, dialect), "servers": [{"url": "/"}]}

    @cache
    def document() -> bytes:
        return yaml_text(served())

    @cache
    def json_document() -> bytes:
        return json.dumps(served(), ensure_ascii=False).encode()

    @cache
    def asset(name: str) -> bytes:
        return decompress(files(__package__).joinpath("swagger_ui", f"{name}.gz").read_bytes())

    pages = {
        DOCUMENT_PATH: _document(DOCUMENT_PATH, "application/yaml", document),
        JSON_PATH: _document(JSON_PATH, "application/json", json_document),
        DOCS_PATH: _page("text/html", _HTML.encode),
        f"{DOCS_PATH}/": _page("text/html", _HTML.encode),
        f"{DOCS_PATH}/start.js": _page("text/javascript", _START.encode),
        f"{DOCS_PATH}/docs.css": _page("text/css", _style),
        f"{DOCS_PATH}/icon.svg": _page("image/svg+xml", _ICON.encode),
    }
    for name, media_type in _ASSETS.items():
        pages[f"{DOCS_PATH}/{name}"] = _page(media_type, partial(asset, name))
    return pages


def _document(path: str, media_type: str, content: Callable[[], bytes]) -> DocsPage:
    """The document, with the address at which a client asks for it as the server's."""

    def page(origin: str) -> ApiResponse:
        text, nowhere = content(), _NOWHERE[path]
        if _HOST.fullmatch(origin.partition("://")[2]):
            text = text.replace(nowhere, nowhere.replace(b"/", origin.encode()), 1)
        return _answer(media_type, text)

    return page


def _page(media_type: str, content: Callable[[], bytes]) -> DocsPage:
    return lambda _origin: _answer(media_type, content())


def _answer(media_type: str, content: bytes) -> ApiResponse:
    return ApiResponse(
        HTTPStatus.OK, content, media_type=f"{media_type}; charset=utf-8", headers=_HEADERS
    )


def _style() -> bytes:
    return files(__package__).joinpath("docs.css").read_bytes()
