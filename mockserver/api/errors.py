"""Refusals: what is answered when a request is not carried out, in the dialect's body and statuses
(section 7).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import msgspec

from hookproof.mockserver.api.response import Answer
from hookproof.spec.dialect.model import Dialect, Errors


@dataclass(slots=True, kw_only=True)
class Refusal(Exception):
    """A request is not carried out. `message` is for the person who sent it; `headers` go along
    with the answer.

    After the `last` one the connection is closed, because more of the request may come.
    """

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)
    last: bool = False


@dataclass(frozen=True, slots=True)
class Refusals:
    """One method for each kind of refusal; each returns the exception to raise."""

    errors: Errors

    @classmethod
    def of(cls, dialect: Dialect) -> "Refusals":
        """The refusals of a dialect."""
        return cls(dialect.errors)

    def malformed(self, message: str) -> Refusal:
        """A body that is not JSON."""
        return Refusal(status=self.errors.malformed_body.value, message=message)

    def invalid(self, message: str) -> Refusal:
        """A value that is not taken."""
        return Refusal(status=self.errors.invalid_value.value, message=message)

    def unknown_resource(self, what: str) -> Refusal:
        """An identifier that names nothing in the project."""
        return Refusal(
            status=self.errors.unknown_resource.value,
            message=f"there is no such {what} in this project",
        )

    def unknown_project(self) -> Refusal:
        """A project that does not exist."""
        return Refusal(status=self.errors.unknown_project.value, message="there is no such project")

    def unknown_path(self) -> Refusal:
        """A path outside the eight operations."""
        return Refusal(status=self.errors.unknown_path.value, message="nothing is at this path")

    def method_not_allowed(self, allowed: Sequence[str]) -> Refusal:
        """Another method on a known path; RFC 9110 wants the right ones listed."""
        listed = ", ".join(allowed)
        message = f"this path takes {listed} only"
        return Refusal(
            status=self.errors.method_not_allowed.value, message=message, headers={"Allow": listed}
        )

    def too_large(self, limit: int) -> Refusal:
        """A body above the size limit; its connection is closed, since the rest of it is never
        read.
        """
        message = f"a body may have {limit} bytes at most"
        return Refusal(status=self.errors.body_too_large.value, message=message, last=True)

    def unsupported_media_type(self, message: str) -> Refusal:
        """A body that is not declared as JSON in UTF-8."""
        return Refusal(status=self.errors.unsupported_media_type.value, message=message)

    def slow(self) -> Refusal:
        """A request that does not arrive in time; its connection is closed."""
        message = "the request did not arrive in time"
        return Refusal(status=self.errors.slow_request.value, message=message, last=True)

    def answer(self, refusal: Refusal) -> Answer:
        """What a refusal is answered with (section 7)."""
        body = msgspec.json.encode(self._filled(self.errors.body, refusal))
        return Answer(
            refusal.status,
            body,
            media_type=self.errors.content_type,
            headers=refusal.headers,
            last=refusal.last,
        )

    def _filled(self, template: object, refusal: Refusal) -> Any:
        if isinstance(template, str):
            return template.replace("{status}", str(refusal.status)).replace(
                "{message}", refusal.message
            )
        if isinstance(template, Mapping):
            return {name: self._filled(part, refusal) for name, part in template.items()}
        if isinstance(template, list | tuple):
            return [self._filled(part, refusal) for part in template]
        return template


def fault() -> Refusal:
    """The one answer that is this server's own fault, whatever the dialect."""
    return Refusal(
        status=HTTPStatus.INTERNAL_SERVER_ERROR, message="the server failed; see its log"
    )
