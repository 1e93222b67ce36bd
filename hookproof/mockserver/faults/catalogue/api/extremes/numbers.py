"""Numbers that no variable holds, and page sizes below one (sections 4.1, 7 and 8)."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.errors import internal_error
from hookproof.mockserver.api.paging import Pager, Query
from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_validation import AlteredValidation
from hookproof.spec.contract.service_contract import SchemaProblem

SHOWN: Final = ("numbers",)
WIDTH: Final = 1 << 32
LARGEST: Final = (1 << 31) - 1
FIELDS: Final = ("http_timeout", "rate_limit", "rate_limit_duration")
NO_LIMIT: Final = 1_000_000


@fault(
    "echoed@createEndpoint.http_timeout echoed@createEndpoint.rate_limit"
    " echoed@createEndpoint.rate_limit_duration number_beyond_bounds",
    seen="an integer of 32 bits",
    shows_in=SHOWN,
)
class NumbersWrapAround(AlteredValidation):
    """Of a number above 2,147,483,647 in a new endpoint the lower 32 bits are kept, with a sign."""

    def ignores(self, problem: SchemaProblem, value: Any) -> bool:
        name = problem.pointer[1:]
        return name in FIELDS and self._is_large(value[name])

    def _perform(self, call: OperationCall) -> OperationResult:
        wrapped = {
            name: (call.body[name] + LARGEST + 1) % WIDTH - LARGEST - 1
            for name in FIELDS
            if self._is_large(call.body.get(name))
        }
        return super()._perform(msgspec.structs.replace(call, body={**call.body, **wrapped}))

    @staticmethod
    def _is_large(number: Any) -> bool:
        return isinstance(number, int) and number > LARGEST


@fault("no_server_error number_beyond_bounds", seen="a column of 64 bits", shows_in=SHOWN)
class HugeNumberBreaks(RequestPipeline):
    """A number above 9,223,372,036,854,775,807 in a body ends in a server error."""

    def _problems(self, operation_id: str, value: Any) -> Any:
        if isinstance(value, dict) and any(
            isinstance(number, int | float) and number >= 1 << 63 for number in value.values()
        ):
            raise internal_error()
        return super()._problems(operation_id, value)


@fault(
    "page_size_never_above",
    seen="a limit of the database that is switched off by a zero",
    shows_in=SHOWN,
)
class NoPageSizeIsNoLimit(Pager):
    """A perPage of zero or below lists everything on one page."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        sizes = parameters.get("perPage", [])
        if not all(size.lstrip("-").isdigit() and int(size) <= 0 for size in sizes) or not sizes:
            return super().query(project, parameters)
        rest = {name: values for name, values in parameters.items() if name != "perPage"}
        return msgspec.structs.replace(super().query(project, rest), per_page=NO_LIMIT)
