"""Section 4.9: required fields are enough, and none may be left out."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.checks.support.refusal import refusal_with
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged, not_applicable
from hookproof.conformance.observations.case import Case

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


@check(*LEFT_OUT.values(), *REQUIRED_ALONE.values(), experiments=("refusals",))
def required_fields_are_enough_and_none_may_be_left_out(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Section 4.9."""
    tried, about = case.exchange("tried"), case.facts.get("about")
    if tried is None or tried.status is None:
        return
    operation_id = case.facts["operation_id"]
    if about == "required fields alone":
        message = f"{operation_id} refuses a body with all the fields that the dialect requires"
        yield judged(
            tried.succeeded,
            REQUIRED_ALONE[operation_id],
            message,
            expected="a 2xx",
            actual=tried.status,
            exchanges=[tried],
        )
        if not context.dialect.requests.required_by(operation_id):
            yield not_applicable(
                LEFT_OUT[operation_id], "the dialect requires no field of this operation"
            )
    elif about == "required field left out":
        message = f"{operation_id} does not refuse a body without its {case.facts['field']} as the dialect says"
        yield refusal_with(
            tried, LEFT_OUT[operation_id], message, context.dialect.errors.invalid_value
        )
