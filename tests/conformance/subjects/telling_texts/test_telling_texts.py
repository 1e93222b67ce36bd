"""Texts that tell: what generated faults do to texts is seen, and a refusal hides nothing else."""

import asyncio
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from hookproof.conformance.experiments.support.telling_texts import Candidates, find_accepted
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.mutants.mutant_run import MutantRunOrder, run_mutant
from hookproof.conformance.subjects.idempotency.experiment import repeat_telling_key
from tests.conformance.canned_evidence import exchange

CANDIDATES: Mapping[str, Candidates] = {
    "name": ("strong name", "weak name"),
    "description": ("strong note", "weak note"),
}


def accepted_by(*refused: str) -> tuple[dict[str, Any], int]:
    """What a target accepts that refuses these texts, and how many requests it took."""
    requests = []

    async def attempt(values: Mapping[str, Any]) -> Exchange:
        requests.append(values)
        status = 400 if set(values.values()) & set(refused) else 201
        return exchange("probe", "createEndpoint", status=status)

    return asyncio.run(find_accepted(CANDIDATES, attempt)), len(requests)


def test_one_request_is_enough_where_all_texts_are_accepted() -> None:
    assert accepted_by() == ({"name": "strong name", "description": "strong note"}, 1)


def test_each_field_has_the_strongest_text_that_is_accepted() -> None:
    accepted, requests = accepted_by("strong name")
    assert accepted == {"name": "weak name", "description": "strong note"}
    assert requests == 4


def test_a_field_of_which_every_text_is_refused_is_left_out() -> None:
    accepted, _ = accepted_by("strong name", "weak name")
    assert accepted == {"description": "strong note"}


@pytest.mark.parametrize(
    ("fault", "experiment", "requirement"),
    [
        ("text_cut@createEndpoint.stored.name:length=1000", "telling_texts", "4.2-5"),
        ("text_trimmed@createEndpoint.shown.description", "telling_texts", "4.1-5"),
        ("text_normalised@createEndpoint.taken.owner_id:form=NFC", "telling_texts", "4.1-7"),
        ("text_html_escaped@getEndpoint.shown.description", "telling_texts", "4.2-5"),
        (
            "text_url_escaped@createEndpoint.taken.authentication.oauth2.scope",
            "telling_texts",
            "2.5-2",
        ),
        ("text_lowered@expireEndpointSecret.shown.support_email", "telling_texts", "4.3-11"),
        (
            "text_without_controls@listPortalLinks.shown.endpoints_metadata.description",
            "telling_texts",
            "2.6-10",
        ),
        ("text_in_one_plane@updatePortalLink.stored.name:how=dropped", "telling_texts", "4.6-5"),
        ("text_trimmed@createBroadcastEvent.shown.event_type", "broadcast_answers", "4.8-4"),
        ("text_trimmed@createBroadcastEvent.stored.idempotency_key", "idempotency", "4.8-8"),
        (
            "value_lost@createBroadcastEvent.shown.endpoint_metadata.authentication.api_key",
            "credentials",
            "2.8-10",
        ),
    ],
)
def test_what_a_service_does_to_texts_is_seen(
    fault: str, experiment: str, requirement: str
) -> None:
    order = MutantRunOrder(
        dialect="reference",
        deviations=("--fault", fault),
        experiments=(experiment,),
        profile=Profile.QUICK,
        seed=0,
        without=(),
    )
    assert requirement in run_mutant(order).detected


class PickyTrial:
    """A trial against a target that accepts the keys from this one on, of those in order."""

    def __init__(self, accepted_from: int, sent: list[Any]) -> None:
        self._accepted_from = accepted_from
        self._sent = sent
        self.roles: list[str] = []

    async def call(self, _operation: str, *, role: str, body: Any) -> Exchange:
        if body not in self._sent:
            self._sent.append(body)
        self.roles.append(role)
        status = 201 if self._sent.index(body) >= self._accepted_from else 400
        return exchange(role, "createBroadcastEvent", status=status)

    def observe(self, _kind: type) -> list[str]:
        return self.roles

    def not_observed(self, _kind: type, reason: str) -> str:
        return reason


@pytest.mark.parametrize(
    ("accepted_from", "observed"),
    [
        (0, ["first", "again"]),
        (2, ["first", "again"]),
        (3, "the target refuses keys of many kinds of characters"),
    ],
)
def test_refused_keys_are_no_part_of_what_is_observed(accepted_from: int, observed: Any) -> None:
    sent: list[Any] = []
    scripted: Any = SimpleNamespace(
        word=str,
        trial=lambda _name: PickyTrial(accepted_from, sent),
        broadcast=lambda **fields: fields,
    )
    assert asyncio.run(repeat_telling_key(scripted, scripted)) == observed
    assert len(sent) == min(accepted_from + 1, 3)
