"""Filters of lists, and the resources in lists of sources (sections 2.7, 2.9, 4.4, 4.7)."""

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.paging import ListPage, Pager, Query
from hookproof.mockserver.api.service import OperationCall
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_pages import AlteredPages, with_pagination
from hookproof.mockserver.faults.support.altered_responses import (
    LIST_SOURCES,
    AlteredResponses,
    AlteredSources,
    Object,
)
from hookproof.mockserver.store.keyset_paging import Listing
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Match

SHOWN: Final = ("paging",)
SOURCES: Final = ("isolation",)
CAPITAL: Final = re.compile("[A-Z]")


@fault(
    "filter_leaves_only filter_on_every_page",
    seen="an unknown parameter that is ignored",
)
class FiltersIgnored(Pager):
    """Filters are ignored."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        return msgspec.structs.replace(super().query(project, parameters), filters={})


@fault(
    "filter_leaves_out_none back_again empty_page previous_page",
    shows_in=SHOWN,
)
class FiltersLeaveOutTheFirst(AlteredPages):
    """A filtered list lacks the first resource that matches."""

    def alter_page(self, page: ListPage, query: Query) -> ListPage:
        if not query.filters or query.start is not None:
            return page
        return msgspec.structs.replace(page, rows=page.rows[1:])


@fault("filter_leaves_out_none", seen="a LIMIT 1 in a filtered query", shows_in=SHOWN)
class FiltersFindOne(AlteredPages):
    """A filtered list ends after the first resource that matches."""

    def alter_page(self, page: ListPage, query: Query) -> ListPage:
        if not query.filters:
            return page
        first = msgspec.structs.replace(page, rows=page.rows[:1])
        return with_pagination(first, has_next_page=False, next_page_cursor=None)


@fault(
    "first_page back_again previous_page filter_leaves_only filter_on_every_page",
    seen="a cursor that forgets the filter",
)
class CursorForgetsTheFilter(Pager):
    """From the second page on a filter is forgotten."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        query = super().query(project, parameters)
        return query if query.start is None else msgspec.structs.replace(query, filters={})


@fault("opposite_orders", shows_in=SHOWN)
class FiltersForgetTheSort(Pager):
    """What a filter leaves is in descending order, whatever sort says."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        query = super().query(project, parameters)
        return msgspec.structs.replace(query, ascending=False) if query.filters else query


def owners_are_compared_whole(dialect: Dialect) -> bool:
    return dialect.paging.owner_match.value is Match.EXACT


@fault(
    "filter_leaves_only@listPortalLinks.name filter_leaves_out_none@listPortalLinks.name"
    " filter_on_every_page@listPortalLinks",
    shows_in=SHOWN,
)
class NamesMatchedOtherwise(Listing):
    """Names are matched exactly where the dialect says in part, and the reverse."""

    def __init__(self, *arguments: Any, matches: Mapping[str, Match], **further: Any) -> None:
        others = {Match.EXACT: Match.SUBSTRING_ANY_CASE}
        changed = {
            name: others.get(how, Match.EXACT) if name == "name" else how
            for name, how in matches.items()
        }
        super().__init__(*arguments, matches=changed, **further)


@fault(
    "filter_leaves_only@listPortalLinks.owner_id filter_on_every_page@listPortalLinks",
    seen="owner-3 that finds owner-30",
    shows_in=SHOWN,
    where=owners_are_compared_whole,
)
class OwnersMatchedByPart(Listing):
    """The filter by owner ID also finds owners whose identifier contains it."""

    def __init__(self, *arguments: Any, matches: Mapping[str, Match], **further: Any) -> None:
        changed = {
            name: Match.SUBSTRING if name == "owner_id" else how for name, how in matches.items()
        }
        super().__init__(*arguments, matches=changed, **further)


@fault("filled@listSources.uid identifier_form", shows_in=SOURCES)
class SourceWithoutUid(AlteredResponses):
    """Sources with a pub_sub have an empty uid."""

    operations = (LIST_SOURCES,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "uid": ""} if resource.get("pub_sub") else resource


@fault("typed@listSources", shows_in=SOURCES)
class BrokersInSnakeCase(AlteredSources):
    """The names of an amqp source have underscores in place of capitals."""

    def alter_source(self, source: Object) -> Object:
        pub_sub = source.get("pub_sub") or {}
        if not pub_sub.get("amqp"):
            return source
        amqp = {CAPITAL.sub(r"_\g<0>", name).lower(): at for name, at in pub_sub["amqp"].items()}
        return {**source, "pub_sub": {**pub_sub, "amqp": amqp}}


@fault(
    "listed_word@listSources.verifier.type listed_word@listSources.pub_sub.type", shows_in=SOURCES
)
class NestedWordsInCapitals(AlteredSources):
    """The types of verifier and pub_sub are shown in upper case."""

    def alter_source(self, source: Object) -> Object:
        members = {name: source[name] for name in ("verifier", "pub_sub") if source.get(name)}
        return {
            **source,
            **{
                name: {**member, "type": member["type"].upper()} for name, member in members.items()
            },
        }


@fault(
    "listed_word@listSources.type listed_word@listSources.provider filter_leaves_only@listSources"
    " filter_on_every_page@listSources",
    shows_in=[*SOURCES, "paging"],
)
class WordsInCapitals(AlteredSources):
    """The types and the providers of sources are shown in upper case."""

    def alter_source(self, source: Object) -> Object:
        members = {name: source[name] for name in ("type", "provider") if source.get(name)}
        return {**source, **{name: word.upper() for name, word in members.items()}}
