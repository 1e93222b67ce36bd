"""Error responses (section 7): the answer to a request that is not carried out.

`ApiError` is raised anywhere in the pipeline; `ErrorResponses` knows the dialect's statuses and
body.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

import msgspec

from hookproof.mockserver.api.response import ApiResponse
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.groups.errors import KEY_REFUSALS, Errors
from hookproof.spec.dialect.model import Authentication, Dialect


@dataclass(slots=True, kw_only=True)
class ApiError(Exception):
    """A request is not carried out.

    `refusal` is the name of its status in the dialect, empty if it has none. `message` is for the
    person who sent the request; `headers` are added to the response. With `close_connection` the
    connection is closed after the response, because more of the request may still arrive.
    """

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)
    close_connection: bool = False
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class ErrorResponses:
    """The error responses of a dialect. The methods return the exception to raise."""

    errors: Errors

    @classmethod
    def of(cls, dialect: Dialect) -> "ErrorResponses":
        return cls(dialect.errors)

    def malformed(self, message: str) -> ApiError:
        return self._error("malformed_body", message)

    def invalid(self, message: str) -> ApiError:
        return self._error("invalid_value", message)

    def unknown_resource(self, what: str) -> ApiError:
        return self._error("unknown_resource", f"there is no such {what} in this project")

    def unknown_project(self) -> ApiError:
        return self._error("unknown_project", "there is no such project")

    def unknown_path(self) -> ApiError:
        return self._error("unknown_path", "nothing is at this path")

    def method_not_allowed(self, allowed: Sequence[str]) -> ApiError:
        """RFC 9110, section 15.5.6, requires the Allow header."""
        listed = ", ".join(allowed)
        error = self._error("method_not_allowed", f"this path accepts {listed} only")
        return replace(error, headers={"Allow": listed})

    def too_large(self, limit: int) -> ApiError:
        """Closes the connection, since the rest of the body is never read."""
        message = f"the body has more than {limit} bytes, the requests.size_limit of the dialect"
        error = self._error("body_too_large", message)
        return replace(error, close_connection=True)

    def unsupported_media_type(self, message: str) -> ApiError:
        return self._error("unsupported_media_type", message)

    def unknown_version(self) -> ApiError:
        """RFC 9110, section 15.6.6: what follows may be framed in any way, so nothing is read."""
        return ApiError(
            status=HTTPStatus.HTTP_VERSION_NOT_SUPPORTED,
            message="only HTTP/1.1 and HTTP/1.0 are spoken here",
            close_connection=True,
        )

    def slow(self) -> ApiError:
        error = self._error("slow_request", "the request did not arrive in time")
        return replace(error, close_connection=True)

    def unauthorized(self, refusal: str, rules: Authentication, message: str) -> ApiError:
        """The refusal of a key; its status is not among those of the other errors."""
        status: Answer[int] = getattr(rules, KEY_REFUSALS[refusal])
        return ApiError(status=status.value, message=message, refusal=refusal)

    def of_operation(self, error: ApiError, operation_id: str) -> ApiError:
        """The same error with the status that it has at an operation."""
        own = self.errors.by_operation.get(operation_id, {}).get(error.refusal)
        return replace(error, status=own.value) if own is not None and own.decided else error

    def _error(self, refusal: str, message: str) -> ApiError:
        return ApiError(status=self.errors.status(refusal).value, message=message, refusal=refusal)

    def response(self, error: ApiError) -> ApiResponse:
        """Build the response to an error, with the dialect's body (section 7)."""
        template = self.errors.bodies.get(error.refusal, self.errors.body)
        return ApiResponse(
            error.status,
            b"" if template is None else msgspec.json.encode(self._fill(template, error)),
            media_type="" if template is None else self.errors.content_type,
            headers=error.headers,
            close_connection=error.close_connection,
        )

    def _fill(self, template: object, error: ApiError) -> Any:
        if isinstance(template, str):
            filled = template.replace("{status}", str(error.status))
            filled = filled.replace("{any}", error.refusal or "error")
            return filled.replace("{message}", error.message)
        if isinstance(template, Mapping):
            return {name: self._fill(part, error) for name, part in template.items()}
        if isinstance(template, list | tuple):
            return [self._fill(part, error) for part in template]
        return template


def internal_error() -> ApiError:
    """Return the error of a failure of this server, which has the same status in every dialect."""
    return ApiError(
        status=HTTPStatus.INTERNAL_SERVER_ERROR, message="the server failed; see its log"
    )
