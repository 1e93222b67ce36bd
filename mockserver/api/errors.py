"""Refusals: what is answered when a request is not carried out, in the dialect's body and statuses
(section 7).
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
    """A request is not carried out. `message` is for the person who sent it; `headers` go along
    with the answer.

    After the `last` one the connection is closed, because more of the request may come.
    """

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)
    close_connection: bool = False


@dataclass(frozen=True, slots=True)
class ErrorResponses:
    """One method for each kind of error; each returns the exception to raise."""

    errors: Errors

    @classmethod
    def of(cls, dialect: Dialect) -> "ErrorResponses":
        """The errors of a dialect."""
        return cls(dialect.errors)

    def malformed(self, message: str) -> ApiError:
        """A body that is not JSON."""
        return ApiError(status=self.errors.malformed_body.value, message=message)

    def invalid(self, message: str) -> ApiError:
        """A value that is not taken."""
        return ApiError(status=self.errors.invalid_value.value, message=message)

    def unknown_resource(self, what: str) -> ApiError:
        """An identifier that names nothing in the project."""
        return ApiError(
            status=self.errors.unknown_resource.value,
            message=f"there is no such {what} in this project",
        )

    def unknown_project(self) -> ApiError:
        """A project that does not exist."""
        return ApiError(
            status=self.errors.unknown_project.value, message="there is no such project"
        )

    def unknown_path(self) -> ApiError:
        """A path outside the eight operations."""
        return ApiError(status=self.errors.unknown_path.value, message="nothing is at this path")

    def method_not_allowed(self, allowed: Sequence[str]) -> ApiError:
        """Another method on a known path; RFC 9110 wants the right ones listed."""
        listed = ", ".join(allowed)
        message = f"this path accepts {listed} only"
        return ApiError(
            status=self.errors.method_not_allowed.value, message=message, headers={"Allow": listed}
        )

    def too_large(self, limit: int) -> ApiError:
        """A body above the size limit; its connection is closed, since the rest of it is never
        read.
        """
        message = f"a body may have {limit} bytes at most"
        return ApiError(
            status=self.errors.body_too_large.value, message=message, close_connection=True
        )

    def unsupported_media_type(self, message: str) -> ApiError:
        """A body that is not declared as JSON in UTF-8."""
        return ApiError(status=self.errors.unsupported_media_type.value, message=message)

    def slow(self) -> ApiError:
        """A request that does not arrive in time; its connection is closed."""
        message = "the request did not arrive in time"
        return ApiError(
            status=self.errors.slow_request.value, message=message, close_connection=True
        )

    def response(self, error: ApiError) -> ApiResponse:
        """What a error is answered with (section 7)."""
        body = msgspec.json.encode(self._filled(self.errors.body, error))
        return ApiResponse(
            error.status,
            body,
            media_type=self.errors.content_type,
            headers=error.headers,
            close_connection=error.close_connection,
        )

    def _filled(self, template: object, error: ApiError) -> Any:
        if isinstance(template, str):
            return template.replace("{status}", str(error.status)).replace(
                "{message}", error.message
            )
        if isinstance(template, Mapping):
            return {name: self._filled(part, error) for name, part in template.items()}
        if isinstance(template, list | tuple):
            return [self._filled(part, error) for part in template]
        return template


def internal_error() -> ApiError:
    """The one answer that is this server's own fault, whatever the dialect."""
    return ApiError(
        status=HTTPStatus.INTERNAL_SERVER_ERROR, message="the server failed; see its log"
    )
