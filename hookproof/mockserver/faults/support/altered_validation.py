"""Base of faults and variants that validate request bodies by other rules than the contract's."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.spec.contract.service_contract import SchemaProblem

Schema = Mapping[str, Any]


class AlteredValidation(RequestPipeline):
    """Ignores some problems that the contract finds in a body, and finds further ones."""

    def _problems(self, operation_id: str, value: Any) -> Sequence[SchemaProblem]:
        problems = [
            problem
            for problem in super()._problems(operation_id, value)
            if not self.ignores(problem, value)
        ]
        if isinstance(value, dict):
            schema = self._contract.operations[operation_id].body_schema or {}
            problems.extend(self.further_problems(schema, value))
        return problems

    def ignores(self, problem: SchemaProblem, value: Any) -> bool:
        """Whether a body is accepted in spite of this problem."""
        return False

    def further_problems(self, schema: Schema, body: Mapping[str, Any]) -> Iterable[SchemaProblem]:
        """The problems of a JSON object that the contract does not know."""
        return ()
