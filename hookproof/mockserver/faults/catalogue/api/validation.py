"""Invalid requests that are accepted, valid ones that are refused, and wrong error statuses."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec
from aiohttp.web_request import BaseRequest

from hookproof.mockserver.api.errors import ApiError, ErrorResponses, internal_error
from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.handlers.portal_links import PortalLinkHandlers
from hookproof.mockserver.api.paging import Pager, Query
from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_validation import AlteredValidation, Schema
from hookproof.mockserver.store.endpoints import EndpointRow, EndpointTable
from hookproof.spec.contract.service_contract import SchemaProblem
from hookproof.spec.dialect.groups.requests import REQUIRES_ONE_OF
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import OnInput

REFUSALS: Final = ("refusals",)
# In characters: a body at the size limit (section 8) is longer.
SHORT: Final = 1000
HOSTILE: Final = ("hostile",)


@fault("required", shows_in=REFUSALS)
class NothingRequired(AlteredValidation):
    """Required fields may be left out, except the url."""

    def ignores(self, problem: SchemaProblem, value: Any) -> bool:
        message = problem.message
        return not problem.pointer and "required" in message and "url" not in message


def any_of_several_fields_is_required(dialect: Dialect) -> bool:
    return all(dialect.requests.one_of_required_by(name) for name in REQUIRES_ONE_OF)


@fault(
    "required@updatePortalLink required@createBroadcastEvent",
    shows_in=REFUSALS,
    where=any_of_several_fields_is_required,
)
class NoneOfSeveralRequired(AlteredValidation):
    """All fields may be left out of which the dialect requires one."""

    def ignores(self, problem: SchemaProblem, value: Any) -> bool:
        return not problem.pointer and "required" not in problem.message


@fault(
    "required_is_enough succeeds@createEndpoint succeeds@createBroadcastEvent any_data_taken"
    " succeeds@expireEndpointSecret empty_roll succeeds@updatePortalLink",
    shows_in=[*REFUSALS, *HOSTILE, "round_trip", "broadcast_answers", "portal_links", "sequences"],
)
class MoreRequired(AlteredValidation):
    """A short body with only the required fields is refused."""

    def further_problems(self, schema: Schema, body: Mapping[str, Any]) -> Iterable[SchemaProblem]:
        if set(body) == set(schema.get("required", ())) and len(str(body)) < SHORT:
            yield SchemaProblem(pointer="", message="is not enough")


@fault("http_refused https_shown", seen="https only recommended", shows_in=REFUSALS)
class HttpAccepted(AlteredValidation):
    """An endpoint with an http URL is created."""

    def ignores(self, problem: SchemaProblem, value: Any) -> bool:
        return problem.pointer == "/url" and str(value["url"]).lower().startswith("http:")


@fault("http_refused https_shown", shows_in=REFUSALS)
class HttpBeforeHttpsAccepted(AlteredValidation):
    """An endpoint with an http URL is created if https:// stands anywhere in it."""

    def ignores(self, problem: SchemaProblem, value: Any) -> bool:
        return problem.pointer == "/url" and "https://" in str(value["url"])


@fault("http_refused https_shown", seen="an exception for development", shows_in=REFUSALS)
class HttpOfThisMachineAccepted(AlteredValidation):
    """An endpoint with an http URL is created if that leads to the server's own machine."""

    def ignores(self, problem: SchemaProblem, value: Any) -> bool:
        url = str(value["url"]) if problem.pointer == "/url" else ""
        return url.startswith(("http://localhost", "http://127."))


@fault(
    "other_scheme_refused https_shown",
    seen="a check that a URL does not begin with http:",
    shows_in=REFUSALS,
)
class OtherSchemesAccepted(AlteredValidation):
    """An endpoint whose URL has a scheme other than http and https is created."""

    def ignores(self, problem: SchemaProblem, value: Any) -> bool:
        if problem.pointer != "/url":
            return False
        url = str(value["url"]).lower()
        return ":/" in url and not url.startswith("http:")


@fault(
    "number_beyond_bounds zero_timeout zero_rate_limit",
    seen="bounds that nobody checks",
    shows_in=REFUSALS,
)
class BoundsIgnored(AlteredValidation):
    """A whole number beyond the dialect's bounds is accepted, if 32 bits hold it."""

    def ignores(self, problem: SchemaProblem, value: Any) -> bool:
        number = value.get(problem.pointer[1:]) if isinstance(value, dict) else None
        fits = isinstance(number, int) and abs(number) < 2**32
        return fits and "type" not in problem.message


