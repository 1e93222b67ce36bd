"""Keeps the examples of the OpenAPI document that fit what a dialect requires and shows."""

from collections.abc import Callable, Iterator
from typing import Any

from hookproof.spec.openapi_document import Document, operations_of, resolved

# Whether a value is a body of the operation with this operationId.
Fits = Callable[[str, Any], bool]


def drop_unfit_examples(document: Document, *, request_fits: Fits, response_fits: Fits) -> None:
    """Remove the examples that do not fit the dialect; the document is changed in place."""
    for operation_id, holder, fits in _holders(document, request_fits, response_fits):
        for media_type in holder["content"].values():
            examples = {
                name: resolved(document, example)
                for name, example in media_type.pop("examples", {}).items()
            }
            fitting = {
                name: example
                for name, example in examples.items()
                if fits(operation_id, example["value"])
            }
            if fitting:
                media_type["examples"] = fitting
    document["components"].pop("examples", None)


def _holders(
    document: Document, request_fits: Fits, response_fits: Fits
) -> Iterator[tuple[str, Document, Fits]]:
    """Each request body, and each response that is not shared between operations."""
    for _path, _method, operation in operations_of(document):
        if "requestBody" in operation:
            yield operation["operationId"], operation["requestBody"], request_fits
        for response in operation["responses"].values():
            if "content" in response:
                yield operation["operationId"], response, response_fits
