"""Refusals and validation: mistakes that are taken, valid requests that are refused, and wrong
statuses for either.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec
from aiohttp.web_request import BaseRequest

from hookproof.mockserver.api.errors import ApiError, ErrorResponses
from hookproof.mockserver.api.errors import internal_error as server_fault
from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.handlers.portal_links import PortalLinkHandlers
from hookproof.mockserver.api.paging import Pager, Query
from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.response import ApiResponse
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.store.endpoints import EndpointRow, EndpointTable
from hookproof.spec.contract.service_contract import SchemaProblem
from hookproof.spec.dialect.vocabulary import OnInput

MISTAKES: Final = ("refusals",)
RAW: Final = ("hostile",)


class Validating(RequestPipeline):
    """Finds other problems in a body than the contract does."""

    def _problems(self, operation_id: str, value: Any) -> Sequence[SchemaProblem]:
        return self.found(operation_id, value, super()._problems(operation_id, value))

    def found(
        self, operation_id: str, value: Any, problems: Sequence[SchemaProblem]
    ) -> Sequence[SchemaProblem]:
        """The problems that count."""
        return problems


@fault("4.9-1", "4.9-3", "4.9-5", "4.9-7", shows_in=MISTAKES)
class NothingRequired(Validating):
    """Required fields may be left out, the url aside."""

    def found(
        self, operation_id: str, value: Any, problems: Sequence[SchemaProblem]
    ) -> Sequence[SchemaProblem]:
        """Those of what is there."""
        return [
            one
            for one in problems
            if one.pointer or "required" not in one.message or "url" in one.message
        ]


@fault(
    "4.9-2",
    "4.9-4",
    "4.9-6",
    "4.9-8",
    "4.1-1",
    "4.8-1",
    "4.8-7",
    "4.6-13",
    "2.3-4",
    also=["4.3-1", "4.6-1", "8-15"],
    shows_in=[*MISTAKES, "round_trip", "broadcast_answers"],
)
class MoreRequired(Validating):
    """A body with the required fields alone is refused: one more has to be there."""

    def found(
        self, operation_id: str, value: Any, problems: Sequence[SchemaProblem]
    ) -> Sequence[SchemaProblem]:
        """One more for a body with nothing but what is required."""
        required = (self._contract.operations[operation_id].body_schema or {}).get("required", [])
        enough = isinstance(value, dict) and set(value) == set(required)
        return (
            [*problems, SchemaProblem(pointer="", message="is not enough")] if enough else problems
        )


@fault("8-10", "2.3-3", seen="https that is recommended", shows_in=MISTAKES)
class HttpTaken(Validating):
    """An endpoint with an http URL is created."""

    def found(
        self, operation_id: str, value: Any, problems: Sequence[SchemaProblem]
    ) -> Sequence[SchemaProblem]:
        """Those that are not about the scheme http."""
        plain = isinstance(value, dict) and str(value.get("url")).lower().startswith("http:")
        return [one for one in problems if not (plain and one.pointer == "/url")]


@fault("8-11", "2.3-3", seen="a check that a URL does not begin with http:", shows_in=MISTAKES)
class OtherSchemesTaken(Validating):
    """An endpoint whose URL has a scheme that is neither http nor https is created."""

    def found(
        self, operation_id: str, value: Any, problems: Sequence[SchemaProblem]
    ) -> Sequence[SchemaProblem]:
        """Those that are not about another scheme."""
        url = str(value.get("url")).lower() if isinstance(value, dict) else ""
        plain = url.startswith("http:") or ":/" not in url
        return [one for one in problems if plain or one.pointer != "/url"]


@fault(
    "8-17",
    "8-5",
    also=["2.9-4", "4.6-3", "4.8-1", "4.8-3", "6-13", "7-8"],
    seen="bounds that nobody checks",
    shows_in=MISTAKES,
)
class BoundsIgnored(Validating):
    """Numbers beyond the dialect's bounds are taken."""

    def found(
        self, operation_id: str, value: Any, problems: Sequence[SchemaProblem]
    ) -> Sequence[SchemaProblem]:
        """Those that are not about a number."""
        return [one for one in problems if not isinstance(value.get(one.pointer[1:]), int)]


