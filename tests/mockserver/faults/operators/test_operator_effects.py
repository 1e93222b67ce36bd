"""Each operator alters what a real server answers or stores; the clean server has none of it."""

import asyncio
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest

from hookproof.mockserver.faults.operators.generation import OPERATORS, find_generated_fault
from hookproof.mockserver.faults.operators.operator import AT
from hookproof.mockserver.faults.registry import Fault
from hookproof.mockserver.faults.support.misread_dialect import misread_dialect
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.vocabulary import LeftOut
from tests.mockserver.faults.operators.transcript import (
    Entry,
    differences,
    server_errors,
    transcript,
)

ChangeDialect = Callable[[Dialect], Dialect]

# A place for each operator, and the parts of the conversation in which its fault shows there.
DESCRIPTION: Final = ("createEndpoint.taken.description", "endpoints")
DATA: Final = ("createBroadcastEvent.taken.data", "events")
OWNER: Final = ("listPortalLinks.filter.ownerId", "lists")
LINKS: Final = ("listPortalLinks.list", "lists")
SOURCES: Final = ("listSources.list", "lists")
KEYS: Final = ("getEndpoint.access", "endpoints keys")
EXAMPLES: Final = {
    **{name: DESCRIPTION for name in OPERATORS if name.startswith("text_")},
    "value_lost": ("createEndpoint.stored.support_email", "endpoints roll"),
    "zero_instead": ("getEndpoint.shown.rate_limit", "endpoints roll"),
    "default_instead": ("getEndpoint.shown.http_timeout", "endpoints roll"),
    "number_rounded": ("createEndpoint.taken.rate_limit", "endpoints"),
    "number_clamped": ("createEndpoint.taken.rate_limit", "endpoints"),
    "sign_lost": DATA,
    "shown_as_text": ("createEndpoint.shown.rate_limit", "endpoints"),
    "shown_as_number": ("createEndpoint.shown.advanced_signatures", "endpoints"),
    "shown_in_a_list": ("createEndpoint.shown.name", "endpoints"),
    "false_as_absent": ("updatePortalLink.taken.can_manage_endpoint", "links"),
    "boolean_reversed": ("createEndpoint.taken.advanced_signatures", "endpoints"),
    "member_lost": ("createBroadcastEvent.stored.data", "events"),
    "members_merged": DATA,
    "nested_cut": DATA,
    "nulls_lost": DATA,
    "element_lost": ("getPortalLink.shown.endpoints", "links"),
    "elements_reversed": ("createBroadcastEvent.shown.data", "events"),
    "elements_doubled": ("getPortalLink.shown.endpoints", "links"),
    "swapped_with_neighbour": DESCRIPTION,
    "not_stored": ("updatePortalLink.written", "links"),
    "half_stored": ("createEndpoint.written", "endpoints roll"),
    "stored_in_neighbour": ("expireEndpointSecret.written", "endpoints roll"),
    "stored_in_another_project": ("createEndpoint.written", "endpoints"),
    "neighbour_changed": ("updatePortalLink.written", "links"),
    "neighbour_disabled": ("createEndpoint.written", "endpoints"),
    "cached": ("getPortalLink.answer", "links"),
    "left_out_cleared": ("updatePortalLink.taken.owner_id", "links"),
    "left_out_kept": ("updatePortalLink.taken.owner_id", "links"),
    "filter_ignored": OWNER,
    "filter_forgotten": OWNER,
    "filter_trimmed": OWNER,
    "filter_matched_otherwise": OWNER,
    "filter_with_wildcards": OWNER,
    "filter_after_cut": OWNER,
    "filters_joined_by_or": LINKS,
    "ties_lost_or_doubled": SOURCES,
    "edge_lost": SOURCES,
    "prev_off_by_one": LINKS,
    "prev_reversed": SOURCES,
    "flag_lies": LINKS,
    "page_size_mistaken": LINKS,
    "order_mistaken": LINKS,
    "first_ones_alone": ("createBroadcastEvent.written", "many"),
    **{name: KEYS for name, one in OPERATORS.items() if "key" in name and one.group == "access"},
    "key_in_body": ("createEndpoint.access", "keys"),
    "refused_and_done": ("createEndpoint.access", "keys"),
    "refused_content_done": ("createEndpoint.written", "endpoints"),
    "refusal_tells_existence": KEYS,
    "refusal_shows_data": KEYS,
}
# The operators that no conversation shows, by the module that tries them.
TRIED_IN: Final = {
    "test_answers": "final_answer success_repeated redirect_followed",
    "test_duplicates": "key_compared_loosely key_compared_by_type key_kept_for_seconds"
    " key_of_another_project",
    "test_limits": "limit_per_event_type limit_reset limit_swapped limit_shared",
    "test_lost_updates": "update_lost",
    "test_reach_and_trust": "endpoint_left_out certificate_trusted token_shared token_kept"
    " token_dropped",
    "test_secrets": "newest_secret_unused old_secret_as_new secret_of_another expiry_early"
    " expiry_late expiry_reset expiry_in_another_unit",
    "test_sent_parts": "part_changed part_missing part_stale attempt_without_timeout"
    " attempt_sent_elsewhere",
}
REFERENCE: Final = load_dialect("reference")
# Under the reference dialect these make a server that nobody can tell from the clean one.
EQUIVALENT: Final = {
    "key_with_space_opens@getEndpoint.access",
    "filter_matched_otherwise@listPortalLinks.filter.ownerId:how=whole",
    "left_out_kept@updatePortalLink.taken.owner_id",
}
# Seen, and allowed.
ALLOWED: Final = {"text_empty_as_absent@createEndpoint.taken.description"}


