"""Lists: filters, and the resources on pages of sources (sections 2.7, 2.9, 4.4 and 4.7)."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.paging import ListPage, Pager, Query
from hookproof.mockserver.api.service import OperationCall
from hookproof.mockserver.faults.catalogue.api.paging import Repaged
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_responses import (
    LIST_SOURCES,
    Object,
    SpoiltAnswers,
)
from hookproof.mockserver.store.keyset_paging import Listing
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Match

SHOWN: Final = ("paging",)
SOURCES: Final = ("isolation",)


@fault(
    "4.4-9",
    "4.4-11",
    "4.4-13",
    "4.7-9",
    "4.7-11",
    "4.7-13",
    seen="an unknown parameter that is ignored",
)
class FiltersIgnored(Pager):
    """Filters are ignored."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        """Without any."""
        return msgspec.structs.replace(super().query(project, parameters), filters={})


@fault("4.4-10", "4.4-12", "4.7-10", "4.7-12", "2.2-13", "4.4-5", "4.7-5", shows_in=SHOWN)
class FiltersLeaveOutTheFirst(Repaged):
    """A filtered list lacks the first resource that matches."""

    def changed(self, page: ListPage, query: Query) -> ListPage:
        """Without the first row of the first page."""
        if not query.filters or query.start is not None:
            return page
        return msgspec.structs.replace(page, rows=page.rows[1:])


@fault(
    "2.2-11",
    "2.2-13",
    "4.4-5",
    "4.4-9",
    "4.4-11",
    "4.4-13",
    "4.7-5",
    "4.7-9",
    "4.7-11",
    "4.7-13",
    seen="a cursor that forgets the filter",
)
class CursorForgetsTheFilter(Pager):
    """From the second page on a filter is forgotten."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        """None beyond the first page."""
        query = super().query(project, parameters)
        return query if query.start is None else msgspec.structs.replace(query, filters={})


def owners_are_compared_whole(dialect: Dialect) -> bool:
    """Whether an owner is found by no part of its identifier."""
    return dialect.paging.owner_match.value is Match.EXACT


@fault("4.4-11", "4.4-12", "4.4-13", shows_in=SHOWN)
class NamesMatchedOtherwise(Listing):
    """The filter by name takes texts in another case or part for equal, or does not where it
    should.
    """

    def __init__(self, *arguments: Any, matches: Mapping[str, Match], **further: Any) -> None:
        others = {Match.EXACT: Match.SUBSTRING_ANY_CASE, Match.SUBSTRING_ANY_CASE: Match.EXACT}
        changed = {
            name: others.get(how, how) if name == "name" else how for name, how in matches.items()
        }
        super().__init__(*arguments, matches=changed, **further)


@fault(
    "4.4-9",
    "4.4-13",
    seen="owner-3 that finds owner-30",
    shows_in=SHOWN,
    where=owners_are_compared_whole,
)
class OwnersMatchedByPart(Listing):
    """The filter by owner ID finds owners of whose identifier it is a part."""

    def __init__(self, *arguments: Any, matches: Mapping[str, Match], **further: Any) -> None:
        changed = {
            name: Match.SUBSTRING if name == "owner_id" else how for name, how in matches.items()
        }
        super().__init__(*arguments, matches=changed, **further)


@fault("2.7-1", "2.9-1", also=["2.2-14", "2.2-17", "4.7-4"], shows_in=SOURCES)
class SourceWithoutUid(SpoiltAnswers):
    """Sources with a pub_sub have an empty uid."""

    operations = (LIST_SOURCES,)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Without one."""
        return {**resource, "uid": ""} if resource.get("pub_sub") else resource


@fault("2.9-7", "2.9-8", shows_in=SOURCES)
class NestedWordsInCapitals(SpoiltAnswers):
    """The types of verifiers and of pub_sub are shown in capitals."""

    operations = (LIST_SOURCES,)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Other words."""
        members = {name: resource[name] for name in ("verifier", "pub_sub") if resource.get(name)}
        return {
            **resource,
            **{name: {**one, "type": one["type"].upper()} for name, one in members.items()},
        }


@fault("2.9-5", "2.9-6", also=["4.7-9", "4.7-11", "4.7-13"], shows_in=SOURCES)
class WordsInCapitals(SpoiltAnswers):
    """The types and the providers of sources are shown in capitals."""

    operations = (LIST_SOURCES,)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Other words."""
        members = {name: resource[name] for name in ("type", "provider") if resource.get(name)}
        return {**resource, **{name: one.upper() for name, one in members.items()}}
