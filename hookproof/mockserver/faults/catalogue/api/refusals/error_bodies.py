"""Error responses in other words than the dialect's (section 7)."""

from dataclasses import replace

import msgspec

from hookproof.mockserver.api.errors import ApiError, ErrorResponses
from hookproof.mockserver.api.response import ApiResponse
from hookproof.mockserver.faults.registry import fault
from hookproof.spec.dialect.groups.errors import KEY_REFUSALS
from hookproof.spec.dialect.model import Authentication, Dialect


@fault("error_form", shows_in=["refusals"])
class JsonApiErrors(ErrorResponses):
    """An error response has a body and a media type that are not the dialect's."""

    def response(self, error: ApiError) -> ApiResponse:
        body = msgspec.json.encode({"errors": [error.message]})
        return ApiResponse(
            error.status,
            body,
            media_type="application/vnd.api+json",
            headers=error.headers,
            close_connection=error.close_connection,
        )


def has_a_refusal_without_body(dialect: Dialect) -> bool:
    return None in dialect.errors.bodies.values()


@fault("error_form", shows_in=["hostile"], where=has_a_refusal_without_body)
class BodyForEveryRefusal(ErrorResponses):
    """A refusal that should have no body has the one that others have."""

    def response(self, error: ApiError) -> ApiResponse:
        has_none = self.errors.bodies.get(error.refusal, "") is None
        return super().response(replace(error, refusal="") if has_none else error)


def keys_are_refused_in_other_words(dialect: Dialect) -> bool:
    return any(dialect.errors.bodies.get(refusal) is not None for refusal in KEY_REFUSALS)


@fault("error_form", shows_in=["access"], where=keys_are_refused_in_other_words)
class OneBodyForEveryRefusal(ErrorResponses):
    """A refused key is answered with the error body of other refusals, although it has its own."""

    def unauthorized(self, refusal: str, rules: Authentication, message: str) -> ApiError:
        return replace(super().unauthorized(refusal, rules, message), refusal="")
