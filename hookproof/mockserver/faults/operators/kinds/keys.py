"""Operators on keys: at other places, in other forms, or none at all."""

import copy
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from http.cookies import SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec
from aiohttp import hdrs
from aiohttp.web_request import BaseRequest

from hookproof.mockserver.api.api_keys import ApiKeys
from hookproof.mockserver.api.errors import ApiError
from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.routes import Route
from hookproof.mockserver.api.service import OperationResult
from hookproof.mockserver.faults.operators.laws import requirements_of
from hookproof.mockserver.faults.operators.operator import (
    Alteration,
    FindDefect,
    Parameters,
    operators_of,
)
from hookproof.mockserver.faults.operators.place import Place, PlaceKind
from hookproof.mockserver.faults.operators.places import STORED_FIELDS
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Acceptance, KeyScope

GROUP: Final = "access"
# No request without an Authorization header has access to this operation.
_WITHOUT: Final = "key_required@{operation}"


class OpenKeys(ApiKeys):
    """Lets every request in that was let in before it."""

    def check(self, project: str, header: str | None) -> None:
        """Nothing is refused."""


# Whether a request is let in, with the keys of its project and the header that each stands for.
Accepts = Callable[[RequestPipeline, BaseRequest, Mapping[str, str], bytes], bool]


def _lenient_pipeline(operation: str, accepts: Accepts, key_format: str) -> type:
    """Lets requests for one operation in that its project's key does not open."""
    before, _, behind = key_format.partition("{key}")

    class LenientPipeline(RequestPipeline):
        _kept_text: bytes | None = None

        async def _carry_out(
            self, request: BaseRequest, route: Route, query: str
        ) -> OperationResult:
            header = request.headers.get(hdrs.AUTHORIZATION)
            if route.operation.operation_id != operation or not _refused(self, route, header):
                return await super()._carry_out(request, route, query)
            text = b""
            if route.operation.body_schema is not None:
                text = await self._read_body(request)
            keys = {
                form[len(before) : len(form) - len(behind)]: form
                for form in _key_forms(self._api_keys, route.values[0])
            }
            opened = copy.copy(self)
            opened._kept_text = text  # noqa: SLF001  a copy of its own
            if accepts(self, request, keys, text):
                opened._api_keys = OpenKeys(*_parts(self._api_keys))  # noqa: SLF001
            return await super(LenientPipeline, opened)._carry_out(request, route, query)

        async def _read_body(self, request: BaseRequest) -> bytes:
            if self._kept_text is not None:
                return self._kept_text
            return await super()._read_body(request)

    return LenientPipeline


def _refused(pipeline: RequestPipeline, route: Route, header: str | None) -> bool:
    keys = pipeline._api_keys  # noqa: SLF001  a fault reaches where the server does
    try:
        keys.check(route.values[0], header)
    except ApiError:
        return route.values[0] in keys.projects
    return False


def _parts(keys: ApiKeys) -> tuple[Any, ...]:
    return keys._expected, keys._dialect, keys._errors  # noqa: SLF001


def _key_forms(keys: ApiKeys, project: str) -> Iterator[str]:
    for form in _parts(keys)[0].get(project, ()):
        yield form.decode("utf-8", "surrogateescape")


def _header(request: BaseRequest) -> str | None:
    return request.headers.get(hdrs.AUTHORIZATION)


def _in_query(_pipeline: Any, request: BaseRequest, keys: Mapping[str, str], _text: bytes) -> bool:
    values = [value for _, value in parse_qsl(request.rel_url.raw_query_string)]
    return _header(request) is None and any(value in keys for value in values)


def _in_cookie(_pipeline: Any, request: BaseRequest, keys: Mapping[str, str], _text: bytes) -> bool:
    cookies = SimpleCookie(request.headers.get(hdrs.COOKIE, ""))
    return _header(request) is None and any(one.value in keys for one in cookies.values())


def _in_body(_pipeline: Any, request: BaseRequest, keys: Mapping[str, str], text: bytes) -> bool:
    try:
        body = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return False
    values = body.values() if isinstance(body, dict) else ()
    return _header(request) is None and any(value in keys for value in map(str, values))


def _in_header(_pipeline: Any, request: BaseRequest, keys: Mapping[str, str], _text: bytes) -> bool:
    others = [value for name, value in request.headers.items() if name != hdrs.AUTHORIZATION]
    return _header(request) is None and any(value in keys for value in others)


def _no_key(_pipeline: Any, request: BaseRequest, _keys: Mapping[str, str], _text: bytes) -> bool:
    return _header(request) is None


def _any_key(_pipeline: Any, request: BaseRequest, _keys: Mapping[str, str], _text: bytes) -> bool:
    return bool(_header(request))


