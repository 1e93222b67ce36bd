"""Error responses (section 7): the answer to a request that is not carried out.

`ApiError` is raised anywhere in the pipeline; `ErrorResponses` knows the dialect's statuses and
body.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import msgspec

from hookproof.mockserver.api.response import ApiResponse
from hookproof.spec.dialect.model import Dialect, Errors


@dataclass(slots=True, kw_only=True)
class ApiError(Exception):
    """A request is not carried out.

    `message` is for the person who sent the request; `headers` are added to the response. With
    `close_connection` the connection is closed after the response, because more of the request may
    still arrive.
    """

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)
    close_connection: bool = False


@dataclass(frozen=True, slots=True)
class ErrorResponses:
    """The error responses of a dialect. The methods return the exception to raise."""

    errors: Errors

    @classmethod
    def of(cls, dialect: Dialect) -> "ErrorResponses":
        return cls(dialect.errors)

    def malformed(self, message: str) -> ApiError:
        return ApiError(status=self.errors.malformed_body.value, message=message)

    def invalid(self, message: str) -> ApiError:
        return ApiError(status=self.errors.invalid_value.value, message=message)

    def unknown_resource(self, what: str) -> ApiError:
        return ApiError(
            status=self.errors.unknown_resource.value,
            message=f"there is no such {what} in this project",
        )

    def unknown_project(self) -> ApiError:
        return ApiError(
            status=self.errors.unknown_project.value, message="there is no such project"
        )

    def unknown_path(self) -> ApiError:
        return ApiError(status=self.errors.unknown_path.value, message="nothing is at this path")

    def method_not_allowed(self, allowed: Sequence[str]) -> ApiError:
        """RFC 9110, section 15.5.6, requires the Allow header."""
        listed = ", ".join(allowed)
        message = f"this path accepts {listed} only"
        return ApiError(
            status=self.errors.method_not_allowed.value, message=message, headers={"Allow": listed}
        )

    def too_large(self, limit: int) -> ApiError:
        """Closes the connection, since the rest of the body is never read."""
        message = f"a body may have at most {limit} bytes"
        return ApiError(
            status=self.errors.body_too_large.value, message=message, close_connection=True
        )

    def unsupported_media_type(self, message: str) -> ApiError:
        return ApiError(status=self.errors.unsupported_media_type.value, message=message)

    def slow(self) -> ApiError:
        message = "the request did not arrive in time"
        return ApiError(
            status=self.errors.slow_request.value, message=message, close_connection=True
        )

    def response(self, error: ApiError) -> ApiResponse:
        """Build the response to an error, with the dialect's body (section 7)."""
        body = msgspec.json.encode(self._fill(self.errors.body, error))
        return ApiResponse(
            error.status,
            body,
            media_type=self.errors.content_type,
            headers=error.headers,
            close_connection=error.close_connection,
        )

    def _fill(self, template: object, error: ApiError) -> Any:
        if isinstance(template, str):
            return template.replace("{status}", str(error.status)).replace(
                "{message}", error.message
            )
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