@fault("8-16", seen="off by one: below for not above", shows_in=MISTAKES)
class EdgesRefused(Validating):
    """Numbers at the edge of the dialect's bounds are refused."""

    def found(
        self, operation_id: str, value: Any, problems: Sequence[SchemaProblem]
    ) -> Sequence[SchemaProblem]:
        """A problem more for the largest of each."""
        rules = self._contract.operations[operation_id].body_schema or {}
        for name, member in rules.get("properties", {}).items():
            if (
                "maximum" in member
                and isinstance(value, dict)
                and value.get(name) == member["maximum"]
            ):
                return [*problems, SchemaProblem(pointer=f"/{name}", message="is too large")]
        return problems


@fault("7-3", seen="values that are made to fit", shows_in=MISTAKES)
class TypesIgnored(Validating):
    """A field of another type is taken as if it were not there."""

    def found(
        self, operation_id: str, value: Any, problems: Sequence[SchemaProblem]
    ) -> Sequence[SchemaProblem]:
        """What is left when those fields are gone."""
        for name in {
            one.pointer.split("/")[1] for one in problems if "type" in one.message and one.pointer
        }:
            value.pop(name, None)
        return self._contract.request_problems(operation_id, value)


@fault(
    "2.9-9",
    "2.9-4",
    shows_in=MISTAKES,
    where=lambda dialect: dialect.words.other_words.value is OnInput.REFUSED,
)
class OtherWordsTaken(Validating):
    """Words that the dialect does not list are taken."""

    def found(
        self, operation_id: str, value: Any, problems: Sequence[SchemaProblem]
    ) -> Sequence[SchemaProblem]:
        """Those that are not about one of several words."""
        return [one for one in problems if "one of" not in one.message]


@fault(
    "2.9-11",
    shows_in=MISTAKES,
    where=lambda dialect: dialect.requests.unknown_fields.value is OnInput.IGNORED,
)
class UnknownFieldsRefused(Validating):
    """A field that the document does not name is refused."""

    def found(
        self, operation_id: str, value: Any, problems: Sequence[SchemaProblem]
    ) -> Sequence[SchemaProblem]:
        """A problem more for each."""
        known = (self._contract.operations[operation_id].body_schema or {}).get("properties", {})
        unknown = [name for name in value if name not in known] if isinstance(value, dict) else []
        return [
            *problems,
            *(SchemaProblem(pointer=f"/{name}", message="is unknown") for name in unknown),
        ]


@fault(
    "2.9-11",
    shows_in=MISTAKES,
    where=lambda dialect: dialect.requests.unknown_fields.value is OnInput.REFUSED,
)
class UnknownFieldsTaken(Validating):
    """A field that the document does not name is taken."""

    def found(
        self, operation_id: str, value: Any, problems: Sequence[SchemaProblem]
    ) -> Sequence[SchemaProblem]:
        """Those that are about known fields."""
        return [one for one in problems if "dditional propert" not in one.message]


@fault("7-2", shows_in=RAW)
class MalformedIsTooLarge(ErrorResponses):
    """A body that is not JSON is answered like one that is too large."""

    def malformed(self, message: str) -> ApiError:
        """Another status."""
        return replace(self.too_large(0), message=message, close_connection=False)


@fault(
    "7-3",
    "2.9-9",
    "2.9-10",
    "2.9-11",
    "4.9-1",
    "4.9-3",
    "4.9-5",
    "4.9-7",
    "8-17",
    "8-13",
    "4.4-16",
    "4.7-15",
    "8-5",
    "6-13",
    shows_in=[*MISTAKES, "paging", "custom_headers"],
)
class InvalidIsUnsupported(ErrorResponses):
    """A value that is not taken is answered like a media type that is not taken."""

    def invalid(self, message: str) -> ApiError:
        """Another status."""
        return self.unsupported_media_type(message)


@fault(
    "4.2-7",
    "4.3-20",
    "4.5-5",
    "4.6-13",
    seen="a missing row as a mistake in the request",
    shows_in=MISTAKES,
)
class UnknownIsInvalid(ErrorResponses):
    """What does not exist is answered like a body that is not JSON."""

    def unknown_resource(self, what: str) -> ApiError:
        """Another status."""
        return self.malformed(f"there is no such {what}")


@fault("7-4", shows_in=RAW)
class AnyMediaType(RequestPipeline):
    """A body is taken for JSON whatever it is declared as."""

    def _require_json(self, request: BaseRequest, *, empty: bool) -> None:
        return


@fault("7-5", "7-6", shows_in=RAW)
class PathsAndMethodsSwapped(ErrorResponses):
    """An unknown path is answered like another method on a known one, and the other way round."""

    def unknown_path(self) -> ApiError:
        """The other status."""
        return super().method_not_allowed([])

    def method_not_allowed(self, allowed: Sequence[str]) -> ApiError:
        """The other status."""
        return super().unknown_path()


