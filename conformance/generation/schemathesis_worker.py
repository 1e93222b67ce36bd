"""The request generator: the only module that imports schemathesis, run as a process of its own.

    python -m conformance.generator < order.json > requests.jsonl

Generation costs milliseconds a request and holds the interpreter, so it must not share one with
experiments that measure time. A process of its own is reproducible as well: Hypothesis mines
constants from whatever modules are loaded, and here these are always the same. The order is
`{"document": ..., "seed": int, "examples": int}`; `examples` is how many requests the fuzzing phase
makes per operation. Each line of the output is one request, as
`hookproof.conformance.generation.generated_requests` reads it. An order with `"sequences"` and
`"steps"` in place of `examples` asks for walks along the document's links, at most so many requests
each; a line is then one sequence, a list of requests. Nothing is sent and nothing is judged here.
"""

import base64
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlencode

import hypothesis
import schemathesis
from requests import Request
from schemathesis.config import SchemathesisConfig
from schemathesis.core.result import Err
from schemathesis.core.transport import Response
from schemathesis.generation.case import Case
from schemathesis.generation.hypothesis.builder import (
    HypothesisTestConfig,
    HypothesisTestMode,
    create_test,
)
from schemathesis.schemas import APIOperation, BaseSchema

from hookproof.conformance.generation.uid_placeholder import place_of, uid_from

TRANSPORT_HEADERS = frozenset(
    {"user-agent", "accept", "accept-encoding", "connection", "x-schemathesis-testcaseid"}
)
PROJECT = "projectID"


def generated(document: dict[str, Any], *, seed: int, examples: int) -> Iterator[dict[str, Any]]:
    """Requests for every operation of the document, in phases examples, coverage and fuzzing, valid
    and invalid.

    The same arguments give the same requests in the same order, in any process with the same hash
    seed.
    """
    schema = _schema(document)
    for index, result in enumerate(schema.get_all_operations()):
        if isinstance(result, Err):
            raise result.err()
        operation = result.ok()
        for case in _cases(schema, operation, seed=seed + index, examples=examples):
            yield _line(operation.definition.raw["operationId"], case)


def _schema(document: dict[str, Any]) -> BaseSchema:
    # Responses are never fed back: what a target answers must not change what it is asked. Keys and
    # other methods have experiments of their own, which know what a refusal must look like.
    config = SchemathesisConfig.from_dict(
        {
            "generation": {"database": "none", "with-security-parameters": False},
            "phases": {
                "examples": {"fill-missing": True},
                "coverage": {"unexpected-methods": []},
                "fuzzing": {
                    "extra-data-sources": {"responses": False},
                    "error-feedback": {"enabled": False},
                },
            },
        }
    )
    return schemathesis.openapi.from_dict(document, config=config)


def _cases(
    schema: BaseSchema, operation: APIOperation[Any, Any, Any, Any], *, seed: int, examples: int
) -> Iterable[Case[Any]]:
    cases: list[Case[Any]] = []

    def keep(case: Case[Any]) -> None:
        cases.append(case)

    settings = hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        # where hypothesis sees the variables of a CI system, its profile would ignore the seed
        derandomize=False,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    config = HypothesisTestConfig(
        project=schema.config,
        modes=list(HypothesisTestMode),
        settings=settings,
        seed=seed,
        apply_ci_profile=False,
    )
    create_test(operation=operation, test_func=keep, config=config)()
    return cases


def linked(
    document: dict[str, Any], *, seed: int, sequences: int, steps: int
) -> Iterator[list[dict[str, Any]]]:
    """Sequences of requests along the links of the document; the same arguments give the same ones.

    Links need answers, and no target is asked here: the answers are made up. Each names its
    resource `uid_from(n)`, n being the place of its request in the sequence, and whoever sends the
    requests puts the real uid there.
    """
    made: list[list[dict[str, Any]]] = []
    machine = _schema(document).as_state_machine()

    class Recording(machine):  # type: ignore[misc,valid-type]
        def setup(self) -> None:
            self.lines: list[dict[str, Any]] = []

        def call(self, case: Case[Any], **_arguments: Any) -> Response:
            self.lines.append(_line(case.operation.definition.raw["operationId"], case))
            return _made_up_answer(case, len(self.lines) - 1)

        def validate_response(self, *_what: Any, **_further: Any) -> None:
            """Nothing is judged here."""

        def teardown(self) -> None:
            made.append(self.lines)

    settings = hypothesis.settings(
        max_examples=sequences,
        stateful_step_count=steps,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.seed(seed)(Recording)  # as_state_machine does not take the seed of the configuration
    Recording.run(settings=settings)
    yield from {
        json.dumps(lines): lines for lines in made if lines
    }.values()  # short ones come more than once


def _made_up_answer(case: Case[Any], place: int) -> Response:
    """The success that the contract declares, about a resource whose uid says which request it is
    the answer to.

    What asks for a resource that no earlier answer showed finds none, so that no link leads on from
    there.
    """
    named = [value for name, value in case.path_parameters.items() if name != PROJECT]
    found = all(place_of(str(value)) is not None for value in named)
    declared = case.operation.definition.raw["responses"]
    success, refusal = (
        next(code for code in declared if (code[0] == "2") is good) for good in (True, False)
    )
    uid = uid_from(place)
    data = {"uid": uid, "content": [{"uid": uid}], "pagination": {}}
    return Response(
        status_code=int((success if found else refusal).replace("X", "0")),
        headers={"content-type": ["application/json"]},
        content=json.dumps({"message": "", "status": found, "data": data}).encode(),
        request=Request(case.method, "http://target.invalid").prepare(),  # links speak of the case
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


def main() -> None:
    """Read one order from standard input and write its requests to standard output."""
    order = json.load(sys.stdin)
    make = linked if "sequences" in order else generated
    for line in make(**order):
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