@fault("number_within_bounds", seen="off by one: below for not above", shows_in=REFUSALS)
class MaximumRefused(AlteredValidation):
    """The largest number that the dialect allows is refused."""

    def further_problems(self, schema: Schema, body: Mapping[str, Any]) -> Iterable[SchemaProblem]:
        for name, member in schema.get("properties", {}).items():
            if "maximum" in member and body.get(name) == member["maximum"]:
                yield SchemaProblem(pointer=f"/{name}", message="is too large")


@fault("other_type null_field", seen="values that are made to fit", shows_in=REFUSALS)
class TypesIgnored(RequestPipeline):
    """A field with a value of the wrong type, null included, is ignored."""

    def _problems(self, operation_id: str, value: Any) -> Sequence[SchemaProblem]:
        for problem in super()._problems(operation_id, value):
            if problem.pointer and "type" in problem.message:
                value.pop(problem.pointer.split("/")[1], None)
        return super()._problems(operation_id, value)


@fault(
    "other_word listed_word@getPortalLink.auth_type",
    shows_in=REFUSALS,
    where=lambda dialect: dialect.words.other_words.value is OnInput.REFUSED,
)
class OtherWordsAccepted(AlteredValidation):
    """Words that the dialect does not list are accepted."""

    def ignores(self, problem: SchemaProblem, value: Any) -> bool:
        return "one of" in problem.message


@fault(
    "other_word",
    shows_in=REFUSALS,
    where=lambda dialect: dialect.words.other_words_in("auth_type").value is OnInput.IGNORED,
)
class OtherAuthTypesRefused(PortalLinkHandlers):
    """An auth_type that the dialect does not list is refused, though it ignores such words."""

    def update(self, call: OperationCall) -> OperationResult:
        word = call.body.get("auth_type")
        if word is not None and word not in self._service.dialect.words.portal_auth_types:
            raise self._service.errors.invalid("/auth_type: is not a known word")
        return super().update(call)


@fault(
    "unknown_field",
    shows_in=REFUSALS,
    where=lambda dialect: dialect.requests.unknown_fields.value is OnInput.IGNORED,
)
class UnknownFieldsRefused(AlteredValidation):
    """A field that the document does not name is refused."""

    def further_problems(self, schema: Schema, body: Mapping[str, Any]) -> Iterable[SchemaProblem]:
        for name in body:
            if name not in schema.get("properties", {}):
                yield SchemaProblem(pointer=f"/{name}", message="is unknown")


@fault(
    "unknown_field",
    shows_in=REFUSALS,
    where=lambda dialect: dialect.requests.unknown_fields.value is OnInput.REFUSED,
)
class UnknownFieldsAccepted(AlteredValidation):
    """A field that the document does not name is accepted."""

    def ignores(self, problem: SchemaProblem, value: Any) -> bool:
        return problem.message.startswith("Additional properties")


@fault("malformed_body number_beyond_bounds", shows_in=[*HOSTILE, "numbers"])
class MalformedIsTooLarge(ErrorResponses):
    """A body that is not JSON gets the response for one that is too large."""

    def malformed(self, message: str) -> ApiError:
        return replace(self.too_large(0), message=message, close_connection=False)


@fault(
    "other_type unmapped_names header_text other_word service_field unknown_field required"
    " number_beyond_bounds zero_timeout longer_text page_size_above_maximum unreadable_parameter"
    " zero_rate_limit service_header",
    shows_in=[*REFUSALS, "paging", "custom_headers"],
)
class InvalidIsUnsupported(ErrorResponses):
    """An invalid value gets the response for an unsupported media type."""

    def invalid(self, message: str) -> ApiError:
        return self.unsupported_media_type(message)


@fault(
    "unknown_resource",
    seen="a missing row as a mistake in the request",
    shows_in=REFUSALS,
)
class UnknownIsMalformed(ErrorResponses):
    """An unknown resource gets the response for a body that is not JSON."""

    def unknown_resource(self, what: str) -> ApiError:
        return self.malformed(f"there is no such {what}")


@fault("other_media_type undeclared_body", shows_in=HOSTILE)
class AnyMediaType(RequestPipeline):
    """A body is read as JSON whatever its media type is."""

    def _require_json(self, request: BaseRequest, *, empty: bool) -> None:
        return


@fault("other_method other_path", shows_in=HOSTILE)
class PathsAndMethodsSwapped(ErrorResponses):
    """An unknown path gets the response for a wrong method, and the reverse."""

    def unknown_path(self) -> ApiError:
        return super().method_not_allowed([])

    def method_not_allowed(self, allowed: Sequence[str]) -> ApiError:
        return super().unknown_path()


@fault("slow_request", shows_in=["unfinished"])
class SlowIsUnknown(ErrorResponses):
    """A request that stops before its end gets the response for an unknown resource."""

    def slow(self) -> ApiError:
        return replace(self.unknown_resource("request"), close_connection=True)


