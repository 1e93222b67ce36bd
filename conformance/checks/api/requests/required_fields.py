"""Section 4.9: required fields are enough, and none may be left out."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.checks.support.refusal import refusal_with
from hookproof.conformance.checks.support.success import success_of
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, not_applicable
from hookproof.conformance.observations.requests.mistakes import (
    RequiredFieldLeftOut,
    RequiredFieldsAlone,
)
from hookproof.spec.dialect.model import Dialect

LEFT_OUT: Final = {
    "createEndpoint": "4.9-1",
    "expireEndpointSecret": "4.9-3",
    "updatePortalLink": "4.9-5",
    "createBroadcastEvent": "4.9-7",
}
REQUIRED_ALONE: Final = {
    "createEndpoint": "4.9-2",
    "expireEndpointSecret": "4.9-4",
    "updatePortalLink": "4.9-6",
    "createBroadcastEvent": "4.9-8",
}


@check(*LEFT_OUT.values(), *REQUIRED_ALONE.values())
def required_fields_are_enough_and_none_may_be_left_out(
    request: RequiredFieldsAlone | RequiredFieldLeftOut, context: CheckContext
) -> Iterator[Judgement]:
    tried, operation_id = request.tried, request.operation_id
    if tried is None or operation_id is None:
        return
    context.require_same_rules(
        f"requests of {operation_id} with its required fields",
        lambda dialect: _required(dialect, operation_id),
    )
    if isinstance(request, RequiredFieldLeftOut):
        yield from refusal_with(
            tried,
            LEFT_OUT[operation_id],
            f"{operation_id} does not refuse a body without its {request.field} as the dialect"
            " says",
            context.dialect.errors.status("invalid_value", operation_id),
        )
        return
    yield from success_of(
        tried,
        REQUIRED_ALONE[operation_id],
        f"{operation_id} refuses a body with all the fields that the dialect requires",
    )
    if not any(_required(context.dialect, operation_id)):
        yield not_applicable(
            LEFT_OUT[operation_id], "the dialect requires no field of this operation"
        )


def _required(dialect: Dialect, operation_id: str) -> tuple[tuple[str, ...], ...]:
    """The fields that are required, and those of which one is."""
    rules = dialect.requests
    return rules.required_by(operation_id), rules.one_of_required_by(operation_id)
