"""Sequences along the contract's links: generated, filled with what the target shows, undone."""

import asyncio
import json
from collections import Counter

import pytest

from hookproof.conformance.generation.generators import GeneratedRequest, RequestGenerators
from hookproof.conformance.generation.uid_placeholder import place_of, uid_from
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.run.intake import Intake
from hookproof.conformance.subjects.sequences.evidence import LinkedRequests
from hookproof.conformance.subjects.sweep.experiment import linked, uid_in
from tests.conformance.canned_evidence import context, exchange
from tests.conformance.run.experiment_runner import runner
from tests.conformance.scripted_target import response, stand_in

pytestmark = pytest.mark.usefixtures("nothing_kept")

SHOWN = ("createEndpoint", "expireEndpointSecret", "getEndpoint")
LISTED = ("listPortalLinks", "getPortalLink", "updatePortalLink")


def generated_sequences(seed: int = 3) -> list[tuple[GeneratedRequest, ...]]:
    async def collect() -> list[tuple[GeneratedRequest, ...]]:
        document = context().contract.document
        async with RequestGenerators() as generators:
            sequences = generators.linked(document, seed=seed, sequences=24, steps=6)
            return [requests async for requests in sequences]

    return asyncio.run(collect())


def test_sequences_follow_links_and_are_the_same_for_the_same_seed() -> None:
    sequences, others = generated_sequences(), generated_sequences(seed=4)
    assert sequences == generated_sequences()
    assert sequences != others
    assert len(set(map(str, sequences))) == len(sequences)
    # Which links a seed follows changes with the document and the sources, as hypothesis takes
    # constants from them: so many sequences leave out none of these.
    followed: Counter[str] = Counter()
    for requests in [*sequences, *others]:
        for place, request in enumerate(requests):
            for name, value in request.path_parameters.items():
                source = place_of(value)
                if source is not None:
                    assert source < place
                    assert requests[source].operation_id in (
                        SHOWN if name == "endpointID" else LISTED
                    )
                    followed[request.operation_id] += 1
    assert {"getEndpoint", "expireEndpointSecret"} <= set(followed)


def test_a_placeholder_is_replaced_by_the_uid_that_its_answer_shows() -> None:
    assert place_of(uid_from(12)) == 12
    assert place_of("uid-from-request-") is None
    answers = [
        exchange(data={"uid": "e/1"}),
        exchange("list", "listPortalLinks", data={"content": [{"uid": "l1"}, {"uid": "l2"}]}),
        exchange("create", status=500, body=b"broken"),
    ]
    assert [uid_in(uid_from(place), answers) for place in (0, 1)] == ["e%2F1", "l1"]
    assert uid_in(uid_from(2), answers) == uid_from(2), (
        "the answer shows no uid, so that the identifier of nothing is sent"
    )
    assert uid_in(uid_from(9), answers) == uid_from(9)
    assert uid_in("as-it-was", answers) == "as-it-was"


def answer(head: bytes) -> bytes:
    method, path = head.split()[:2]
    data: object = {"uid": "e77"}
    if b"portal-links" in path:
        link = {"uid": "l1", "name": "as it was", "owner_id": "o"}
        data = (
            link
            if b"/portal-links/" in path
            else {"content": [link], "pagination": {"has_next_page": False}}
        )
    status = 201 if method == b"POST" else 200
    return response(status, json.dumps({"status": True, "message": "", "data": data}).encode())


def test_requests_are_sent_with_the_uids_that_the_target_showed_and_portal_links_are_put_back() -> (
    None
):
    observed: list[Evidence] = []
    dialect = context().dialect
    with stand_in(answer) as url, runner(url, linked) as run:
        run.open()
        run.begin(Intake(Mask((), dialect), dialect, observed.append))
        assert run.gathered("linked").reason == ""
    assert {type(evidence) for evidence in observed} == {LinkedRequests, Preparation}
    for evidence in observed:
        if isinstance(evidence, LinkedRequests):
            assert len(evidence.valid) == len(evidence.exchanges)
    sent = [
        exchange
        for evidence in observed
        for exchange in evidence.exchanges
        if exchange.role == "linked"
    ]
    fetched = [exchange.url for exchange in sent if exchange.operation_id == "getEndpoint"]
    assert any(url.endswith("/e77") for url in fetched)
    assert not any("uid-from" in exchange.url for exchange in sent)
    updated = [exchange.url for exchange in sent if exchange.operation_id == "updatePortalLink"]
    assert updated
    assert all(url.endswith("/l1") for url in updated), "no other portal link may be changed"
    (restoring,) = observed[-1].exchanges
    assert (restoring.role, restoring.request_json["name"]) == ("put back", "as it was")