@fault(
    "body_too_large huge_body_unread", seen="no limit on a body", shows_in=[*HOSTILE, "unfinished"]
)
class AnySize(RequestPipeline):
    """A body of any size is accepted."""

    def __init__(self, *arguments: Any, limits: Any, **further: Any) -> None:
        super().__init__(*arguments, limits=replace(limits, body_bytes=1 << 40), **further)


@fault("body_within_size", seen="a limit of the proxy in front", shows_in=HOSTILE)
class HalfTheSize(RequestPipeline):
    """A body of more than half of the size limit is refused."""

    def __init__(self, *arguments: Any, limits: Any, **further: Any) -> None:
        super().__init__(
            *arguments, limits=replace(limits, body_bytes=limits.body_bytes // 2), **further
        )


def rolls_have_a_status_for_what_is_unknown(dialect: Dialect) -> bool:
    return "unknown_resource" in dialect.errors.by_operation.get("expireEndpointSecret", {})


@fault(
    "unknown_resource@expireEndpointSecret",
    shows_in=REFUSALS,
    where=rolls_have_a_status_for_what_is_unknown,
)
class OneStatusForTheUnknown(ErrorResponses):
    """An unknown endpoint is refused alike by every operation, although a roll should differ."""

    def of_operation(self, error: ApiError, operation_id: str) -> ApiError:
        if error.refusal == "unknown_resource":
            return error
        return super().of_operation(error, operation_id)


@fault(
    "no_server_error unknown_resource@endpoints",
    seen="a null that nobody expected",
    shows_in=REFUSALS,
)
class UnknownEndpointBreaks(EndpointTable):
    """Looking for an unknown endpoint ends in a server error."""

    def find(self, project: str, uid: str) -> EndpointRow | None:
        row = super().find(project, uid)
        if row is None:
            raise ApiError(status=500, message="no rows in result set")
        return row


@fault("no_server_error", shows_in=HOSTILE)
class InvalidTextBreaks(ErrorResponses):
    """A body that is not UTF-8 ends in a server error."""

    def malformed(self, message: str) -> ApiError:
        return internal_error() if "utf-8" in message.lower() else super().malformed(message)


@fault("no_trace", seen="debug mode in production", shows_in=REFUSALS)
class TraceShown(ErrorResponses):
    """The response for an unknown resource shows a stack trace."""

    def unknown_resource(self, what: str) -> ApiError:
        return replace(
            super().unknown_resource(what),
            message='Traceback (most recent call last): File "/srv/app/store.py", line 12, in find',
        )


@fault(
    "number_within_bounds",
    shows_in=REFUSALS,
    where=lambda dialect: dialect.requests.expiration_minimum is None,
)
class NoExpirationBelowZero(EndpointHandlers):
    """An expiration below zero is refused, although nothing bounds it."""

    def expire_secret(self, call: OperationCall) -> OperationResult:
        if call.body.get("expiration", 0) < 0:
            raise self._service.errors.invalid("/expiration: is below zero")
        return super().expire_secret(call)


@fault(
    "succeeds@getEndpoint", seen="a row that is too long for its buffer", shows_in=["round_trip"]
)
class DescribedNotFetched(EndpointHandlers):
    """An endpoint with a description cannot be fetched."""

    def get(self, call: OperationCall) -> OperationResult:
        if msgspec.json.decode(self._find(call).document).get("description"):
            raise self._service.errors.invalid("the endpoint is too large")
        return super().get(call)


@fault(
    "succeeds@getPortalLink foreign_key",
    seen="a cache that is cleared and not filled",
    shows_in=["portal_links", "access"],
)
class UpdatedNotRetrieved(PortalLinkHandlers):
    """A portal link that was updated cannot be retrieved."""

    def get(self, call: OperationCall) -> OperationResult:
        record = msgspec.json.decode(self._find(call).document)
        if record["created_at"] != record["updated_at"]:
            raise self._service.errors.invalid("the portal link is not ready")
        return super().get(call)


@fault("succeeds@expireEndpointSecret number_within_bounds", shows_in=["roll_answers", *REFUSALS])
class LongExpirationRefused(EndpointHandlers):
    """A roll with an expiration of more than an hour is refused."""

    def expire_secret(self, call: OperationCall) -> OperationResult:
        unit = self._service.dialect.rolling.expiration_unit
        if call.body.get("expiration", 0) * unit.in_seconds > 3600:
            raise self._service.errors.invalid("/expiration: is an hour at most")
        return super().expire_secret(call)


@fault("succeeds@lists", shows_in=["paging"])
class PageOfThreeRefused(Pager):
    """A perPage of 3 is refused."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        if parameters.get("perPage") == ["3"]:
            raise self._errors.invalid("perPage: 3 is not supported")
        return super().query(project, parameters)
