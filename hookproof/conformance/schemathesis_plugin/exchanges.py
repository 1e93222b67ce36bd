"""Responses of Schemathesis as exchanges, which the checks judge."""

import re
import time
from collections.abc import Mapping
from functools import cache
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import requests
from schemathesis import Response

from hookproof.conformance.model.evidence import Exchange, kept_url
from hookproof.conformance.target.client import Key
from hookproof.spec.openapi_document import openapi_document, operations_of
from hookproof.target.settings import DEFAULT_REQUEST_S

# What is tried may be refused as well as accepted.
ROLE: Final = "sweep"
# What no operation is, a proxy may refuse in its own words.
ODD: Final = "odd"
PARAMETER: Final = re.compile(r"\{[^{}]*\}")
AUTHORIZATION: Final = "authorization"
# Headers that belong to one request and its body.
OF_ONE_REQUEST: Final = frozenset(
    {"content-length", "content-type", "transfer-encoding", "x-schemathesis-testcaseid"}
)


def is_of_this_api(path_template: str) -> bool:
    """Whether a path of an OpenAPI document, with parameters of any name, is one of this API."""
    return any(_nameless(path_template).endswith(_nameless(path)) for path, _, _ in _operations())


def operation_of(path_template: str, method: str) -> str | None:
    """The operationId that an operation of such a document has in ours."""
    for path, its_method, operation_id in _operations():
        if its_method == method and _nameless(path_template).endswith(_nameless(path)):
            return operation_id
    return None


def resource_parameter(path_template: str) -> str | None:
    """The name of the path parameter that names a resource of the project, if there is one."""
    _, *of_resources = PARAMETER.findall(path_template)[-2:]
    return of_resources[0][1:-1] if of_resources else None


def exchange_of(
    response: Response, *, project: str, authorization: str | None, sent_at: float | None
) -> Exchange:
    """The exchange of a response. `authorization` is the header that a request with the own key
    has, if it is known; `sent_at` is in Unix seconds.
    """
    request = response.request
    url, method = str(request.url), str(request.method)
    operation_id, path_parameters = _operation(method, urlsplit(url).path)
    now = time.time()
    begun = now - response.elapsed if sent_at is None else sent_at
    body = request.body.encode() if isinstance(request.body, str) else request.body
    return Exchange(
        role=ROLE if operation_id else ODD,
        operation_id=operation_id,
        project=path_parameters.get("projectID", project),
        key=_key(request.headers.get(AUTHORIZATION), authorization),
        method=method,
        url=kept_url(url),
        request_headers=tuple((name, _text(value)) for name, value in request.headers.items()),
        request_body=body if isinstance(body, bytes) else None,
        status=response.status_code,
        response_headers=tuple(
            (name, value) for name, values in response.headers.items() for value in values
        ),
        response_body=response.content or b"",
        sent_at=begun,
        duration_s=max(0.0, now - begun),
    )


def answer_beside(
    response: Response,
    operation_id: str,
    body: Mapping[str, Any] | None = None,
    *,
    project: str | None = None,
    authorization: str | None = None,
) -> Response | None:
    """The answer to a request of our own, for an operation of a project: by default with the
    project and the headers of the request that was answered so. None if none came.
    """
    request = response.request
    parts = urlsplit(str(request.url))
    template, method = next(
        (path, method) for path, method, name in _operations() if name == operation_id
    )
    matches = (_pattern(path).search(parts.path) for path, _, _ in _operations())
    ours = next(match for match in matches if match)
    own = quote(project, safe="") if project is not None else ours.groupdict()["projectID"]
    path = parts.path[: ours.start()] + template.replace("{projectID}", own)
    headers = {
        name: value for name, value in request.headers.items() if name.lower() not in OF_ONE_REQUEST
    }
    if authorization is not None:
        headers = {n: value for n, value in headers.items() if n.lower() != AUTHORIZATION}
        headers["Authorization"] = authorization
    try:
        answer = requests.request(
            str(method),
            urlunsplit((parts.scheme, parts.netloc, path, "", "")),
            json=body,
            headers=headers,
            verify=response.verify,
            timeout=DEFAULT_REQUEST_S,
            allow_redirects=False,
        )
    except requests.RequestException:
        return None
    return Response(
        status_code=answer.status_code,
        headers={name: [value] for name, value in answer.headers.items()},
        content=answer.content,
        request=answer.request,
        elapsed=answer.elapsed.total_seconds(),
        verify=response.verify,
    )


def _key(header: str | bytes | None, own: str | None) -> Key:
    if header is None:
        return Key.NONE
    return Key.OWN if own is None or _text(header) == own else Key.WRONG


def _text(header: str | bytes) -> str:
    return header if isinstance(header, str) else header.decode("latin-1")


def _operation(method: str, path: str) -> tuple[str | None, Mapping[str, str]]:
    """The operation that a request is for, if any, with the parameters in its path, decoded."""
    for template, its_method, operation_id in _operations():
        match = _pattern(template).search(path)
        if its_method == method and match:
            return operation_id, {name: unquote(text) for name, text in match.groupdict().items()}
    return None, {}


@cache
def _operations() -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (path, method, operation["operationId"])
        for path, method, operation in operations_of(openapi_document())
    )


@cache
def _pattern(template: str) -> re.Pattern[str]:
    """Matches paths that end like the template; a base URL may have a path of its own."""
    parts = re.split(r"\{(\w+)\}", template)
    return re.compile(
        "".join(
            f"(?P<{part}>[^/]+)" if number % 2 else re.escape(part)
            for number, part in enumerate(parts)
        )
        + "$"
    )


@cache
def _nameless(template: str) -> str:
    return PARAMETER.sub("{}", template)