@fault("7-7", shows_in=["unfinished"])
class SlowIsUnknown(ErrorResponses):
    """A request that stops before its end is answered like one for what does not exist."""

    def slow(self) -> ApiError:
        """Another status."""
        return replace(self.unknown_resource("request"), close_connection=True)


@fault("8-14", "8-18", seen="no limit on a body", shows_in=["hostile", "unfinished"])
class AnySize(RequestPipeline):
    """A body of any size is taken in."""

    def __init__(self, *arguments: Any, limits: Any, **further: Any) -> None:
        super().__init__(*arguments, limits=replace(limits, body_bytes=1 << 40), **further)


@fault("8-15", seen="a limit of the proxy in front", shows_in=RAW)
class HalfTheSize(RequestPipeline):
    """A body of more than half of the size limit is refused."""

    def __init__(self, *arguments: Any, limits: Any, **further: Any) -> None:
        super().__init__(
            *arguments, limits=replace(limits, body_bytes=limits.body_bytes // 2), **further
        )


@fault("7-1", shows_in=MISTAKES)
class ProblemDetails(ErrorResponses):
    """A refusal has a body and a content type that are not the dialect's."""

    def response(self, refusal: ApiError) -> ApiResponse:
        """A list of errors."""
        body = msgspec.json.encode({"errors": [refusal.message]})
        return ApiResponse(
            refusal.status,
            body,
            media_type="application/vnd.api+json",
            headers=refusal.headers,
            close_connection=refusal.close_connection,
        )


@fault("7-8", "4.2-7", "4.3-20", seen="a null that nobody expected", shows_in=MISTAKES)
class UnknownEndpointBreaks(EndpointTable):
    """Looking for an endpoint that is not there ends in a server error."""

    def find(self, project: str, uid: str) -> EndpointRow | None:
        """Or a fault."""
        found = super().find(project, uid)
        if found is None:
            raise ApiError(status=500, message="no rows in result set")
        return found


@fault("7-8", "7-2", seen="a bad header crashes the worker; nested too deeply", shows_in=RAW)
class MalformedBreaks(ErrorResponses):
    """A body that is not UTF-8 ends in a server error."""

    def malformed(self, message: str) -> ApiError:
        """One of ours."""
        return server_fault() if "utf-8" in message.lower() else super().malformed(message)


@fault("7-9", seen="debug mode in production", shows_in=MISTAKES)
class TraceShown(ErrorResponses):
    """A refusal shows where in the code it comes from."""

    def unknown_resource(self, what: str) -> ApiError:
        """With a place."""
        refusal = super().unknown_resource(what)
        return replace(
            refusal,
            message='Traceback (most recent call last): File "/srv/app/store.py", line 12, in find',
        )


@fault("4.2-1", seen="a row that is too long for its buffer", shows_in=["round_trip"])
class DescribedNotFetched(EndpointHandlers):
    """An endpoint with a description cannot be fetched."""

    def get(self, call: OperationCall) -> OperationResult:
        """Without one alone."""
        if msgspec.json.decode(self._find(call).document).get("description"):
            raise self._service.errors.invalid("the endpoint is too large")
        return super().get(call)


@fault("4.5-1", seen="a cache that is cleared and not filled", shows_in=["portal_links"])
class UpdatedNotRetrieved(PortalLinkHandlers):
    """A portal link that was updated cannot be retrieved any more."""

    def get(self, call: OperationCall) -> OperationResult:
        """If it is as it was created."""
        record = msgspec.json.decode(self._find(call).document)
        if record["created_at"] != record["updated_at"]:
            raise self._service.errors.invalid("the portal link is not ready")
        return super().get(call)


@fault("4.3-1", also=["8-16"], shows_in=["roll_answers"])
class LongExpirationRefused(EndpointHandlers):
    """A roll with an expiration within the dialect's bounds is refused if it is long."""

    def expire_secret(self, call: OperationCall) -> OperationResult:
        """At most an hour."""
        length = (
            call.body.get("expiration", 0)
            * self._service.dialect.rolling.expiration_unit.in_seconds
        )
        if length > 3600:
            raise self._service.errors.invalid("/expiration: is an hour at most")
        return super().expire_secret(call)


@fault("4.4-1", "4.7-1", shows_in=["paging"])
class PageOfThreeRefused(Pager):
    """A perPage of 3 is refused."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        """Any other size."""
        if parameters.get("perPage") == ["3"]:
            raise self._errors.invalid("perPage: is no such size")
        return super().query(project, parameters)
