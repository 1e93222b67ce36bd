"""The objects in an array of an answer, such as the secrets of an endpoint."""

from collections.abc import Mapping
from typing import Any


def objects_in(array: object) -> list[Mapping[str, Any]]:
    """The objects among the items of an array; none if it is not an array."""
    if not isinstance(array, list):
        return []
    return [item for item in array if isinstance(item, dict)]
