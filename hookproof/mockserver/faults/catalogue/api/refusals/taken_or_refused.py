"""Requests on which the document is silent, treated otherwise than the dialect says."""

from collections.abc import Iterable, Mapping
from typing import Any

from hookproof.mockserver.api.handlers.portal_links import PortalLinkHandlers
from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.service import ApiService
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_validation import AlteredValidation, Schema
from hookproof.mockserver.faults.support.misread_dialect import misread_group, misread_service
from hookproof.spec.contract.service_contract import SchemaProblem
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.groups.requests import RequestRules
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Acceptance, OnInput


def otherwise(answer: Answer[Acceptance]) -> Acceptance:
    """What a service does that does the opposite."""
    return Acceptance.REFUSED if answer.value is Acceptance.TAKEN else Acceptance.TAKEN


@fault(
    "unknown_member",
    shows_in=["refusals"],
    where=lambda dialect: dialect.requests.unknown_listed_endpoints.decided,
)
class UnknownListedMistaken(PortalLinkHandlers):
    """Identifiers in endpoints that name no endpoint are refused where the dialect ignores them,
    and the reverse.
    """

    def __init__(self, service: ApiService) -> None:
        right = service.dialect.requests.unknown_listed_endpoints.value
        wrong = OnInput.REFUSED if right is OnInput.IGNORED else OnInput.IGNORED
        super().__init__(misread_service(service, "requests.unknown_listed_endpoints", wrong))


def rolls_need_no_body(dialect: Dialect) -> bool:
    rules = dialect.requests
    is_taken = rules.roll_without_body.value is Acceptance.TAKEN
    return is_taken and not rules.expire_endpoint_secret_requires


@fault(
    "empty_roll", seen="a decoder that is not told", shows_in=["hostile"], where=rolls_need_no_body
)
class EmptyRollRefused(RequestPipeline):
    """A roll without any body is refused, although no field of it is required."""

    def __init__(self, *arguments: Any, rules: RequestRules, **further: Any) -> None:
        misread = misread_group(rules, "roll_without_body", Acceptance.REFUSED)
        super().__init__(*arguments, rules=misread, **further)


@fault(
    "undeclared_body",
    shows_in=["hostile"],
    where=lambda dialect: dialect.requests.undeclared_body.decided,
)
class UndeclaredMistaken(RequestPipeline):
    """A body without a Content-Type is taken where the dialect refuses it, and the reverse."""

    def __init__(self, *arguments: Any, rules: RequestRules, **further: Any) -> None:
        wrong = otherwise(rules.undeclared_body)
        misread = misread_group(rules, "undeclared_body", wrong)
        super().__init__(*arguments, rules=misread, **further)


@fault(
    "other_data",
    shows_in=["refusals"],
    where=lambda dialect: dialect.requests.other_data.value is Acceptance.REFUSED,
)
class OtherDataTaken(AlteredValidation):
    """A broadcast is accepted whatever JSON its data is."""

    def ignores(self, problem: SchemaProblem, value: Any) -> bool:
        return problem.pointer == "/data"


@fault(
    "other_data",
    seen="data that is decoded into a map",
    shows_in=["refusals"],
    where=lambda dialect: dialect.requests.other_data.value is Acceptance.TAKEN,
)
class OtherDataRefused(AlteredValidation):
    """A broadcast is refused whose data is JSON, but no object."""

    def further_problems(self, schema: Schema, body: Mapping[str, Any]) -> Iterable[SchemaProblem]:
        if "event_type" in schema.get("properties", {}) and not isinstance(body.get("data"), dict):
            yield SchemaProblem(pointer="/data", message="is no object")


@fault(
    "null_field",
    seen="a schema that was tried with clients in one language",
    shows_in=["refusals"],
    where=lambda dialect: dialect.requests.null_fields.decided,
)
class NullFieldsMistaken(RequestPipeline):
    """Null in place of an optional field is taken where the dialect refuses it, and the reverse."""

    def __init__(self, *arguments: Any, rules: RequestRules, **further: Any) -> None:
        misread = misread_group(rules, "null_fields", otherwise(rules.null_fields))
        super().__init__(*arguments, rules=misread, **further)
