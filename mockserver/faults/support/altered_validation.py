"""Base of faults and variants that validate request bodies by other rules than the contract's."""

from collections.abc import Sequence
from typing import Any

from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.spec.contract.service_contract import SchemaProblem


class AlteredValidation(RequestPipeline):
    """Refuses a body for the problems that `alter_problems` returns."""

    def _problems(self, operation_id: str, value: Any) -> Sequence[SchemaProblem]:
        return self.alter_problems(operation_id, value, super()._problems(operation_id, value))

    def alter_problems(
        self, operation_id: str, value: Any, problems: Sequence[SchemaProblem]
    ) -> Sequence[SchemaProblem]:
        return problems