def _cut(_pipeline: Any, request: BaseRequest, keys: Mapping[str, str], _text: bytes) -> bool:
    header = _header(request) or ""
    return any(
        form.startswith(header) and len(header) > len(form) - len(key) / 2
        for key, form in keys.items()
    )


def _with_more(_pipeline: Any, request: BaseRequest, keys: Mapping[str, str], _text: bytes) -> bool:
    return any((_header(request) or "").startswith(form) for form in keys.values())


def _with_space(
    _pipeline: Any, request: BaseRequest, keys: Mapping[str, str], _text: bytes
) -> bool:
    return (_header(request) or "").rstrip() in keys.values()


def _any_case(_pipeline: Any, request: BaseRequest, keys: Mapping[str, str], _text: bytes) -> bool:
    header = _header(request) or ""
    return any(
        header.casefold() == form.casefold() and header[: -len(key)] == form[: -len(key)]
        for key, form in keys.items()
    )


def _bare(_pipeline: Any, request: BaseRequest, keys: Mapping[str, str], _text: bytes) -> bool:
    return _header(request) in keys


def _foreign(pipeline: RequestPipeline, request: BaseRequest, _keys: Any, _text: bytes) -> bool:
    keys = pipeline._api_keys  # noqa: SLF001
    forms = {form for project in keys.projects for form in _key_forms(keys, project)}
    return _header(request) in forms


def _accepted(
    accepts: Accepts,
    laws: str = "",
    *,
    needs_body: bool = False,
    excuse: Callable[[Dialect], str] = lambda _dialect: "",
) -> FindDefect:
    """A defect of the access to an operation; its laws may hold `{operation}`."""

    def defect(place: Place, _parameters: Parameters, dialect: Dialect) -> Alteration | None:
        if place.kind is not PlaceKind.ACCESS:
            return None
        if needs_body and place.operation not in STORED_FIELDS:
            return None
        form = dialect.authentication.key_format
        part = partial(_lenient_pipeline, place.operation, accepts, form)
        violates = requirements_of(laws.format(operation=place.operation))
        return Alteration(part=part, violates=violates, equivalent=excuse(dialect))

    return defect


def _keys_open_all(dialect: Dialect) -> str:
    is_account = dialect.authentication.key_scope.value is KeyScope.ACCOUNT
    return "the dialect's keys open every project" if is_account else ""


def _may_be_bare(dialect: Dialect) -> str:
    rules = dialect.authentication
    if rules.key_format == "{key}":
        return "the dialect's header holds nothing but the key"
    taken = not rules.other_key_formats.prefers(Acceptance.REFUSED)
    return "the dialect may take a key in other formats" if taken else ""


_EVERY: Final = "the access to every operation"
_operator: Final = operators_of(GROUP)
OPERATORS: Final = (
    _operator(
        "key_in_query",
        "A key in the query opens an operation",
        _EVERY,
        _accepted(_in_query, _WITHOUT),
    ),
    _operator(
        "key_in_body",
        "A key in the body opens an operation",
        "operations with a body",
        _accepted(_in_body, _WITHOUT, needs_body=True),
    ),
    _operator(
        "key_in_cookie",
        "A key in a cookie opens an operation",
        _EVERY,
        _accepted(_in_cookie, _WITHOUT),
    ),
    _operator(
        "key_in_another_header",
        "A key in another header opens an operation",
        _EVERY,
        _accepted(_in_header, _WITHOUT),
    ),
    _operator("no_key_needed", "An operation needs no key", _EVERY, _accepted(_no_key, _WITHOUT)),
    _operator(
        "any_key_opens",
        "Any Authorization header opens an operation",
        _EVERY,
        _accepted(_any_key, "unknown_key foreign_key key_format credentials_open_nothing"),
    ),
    _operator(
        "cut_key_opens",
        "More than half of a key opens an operation",
        _EVERY,
        _accepted(_cut, "unknown_key"),
    ),
    _operator(
        "longer_key_opens",
        "A key opens an operation whatever follows it",
        _EVERY,
        _accepted(_with_more, "unknown_key"),
    ),
    _operator(
        "key_in_any_case",
        "A key opens an operation in any case",
        _EVERY,
        _accepted(_any_case, "unknown_key"),
    ),
    _operator(
        "key_with_space_opens",
        "A key with a space behind it opens an operation",
        _EVERY,
        _accepted(
            _with_space,
            excuse=lambda _dialect: "spaces around a header's value are no part of it (RFC 9110)",
        ),
    ),
    _operator(
        "bare_key_opens",
        "A key without what the dialect writes around it opens an operation",
        _EVERY,
        _accepted(_bare, "key_format", excuse=_may_be_bare),
    ),
    _operator(
        "foreign_key_opens",
        "The key of another project opens an operation",
        _EVERY,
        _accepted(_foreign, "foreign_key", excuse=_keys_open_all),
    ),
)