def names() -> list[str]:
    found = []
    for operator_name, (place, _) in EXAMPLES.items():
        for given in OPERATORS[operator_name].parameters:
            members = ",".join(f"{name}={value}" for name, value in given.items())
            name = f"{operator_name}{AT}{place}"
            found.append(f"{name}:{members}" if members else name)
    return found


def run(
    faults: tuple[Fault, ...], parts: str, *, change: ChangeDialect = lambda dialect: dialect
) -> list[Entry]:
    with TemporaryDirectory() as folder:
        return asyncio.run(transcript(faults, Path(folder), parts.split(), change=change))


@cache
def clean(parts: str) -> list[Entry]:
    return run((), parts)


def clears_left_out(dialect: Dialect) -> Dialect:
    return misread_dialect(dialect, "requests.update_left_out", LeftOut.CLEARED)


def test_every_operator_is_tried_here_or_in_another_module() -> None:
    elsewhere = {name for names in TRIED_IN.values() for name in names.split()}
    assert set(OPERATORS) == set(EXAMPLES) | elsewhere


@pytest.mark.parametrize("name", names())
def test_an_operator_alters_what_the_server_answers_or_stores(name: str) -> None:
    generated = find_generated_fault(name, REFERENCE)
    assert bool(generated.defect.equivalent) is (name in EQUIVALENT | ALLOWED)
    parts = EXAMPLES[name.partition(AT)[0]][1]
    faulty = run((generated.fault(),), parts)
    assert not server_errors(faulty)
    assert bool(differences(clean(parts), faulty)) is (name not in EQUIVALENT)


def test_what_is_left_out_is_kept_where_the_dialect_clears_it() -> None:
    dialect = clears_left_out(REFERENCE)
    generated = find_generated_fault("left_out_kept@updatePortalLink.taken.owner_id", dialect)
    assert generated.is_fault
    right = run((), "links", change=clears_left_out)
    assert differences(right, run((generated.fault(),), "links", change=clears_left_out))


@pytest.mark.parametrize("parts", ["endpoints roll links", "lists", "events", "endpoints keys"])
def test_a_clean_server_says_the_same_each_time(parts: str) -> None:
    assert not differences(clean(parts), run((), parts))
    assert not server_errors(clean(parts))


def test_several_generated_faults_are_in_one_server() -> None:
    chosen = [
        find_generated_fault(name, REFERENCE)
        for name in (
            "text_trimmed@createEndpoint.shown.description",
            "text_lowered@createEndpoint.shown.description",
            "text_html_escaped@createEndpoint.shown.name",
        )
    ]
    _, _, body = next(
        entry
        for entry in run(tuple(one.fault() for one in chosen), "endpoints")
        if "capitals" in entry[2]
    )
    assert '"description": "capitals' in body
    assert "&lt;b&gt;" in body
