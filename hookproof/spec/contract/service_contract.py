"""The contract of one service: the OpenAPI document specialised for its dialect, with validators.

`contract_for` fills in what the document leaves to the dialect, and compiles one validator for each
request body and each response, by operationId.
"""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from jsonschema_rs import Draft202012Validator, ValidationError

from hookproof.spec.contract.deliveries import specialise_deliveries
from hookproof.spec.contract.examples import drop_unfit_examples
from hookproof.spec.contract.refusals import EMPTY, ErrorForm, ErrorForms
from hookproof.spec.contract.requests import specialise_requests
from hookproof.spec.contract.responses import ANY_SUCCESS, specialise_responses, template_schema
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.openapi_document import (
    Document,
    content_schema,
    openapi_document,
    operations_of,
    query_parameters,
    request_bodies,
    resolved,
)

# The eight operations, in the order of the OpenAPI document.
OPERATION_IDS: Final[tuple[str, ...]] = tuple(
    operation["operationId"] for _path, _method, operation in operations_of(openapi_document())
)

# The most problems reported about one value; a hostile one may have any number.
MOST_PROBLEMS: Final = 20
# In characters.
LONGEST_MESSAGE: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaProblem:
    """Where a value breaks the contract, as a JSON Pointer, and how, without quoting the value."""

    pointer: str
    message: str

    def __str__(self) -> str:
        return f"{self.pointer or 'the body'}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryParameter:
    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation; references in `body_schema` point into the contract's document."""

    operation_id: str
    method: str
    path: str
    success: Answer[int]
    body_schema: Mapping[str, Any] | None
    query: tuple[QueryParameter, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """A specialised OpenAPI document and its compiled validators."""

    document: Document
    operations: Mapping[str, Operation]
    bodies: Mapping[str, Draft202012Validator] = field(repr=False)
    answers: Mapping[str, Draft202012Validator] = field(repr=False)
    errors: ErrorForms = field(repr=False)

    def request_problems(self, operation_id: str, value: object) -> tuple[SchemaProblem, ...]:
        """Why a JSON value is not a request body; KeyError for an operation without one."""
        return _problems(self.bodies[operation_id], value)

    def response_problems(self, operation_id: str, value: object) -> tuple[SchemaProblem, ...]:
        """Why a JSON value is not the body of a 2xx response: envelope and data (section 2.1)."""
        return _problems(self.answers[operation_id], value)

    def error_problems(self, value: object) -> tuple[SchemaProblem, ...]:
        """Why a JSON value is not the usual body of an error response (section 7)."""
        return self.form_problems(self.errors.usual, value)

    def form_problems(self, form: ErrorForm, value: object) -> tuple[SchemaProblem, ...]:
        """Why a JSON value is not the body of an error response of this form, which has one."""
        return () if form.validator is None else _problems(form.validator, value)


def contract_for(dialect: Dialect) -> Contract:
    """The contract of a service with this dialect."""
    document = copy.deepcopy(openapi_document())
    document["info"]["title"] += f" ({dialect.name})"
    specialise_requests(document, dialect)  # first: it separates what requests and responses share
    specialise_responses(document, dialect)
    specialise_deliveries(document, dialect)
    contract = Contract(
        document=document,
        operations={
            operation.operation_id: operation for operation in _operations(document, dialect)
        },
        bodies={
            name: _validator(document, content_schema(body))
            for name, body in request_bodies(document)
        },
        answers={
            operation["operationId"]: _validator(document, content_schema(_success(operation)))
            for _path, _method, operation in operations_of(document)
        },
        errors=_error_forms(dialect),
    )
    drop_unfit_examples(
        document,
        request_fits=lambda operation_id, value: not contract.request_problems(operation_id, value),
        response_fits=lambda operation_id, value: (
            not contract.response_problems(operation_id, value)
        ),
    )
    return contract


def _operations(document: Document, dialect: Dialect) -> Iterator[Operation]:
    for path, method, operation in operations_of(document):
        body = operation.get("requestBody")
        yield Operation(
            operation_id=operation["operationId"],
            method=method,
            path=path,
            success=dialect.success.of(operation["operationId"]),
            body_schema=None if body is None else resolved(document, content_schema(body)),
            query=tuple(
                QueryParameter(name=name, schema=schema)
                for name, schema in query_parameters(document, operation).items()
            ),
        )


def _error_forms(dialect: Dialect) -> ErrorForms:
    def form(template: object) -> ErrorForm:
        validator = Draft202012Validator(template_schema(template), mask="the value")
        return ErrorForm(validator=validator, template=template)

    own = dialect.errors.bodies
    return ErrorForms(
        dialect=dialect,
        usual=form(dialect.errors.body),
        own={name: EMPTY if body is None else form(body) for name, body in own.items()},
    )


def _success(operation: Document) -> Document:
    """Any of the success responses: all statuses of an operation have the same body."""
    responses = operation["responses"]
    response: Document = next(
        responses[status] for status in responses if status.startswith(ANY_SUCCESS[0])
    )
    return response


def _validator(document: Document, schema: Document) -> Draft202012Validator:
    whole = {**schema, "components": {"schemas": document["components"]["schemas"]}}
    return Draft202012Validator(whole, mask="the value")


def _problems(validator: Draft202012Validator, value: object) -> tuple[SchemaProblem, ...]:
    try:
        if validator.is_valid(value):
            return ()
        errors = (leaf for error in validator.iter_errors(value) for leaf in _leaves(error))
        return tuple(_problem(error) for error in islice(errors, MOST_PROBLEMS))
    except UnicodeEncodeError:
        return (SchemaProblem(pointer="", message="holds a lone surrogate, which is not text"),)
    except ValueError as error:  # nested too deeply for the validator, or not a JSON value
        return (SchemaProblem(pointer="", message=f"cannot be checked: {error}"),)


def _leaves(error: ValidationError) -> Iterator[ValidationError]:
    """The errors behind "none of these": those of the branch whose type matches."""
    branches = getattr(error.kind, "context", [])
    deeper = [
        branch
        for branch in branches
        if all(len(nested.instance_path) > len(error.instance_path) for nested in branch)
    ]
    if not deeper:
        yield error
    for branch in deeper[:1]:
        for nested in branch:
            yield from _leaves(nested)


def _problem(error: ValidationError) -> SchemaProblem:
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in error.instance_path)
    return SchemaProblem(
        pointer="".join(f"/{step}" for step in steps), message=error.message[:LONGEST_MESSAGE]
    )
