"""Conditions of texts, nested data and URLs that are others than the dialect's."""

from collections.abc import Iterable, Mapping
from typing import Any

from hookproof.mockserver.api.handlers.endpoints import visits_first
from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.service import OperationCall
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_validation import AlteredValidation, Schema
from hookproof.mockserver.faults.support.misread_dialect import misread_group
from hookproof.spec.contract.service_contract import SchemaProblem
from hookproof.spec.dialect.groups.requests import RequestRules
from hookproof.spec.dialect.model import Dialect

LONGEST = "maxLength"


def has_longest_text(dialect: Dialect) -> bool:
    return bool(dialect.requests.text_maximum_of)


def has_deepest_data(dialect: Dialect) -> bool:
    return dialect.requests.nesting_maximum.value is not None


@fault("longest_text", seen="off by one", shows_in=["refusals"], where=has_longest_text)
class LongestTextRefused(AlteredValidation):
    """A text that is as long as the dialect allows is refused."""

    def further_problems(self, schema: Schema, body: Mapping[str, Any]) -> Iterable[SchemaProblem]:
        for name, member in schema.get("properties", {}).items():
            text = body.get(name)
            if LONGEST in member and isinstance(text, str) and len(text) == member[LONGEST]:
                yield SchemaProblem(pointer=f"/{name}", message="is too long")


@fault(
    "longer_text", seen="a limit that nobody checks", shows_in=["refusals"], where=has_longest_text
)
class LongTextTaken(AlteredValidation):
    """A text that is longer than the dialect allows is accepted."""

    def ignores(self, problem: SchemaProblem, value: Any) -> bool:
        text = value.get(problem.pointer[1:]) if isinstance(value, dict) else None
        return isinstance(text, str) and "longer" in problem.message


class OtherNesting(RequestPipeline):
    """Data may have so many levels more than the dialect allows, or fewer."""

    by: int

    def __init__(self, *arguments: Any, rules: RequestRules, **further: Any) -> None:
        deepest = (rules.nesting_maximum.value or 0) + self.by
        super().__init__(
            *arguments, rules=misread_group(rules, "nesting_maximum", deepest), **further
        )


@fault(
    "deepest_data",
    seen="the levels of the request around the data are counted",
    shows_in=["refusals"],
    where=has_deepest_data,
)
class DeepestDataRefused(OtherNesting):
    """Data that is nested as deeply as the dialect allows is refused."""

    by = -1


@fault("deeper_data", shows_in=["refusals"], where=has_deepest_data)
class DeeperDataTaken(OtherNesting):
    """Data is accepted that is nested more deeply than the dialect allows."""

    by = 1


@fault(
    "unanswered_visit",
    seen="a status that nobody looks at",
    shows_in=["endpoint_urls"],
    where=lambda dialect: visits_first(dialect.delivery),
)
class UnansweredVisitTaken(RequestPipeline):
    """An endpoint is created although its URL answers no visit with a 2xx."""

    async def _require_answer(self, call: OperationCall) -> None:
        return
