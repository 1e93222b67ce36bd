"""Requests and sequences of requests that schemathesis generates from the contract.

Nothing is sent and nothing is judged here.
"""

import base64
import json
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlencode

import hypothesis
import schemathesis
from requests import Request
from schemathesis import BaseSchema, Case, Config, Response

from hookproof.conformance.generation.uid_placeholder import place_of, uid_from
from hookproof.conformance.generation.unpublished_interfaces import Operation, run_phases

TRANSPORT_HEADERS = frozenset(
    {"user-agent", "accept", "accept-encoding", "connection", "x-schemathesis-testcaseid"}
)
PROJECT = "projectID"


def generate_requests(
    document: dict[str, Any], *, seed: int, examples: int, first: str = ""
) -> Iterator[dict[str, Any]]:
    """Generate valid and invalid requests for every operation of the document; those for the
    operation with the id `first` before all others. `examples` is the number of requests of the
    fuzzing phase per operation. Each is an object as `GeneratedRequest.from_json` reads it.

    The phases are examples, coverage and fuzzing. The same arguments generate the same requests in
    the same order, in any process with the same hash seed.
    """
    schema = _schema(document)
    operations = []
    for index, operation in enumerate(_operations(schema)):
        operations.append((operation.definition.raw["operationId"], seed + index, operation))
    for operation_id, own_seed, operation in sorted(operations, key=lambda each: each[0] != first):
        for case in _cases(schema, operation, seed=own_seed, examples=examples):
            yield _line(operation_id, case)


def _operations(schema: BaseSchema) -> Iterator[Operation]:
    """The operations of a schema; raises what is wrong with one."""
    for result in schema.get_all_operations():
        read: Any = result
        if hasattr(read, "err"):
            raise read.err()
        yield read.ok()


def _schema(document: dict[str, Any]) -> BaseSchema:
    # Responses are never fed back, so that the requests do not depend on the target's answers.
    # API keys and other methods have experiments of their own, which know the expected refusal.
    # Sequences follow the document's own links alone: by those that schemas suggest they would
    # broadcast too, to endpoints of other experiments.
    config = Config.from_dict(
        {
            "generation": {"database": "none", "with-security-parameters": False},
            "phases": {
                "examples": {"fill-missing": True},
                "coverage": {"unexpected-methods": []},
                "stateful": {"inference": {"algorithms": []}},
                "fuzzing": {
                    "extra-data-sources": {"responses": False},
                    "error-feedback": {"enabled": False},
                },
            },
        }
    )
    return schemathesis.openapi.from_dict(document, config=config)


def _cases(
    schema: BaseSchema, operation: Operation, *, seed: int, examples: int
) -> Iterable[Case[Any]]:
    cases: list[Case[Any]] = []

    def keep(case: Case[Any]) -> None:
        cases.append(case)

    settings = hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    run_phases(schema, operation, keep, settings=settings, seed=seed)
    return cases


def generate_linked(
    document: dict[str, Any], *, seed: int, sequences: int, steps: int
) -> Iterator[list[dict[str, Any]]]:
    """Generate sequences of at most `steps` requests along the links of the document.

    The same arguments generate the same sequences. Links need answers, which are simulated here.
    The uid in each is `uid_from(n)`, where n is the place of its request in the sequence. The
    sender of the requests replaces it by the real uid.
    """
    recorded: list[list[dict[str, Any]]] = []
    machine = _schema(document).as_state_machine()

    class RecordingMachine(machine):  # type: ignore[misc,valid-type]
        def setup(self) -> None:
            self.lines: list[dict[str, Any]] = []

        def call(self, case: Case[Any], **_arguments: Any) -> Response:
            self.lines.append(_line(case.operation.definition.raw["operationId"], case))
            return _simulated_answer(case, len(self.lines) - 1)

        def validate_response(self, *_what: Any, **_further: Any) -> None:
            """Nothing is judged here."""

        def teardown(self) -> None:
            recorded.append(self.lines)

    settings = hypothesis.settings(
        max_examples=sequences,
        stateful_step_count=steps,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.seed(seed)(
        RecordingMachine
    )  # as_state_machine does not take the seed of the configuration
    RecordingMachine.run(settings=settings)
    yield from {
        json.dumps(lines): lines for lines in recorded if lines
    }.values()  # short sequences are generated more than once


def _simulated_answer(case: Case[Any], place: int) -> Response:
    """A success as the contract declares it; its uid refers to the request that it answers.

    A request for a resource that no earlier answer has shown is refused, so that no link leads on.
    """
    identifiers = [value for name, value in case.path_parameters.items() if name != PROJECT]
    exists = all(place_of(str(value)) is not None for value in identifiers)
    declared = case.operation.definition.raw["responses"]
    success, refusal = (
        next(code for code in declared if (code[0] == "2") is good) for good in (True, False)
    )
    uid = uid_from(place)
    data = {"uid": uid, "content": [{"uid": uid}], "pagination": {}}
    return Response(
        status_code=int((success if exists else refusal).replace("X", "0")),
        headers={"content-type": ["application/json"]},
        content=json.dumps({"message": "", "status": exists, "data": data}).encode(),
        request=Request(case.method, "http://target.invalid").prepare(),  # links use the case
        elapsed=0.0,
        verify=True,
    )


def _line(operation_id: str, case: Case[Any]) -> dict[str, Any]:
    assert case.meta is not None
    transport = case.as_transport_kwargs(base_url="http://target.invalid")
    about = case.meta.phase.data
    return {
        "operation_id": operation_id,
        "path_parameters": case.path_parameters,
        "query": urlencode(transport["params"] or {}, doseq=True),
        "headers": [
            [k, v] for k, v in transport["headers"].items() if k.lower() not in TRANSPORT_HEADERS
        ],
        "body_b64": _body_b64(transport),
        "phase": case.meta.phase.name.value,
        "valid": case.meta.generation.mode.is_positive,
        "aim": about.description or "",
    }


def _body_b64(transport: dict[str, Any]) -> str | None:
    if "json" in transport:
        content = json.dumps(transport["json"], separators=(",", ":")).encode()
    elif transport.get("data") is None:
        return None
    else:
        data = transport["data"]
        content = data if isinstance(data, bytes) else str(data).encode()
    return base64.b64encode(content).decode()
