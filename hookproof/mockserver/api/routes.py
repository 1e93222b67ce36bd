"""Finds the operation of a request in a tree of the contract's path templates.

Paths are matched before they are percent-decoded, so that `%2F` stays within its segment and `..`
has no special meaning.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

import msgspec

from hookproof.mockserver.api.errors import ErrorResponses
from hookproof.spec.contract.service_contract import Operation

_MAX_SEGMENTS: Final = 32


@dataclass(slots=True)
class _Node:
    literals: "dict[str, _Node]" = field(default_factory=dict)
    parameter: "_Node | None" = None
    operations: dict[str, Operation] = field(default_factory=dict)


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """An operation and the values of its path parameters, in order: projectID first."""

    operation: Operation
    values: tuple[str, ...]


class Routes:
    def __init__(self, operations: Iterable[Operation], errors: ErrorResponses) -> None:
        self._root = _Node()
        self._errors = errors
        for operation in operations:
            node = self._root
            for segment in operation.path.split("/"):
                node = self._child(node, segment)
            node.operations[operation.method.upper()] = operation

    def find(self, method: str, path: str) -> Route:
        """Return the route of a request; raises ApiError for an unknown path or method."""
        node: _Node | None = self._root
        values = []
        for segment in path.split("/", _MAX_SEGMENTS):
            if node is None:
                break
            child = node.literals.get(segment)
            if child is None and node.parameter is not None and segment:
                values.append(unquote(segment) if "%" in segment else segment)
                child = node.parameter
            node = child
        if node is None or not node.operations:
            raise self._errors.unknown_path()
        operation = node.operations.get(method)
        if operation is None:
            raise self._errors.method_not_allowed(sorted(node.operations))
        return Route(operation=operation, values=tuple(values))

    @staticmethod
    def _child(node: _Node, segment: str) -> _Node:
        if segment.startswith("{"):
            node.parameter = node.parameter or _Node()
            return node.parameter
        return node.literals.setdefault(segment, _Node())
