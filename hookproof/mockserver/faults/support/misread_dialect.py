"""A dialect with one answer changed, for a collaborator that does not follow its dialect."""

from dataclasses import replace
from typing import Any, TypeVar

from hookproof.mockserver.api.service import ApiService
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.model import Dialect

_Record = TypeVar("_Record")


def misread_dialect(dialect: Dialect, path: str, value: object) -> Dialect:
    """The dialect with another answer at a path such as `delivery.reach`."""
    group, name = path.split(".")
    changed: dict[str, Any] = {group: misread_group(getattr(dialect, group), name, value)}
    return replace(dialect, **changed)


def misread_service(service: ApiService, path: str, value: object) -> ApiService:
    """What handlers work with, where they misread one answer of the dialect."""
    return replace(service, dialect=misread_dialect(service.dialect, path, value))


def misread_group(group: _Record, name: str, value: object) -> _Record:
    """One group of a dialect, such as its paging, with another answer for one field."""
    answer = Answer((value,)) if isinstance(getattr(group, name), Answer) else value
    return replace(group, **{name: answer})  # type: ignore[type-var]
