"""The uid of a created endpoint: shown, found again, or missing for a reason that is true."""

import asyncio
import random
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.created_endpoints import (
    CreatedEndpoint,
    create_endpoint,
    uid_in_records,
)
from hookproof.conformance.model.evidence import Exchange
from hookproof.spec.dialect.reader import load_dialect
from tests.conformance.canned_evidence import exchange

LINK = {"uid": "l1", "name": "portal", "owner_id": "someone"}
OPERATIONS_TO_FIND = ["listPortalLinks", "updatePortalLink", "getPortalLink", "updatePortalLink"]


class FakeService:
    """Creates endpoints whose answers hide the uid, and shows them in one portal link."""

    def __init__(self, *, shows_uid: bool = False, status: int = 201, links: int = 1) -> None:
        self._shows_uid, self._status, self._links = shows_uid, status, links
        self.owner = LINK["owner_id"]
        self.endpoints: list[dict[str, Any]] = []
        self.asked: list[str] = []

    async def call(self, operation_id: str, *, role: str, body: Any, **_arguments: Any) -> Exchange:
        self.asked.append(operation_id)
        status, data = self._answer(operation_id, body)
        return exchange(role, operation_id, status=status, data=data, request=body)

    def _answer(self, operation_id: str, body: Mapping[str, Any]) -> tuple[int, Any]:
        if operation_id == "createEndpoint":
            if self._status != 201:
                return self._status, None
            owner = body.get("owner_id", body.get("appID"))
            uid = f"e{len(self.endpoints) + 1}"
            self.endpoints.append({**body, "owner_id": owner, "uid": uid})
            return 201, self.endpoints[-1] if self._shows_uid else None
        if operation_id == "listPortalLinks":
            page = {"has_next_page": False}
            return 200, {"content": [LINK] * self._links, "pagination": page}
        if operation_id == "updatePortalLink":
            self.owner = body["owner_id"]
        records = [one for one in self.endpoints if one.get("owner_id") == self.owner]
        return 200, {**LINK, "owner_id": self.owner, "endpoints_metadata": records}


async def _no_seeding(*_arguments: object) -> None:
    pass


def _create(
    service: FakeService, *, link: Mapping[str, Any] | None = None, **body: Any
) -> tuple[CreatedEndpoint, Trial]:
    words = (f"word-{number}" for number in range(100))

    async def run() -> tuple[CreatedEndpoint, Trial]:
        context = SimpleNamespace(
            dialect=load_dialect("reference"),
            random=random.Random(0),
            word=lambda _stem: next(words),
            answering_url="",
            why_lacking=lambda _capability: "",
            lacking_fields=frozenset,
            lacking_mechanisms=frozenset,
            fixtures={},
            portal_links=asyncio.Lock(),
            api=service,
            seeding=SimpleNamespace(
                fill=_no_seeding,
                created=lambda *_arguments: (),
                failure=lambda *_arguments: "",
            ),
        )
        trial = Trial(
            experiment="any",
            name="any",
            api=cast("Any", service),
            receiver=cast("Any", None),
            project=cast("Any", SimpleNamespace(id="p1")),
        )
        created = await create_endpoint(
            cast("ExperimentContext", context),
            trial,
            role="create",
            body={"url": "https://one.invalid/", **body},
            link=link,
        )
        assert not context.portal_links.locked()
        return created, trial

    return asyncio.run(run())


def test_nothing_more_is_sent_where_the_uid_is_shown() -> None:
    service = FakeService(shows_uid=True)
    created, _ = _create(service)
    assert created.uid == "e1"
    assert service.asked == ["createEndpoint"]


def test_nothing_more_is_sent_where_the_creation_is_refused() -> None:
    service = FakeService(status=422)
    created, _ = _create(service)
    assert (created.uid, created.reason) == (
        None,
        "createEndpoint was answered 422; a success of it would help",
    )
    assert service.asked == ["createEndpoint"]


def test_a_hidden_endpoint_is_found_in_a_portal_link_that_gets_its_owner_back() -> None:
    service = FakeService()
    created, trial = _create(service, owner_id="mine")
    assert created.uid == "e1"
    assert created.answer is trial.exchanges[0]
    assert service.asked == ["createEndpoint", *OPERATIONS_TO_FIND]
    assert service.owner == LINK["owner_id"]


def test_an_endpoint_without_owner_is_created_again_with_one() -> None:
    service = FakeService()
    created, trial = _create(service)
    assert created.uid == "e2"
    assert [one.role for one in trial.exchanges[:2]] == ["without uid", "create"]
    assert created.answer is trial.exchanges[1]
    assert service.owner == LINK["owner_id"]


def test_the_deprecated_name_of_an_owner_is_an_owner() -> None:
    service = FakeService()
    created, _ = _create(service, appID="mine")
    assert service.asked.count("createEndpoint") == 1
    assert created.uid == "e1"


def test_a_portal_link_that_the_caller_holds_is_let_go_and_not_put_back() -> None:
    service = FakeService()
    created, _ = _create(service, link=LINK, owner_id="mine")
    assert created.uid == "e1"
    assert service.owner not in ("mine", LINK["owner_id"])
    assert "listPortalLinks" not in service.asked


def test_without_a_portal_link_the_reason_names_both() -> None:
    created, _ = _create(FakeService(links=0), owner_id="mine")
    assert created.uid is None
    assert "shows no uid" in created.reason
    assert "listPortalLinks shows no portal link" in created.reason


@pytest.mark.parametrize(
    ("records", "uid"),
    [
        ([{"uid": "e1", "url": "https://one.invalid/"}], "e1"),
        ([{"uid": "e1", "url": "https://two.invalid/"}], None),
        ([{"uid": 17, "url": "https://one.invalid/"}], None),
        ([{"uid": name, "url": "https://one.invalid/"} for name in ("e1", "e2")], None),
        ("none", None),
    ],
    ids=["one", "another", "a number", "two", "no array"],
)
def test_the_url_tells_an_endpoint_among_the_records_of_an_event(
    records: object, uid: str | None
) -> None:
    answer = exchange("event", "createBroadcastEvent", data={"endpoint_metadata": records})
    assert uid_in_records([answer], "https://one.invalid/") == uid
    assert uid_in_records([answer], None) is None
